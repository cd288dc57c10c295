package local

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"goserini/internal/index"
	"goserini/internal/retrieval"
)

// Excerpts returns for each document what [retrieval.EarliestExcerpt] makes of its whole
// contents. It reads no further than the excerpt needs.
func (r *Retriever) Excerpts(ctx context.Context, query string, docids []string) ([]retrieval.Excerpt, error) {
	locator, err := r.ix.Locator(query)
	if err != nil {
		return nil, fmt.Errorf("local excerpts: %w", err)
	}
	excerpts := make([]retrieval.Excerpt, len(docids))
	for i, id := range docids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ord, ok := r.ix.Lookup(id)
		if !ok {
			continue
		}
		m, err := r.ix.Meta(ord)
		if err == nil {
			excerpts[i], err = r.earliest(ord, m, query, locator)
		}
		if err != nil {
			return nil, fmt.Errorf("local excerpt of %q: %w", id, err)
		}
		excerpts[i].Title = m.Title
	}
	return excerpts, nil
}

// leastRead is how many bytes of a document are read at least; each read after the first
// one doubles what there is.
const leastRead = 1 << 10

// excerptBytes is more than an excerpt takes, its trimmed ends included.
const excerptBytes = 2 * utf8.UTFMax * retrieval.EarliestLength

// earliest makes the excerpt of one document. It reads as far as the index says that a word
// of the query will have occurred, and on from there if none has: words are analyzed in the
// index, and not here.
func (r *Retriever) earliest(ord index.Ordinal, m index.Meta, query string, locator *index.Locator) (retrieval.Excerpt, error) {
	first, err := locator.First(ord)
	if err != nil {
		return retrieval.Excerpt{}, err
	}
	to := max(first+excerptBytes, leastRead)
	head, searched, anchor := "", 0, -1
	for ; ; to *= 2 {
		part, err := r.ix.Slice(ord, int64(len(head)), to)
		if err != nil {
			return retrieval.Excerpt{}, err
		}
		head += part
		whole := int64(len(head)) >= m.Bytes
		if anchor < 0 {
			// A word may begin in what was searched and end in what is new.
			from := max(searched-len(query)-utf8.UTFMax, 0)
			if anchor = retrieval.Anchor(query, head[from:]); anchor >= 0 {
				anchor += from
			}
			searched = len(head)
		}
		switch {
		case whole:
			return retrieval.ExcerptAt(head, anchor, retrieval.EarliestLength), nil
		case anchor < 0 || len(head)-anchor < excerptBytes:
			continue
		}
		// The part behind the excerpt shows only in the dots that stand for it.
		e := retrieval.ExcerptAt(head, anchor, retrieval.EarliestLength)
		if strings.HasSuffix(e.Text, "...") {
			return e, nil
		}
	}
}
