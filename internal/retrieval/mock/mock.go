// Package mock is a retriever over a handful of documents that a configuration file
// holds, for trying a set-up without an index. It ranks by how many words of the query
// occur in a document, be it inside other words.
package mock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"goserini/internal/retrieval"
)

// Document is a document of the configuration.
type Document struct {
	DocID   string `json:"docid"`
	Title   string `json:"title,omitempty"`
	Snippet string `json:"snippet,omitempty"`
	Text    string `json:"text"`
}

// Retriever ranks and reads the documents it was made from. It is safe for concurrent use.
type Retriever struct {
	docs []document
	at   map[string]int
}

type document struct {
	Document
	lines []string
	// haystack is what words are looked for in: title, snippet and text, lower-cased.
	haystack string
}

var _ retrieval.Retriever = (*Retriever)(nil)

// New returns a retriever over docs. A docid that is empty or stands twice is an error.
func New(docs []Document) (*Retriever, error) {
	r := &Retriever{at: make(map[string]int, len(docs))}
	for i, d := range docs {
		if d.DocID == "" {
			return nil, fmt.Errorf("mock: document %d has no docid", i+1)
		}
		if first, ok := r.at[d.DocID]; ok {
			return nil, fmt.Errorf("mock: documents %d and %d have the same docid %q", first+1, i+1, d.DocID)
		}
		r.at[d.DocID] = i
		parts := []string{strings.TrimSpace(d.Title), strings.TrimSpace(d.Snippet), strings.TrimSpace(d.Text)}
		r.docs = append(r.docs, document{
			Document: d,
			lines:    strings.Split(strings.ReplaceAll(d.Text, "\r\n", "\n"), "\n"),
			haystack: strings.ToLower(strings.Join(parts, "\n")),
		})
	}
	return r, nil
}

// Search implements [retrieval.Retriever]. The score is the number of blank-separated
// words of the query that occur in the document; a word that the query repeats counts
// each time.
func (r *Retriever) Search(ctx context.Context, req retrieval.SearchRequest) (retrieval.Ranking, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("mock search: %w", err)
	}
	if req.Depth < 1 {
		return nil, fmt.Errorf("mock search: depth=%d is out of range: it must be at least 1", req.Depth)
	}
	words := strings.Fields(strings.ToLower(req.Query))
	var ranking retrieval.Ranking
	for _, d := range r.docs {
		score := 0
		for _, w := range words {
			if strings.Contains(d.haystack, w) {
				score++
			}
		}
		if score > 0 {
			ranking = append(ranking, retrieval.Hit{DocID: d.DocID, Score: float32(score), HasScore: true, Title: d.Title, Excerpt: d.snippet()})
		}
	}
	slices.SortFunc(ranking, func(a, b retrieval.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.DocID, b.DocID))
	})
	return ranking[:min(req.Depth, len(ranking))], nil
}

func (d document) snippet() string {
	if d.Snippet != "" {
		return d.Snippet
	}
	return d.lines[0]
}

// Read implements [retrieval.Retriever].
func (r *Retriever) Read(ctx context.Context, req retrieval.ReadRequest) (retrieval.Chunk, error) {
	if err := ctx.Err(); err != nil {
		return retrieval.Chunk{}, fmt.Errorf("mock read: %w", err)
	}
	if req.Offset < 1 || req.Limit < 1 {
		return retrieval.Chunk{}, errors.New("mock read: offset and limit must be at least 1")
	}
	i, ok := r.at[req.DocID]
	if !ok {
		return retrieval.Chunk{}, fmt.Errorf("mock read %q: %w", req.DocID, retrieval.ErrNoDocument)
	}
	d := r.docs[i]
	from := min(req.Offset-1, len(d.lines))
	to := from + min(req.Limit, len(d.lines)-from)
	return retrieval.Chunk{DocID: d.DocID, Title: d.Title, Lines: slices.Clone(d.lines[from:to]), Offset: req.Offset, TotalLines: len(d.lines)}, nil
}
