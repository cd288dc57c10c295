package rpcserver

import (
	"context"
	"errors"
	"fmt"

	"goserini/internal/bm25"
	"goserini/internal/index"
)

// Index returns the collection of an open index, whose scores are those of params. Contents
// are what the index stores and searches: the title, where there is one, is their first line.
func Index(ix *index.Index, params bm25.Params) Collection {
	return &indexed{ix: ix, params: params}
}

type indexed struct {
	ix     *index.Index
	params bm25.Params
}

func (c *indexed) Search(ctx context.Context, query string, k int) ([]Scored, error) {
	found, err := c.ix.Search(ctx, index.Query{Text: query, Params: c.params, Depth: k})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	ranking := make([]Scored, len(found.Hits))
	for i, h := range found.Hits {
		ranking[i] = Scored{h.DocID, h.Score}
	}
	return ranking, nil
}

func (c *indexed) SearchLucene(ctx context.Context, query string, k int) ([]Scored, error) {
	q, err := parseLucene(query)
	if err != nil {
		return nil, fmt.Errorf("lucene query: %w", err)
	}
	scores, err := c.evaluate(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("lucene query: %w", err)
	}
	return c.best(scores, k), nil
}

func (c *indexed) Document(docid string) (Document, bool, error) {
	ord, ok := c.ix.Lookup(docid)
	if !ok {
		return Document{}, false, nil
	}
	contents, err := c.ix.Contents(ord)
	if err != nil {
		return Document{}, false, fmt.Errorf("read %q: %w", docid, err)
	}
	title, _, err := c.ix.Title(ord)
	if err != nil {
		return Document{}, false, fmt.Errorf("read %q: %w", docid, err)
	}
	return Document{Title: title, Contents: contents}, true, nil
}

var errTooDeep = errors.New("more than 100 parentheses inside each other")
