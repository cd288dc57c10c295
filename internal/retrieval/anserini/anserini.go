// Package anserini is a retriever over the BM25 server of the original Pi-Serini, which
// wraps Anserini: one JSON object a line, over TCP or over the pipes of a process.
package anserini

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"goserini/internal/retrieval"
	"goserini/internal/retrieval/remote"
)

// transport carries one request to a server and its response back.
type transport interface {
	// exchange sends the request and returns the response of the same id.
	exchange(ctx context.Context, req request) (response, error)
	close() error
}

// Retriever asks one server. It is safe for concurrent use.
type Retriever struct {
	name      string
	transport transport
	policy    remote.Policy
}

var (
	_ retrieval.Retriever = (*Retriever)(nil)
	_ retrieval.Excerpter = (*Retriever)(nil)
)

// Close ends the connection, or the process that Start began.
func (r *Retriever) Close() error { return r.transport.close() }

// notFound is the excerpt with which the server marks a document it does not have.
const notFound = "[Document not found]"

// Ping asks whether the server is there.
func (r *Retriever) Ping(ctx context.Context) error {
	var data pingData
	if err := r.call(ctx, request{Type: "ping"}, &data); err != nil {
		return err
	}
	if !data.OK {
		return r.errorf("ping", errors.New("the server answers that it is not well"))
	}
	return nil
}

// Search implements [retrieval.Retriever]. The server rounds scores to three decimals and
// sends no titles.
func (r *Retriever) Search(ctx context.Context, req retrieval.SearchRequest) (retrieval.Ranking, error) {
	if strings.TrimSpace(req.Query) == "" {
		return nil, nil
	}
	if req.Depth < 1 {
		return nil, r.errorf("search", fmt.Errorf("depth=%d is out of range: it must be at least 1", req.Depth))
	}
	var data searchData
	err := r.call(ctx, request{Type: "search", Query: req.Query, QueryMode: "plain", K: req.Depth, RerankClues: &[]clue{}}, &data)
	if err != nil {
		return nil, err
	}
	ranking := make(retrieval.Ranking, 0, len(data.Results))
	seen := make(map[string]bool, len(data.Results))
	for i, h := range data.Results {
		if h.DocID == nil || *h.DocID == "" || h.Score == nil {
			return nil, r.errorf("search", fmt.Errorf("results[%d] of the response has no docid or no score", i))
		}
		if seen[*h.DocID] || len(ranking) == req.Depth {
			continue
		}
		seen[*h.DocID] = true
		ranking = append(ranking, retrieval.Hit{DocID: *h.DocID, Score: remote.Score(*h.Score), HasScore: true})
	}
	return ranking, nil
}

// Excerpts implements [retrieval.Excerpter].
func (r *Retriever) Excerpts(ctx context.Context, query string, docids []string) ([]retrieval.Excerpt, error) {
	out := make([]retrieval.Excerpt, len(docids))
	if len(docids) == 0 {
		return out, nil
	}
	plain := false
	req := request{Type: "render_search_results", DocIDs: docids, SnippetMaxChars: retrieval.EarliestLength, InlineHighlights: &plain}
	if q := strings.TrimSpace(query); q != "" {
		req.HighlightClues = []clue{{Text: q, Category: "any", Boost: 1}}
	}
	var data renderData
	if err := r.call(ctx, req, &data); err != nil {
		return nil, err
	}
	if len(data.Results) != len(docids) {
		return nil, r.errorf(req.Type, fmt.Errorf("the response has %d results for %d documents", len(data.Results), len(docids)))
	}
	for i, d := range data.Results {
		if d.Excerpt == nil || d.Truncated == nil {
			return nil, r.errorf(req.Type, fmt.Errorf("results[%d] of the response has no excerpt or no excerpt_truncated", i))
		}
		if d.Title == nil && *d.Excerpt == notFound && len(d.MatchedTerms) == 0 {
			continue
		}
		out[i] = retrieval.Excerpt{Text: *d.Excerpt, Truncated: *d.Truncated}
		if d.Title != nil {
			out[i].Title = *d.Title
		}
	}
	return out, nil
}

// Read implements [retrieval.Retriever]. Lines are the server's: it also breaks them at
// characters such as U+2028.
func (r *Retriever) Read(ctx context.Context, req retrieval.ReadRequest) (retrieval.Chunk, error) {
	if strings.TrimSpace(req.DocID) == "" {
		return retrieval.Chunk{}, r.errorf("read_document", fmt.Errorf("%q: %w", req.DocID, retrieval.ErrNoDocument))
	}
	if req.Offset < 1 || req.Limit < 1 {
		return retrieval.Chunk{}, r.errorf("read_document", fmt.Errorf("offset=%d limit=%d: both must be at least 1", req.Offset, req.Limit))
	}
	var data readData
	if err := r.call(ctx, request{Type: "read_document", DocID: req.DocID, Offset: req.Offset, Limit: req.Limit}, &data); err != nil {
		return retrieval.Chunk{}, err
	}
	switch {
	case data.Found == nil:
		return retrieval.Chunk{}, r.errorf("read_document", errors.New("the response does not say whether the document was found"))
	case !*data.Found:
		return retrieval.Chunk{}, r.errorf("read_document", fmt.Errorf("%q: %w", req.DocID, retrieval.ErrNoDocument))
	}
	chunk, err := data.chunk(req)
	if err != nil {
		return retrieval.Chunk{}, r.errorf("read_document", fmt.Errorf("%q: %w", req.DocID, err))
	}
	return chunk, nil
}

// chunk cuts the text into the lines that the server says it is.
func (d readData) chunk(req retrieval.ReadRequest) (retrieval.Chunk, error) {
	chunk := retrieval.Chunk{DocID: req.DocID, Offset: req.Offset}
	if d.TotalLines != nil {
		chunk.TotalLines = *d.TotalLines
	}
	if d.Start != nil && *d.Start == 0 || d.TotalLines != nil && req.Offset > *d.TotalLines {
		return chunk, nil
	}
	chunk.Lines = strings.Split(d.Text, "\n")
	if d.Start != nil && d.End != nil && (*d.Start != req.Offset || *d.End-*d.Start+1 != len(chunk.Lines)) {
		return chunk, fmt.Errorf("the response has %d lines from %d on and says that they are %d-%d", len(chunk.Lines), req.Offset, *d.Start, *d.End)
	}
	if len(chunk.Lines) > req.Limit {
		return chunk, fmt.Errorf("the response has %d lines, and %d were asked for", len(chunk.Lines), req.Limit)
	}
	last := req.Offset - 1 + len(chunk.Lines)
	if d.TotalLines == nil {
		chunk.TotalLines = last
		if d.Truncated {
			chunk.TotalLines++ // there are more, and nobody says how many
		}
	}
	if chunk.TotalLines < last {
		return chunk, fmt.Errorf("the response has line %d of %d", last, chunk.TotalLines)
	}
	return chunk, nil
}

// call makes a request, as often as the policy says, and decodes its data. What the server
// refuses is not tried again, but the caller may go on without: the server is alive.
func (r *Retriever) call(ctx context.Context, req request, into any) error {
	err := r.policy.Do(ctx, func(ctx context.Context) error {
		resp, err := r.transport.exchange(ctx, req)
		if err != nil {
			return err
		}
		if !resp.Success {
			return fmt.Errorf("%w: the server refuses: %s", retrieval.ErrUnavailable, remote.Excerpt([]byte(resp.refusal())))
		}
		return resp.payload(into)
	})
	if err != nil {
		return r.errorf(req.Type, err)
	}
	return nil
}

func (r *Retriever) errorf(operation string, err error) error {
	return fmt.Errorf("backend %s: %s: %w", r.name, operation, err)
}
