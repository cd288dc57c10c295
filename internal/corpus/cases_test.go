package corpus

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"goserini/internal/sharedtest"
)

func TestCOR01ByteOrderMarks(t *testing.T) {
	docs, report := mustRead(t, Options{}, sharedtest.Path(t, "cases", "COR-01", "bom.jsonl"))
	diff(t, "documents", docs, []Document{{DocID: "d1", Text: "marzipan pig"}, {DocID: "d2", Text: "copper kettle"}, {DocID: "d3", Text: "linen sail"}})
	if got := noted(report, "byte-order mark"); got != 1 {
		t.Errorf("marks inside the file noted: got %d, want 1", got)
	}
}

func TestCOR03NULSeparatesWords(t *testing.T) {
	docs, report := mustRead(t, Options{}, sharedtest.Path(t, "cases", "COR-03", "nul.jsonl"))
	diff(t, "documents", docs, []Document{
		{DocID: "d1", Text: "plain first"}, {DocID: "d2", Text: "walrus tusk harbour"},
		{DocID: "d3", Text: "heron nest marsh"}, {DocID: "d4", Text: "plain last"},
	})
	if got := noted(report, "NUL"); got != 2 {
		t.Errorf("records with NUL: got %d, want 2", got)
	}
	if got := noted(report, "control"); got != 1 {
		t.Errorf("records with raw control characters: got %d, want 1", got)
	}
}

func TestCOR09LocationsTellRepeatedIDsApart(t *testing.T) {
	path := sharedtest.Path(t, "cases", "COR-09", "dup.jsonl")
	r, err := Open([]string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	lines := map[string][]int{}
	for range 6 {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		doc, err := rec.Document()
		if err != nil {
			t.Fatal(err)
		}
		if got := rec.Location().File; got != path {
			t.Errorf("file: got %q, want %q", got, path)
		}
		lines[doc.DocID] = append(lines[doc.DocID], rec.Location().Line)
	}
	diff(t, "lines", lines, map[string][]int{"d1": {1}, "d2": {2, 4}, "d3": {3}, "d4": {5, 6}})
}

func TestCOR10IDsAreKeptByteForByte(t *testing.T) {
	docs, _ := mustRead(t, Options{}, sharedtest.Path(t, "cases", "COR-10", "ids.jsonl"))
	var got []string
	for _, d := range docs {
		got = append(got, d.DocID)
	}
	diff(t, "ids", got, []string{"a/b/c", "../up", "with space", "tab\there", `quo"te`, "naïve—id", "文書-1", "a%2Fb",
		strings.Repeat("x", 300), ".", "CON", "line\nbreak", "[12]"})
	_, _, err := all(Options{}, sharedtest.Path(t, "cases", "COR-10", "bad-empty-id.jsonl"))
	wantError(t, err, "bad-empty-id.jsonl:1", "docid", "empty")
}

func TestCOR11NumbersAsIDsKeepTheirDigits(t *testing.T) {
	docs, _ := mustRead(t, Options{}, sharedtest.Path(t, "cases", "COR-11", "numeric-ids.jsonl"))
	if got, want := ids(docs), "7 12345678901234567890 9007199254740993 0 1.50 1e3"; got != want {
		t.Errorf("ids: got %s, want %s", got, want)
	}
}

func TestCOR13OtherFieldNames(t *testing.T) {
	dir := sharedtest.Path(t, "cases", "COR-13")
	for name, want := range map[string]Document{
		"beir.jsonl":           {DocID: "x1", Title: "Glass works", Text: "furnace log"},
		"docid-body.jsonl":     {DocID: "x2", Text: "furnace log"},
		"json-in-string.jsonl": {DocID: "x5", Text: `{"head":"furnace"}`},
	} {
		docs, _ := mustRead(t, Options{}, filepath.Join(dir, name))
		diff(t, name, docs, []Document{want})
	}
	_, _, err := all(Options{}, filepath.Join(dir, "object.jsonl"))
	wantError(t, err, "object.jsonl:1:26", `"contents"`, "an object", "one string")
	_, _, err = all(Options{}, filepath.Join(dir, "array.jsonl"))
	wantError(t, err, "array.jsonl:1:26", `"contents"`, "an array")
}

func TestCOR17CompressionIsRecognisedByFirstBytes(t *testing.T) {
	dir := sharedtest.Path(t, "cases", "COR-17")
	for _, name := range []string{"frames.jsonl.zst", "docs.jsonl.bz2", "hidden.jsonl"} {
		docs, _ := mustRead(t, Options{}, filepath.Join(dir, name))
		if len(docs) != 3 {
			t.Errorf("%s: got %d documents, want 3", name, len(docs))
		}
	}
}

func TestCOR18IllegalEscapeIsReportedWithItsColumn(t *testing.T) {
	path := sharedtest.Path(t, "cases", "COR-18", "backslash.jsonl")
	_, _, err := all(Options{}, path)
	wantError(t, err, "backslash.jsonl:2:38", `\d is no escape`, `\\`)

	docs, report := mustRead(t, Options{OnBad: SkipBad}, path)
	diff(t, "documents", docs, []Document{{DocID: "w1", Text: "intro"}, {DocID: "w3", Text: `saved under C:\data\new\plans`}})
	if report.Bad != 1 || !report.Failed() {
		t.Errorf("bad records: got %d, failed %v", report.Bad, report.Failed())
	}
}

func TestCOR20ObjectsOverLinesAndArrays(t *testing.T) {
	dir := sharedtest.Path(t, "cases", "COR-20")
	for _, name := range []string{"pretty.jsonl", "array.json"} {
		docs, _ := mustRead(t, Options{}, filepath.Join(dir, name))
		diff(t, name, docs, []Document{{DocID: "p1", Text: "willow"}, {DocID: "p2", Text: "poplar"}})
	}
}

func TestCOR23JunkIsReadWhole(t *testing.T) {
	docs, _ := mustRead(t, Options{}, sharedtest.Path(t, "cases", "COR-23", "junk.jsonl"))
	for _, d := range docs[:2] {
		if !strings.Contains(strings.ToLower(d.Text), "orchard") {
			t.Errorf("%s lost its text", d.DocID)
		}
	}
}

func TestCOR29WideCharactersStayWhole(t *testing.T) {
	docs, report := mustRead(t, Options{}, sharedtest.Path(t, "cases", "COR-29", "wide.jsonl"))
	for _, d := range docs {
		if !utf8.ValidString(d.Text) || strings.ContainsRune(d.Text, utf8.RuneError) {
			t.Errorf("%s: not valid UTF-8 or replaced", d.DocID)
		}
	}
	if len(report.Notes) != 0 {
		t.Errorf("notes: got %v, want none", report.Notes)
	}
}

func TestCOR33FolderWithStrangers(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sh", sharedtest.Path(t, "cases", "COR-33", "gen.sh"))
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("gen.sh: %v: %s", err, out)
	}
	coll := filepath.Join(dir, "coll")
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(coll, "b", "locked.jsonl"), 0o644) })

	_, _, err := all(Options{}, coll)
	wantError(t, err, filepath.Join("b", "locked.jsonl"))

	docs, report := mustRead(t, Options{OnBad: SkipBad}, coll)
	if got := ids(docs); got != "f1 f2" {
		t.Errorf("ids: got %s, want f1 f2", got)
	}
	if len(report.Errors) != 1 || !strings.Contains(report.Errors[0].Error(), "locked.jsonl") {
		t.Errorf("errors: got %v, want one about locked.jsonl", report.Errors)
	}
	got := map[string]string{}
	for _, i := range report.Ignored {
		rel, _ := filepath.Rel(coll, i.Path)
		got[filepath.ToSlash(rel)] = i.Reason
	}
	diff(t, "ignored", got, map[string]string{
		".DS_Store": "hidden", "README.md": "the folder is read as jsonl, this file is files",
		"a/loop": "symbolic link to a folder", "empty.jsonl": "empty file",
	})
}

func TestCOR34ExactKeysWin(t *testing.T) {
	docs, report := mustRead(t, Options{}, sharedtest.Path(t, "cases", "COR-34", "keys.jsonl"))
	diff(t, "documents", docs, []Document{{DocID: "k1", Text: "amber"}, {DocID: "k2", Text: "jade"}, {DocID: "k3", Text: "second"}})
	for what, want := range map[string]int64{"given twice": 1, `"ID"`: 2, `"Contents"`: 1, `"CONTENTS"`: 1} {
		if got := noted(report, what); got != want {
			t.Errorf("records noted %s: got %d, want %d", what, got, want)
		}
	}
}

func TestCOR35MarkupStaysLiteral(t *testing.T) {
	docs, _ := mustRead(t, Options{}, sharedtest.Path(t, "cases", "COR-35", "markup.jsonl"))
	diff(t, "documents", docs, []Document{{DocID: "q1", Text: "if a<b && c>d then \u2028 next"}})
}

// TestCollections reads the real collections and compares the number of documents with
// what their table says.
func TestCollections(t *testing.T) {
	for name, want := range map[string]int{"adi": 82, "cacm": 3204, "scifact": 5183, "time": 423, "hotpotqa100": 994} {
		docs, report := mustRead(t, Options{}, sharedtest.Path(t, "data", name))
		if len(docs) != want {
			t.Errorf("%s: got %d documents, want %d", name, len(docs), want)
		}
		if len(report.Notes) != 0 {
			t.Logf("%s: %v", name, report.Notes)
		}
	}
}
