package controller_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/controller"
	"goserini/internal/retrieval/retrievaltest"
	"goserini/internal/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// call runs one call of the named tool.
func call(t testing.TB, c *controller.Controller, name, args string) tool.Result {
	t.Helper()
	result, err := begin(t, c, name, args)(context.Background())
	if err != nil {
		t.Fatalf("%s(%s): %v", name, args, err)
	}
	return result
}

func begin(t testing.TB, c *controller.Controller, name, args string) func(context.Context) (tool.Result, error) {
	t.Helper()
	for _, tl := range c.Tools() {
		if tl.Name == name {
			return tl.Begin(json.RawMessage(args))
		}
	}
	t.Fatalf("no tool named %s", name)
	return nil
}

// harbour is a small collection with everything a page has to show: titles and none,
// ties, markup, broken lines, strange docids, a long line, many lines.
func harbour() []retrievaltest.Document {
	docs := []retrievaltest.Document{
		{DocID: "light-1", Title: "The Orvane Light", Text: "The lighthouse at Orvane was lit in 1871.\nIts first keeper was Tamsin Hale, who kept the lighthouse for thirty years.\n\nShe left when the lamp was made electric."},
		{DocID: "light-2", Title: "Keepers of the coast", Text: strings.Repeat("Harbour dues and tide tables fill this page. ", 12) + "One keeper wrote a diary. " + strings.Repeat("More tide tables follow here. ", 12)},
		{DocID: "notes/2 (copy).txt", Text: "A keeper's note: if a<b && c>d then   light the lamp.\nSecond line."},
		{DocID: "broken\nid", Title: "Two\nlines of title", Text: "This keeper has a docid that holds a line break.\u2028And a separator."},
		{DocID: "empty", Text: ""},
		{DocID: "long-line", Title: "Register", Text: strings.Repeat("keeper entry å ", 5000) + "\nlast line"},
		{DocID: "many", Text: manyLines(450)},
	}
	for i := range 8 {
		docs = append(docs, retrievaltest.Document{DocID: fmt.Sprintf("tie-%d", i), Text: "one keeper among equals"})
	}
	return docs
}

func manyLines(n int) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("entry %d of the register", i+1)
	}
	return strings.Join(lines, "\n")
}

func TestPaperPagesAreUnchanged(t *testing.T) {
	c := controller.New(retrievaltest.NewMemory(harbour()...), controller.Options{})
	for _, step := range []struct{ file, tool, args string }{
		{"search", "search", `{"reason":"first look","query":"lighthouse keeper"}`},
		{"browse", "read_search_results", `{"reason":"further down","search_id":"s1"}`},
		{"browse-end", "read_search_results", `{"reason":"the end","search_id":"s1","offset":12,"limit":20}`},
		{"browse-past-end", "read_search_results", `{"reason":"too far","search_id":"s1","offset":90}`},
		{"search-nothing", "search", `{"reason":"unknown word","query":"xylograph"}`},
		{"read", "read_document", `{"reason":"open","docid":"light-1"}`},
		{"read-odd-id", "read_document", `{"reason":"open","docid":"broken\nid"}`},
		{"read-chunk", "read_document", `{"reason":"middle","docid":"many","offset":201,"limit":3}`},
		{"read-past-end", "read_document", `{"reason":"too far","docid":"light-1","offset":99}`},
		{"read-unknown", "read_document", `{"reason":"guess","docid":"light-9"}`},
		{"notes", "read_search_results", `{"search_id":"s1","offset":"2.9","limit":-3,"colour":"red"}`},
	} {
		t.Run(step.file, func(t *testing.T) {
			golden(t, "paper-"+step.file, call(t, c, step.tool, step.args).Text)
		})
	}
}

func TestPaperToolDefinitionsAreUnchanged(t *testing.T) {
	c := controller.New(retrievaltest.NewMemory(), controller.Options{})
	var b strings.Builder
	for _, tl := range c.Tools() {
		if !json.Valid(tl.Schema) {
			t.Errorf("schema of %s is not JSON: %s", tl.Name, tl.Schema)
		}
		fmt.Fprintf(&b, "# %s\n\n%s\n\n%s\n\n", tl.Name, tl.Description, tl.Schema)
	}
	golden(t, "paper-tools", b.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("text differs from %s (-want +got); rewrite with -update if the change is meant:\n%s", path, diff)
	}
}
