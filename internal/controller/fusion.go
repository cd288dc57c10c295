package controller

import (
	"cmp"
	"slices"

	"goserini/internal/retrieval"
)

const (
	// maxQueries is the most that one search takes.
	maxQueries = 8
	// fusionConstant is k of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009).
	fusionConstant = 60
)

// fuse merges rankings by reciprocal rank: a document scores the sum of 1/(60 + rank)
// over the rankings that hold it. Ties are ordered by docid.
func fuse(rankings []retrieval.Ranking, depth int) (retrieval.Ranking, map[string][]int) {
	origins := map[string][]int{}
	scores := map[string]float64{}
	var fused retrieval.Ranking
	for q, ranking := range rankings {
		for i, hit := range ranking {
			if origins[hit.DocID] == nil {
				origins[hit.DocID] = make([]int, len(rankings))
				fused = append(fused, hit)
			}
			origins[hit.DocID][q] = i + 1
			scores[hit.DocID] += 1 / float64(fusionConstant+i+1)
		}
	}
	for i := range fused {
		fused[i].Score, fused[i].HasScore = float32(scores[fused[i].DocID]), true
		fused[i].Excerpt, fused[i].ExcerptTruncated = "", false // made for one of the queries only
	}
	slices.SortFunc(fused, func(a, b retrieval.Hit) int {
		return cmp.Or(cmp.Compare(scores[b.DocID], scores[a.DocID]), cmp.Compare(a.DocID, b.DocID))
	})
	return fused[:min(depth, len(fused))], origins
}
