package corpus

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestTSV(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []Document
	}{
		{"two columns", "1\tx y\n2\t\"half quoted\n", []Document{{DocID: "1", Text: "x y"}, {DocID: "2", Text: `"half quoted`}}},
		{"a text keeps its inner tabs", "1\tx\n2\tx\ty\n", []Document{{DocID: "1", Text: "x"}, {DocID: "2", Text: "x\ty"}}},
		{"three columns", "1\tt\tx\n2\t\ty\tz\n", []Document{{DocID: "1", Title: "t", Text: "x"}, {DocID: "2", Text: "y\tz"}}},
		{"a header names the columns", "id\ttext\ttitle\n1\tx\tt\n", []Document{{DocID: "1", Title: "t", Text: "x"}}},
		{"a header with a column that is not known", "docid\tlang\ttext\n1\ten\tx\n", []Document{{DocID: "1", Text: "x"}}},
		{"mark, blank lines, CRLF, no end of the last line", "\xef\xbb\xbf\r\n1\tx\r\n\r\n2\ty", []Document{{DocID: "1", Text: "x"}, {DocID: "2", Text: "y"}}},
		{"backslashes are characters", `1` + "\t" + `C:\new\t` + "\n", []Document{{DocID: "1", Text: `C:\new\t`}}},
		{"an empty text", "1\t\n", []Document{{DocID: "1"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			docs, _ := mustRead(t, Options{}, file(t, "a.tsv", c.in))
			diff(t, "documents", docs, c.want)
		})
	}
}

func TestTSVErrors(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no tab at all", "hello\n", "a.tsv:1: 1 columns in the first line; expected docid, tab, text"},
		{"too many columns", "1\t2\t3\t4\n", "a.tsv:1: 4 columns in the first line"},
		{"a line without tab", "1\tx\n\n2\n", "a.tsv:3: 1 columns, expected 2"},
		{"an empty id on the first line", "\tx\n", "a.tsv:1: field \"docid\": the id is empty"},
		{"an empty id later", "1\tx\n\ty\n", "a.tsv:2: field \"docid\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := all(Options{}, file(t, "a.tsv", c.in))
			wantError(t, err, c.want)
		})
	}
}

func FuzzTSV(f *testing.F) {
	for _, s := range []string{"1\tx\n2\ty\tz\n", "id\ttitle\ttext\n1\tt\tx\n", "\xef\xbb\xbf1\tx\r\n\n", "a", "\t\t\t", "1\t\xff\x00"} {
		f.Add(s)
	}
	fuzzFormat(f, kindTSV)
}

// fuzzFormat reads foreign bytes as a file of a kind and checks what every document
// promises.
func fuzzFormat(f *testing.F, k kind) {
	table := defaultTable(f)
	f.Fuzz(func(t *testing.T, content string) {
		r := &Reader{opts: Options{OnBad: SkipBad, MaxRecordBytes: 1 << 20}, fields: table, mayBeEmpty: true}
		s := &stream{}
		if err := s.decompress(strings.NewReader(content)); err != nil {
			return
		}
		defer r.Close()
		if err := r.begin(input{path: "f", docid: "f", kind: k}, s); err != nil {
			return
		}
		for {
			rec, err := r.Next()
			if err != nil {
				if err != io.EOF && !errors.Is(err, errDamaged) {
					t.Fatalf("got error %v under the policy that skips", err)
				}
				return
			}
			if doc, err := rec.Document(); err == nil {
				checkDocument(t, doc)
			} else if !errors.Is(err, ErrSkipped) {
				t.Fatalf("got error %v under the policy that skips", err)
			}
		}
	})
}
