package index

import (
	"context"
	"testing"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
)

func TestSearchFindsAndReads(t *testing.T) {
	dir := t.TempDir()
	docs := []corpus.Document{{DocID: "q1", Text: "zinc onyx zinc krill"}, {DocID: "q2", Title: "Zinc", Text: "quartz tulip\nbasil cobalt walnut"}}
	if _, err := Build(context.Background(), dir, corpus.FromDocuments(docs), BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	ix, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	r, err := ix.Search(context.Background(), Query{Text: "zinc", Params: bm25.Anserini, Depth: 10})
	if err != nil || len(r.Hits) != 2 || r.Hits[0].DocID != "q1" {
		t.Fatalf("got %+v, %v", r, err)
	}
	e, err := ix.Explain(Query{Text: "zinc", Params: bm25.Anserini}, r.Hits[1].Ordinal)
	if err != nil || e.Score != r.Hits[1].Score {
		t.Errorf("got %+v, %v, want score %v", e, err, r.Hits[1].Score)
	}
	lines, err := ix.Lines(1, 2, 1)
	if err != nil || len(lines) != 1 || lines[0] != "quartz tulip" {
		t.Errorf("got %q, %v", lines, err)
	}
}
