package corpus

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestSourceThatIsNotThere(t *testing.T) {
	_, err := Open([]string{"/no/such/file"}, Options{})
	wantError(t, err, "/no/such/file", "no such file")
	_, err = Open(nil, Options{})
	wantError(t, err, "no source")
}

func TestEmptySourcesAreAnError(t *testing.T) {
	empty := file(t, "empty.jsonl", "")
	for name, source := range map[string]string{"empty file": empty, "blank lines": file(t, "a.jsonl", "\n \r\n\n"), "blank TSV": file(t, "a.tsv", "\n\n"),
		"empty folder": t.TempDir(), "folder of strangers": filepath.Dir(file(t, "a.css", "p{}"))} {
		_, _, err := all(Options{}, source)
		if !errors.Is(err, ErrNoDocuments) {
			t.Errorf("%s: got %v, want ErrNoDocuments", name, err)
		}
	}
	_, _, err := all(Options{}, empty)
	wantError(t, err, "1 files passed over", "empty.jsonl (empty file)")
	docs, _ := mustRead(t, Options{}, empty, file(t, "b.jsonl", lineA))
	if len(docs) != 1 {
		t.Errorf("an empty file beside a good one: got %d documents, want 1", len(docs))
	}
}

func TestFileThatVanishes(t *testing.T) {
	gone, good := file(t, "gone.jsonl", lineA), file(t, "good.jsonl", lineB)
	for policy, want := range map[OnBad]string{StopAtBad: "", SkipBad: "b"} {
		if err := os.WriteFile(gone, []byte(lineA), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Open([]string{gone, good}, Options{OnBad: policy})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := os.Remove(gone); err != nil {
			t.Fatal(err)
		}
		rec, err := r.Next()
		if policy == StopAtBad {
			wantError(t, err, "gone.jsonl: cannot be read: no such file")
			if _, again := r.Next(); again != err {
				t.Errorf("Next after the error: got %v, want the same", again)
			}
			continue
		}
		doc, err := rec.Document()
		if err != nil || doc.DocID != want {
			t.Errorf("got %v, %v; want document %s", doc, err, want)
		}
		if report := r.Report(); report.Bad != 1 {
			t.Errorf("bad: got %d, want 1", report.Bad)
		}
	}
}

func TestSingleFilesAreRecognised(t *testing.T) {
	for _, c := range []struct {
		name, content string
		want          Document
	}{
		{"notes.md", "# T\nx\n", Document{DocID: "notes.md", Title: "T", Text: "x"}},
		{"page.HTML.gz", gzipped("<title>T</title>x"), Document{DocID: "page.HTML.gz", Title: "T", Text: "x"}},
		{"notes.txt", "a\tb\nc\n", Document{DocID: "notes.txt", Text: "a\tb\nc"}},
		{"README", "plain words\n\n", Document{DocID: "README", Text: "plain words"}},
		{"page", "<!DOCTYPE html><p>x", Document{DocID: "page", Text: "x"}},
		{"part-00000", lineA, Document{DocID: "a", Text: "x"}},
		{"collection", "1\tx\n", Document{DocID: "1", Text: "x"}},
		{"dump.dat", "[\n" + lineA + "]", Document{DocID: "a", Text: "x"}},
		{"disk1", "<DOC>\n<DOCNO>1</DOCNO>x</DOC>", Document{DocID: "1", Text: "x"}},
		{"blanks.ndjson", "\n\n\xef\xbb\xbf " + lineA + "\n", Document{DocID: "a", Text: "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			docs, _ := mustRead(t, Options{}, file(t, c.name, c.content))
			diff(t, "documents", docs, []Document{c.want})
		})
	}
	_, _, err := all(Options{}, file(t, "a.csv", "1,x\n"))
	wantError(t, err, "a.csv", "expected JSON lines")
	_, _, err = all(Options{}, file(t, "a.bin", "\x00\x01"))
	wantError(t, err, "a.bin", "not text")
}

func TestFormatCanBeGiven(t *testing.T) {
	docs, _ := mustRead(t, Options{Format: FormatTSV}, file(t, "a.txt", "1\tx\n"))
	diff(t, "TSV", docs, []Document{{DocID: "1", Text: "x"}})
	docs, _ = mustRead(t, Options{Format: FormatFiles}, file(t, "a.jsonl", lineA))
	diff(t, "files", docs, []Document{{DocID: "a.jsonl", Text: strings.TrimSpace(lineA)}})
	dir := t.TempDir()
	put(t, dir, "a.md", "x")
	put(t, dir, "b.jsonl", lineA)
	docs, _ = mustRead(t, Options{Format: FormatFiles}, dir)
	diff(t, "files of a folder", docs, []Document{{DocID: "a.md", Text: "x"}})
	for _, name := range []string{"auto", "", "jsonl", "tsv", "trec", "files"} {
		if _, err := ParseFormat(name); err != nil {
			t.Errorf("format %q: %v", name, err)
		}
	}
	_, err := ParseFormat("csv")
	wantError(t, err, `"csv"`, "jsonl, tsv, trec, files")
}

func TestFolderOfPagesIsReadInTheOrderOfPaths(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a/z.md", "one")
	put(t, dir, "a.txt", "two")
	put(t, dir, "b/README", "three")
	put(t, dir, "b/long.html", "four")
	put(t, dir, "b/changelog.Debian.gz", gzipped("five"))
	put(t, dir, "ä b.txt", "six")
	put(t, dir, "data.json", "{\"a\":1}")
	put(t, dir, "x.tsv", "1\t2")
	put(t, dir, "pic.png", "\x89PNG\x00")
	put(t, dir, "doc.pdf", "%PDF-1.7")
	put(t, dir, "zip.txt", "PK\x03\x04")
	put(t, dir, ".git/config", "no")
	put(t, dir, "empty.txt", "")
	docs, report := mustRead(t, Options{}, dir)
	var got []string
	for _, d := range docs {
		got = append(got, d.DocID+": "+d.Text)
	}
	diff(t, "documents", got, []string{"a.txt: two", "a/z.md: one", "b/README: three", "b/changelog.Debian.gz: five", "b/long.html: four", "ä b.txt: six"})
	var ignored []string
	for _, i := range report.Ignored {
		rel, _ := filepath.Rel(dir, i.Path)
		ignored = append(ignored, filepath.ToSlash(rel)+": "+i.Reason)
	}
	diff(t, "ignored", ignored, []string{
		".git: hidden", "data.json: the folder is read as files, this file is jsonl", "doc.pdf: not a kind of file that holds documents",
		"empty.txt: empty file", "pic.png: not a kind of file that holds documents", "x.tsv: the folder is read as files, this file is tsv",
		"zip.txt: not a kind of file that holds documents",
	})
}

func TestFolderWithCorpusFile(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "corpus.jsonl.gz", gzipped(lineA))
	put(t, dir, "queries.jsonl", `{"_id":"q","text":"no"}`)
	put(t, dir, "qrels/test.tsv", "query-id\tcorpus-id\tscore\n")
	docs, report := mustRead(t, Options{}, dir)
	if got := ids(docs); got != "a" || len(report.Ignored) != 2 {
		t.Errorf("got ids %s and %v ignored, want a and two", got, report.Ignored)
	}
	put(t, dir, "corpus.jsonl", lineB)
	_, err := Open([]string{dir}, Options{})
	wantError(t, err, "both corpus.jsonl and corpus.jsonl.gz", "name the one")
}

func TestFoldersOfOneKind(t *testing.T) {
	for name, c := range map[string]struct{ file, content string }{
		"TSV": {"a.tsv", "a\tx\n"}, "JSON": {"a.json", lineA}, "TREC": {"a.txt", "<DOC><DOCNO>a</DOCNO>x</DOC>"}, "JSON lines without extension": {"part-0", lineA},
	} {
		dir := t.TempDir()
		put(t, dir, c.file, c.content)
		docs, _ := mustRead(t, Options{}, dir)
		if got := ids(docs); got != "a" {
			t.Errorf("%s: got ids %q, want a", name, got)
		}
	}
}

func TestSymbolicLinks(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	put(t, dir, "a/real.txt", "real")
	blob := put(t, other, "blob", "linked")
	for link, target := range map[string]string{"a/loop": "..", "a/self": "self", "link.txt": blob, "gone.txt": "nothing"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	docs, report := mustRead(t, Options{}, dir)
	diff(t, "documents", docs, []Document{{DocID: "a/real.txt", Text: "real"}, {DocID: "link.txt", Text: "linked"}})
	if len(report.Ignored) != 3 {
		t.Errorf("ignored: got %v, want three", report.Ignored)
	}
	link := filepath.Join(other, "source")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	docs, _ = mustRead(t, Options{}, link)
	if got := ids(docs); got != "a/real.txt link.txt" {
		t.Errorf("a source that is a link: got ids %s", got)
	}
}

func TestFileNamesThatAreNoIDs(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a\xff.txt"), []byte("x"), 0o644); err != nil {
		t.Skip(err)
	}
	put(t, dir, "line\nbreak.txt", "y")
	_, _, err := all(Options{}, dir)
	wantError(t, err, `a\xff.txt"`, "not valid UTF-8")
	docs, report := mustRead(t, Options{OnBad: SkipBad}, dir)
	if got := ids(docs); got != "line\nbreak.txt" || report.Bad != 1 {
		t.Errorf("got ids %q and %d bad", got, report.Bad)
	}
}

func TestRecordsBeyondTheBound(t *testing.T) {
	long := `{"id":"long","text":"` + strings.Repeat("x", 200) + `"}` + "\n"
	opts := Options{OnBad: SkipBad, MaxRecordBytes: 100}
	for name, content := range map[string]string{
		"a.jsonl": lineA + long + lineB, "last.jsonl": lineA + lineB + strings.TrimSpace(long), "a.tsv": "a\tx\n" + "c\t" + strings.Repeat("x", 200) + "\nb\ty\n",
		"huge.jsonl": lineA + `{"id":"huge","text":"` + strings.Repeat("x", 3*nextChunk) + `"}` + "\n" + lineB,
	} {
		docs, report := mustRead(t, opts, file(t, name, content))
		if got := ids(docs); got != "a b" || report.Bad != 1 {
			t.Errorf("%s: got ids %s and %d bad, want a b and 1", name, got, report.Bad)
		}
	}
	_, _, err := all(Options{MaxRecordBytes: 100}, file(t, "a.jsonl", lineA+long))
	wantError(t, err, "a.jsonl:2", "longer than 100 bytes", "raise the bound")
	for _, name := range []string{"a.json", "a.trec", "a.txt"} {
		content := map[string]string{"a.json": "[" + long + "]", "a.trec": "<DOC><DOCNO>1</DOCNO>" + long + "</DOC>", "a.txt": long}[name]
		_, _, err := all(Options{MaxRecordBytes: 100}, file(t, name, content+strings.Repeat(" ", 2*nextChunk)))
		wantError(t, err, name, "longer than 100 bytes")
	}
}

// TestLongLine reads a line of 200 MB from compressed data: the memory is bounded by the
// record, not by the bound.
func TestLongLine(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("needs half a gigabyte of memory, and several under the race detector")
	}
	const size = 200 << 20
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, lineA+`{"id":"long","text":"`)
		chunk := strings.Repeat("x", 1<<20)
		for range size >> 20 {
			_, _ = io.WriteString(w, chunk)
		}
		_, _ = io.WriteString(w, `"}`+"\n"+lineB)
		_ = w.Close()
	}()
	l := &jsonLines{c: newCutter(r, DefaultMaxRecordBytes), notes: &notes{}}
	for _, want := range []int{1, size, 1} {
		rec, err := l.next()
		if err != nil {
			t.Fatal(err)
		}
		rec.src = newTestSource(jsonDecoder{defaultTable(t)}, Options{})
		doc, err := rec.Document()
		if err != nil || len(doc.Text) != want {
			t.Fatalf("got %d bytes, %v; want %d", len(doc.Text), err, want)
		}
	}
}

func TestFromDocuments(t *testing.T) {
	docs := []Document{{DocID: "a", Text: "x\r\ny\x00"}, {DocID: "b"}}
	r := FromDocuments(docs)
	defer r.Close()
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	got, err := rec.Document()
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "document", got, Document{DocID: "a", Text: "x\ny "})
	if got := rec.Location().String(); got != "memory:1" {
		t.Errorf("location: got %s, want memory:1", got)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("at the end: got %v, want io.EOF", err)
	}
	if _, err := FromDocuments(nil).Next(); err != io.EOF {
		t.Errorf("no documents: got %v, want io.EOF", err)
	}
	rec, _ = FromDocuments([]Document{{Text: "x"}}).Next()
	_, err = rec.Document()
	wantError(t, err, "memory:1", "docid")
}

func TestFromSequence(t *testing.T) {
	broken, closed := errors.New("shard 3 is damaged"), false
	docs := func(yield func(Document, error) bool) {
		defer func() { closed = true }()
		_ = yield(Document{DocID: "a", Text: "x"}, nil) && yield(Document{}, broken)
	}
	r := FromSequence("shards", docs)
	if rec, err := r.Next(); err != nil || rec.Location().String() != "shards:1" || rec.Size() != 1 {
		t.Errorf("first: got %v, %v", rec, err)
	}
	if _, err := r.Next(); !errors.Is(err, broken) {
		t.Errorf("second: got %v, want %v", err, broken)
	}
	if !closed {
		t.Error("the sequence was not ended")
	}
	closed = false
	r = FromSequence("shards", docs)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil || !closed {
		t.Errorf("close: got %v, sequence ended %v", err, closed)
	}
}

func TestReportIsTheSameWhateverTheOrderOfDecoding(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, `{"id":"%d","text":"a\u0000b","lang":"en"}`+"\n", i)
		fmt.Fprintf(&b, `{"id":"","text":"x"}`+"\n")
	}
	path := file(t, "a.jsonl", b.String())
	read := func(workers int) Report {
		r, err := Open([]string{path}, Options{OnBad: SkipBad})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		records := make(chan Record, 64)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for rec := range records {
					if _, err := rec.Document(); err != nil && !errors.Is(err, ErrSkipped) {
						t.Error(err)
					}
				}
			})
		}
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			records <- rec
		}
		close(records)
		wg.Wait()
		return r.Report()
	}
	want := read(1)
	got := read(8)
	if want.Bad != 500 || len(want.Errors) != maxErrors || want.Notes[0].First.Line != 1 {
		t.Errorf("report: %+v", want)
	}
	diff(t, "notes", got.Notes, want.Notes)
	diff(t, "errors", fmt.Sprint(got.Errors), fmt.Sprint(want.Errors))
}

func TestManyUnusedKeysAreCountedTogether(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `{"id":"%d","text":"x","key%d":1}`+"\n", i, i)
	}
	_, report := mustRead(t, Options{}, file(t, "a.jsonl", b.String()))
	if got := noted(report, "further keys"); got != 100-maxUnused {
		t.Errorf("further keys: got %d, want %d", got, 100-maxUnused)
	}
	if got, want := report.Notes[0].String(), "36 records with further keys, not used, first at "; !strings.HasPrefix(got, want) {
		t.Errorf("note: got %q, want %q…", got, want)
	}
}
