// Package local answers queries from an index on this machine.
package local

import (
	"context"
	"fmt"

	"goserini/internal/bm25"
	"goserini/internal/index"
	"goserini/internal/retrieval"
)

// Retriever ranks and reads the documents of one index. It is safe for concurrent use.
type Retriever struct {
	ix     *index.Index
	params bm25.Params
}

var (
	_ retrieval.Retriever = (*Retriever)(nil)
	_ retrieval.Excerpter = (*Retriever)(nil)
)

// New returns a retriever over ix that scores with params. The caller keeps ix open
// as long as the retriever is used, and closes it.
func New(ix *index.Index, params bm25.Params) *Retriever { return &Retriever{ix: ix, params: params} }

// Search ranks the documents that hold any term of the query.
func (r *Retriever) Search(ctx context.Context, req retrieval.SearchRequest) (retrieval.Ranking, error) {
	found, err := r.ix.Search(ctx, index.Query{Text: req.Query, Params: r.params, Depth: req.Depth})
	if err != nil {
		return nil, fmt.Errorf("local search: %w", err)
	}
	ranking := make(retrieval.Ranking, len(found.Hits))
	for i, h := range found.Hits {
		m, err := r.ix.Meta(h.Ordinal)
		if err != nil {
			return nil, fmt.Errorf("local search: %w", err)
		}
		ranking[i] = retrieval.Hit{DocID: h.DocID, Score: h.Score, HasScore: true, Title: m.Title, URL: m.URL}
	}
	return ranking, nil
}

// Read returns lines of a document.
func (r *Retriever) Read(_ context.Context, req retrieval.ReadRequest) (retrieval.Chunk, error) {
	ord, ok := r.ix.Lookup(req.DocID)
	if !ok {
		return retrieval.Chunk{}, fmt.Errorf("local read %q: %w", req.DocID, retrieval.ErrNoDocument)
	}
	m, err := r.ix.Meta(ord)
	if err != nil {
		return retrieval.Chunk{}, fmt.Errorf("local read %q: %w", req.DocID, err)
	}
	lines, err := r.ix.Lines(ord, req.Offset, req.Limit)
	if err != nil {
		return retrieval.Chunk{}, fmt.Errorf("local read %q: %w", req.DocID, err)
	}
	return retrieval.Chunk{DocID: req.DocID, Title: m.Title, Lines: lines, Offset: req.Offset, TotalLines: m.Lines}, nil
}

// Excerpts returns the excerpt of each document around the earliest place where a word
// of the query occurs.
func (r *Retriever) Excerpts(ctx context.Context, query string, docids []string) ([]retrieval.Excerpt, error) {
	excerpts := make([]retrieval.Excerpt, len(docids))
	for i, id := range docids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ord, ok := r.ix.Lookup(id)
		if !ok {
			continue
		}
		contents, err := r.ix.Contents(ord)
		if err != nil {
			return nil, fmt.Errorf("local excerpt of %q: %w", id, err)
		}
		m, err := r.ix.Meta(ord)
		if err != nil {
			return nil, fmt.Errorf("local excerpt of %q: %w", id, err)
		}
		excerpts[i] = retrieval.EarliestExcerpt(query, contents, retrieval.EarliestLength)
		excerpts[i].Title = m.Title
	}
	return excerpts, nil
}
