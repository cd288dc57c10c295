package httpserver

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strings"
	"time"

	"goserini/internal/retrieval"
	"goserini/internal/retrieval/httpjson"
)

// Bounds of a search. snippetDepth is the number of hits of an answer that carry a snippet,
// as the original has it: to make more would read hundreds of documents that nobody looks at.
const (
	maxLimit     = 10_000
	maxDepth     = 100_000
	snippetDepth = 50
)

// position is an offset or limit: any JSON number of at least 1, cut to a whole one.
func position(name string, n *float64, def, most int) (int, error) {
	switch {
	case n == nil:
		return def, nil
	case *n < 1:
		return 0, bad("%s must be at least 1", name)
	case *n > float64(most):
		return 0, bad("%s must be at most %d", name, most)
	}
	return int(*n), nil
}

func (s *Server) search(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	var body struct {
		Query  string   `json:"query"`
		Offset *float64 `json:"offset"`
		Limit  *float64 `json:"limit"`
	}
	err := decode(r, &body)
	if err == nil && strings.TrimSpace(body.Query) == "" {
		err = bad("query must be a string that is not empty")
	}
	if err == nil && body.Limit == nil {
		err = bad("limit is missing")
	}
	offset, limit := 0, 0
	if err == nil {
		offset, err = position("offset", body.Offset, 1, maxDepth)
	}
	if err == nil {
		limit, err = position("limit", body.Limit, 0, maxLimit)
	}
	if err == nil && offset-1+limit > maxDepth {
		err = bad("offset and limit reach beyond rank %d", maxDepth)
	}
	var resp httpjson.SearchResponse
	if err == nil {
		resp, err = s.searchPage(r.Context(), body.Query, offset, limit)
	}
	if err != nil {
		s.failWith(w, r, err)
		return
	}
	resp.Timing = timing(start)
	writeJSON(w, http.StatusOK, resp)
}

// searchPage ranks one hit more than it returns, to know whether there are more.
func (s *Server) searchPage(ctx context.Context, query string, offset, limit int) (httpjson.SearchResponse, error) {
	resp := httpjson.SearchResponse{Hits: []httpjson.Hit{}}
	ranking, err := s.config.Retriever.Search(ctx, retrieval.SearchRequest{Query: query, Depth: offset + limit})
	if err != nil {
		return resp, err
	}
	if len(ranking) < offset+limit {
		n := len(ranking)
		resp.TotalHits = &n
	}
	ranking = ranking[min(offset-1, len(ranking)):]
	if len(ranking) > limit {
		ranking, resp.HasMore, resp.NextOffset = ranking[:limit], true, offset+limit
	}
	if err := s.addSnippets(ctx, query, ranking[:min(snippetDepth, len(ranking))]); err != nil {
		return resp, err
	}
	for _, h := range ranking {
		hit := httpjson.Hit{DocID: h.DocID, Title: h.Title, Snippet: h.Excerpt, SnippetTruncated: h.ExcerptTruncated}
		if h.HasScore {
			score := float64(h.Score)
			hit.Score = &score
		}
		if h.URL != "" {
			hit.Metadata = &httpjson.Metadata{URL: h.URL}
		}
		resp.Hits = append(resp.Hits, hit)
	}
	return resp, nil
}

// addSnippets fills in excerpts that the ranking does not carry. Hits without are better
// than no hits.
func (s *Server) addSnippets(ctx context.Context, query string, ranking retrieval.Ranking) error {
	var missing []int
	var docids []string
	for i, h := range ranking {
		if h.Excerpt == "" {
			missing, docids = append(missing, i), append(docids, h.DocID)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	excerpts, err := s.excerpts(ctx, query, docids)
	switch {
	case errors.Is(err, retrieval.ErrUnavailable):
		s.config.Log("snippets: %v", err)
		return nil
	case err != nil:
		return err
	}
	for j, i := range missing {
		ranking[i].Excerpt, ranking[i].ExcerptTruncated = excerpts[j].Text, excerpts[j].Truncated
		if ranking[i].Title == "" {
			ranking[i].Title = excerpts[j].Title
		}
	}
	return nil
}

func (s *Server) excerpts(ctx context.Context, query string, docids []string) ([]retrieval.Excerpt, error) {
	if x, ok := s.config.Retriever.(retrieval.Excerpter); ok {
		made, err := x.Excerpts(ctx, query, docids)
		if err == nil && len(made) != len(docids) {
			err = errors.New("the retriever did not return one excerpt a document")
		}
		return made, err
	}
	made := make([]retrieval.Excerpt, len(docids))
	for i, id := range docids {
		title, contents, err := s.whole(ctx, id)
		switch {
		case errors.Is(err, retrieval.ErrNoDocument):
			continue
		case err != nil:
			return nil, err
		}
		made[i] = retrieval.EarliestExcerpt(query, contents, retrieval.EarliestLength)
		made[i].Title = title
	}
	return made, nil
}

// whole reads a whole document.
func (s *Server) whole(ctx context.Context, docid string) (title, contents string, err error) {
	chunk, err := s.config.Retriever.Read(ctx, retrieval.ReadRequest{DocID: docid, Offset: 1, Limit: math.MaxInt32})
	return chunk.Title, strings.Join(chunk.Lines, "\n"), err
}

// defaultLines is the number of lines of a read that asks for none.
const defaultLines = 200

func (s *Server) read(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	var body struct {
		DocID  string   `json:"docid"`
		Offset *float64 `json:"offset"`
		Limit  *float64 `json:"limit"`
	}
	err := decode(r, &body)
	if err == nil && body.DocID == "" {
		err = bad("docid must be a string that is not empty")
	}
	offset, limit := 0, 0
	if err == nil {
		offset, err = position("offset", body.Offset, 1, math.MaxInt32)
	}
	if err == nil {
		limit, err = position("limit", body.Limit, defaultLines, math.MaxInt32)
	}
	var resp httpjson.ReadResponse
	if err == nil {
		resp, err = s.readPage(r.Context(), body.DocID, offset, limit)
	}
	if err != nil {
		s.failWith(w, r, err)
		return
	}
	resp.Timing = timing(start)
	writeJSON(w, http.StatusOK, resp)
}

func (s *Server) readPage(ctx context.Context, docid string, offset, limit int) (httpjson.ReadResponse, error) {
	chunk, err := s.config.Retriever.Read(ctx, retrieval.ReadRequest{DocID: docid, Offset: offset, Limit: limit})
	switch {
	case errors.Is(err, retrieval.ErrNoDocument):
		return httpjson.ReadResponse{DocID: docid}, nil
	case err != nil:
		return httpjson.ReadResponse{}, err
	}
	text, truncated, total := strings.Join(chunk.Lines, "\n"), false, chunk.TotalLines
	resp := httpjson.ReadResponse{Found: true, DocID: docid, Title: chunk.Title, Text: &text, Offset: offset, Limit: limit, TotalUnits: &total, Truncated: &truncated}
	if n := len(chunk.Lines); n > 0 {
		resp.ReturnedStart, resp.ReturnedEnd = offset, offset+n-1
		if resp.ReturnedEnd < total {
			truncated, resp.NextOffset = true, resp.ReturnedEnd+1
		}
	}
	return resp, nil
}

func timing(start time.Time) *httpjson.Timing {
	return &httpjson.Timing{Request: float64(time.Since(start).Microseconds()) / 1000}
}
