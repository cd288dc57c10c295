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
			excerpts[i], err = r.earliest(ord, m, query)
		}
		if err != nil {
			return nil, fmt.Errorf("local excerpt of %q: %w", id, err)
		}
		excerpts[i].Title = m.Title
	}
	return excerpts, nil
}

// firstRead is how many bytes of a document are read first; each further read doubles
// what there is.
const firstRead = 16 << 10

// excerptBytes is more than an excerpt takes, its trimmed ends included.
const excerptBytes = 2 * utf8.UTFMax * retrieval.EarliestLength

// earliest makes the excerpt of one document.
func (r *Retriever) earliest(ord index.Ordinal, m index.Meta, query string) (retrieval.Excerpt, error) {
	head, searched, anchor := "", 0, -1
	for {
		part, err := r.ix.Slice(ord, int64(len(head)), max(int64(len(head)), firstRead/2)*2)
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
			return retrieval.EarliestExcerpt(query, head, retrieval.EarliestLength), nil
		case anchor < 0 || len(head)-anchor < excerptBytes:
			continue
		}
		// The part behind the excerpt shows only in the dots that stand for it.
		e := retrieval.EarliestExcerpt(query, head, retrieval.EarliestLength)
		if strings.HasSuffix(e.Text, "...") {
			return e, nil
		}
	}
}
