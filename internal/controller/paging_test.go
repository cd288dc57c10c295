package controller_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"goserini/internal/controller"
	"goserini/internal/retrieval/retrievaltest"
	"goserini/internal/sharedtest"
	"goserini/internal/tool"
)

// readAll follows the next positions of a document from its beginning and returns the
// text put together from the numbered lines.
func readAll(t rapid.TB, c *controller.Controller, o controller.Options, docid string, limit int) string {
	t.Helper()
	offset, column := 1, 1
	var doc strings.Builder
	for page := 0; offset != 0; page++ {
		if page > 100_000 {
			t.Fatal("the pages do not end")
		}
		args, err := json.Marshal(map[string]any{"docid": docid, "offset": offset, "column": column, "limit": limit})
		if err != nil {
			t.Fatal(err)
		}
		result := mustCall(t, c, controller.ReadTool, string(args))
		d := result.Details.(controller.ReadDetails)
		if !utf8.ValidString(result.Text) {
			t.Fatalf("page at %d:%d is not valid UTF-8", offset, column)
		}
		if o.PageBytes >= 600 && (len(result.Text) > o.PageBytes || strings.Count(result.Text, "\n")+1 > max(o.PageLines, 12)) {
			t.Fatalf("page at %d:%d has %d bytes and %d lines", offset, column, len(result.Text), strings.Count(result.Text, "\n")+1)
		}
		for _, line := range numberedLines(t, result.Text) {
			if line.column == 1 && line.number > 1 {
				doc.WriteByte('\n')
			}
			doc.WriteString(line.text)
		}
		nextColumn := max(d.NextColumn, 1)
		if d.NextOffset != 0 && (d.NextOffset < offset || d.NextOffset == offset && nextColumn <= column) {
			t.Fatalf("next position %d:%d does not grow beyond %d:%d", d.NextOffset, nextColumn, offset, column)
		}
		offset, column = d.NextOffset, nextColumn
	}
	return doc.String()
}

type numberedLine struct {
	number, column int
	text           string
}

// numberedLines parses the body of a document page as docs/tools.md describes it.
func numberedLines(t rapid.TB, page string) []numberedLine {
	t.Helper()
	_, body, _ := strings.Cut(page, "\n\n")
	var lines []numberedLine
	for _, l := range strings.Split(body, "\n") {
		gutter, text, ok := strings.Cut(l, "\t")
		number, column, split := strings.Cut(gutter, ":")
		n, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue
		}
		col := 1
		if split {
			if col, err = strconv.Atoi(column); err != nil {
				t.Fatalf("bad gutter %q", gutter)
			}
		}
		lines = append(lines, numberedLine{n, col, text})
	}
	return lines
}

func mustCall(t rapid.TB, c *controller.Controller, name, args string) tool.Result {
	t.Helper()
	for _, tl := range c.Tools() {
		if tl.Name != name {
			continue
		}
		result, err := tl.Begin(json.RawMessage(args))(context.Background())
		if err != nil {
			t.Fatalf("%s(%s): %v", name, args, err)
		}
		if result.IsError {
			t.Fatalf("%s(%s): %s", name, args, result.Text)
		}
		return result
	}
	t.Fatalf("no tool named %s", name)
	return tool.Result{}
}

func TestPagesOfADocumentJoinedAreTheDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alphabet := []rune("ab \t1:灯🐻e\u0301\u2028\u00a0")
		line := rapid.StringOfN(rapid.SampledFrom(alphabet), 0, 200, -1)
		lines := rapid.SliceOfN(line, 1, 30).Draw(t, "lines")
		if rapid.Bool().Draw(t, "long line") {
			lines = append(lines, strings.Repeat(lines[0]+"x", 30), "after")
		}
		want := strings.Join(lines, "\n")
		o := controller.Options{
			PageBytes: rapid.OneOf(rapid.IntRange(1, 60), rapid.IntRange(600, 2000)).Draw(t, "page bytes"),
			PageLines: rapid.IntRange(1, 40).Draw(t, "page lines"),
		}
		c := controller.New(retrievaltest.NewMemory(retrievaltest.Document{DocID: "d", Text: want}), o)
		if got := readAll(t, c, o, "d", rapid.IntRange(1, 40).Draw(t, "limit")); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestPagesOfARankingJoinedAreTheRanking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "documents")
		docs := make([]retrievaltest.Document, n)
		var want []string
		for i := range docs {
			docs[i] = retrievaltest.Document{DocID: fmt.Sprintf("d%03d", i), Title: strings.Repeat("t", i), Text: "zinc onyx"}
			want = append(want, docs[i].DocID)
		}
		o := controller.Options{
			PageBytes: rapid.OneOf(rapid.IntRange(1, 60), rapid.IntRange(900, 3000)).Draw(t, "page bytes"),
			PageLines: rapid.IntRange(1, 60).Draw(t, "page lines"),
		}
		c := controller.New(retrievaltest.NewMemory(docs...), o)
		result := mustCall(t, c, controller.SearchTool, `{"query":"zinc"}`)
		var got []string
		for {
			d := result.Details.(controller.RankingDetails)
			if o.PageBytes >= 900 && len(result.Text) > o.PageBytes {
				t.Fatalf("page of %d bytes", len(result.Text))
			}
			if shown := strings.Count(result.Text, " docid="); shown != len(result.Access.Previewed) {
				t.Fatalf("%d hits shown, %d previewed:\n%s", shown, len(result.Access.Previewed), result.Text)
			}
			got = append(got, result.Access.Previewed...)
			if d.NextOffset == 0 {
				break
			}
			limit := rapid.IntRange(1, 30).Draw(t, "limit")
			result = mustCall(t, c, controller.BrowseTool, fmt.Sprintf(`{"search_id":"s1","offset":%d,"limit":%d}`, d.NextOffset, limit))
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestCharactersAreNeverCutAtAnyPageSize(t *testing.T) {
	for _, doc := range readCorpus(t, sharedtest.Path(t, "cases", "COR-29", "wide.jsonl")) {
		for size := 1; size <= 40; size++ {
			o := controller.Options{PageBytes: size}
			c := controller.New(retrievaltest.NewMemory(doc), o)
			if got := readAll(t, c, o, doc.DocID, 200); got != doc.Text {
				t.Errorf("%s at page size %d: got %q, want %q", doc.DocID, size, got, doc.Text)
			}
		}
	}
}

func TestTiedHitsPageWithoutRepeatOrGap(t *testing.T) {
	docs := readCorpus(t, sharedtest.Path(t, "cases", "QRY-13", "tied.jsonl"))
	c := controller.New(retrievaltest.NewMemory(docs...), controller.Options{})
	mustCall(t, c, controller.SearchTool, `{"query":"zinc"}`)
	seen := map[string]bool{}
	for _, offset := range []int{1, 6, 11, 16, 21} {
		result := mustCall(t, c, controller.BrowseTool, fmt.Sprintf(`{"search_id":"s1","offset":%d,"limit":5}`, offset))
		for _, id := range result.Access.Previewed {
			if seen[id] {
				t.Errorf("%s is on two pages", id)
			}
			seen[id] = true
		}
	}
	if len(seen) != len(docs) {
		t.Errorf("got %d documents, want %d", len(seen), len(docs))
	}
	for _, tt := range []struct{ args, want string }{
		{`{"search_id":"s1","offset":24}`, "ranks 0-0 of 23"},
		{`{"search_id":"s1","offset":1000}`, "the ranking ends at rank 23"},
		{`{"search_id":"s1","offset":0}`, "Note: offset=0 was taken as 1."},
		{`{"search_id":"s1","offset":-3}`, "Note: offset=-3 was taken as 1."},
		{`{"search_id":"s1","limit":0}`, "Note: limit=0 was taken as 1."},
		{`{"search_id":"s1","limit":-1}`, "Note: limit=-1 was taken as 1."},
	} {
		if got := mustCall(t, c, controller.BrowseTool, tt.args).Text; !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want it to contain %q", tt.args, got, tt.want)
		}
	}
}

// readCorpus reads a file of {"id","contents"} lines.
func readCorpus(t testing.TB, path string) []retrievaltest.Document {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var docs []retrievaltest.Document
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		var d struct{ ID, Contents string }
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		docs = append(docs, retrievaltest.Document{DocID: d.ID, Text: d.Contents})
	}
	return docs
}
