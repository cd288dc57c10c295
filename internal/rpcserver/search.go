package rpcserver

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"goserini/internal/trec"
)

// defaultK is the number of results of a search that asks for none.
const defaultK = 5

// The modes of a search.
const (
	plain  = "plain"
	lucene = "lucene"
)

type searchData struct {
	Mode    string         `json:"mode"`
	Query   string         `json:"query"`
	Kind    string         `json:"query_mode"`
	K       int            `json:"k"`
	Clues   []clue         `json:"rerank_clues"`
	Results []searchResult `json:"results"`
	Timing  timing         `json:"timing_ms"`
}

type searchResult struct {
	DocID string `json:"docid"`
	Score double `json:"score"`
}

func (s *Server) search(ctx context.Context, p params, t func() timing) (any, error) {
	query, err := p.text("query", "search needs a non-empty string query")
	if err != nil {
		return nil, err
	}
	k, err := p.positive("k", defaultK, "search k must be a positive integer")
	if err != nil {
		return nil, err
	}
	clues, err := p.clues("rerank_clues")
	if err != nil {
		return nil, err
	}
	d := searchData{Mode: "search", Query: query, Kind: p.optionalText("query_mode", plain), K: k, Clues: clues}
	ranking, err := s.rank(ctx, d.Kind, query, k)
	if err != nil {
		return nil, err
	}
	d.Results = s.rerank(ranking, clues)
	d.Timing = t()
	return d, nil
}

func (s *Server) rank(ctx context.Context, mode, query string, k int) ([]Scored, error) {
	switch mode {
	case plain:
		return s.collection.Search(ctx, query, k)
	case lucene:
		return s.collection.SearchLucene(ctx, query, k)
	}
	return nil, errors.New("search query_mode must be 'plain' or 'lucene'")
}

// rerank adds what clues add, rounds, and orders by the rounded scores, ties as they were.
// Documents are looked at only where there are clues; one that cannot be read gets nothing
// added.
func (s *Server) rerank(ranking []Scored, clues []clue) []searchResult {
	scores := make([]float32, len(ranking))
	for i, h := range ranking {
		scores[i] = h.Score
	}
	trec.AdjustScores(scores)
	results := make([]searchResult, len(ranking))
	for i, h := range ranking {
		score := float64(scores[i])
		if len(clues) > 0 {
			if d, ok, err := s.collection.Document(h.DocID); err == nil && ok {
				score += bonus(clues, d.haystack())
			}
		}
		results[i] = searchResult{h.DocID, round3(score)}
	}
	slices.SortStableFunc(results, func(a, b searchResult) int { return cmp.Compare(b.Score, a.Score) })
	return results
}
