package tune

import (
	"context"

	"goserini/internal/bm25"
	"goserini/internal/index"
)

var _ Ranker = (*index.Index)(nil)

// Searches ranks by one search for each setting: slower than the index's own way, and what
// that is held against.
func Searches(ix *index.Index) Ranker { return searches{ix} }

type searches struct{ *index.Index }

func (s searches) GridRanks(ctx context.Context, text string, settings []bm25.Params, documents []index.Ordinal, depth int) ([][]int, error) {
	at := make(map[index.Ordinal]int, len(documents))
	for i, d := range documents {
		at[d] = i
	}
	all := make([][]int, len(settings))
	for i, params := range settings {
		ranking, err := s.Search(ctx, index.Query{Text: text, Params: params, Depth: depth})
		if err != nil {
			return nil, err
		}
		all[i] = make([]int, len(documents))
		for rank, hit := range ranking.Hits {
			if d, ok := at[hit.Ordinal]; ok {
				all[i][d] = rank + 1
			}
		}
	}
	return all, nil
}
