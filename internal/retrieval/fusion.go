package retrieval

import (
	"cmp"
	"slices"
)

// fusionConstant is k of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009).
const fusionConstant = 60

// Fuse merges rankings by reciprocal rank: a document scores the sum of 1/(60 + rank)
// over the rankings that hold it. Ties are ordered by docid. It also returns the rank
// that each of them gave a document, 0 for none.
//
// A hit is as in the first ranking that holds it, but for its passage, which is from the
// ranking that has the document first among those that say one; excerpts are dropped,
// since each was made for one of the rankings only.
func Fuse(rankings []Ranking, depth int) (Ranking, map[string][]int) {
	origins := map[string][]int{}
	scores := map[string]float64{}
	at := map[string]int{}
	passageRank := map[string]int{}
	var fused Ranking
	for q, ranking := range rankings {
		for i, hit := range ranking {
			rank := i + 1
			if origins[hit.DocID] == nil {
				origins[hit.DocID] = make([]int, len(rankings))
				at[hit.DocID] = len(fused)
				fused = append(fused, hit)
			}
			if best := passageRank[hit.DocID]; hit.Passage.Known() && (best == 0 || rank < best) {
				passageRank[hit.DocID] = rank
				fused[at[hit.DocID]].Passage = hit.Passage
			}
			origins[hit.DocID][q] = rank
			scores[hit.DocID] += 1 / float64(fusionConstant+rank)
		}
	}
	for i := range fused {
		fused[i].Score, fused[i].HasScore = float32(scores[fused[i].DocID]), true
		fused[i].Excerpt, fused[i].ExcerptTruncated = "", false
	}
	slices.SortFunc(fused, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(scores[b.DocID], scores[a.DocID]), cmp.Compare(a.DocID, b.DocID))
	})
	return fused[:min(depth, len(fused))], origins
}
