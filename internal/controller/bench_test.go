package controller_test

import (
	"context"
	"encoding/json"
	"testing"

	"goserini/internal/bm25"
	"goserini/internal/controller"
	"goserini/internal/corpus"
	"goserini/internal/index"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/local"
	"goserini/internal/synth"
)

// fixed ranks the same documents whatever the query.
type fixed struct {
	*local.Retriever
	ranking retrieval.Ranking
}

func (f fixed) Search(context.Context, retrieval.SearchRequest) (retrieval.Ranking, error) {
	return f.ranking, nil
}

// BenchmarkNavigatorPage makes a page of ten documents of about 32 KB for a search that is
// made already. More documents take turns than the index keeps decoded.
func BenchmarkNavigatorPage(b *testing.B) {
	const hits, low, high = 10, 24 << 10, 48 << 10
	c := synth.Corpus{Shape: synth.Long, Documents: 800}
	docs := make([]corpus.Document, c.Documents)
	for i := range docs {
		d := c.Document(i)
		docs[i] = corpus.Document{DocID: d.ID, Title: d.Title, Text: d.Text}
	}
	dir := b.TempDir()
	if _, err := index.Build(b.Context(), dir, corpus.FromDocuments(docs), index.BuildOptions{}); err != nil {
		b.Fatal(err)
	}
	ix, err := index.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer ix.Close()
	queries, err := c.Queries(synth.Medium, 30)
	if err != nil {
		b.Fatal(err)
	}
	options, err := controller.Profile("navigator")
	if err != nil {
		b.Fatal(err)
	}
	options.FirstPage = hits
	r := local.New(ix, bm25.Anserini)
	pages := make([]fixed, len(queries))
	calls := make([][]byte, len(queries))
	for i, q := range queries {
		found, err := r.Search(b.Context(), retrieval.SearchRequest{Query: q.Text, Depth: c.Documents})
		if err != nil {
			b.Fatal(err)
		}
		pages[i].Retriever = r
		for _, hit := range found {
			ord, _ := ix.Lookup(hit.DocID)
			meta, err := ix.Meta(ord)
			if err != nil {
				b.Fatal(err)
			}
			if low <= meta.Bytes && meta.Bytes <= high && len(pages[i].ranking) < hits {
				pages[i].ranking = append(pages[i].ranking, hit)
			}
		}
		if len(pages[i].ranking) < hits {
			b.Fatalf("query %d finds %d documents of that size", i, len(pages[i].ranking))
		}
		if calls[i], err = json.Marshal(map[string]string{"reason": "to measure", "query": q.Text}); err != nil {
			b.Fatal(err)
		}
	}
	for i := 0; b.Loop(); i++ {
		p := i % len(pages)
		b.StopTimer()
		search := controller.New(pages[p], options).Tools()[0]
		b.StartTimer()
		if result, err := search.Begin(calls[p])(b.Context()); err != nil || result.IsError {
			b.Fatal(err, result.Text)
		}
	}
}
