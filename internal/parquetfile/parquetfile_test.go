package parquetfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

type doc struct {
	DocID string `parquet:"docid"`
	Text  string `parquet:"text"`
}

type question struct {
	ID    string  `parquet:"query_id"`
	Query *string `parquet:"query,optional"`
	Gold  []doc   `parquet:"gold_docs,list"`
	N     int64   `parquet:"n"`
}

// file writes rows in row groups of two, as long files have several.
func file[T any](t testing.TB, rows []T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	for i, row := range rows {
		if i > 0 && i%2 == 0 {
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Write([]T{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPlainAndListedColumnsStandSideBySide(t *testing.T) {
	text := "what"
	path := file(t, []question{
		{ID: "1", Query: &text, Gold: []doc{{"a", "x"}, {"b", "y"}}},
		{ID: "2"},
		{ID: "3", Query: &text, Gold: []doc{{"c", strings.Repeat("z", 1<<20)}}},
	})
	var got []string
	err := Read(path, []Column{{Name: "query_id"}, {Name: "query"}, {Name: "gold_docs.docid"}, {Name: "url", Optional: true}}, func(r Row) error {
		got = append(got, fmt.Sprint(r.Number, r.Text(0), r.Text(1), r.List(2), r.Text(3)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "11what[a b]|22[]|33what[c]"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("got %s, want %s", s, want)
	}
}

func TestManyRowsOverManyPages(t *testing.T) {
	rows := make([]doc, 500)
	for i := range rows {
		rows[i] = doc{DocID: fmt.Sprint(i), Text: strings.Repeat(fmt.Sprint(i), i%70)}
	}
	path, n := file(t, rows), 0
	for d, err := range Documents([]string{path, path}) {
		if err != nil {
			t.Fatal(err)
		}
		if want := rows[n%500]; d.DocID != want.DocID || d.Text != want.Text {
			t.Fatalf("document %d: got %q", n, d.DocID)
		}
		n++
	}
	if n != 1000 {
		t.Errorf("got %d documents, want 1000", n)
	}
	for range Documents([]string{path}) {
		break // a reader may stop early
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	path := file(t, []question{{ID: "1"}})
	for name, columns := range map[string][]Column{
		"there is no column docid: it has query_id, query": {{Name: "docid"}},
		"column n does not hold strings":                   {{Name: "n"}},
	} {
		if err := Read(path, columns, func(Row) error { return nil }); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
	}
	text := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(text, []byte("PAR1 is not enough"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, filepath.Join(t.TempDir(), "none.parquet")} {
		if err := Read(path, nil, func(Row) error { return nil }); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want an error that names %s", err, path)
		}
	}
	for _, err := range Documents([]string{path}) {
		if err == nil {
			t.Error("a file without documents was read")
		}
	}
}

func TestErrorOfTheCallbackComesBackAsItIs(t *testing.T) {
	mine := errors.New("mine")
	if err := Read(file(t, []doc{{"a", "b"}}), []Column{{Name: "docid"}}, func(Row) error { return mine }); err != mine {
		t.Errorf("got %v", err)
	}
}

// FuzzReadFrom feeds damaged files: an error or rows, never a panic.
func FuzzReadFrom(f *testing.F) {
	b, err := os.ReadFile(file(f, []question{{ID: "1", Gold: []doc{{"a", "b"}}}, {ID: "2"}, {ID: "3"}}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	for _, i := range []int{4, 40, len(b) / 2, len(b) - 9, len(b) - 5} {
		damaged := bytes.Clone(b)
		damaged[i] ^= 0xff
		f.Add(damaged)
	}
	f.Add(b[:len(b)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = ReadFrom(bytes.NewReader(b), int64(len(b)), "f", []Column{{Name: "query_id"}, {Name: "gold_docs.docid", Optional: true}}, func(Row) error { return nil })
	})
}
