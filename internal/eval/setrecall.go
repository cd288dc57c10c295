package eval

// SetRecall is the share of relevant documents in an unordered set of documents, over a set
// of queries.
//
// Per query: |set ∩ relevant| / |relevant|.
//
//   - macro: the mean over every query of the set. A query that was not run, and a query
//     without relevant documents, counts 0.
//   - macro over judged: the mean over the queries that have relevant documents. This is the
//     official "Recall" of BrowseComp-Plus.
//   - micro: all relevant documents pooled, Σ|set ∩ relevant| / Σ|relevant|.
type SetRecall struct {
	Macro           *Mean `json:"macro"`
	MacroOverJudged *Mean `json:"macro_over_judged"`
	Micro           *Mean `json:"micro"`
	// Hits are the relevant documents found, over all queries.
	Hits int `json:"hits"`
}

// Relevant returns the documents of one query with a grade of at least level.
func Relevant(grades map[string]int, level int) map[string]bool {
	out := make(map[string]bool)
	for id, grade := range grades {
		if grade >= level {
			out[id] = true
		}
	}
	return out
}

// Hits counts the distinct documents of a set that are relevant.
func Hits(set []string, relevant map[string]bool) int {
	seen := make(map[string]bool, len(set))
	hits := 0
	for _, id := range set {
		if relevant[id] && !seen[id] {
			seen[id] = true
			hits++
		}
	}
	return hits
}

// relevantCounts are the denominators that the recalls of all kinds of sets share.
type relevantCounts struct {
	// documents counts relevant documents by query, judged is 1 where there are any.
	documents, judged []float64
}

func newRelevantCounts(relevant []int) relevantCounts {
	r := relevantCounts{documents: make([]float64, len(relevant)), judged: make([]float64, len(relevant))}
	for i, n := range relevant {
		r.documents[i], r.judged[i] = float64(n), indicator(n > 0)
	}
	return r
}

// setRecall adds the recalls of one kind of set, given its hits by query.
func (m *means) setRecall(hits []int, r relevantCounts) SetRecall {
	found, share := make([]float64, m.n), make([]float64, m.n)
	total := 0
	for i, n := range hits {
		found[i] = float64(n)
		if n > 0 {
			share[i] = found[i] / r.documents[i]
		}
		total += n
	}
	return SetRecall{Macro: m.mean(share), MacroOverJudged: m.ratio(share, r.judged), Micro: m.ratio(found, r.documents), Hits: total}
}
