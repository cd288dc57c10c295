package controller_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"goserini/internal/bm25"
	"goserini/internal/controller"
	"goserini/internal/corpus"
	"goserini/internal/index"
	"goserini/internal/retrieval/local"
)

const (
	hugeBytes = 500_000_000
	// A page over such a document may take so much memory beyond what the process had, and
	// all pages together so much time of a processor.
	mostGrowth = 256 << 20
	mostTime   = 60 * time.Second
)

// hugeText is 500 MB of entries, of which every 5,000th is signed.
func hugeText(separator string) string {
	var b strings.Builder
	b.Grow(hugeBytes + 1000)
	for n := 1; b.Len() < hugeBytes; n++ {
		b.WriteString(hugeLine)
		if n%5000 == 0 {
			fmt.Fprintf(&b, " The keeper 灯台守 of the lamp signs as number %d.", n)
		}
		b.WriteString(separator)
	}
	return b.String()
}

// growth runs do and returns by how many bytes the memory of the process grew meanwhile at most.
func growth(t *testing.T, do func()) int {
	t.Helper()
	memory := func(field string) int {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(status), field+":")
		kb, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			t.Fatal(err)
		}
		return kb << 10
	}
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o644); err != nil { // forgets the peak
		t.Skipf("the peak of memory cannot be measured here: %v", err)
	}
	before := memory("VmRSS")
	do()
	return memory("VmHWM") - before
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Two documents of 500 MB, one of a million lines and one that is a single line: no page over
// them takes more memory than a few pieces of them, nor time without end.
func TestDocumentsOf500MB(t *testing.T) {
	if testing.Short() {
		t.Skip("builds an index of a gigabyte of text")
	}
	dir := t.TempDir()
	total, characters := map[string]int{}, map[string]int{}
	documents := corpus.FromSequence("huge", func(yield func(corpus.Document, error) bool) {
		for _, docid := range []string{"lines", "line"} {
			text := hugeText(map[string]string{"lines": "\n", "line": " "}[docid])
			total[docid], characters[docid] = strings.Count(text, "\n")+1, utf8.RuneCountInString(text)
			if !yield(corpus.Document{DocID: docid, Text: text}, nil) {
				return
			}
		}
	})
	if _, err := index.Build(t.Context(), dir, documents, index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	o, err := controller.Profile("navigator")
	if err != nil {
		t.Fatal(err)
	}
	c := controller.New(local.New(ix, bm25.Anserini), o)
	paper := controller.New(local.New(ix, bm25.Anserini), controller.Options{})

	last := total["lines"]
	start := processorTime(t)
	for _, tt := range []struct {
		tool, args string
		want       string // an expression
	}{
		{"paper search", `{"query":"keeper lamp"}`, `(?s)docid=line\b.*Excerpt: .*keeper 灯台守 of the lamp.*docid=lines\b.*Excerpt: .*keeper 灯台守 of the lamp`},
		{"search", `{"query":"keeper lamp"}`, `(?s)docid=line\b.*Lines: .*Excerpt: .*keeper 灯台守 of the lamp.*\(best of the first 4 MB.*docid=line.*keeper 灯台守 of the lamp.*\(best of the first 4 MB`},
		{"search", `{"query":"\"signs as number 1000000\" register -zebra"}`, `phrase "signs as number 1000000": no hit holds it, ranked by words, looked for in the first 4 MB of a document`},
		{"read_document", `{"docid":"lines"}`, `Opened at the best passage for s2 (?s).*\n\d+\tAn entry`},
		{"read_document", `{"docid":"line"}`, `Opened at the best passage for s2 (?s).*\n1(:\d+)?\t`},
		{"read_document", fmt.Sprintf(`{"docid":"lines","offset":%d}`, last-1), fmt.Sprintf(`(?s)lines %d-%d of %d\n.*End of the document\.`, last-1, last, last)},
		{"read_document", fmt.Sprintf(`{"docid":"line","offset":1,"column":%d}`, characters["line"]-19), fmt.Sprintf(`characters %d-%d of its %d are on this page\.\n\n1:%d\tess of the harbour\. \n\nEnd of the document\.`, characters["line"]-19, characters["line"], characters["line"], characters["line"]-19)},
		{"read_document", fmt.Sprintf(`{"docid":"line","offset":1,"column":%d}`, characters["line"]+1), fmt.Sprintf(`has %d characters; column %d is past its end`, characters["line"], characters["line"]+1)},
		{"read_document", `{"docid":"lines","find":"Signs as  number 1100000"}`, `1 matching lines(?s).*\n1100000:\d+-\d+\t.*signs as number 1100000\.`},
		{"read_document", `{"docid":"line","find":"Signs as  number 1100000"}`, `1 matching lines(?s).*Note: line 1 has more than 4 MB.*\n1:\d{9}-\d{9}\t.*signs as number 1100000\.`},
		{"read_document", `{"docid":"lines","find":"number 11[0-9]0000\\b"}`, `3 matching lines(?s).*\n1100000:.*\n1120000:`},
		{"read_document", `{"docid":"line","find":"number 11[0-9]0000\\b"}`, `1 matching lines(?s).*\n1:\d{9}-\d{9}\t.*signs as number 1100000\.`},
		{"read_search_results", `{"search_id":"s1","find":"number 1100000"}`, `Note: of 2 documents that are not shown only the first 4 MB were looked through`},
	} {
		var page string
		grew := growth(t, func() {
			name, of := strings.CutPrefix(tt.tool, "paper ")
			page = call(t, map[bool]*controller.Controller{true: paper, false: c}[of], name, tt.args).Text
		})
		if !regexp.MustCompile(tt.want).MatchString(page) {
			t.Errorf("%s(%s): the page does not match %s:\n%.1500s", tt.tool, tt.args, tt.want, page)
		}
		if grew > mostGrowth || len(page) > 50<<10 {
			t.Errorf("%s(%s): the memory grew by %d MB, and the page has %d bytes", tt.tool, tt.args, grew>>20, len(page))
		}
		t.Logf("%s(%s): %d MB, %v so far", tt.tool, tt.args, grew>>20, processorTime(t)-start)
	}
	if took := processorTime(t) - start; took > mostTime {
		t.Errorf("the pages took %v of a processor, want at most %v", took, mostTime)
	}

	// What find says of a place is where reading finds it.
	found := call(t, c, "read_document", `{"docid":"line","find":"number 1100000"}`).Text
	m := regexp.MustCompile(`\n1:(\d+)-\d+\t(.*)\n`).FindStringSubmatch(found)
	if m == nil {
		t.Fatalf("no match:\n%s", found)
	}
	if read := call(t, c, "read_document", fmt.Sprintf(`{"docid":"line","offset":1,"column":%s}`, m[1])).Text; !strings.Contains(read, "\n1:"+m[1]+"\t"+m[2]) {
		t.Errorf("find shows %q at character %s, and there stands:\n%.600s", m[2], m[1], read)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := begin(t, c, "read_document", `{"docid":"line","find":"xylograph"}`)(cancelled); err == nil {
		t.Error("a cancelled call goes on")
	}
}
