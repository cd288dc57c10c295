package eval

import "goserini/internal/trajectory"

// Citations measures what answers cite against the evidence documents.
//
// Per answer: precision = |cited ∩ relevant| / |cited|, recall = |cited ∩ relevant| /
// |relevant|, over distinct docids; a docid that was made up counts against precision.
// Precision and Recall are over every query (0 where nothing was cited); the forms
// "citing" are over the answers that cite something, as in the official evaluation.
type Citations struct {
	Precision       *Mean `json:"precision"`
	Recall          *Mean `json:"recall"`
	PrecisionCiting *Mean `json:"precision_citing"`
	RecallCiting    *Mean `json:"recall_citing"`
	// Coverage is the share of queries whose answer cites something.
	Coverage *Mean `json:"coverage"`
	QueryCitations
}

// QueryCitations counts the distinct docids cited, in one answer or in all.
type QueryCitations struct {
	Cited    int `json:"cited"`
	Relevant int `json:"cited_relevant"`
	// NeverOpened were cited without their text having been read; of these NeverShown were not
	// even seen as an excerpt, and of those NeverReturned were in no ranking.
	NeverOpened   int `json:"cited_never_opened"`
	NeverShown    int `json:"cited_never_shown"`
	NeverReturned int `json:"cited_never_returned"`
	// Unknown are not documents of the collection, where the collection was asked.
	Unknown int `json:"cited_unknown"`
}

func countCitations(sets trajectory.Sets, relevant map[string]bool, exists func(string) bool) QueryCitations {
	opened, shown, returned := asSet(sets.Opened), asSet(sets.Previewed), asSet(sets.Surfaced)
	var c QueryCitations
	for id := range asSet(sets.Cited) {
		c.Cited++
		if relevant[id] {
			c.Relevant++
		}
		if exists != nil && !exists(id) {
			c.Unknown++
		}
		switch {
		case opened[id]:
		case shown[id]:
			c.NeverOpened++
		case returned[id]:
			c.NeverOpened++
			c.NeverShown++
		default:
			c.NeverOpened++
			c.NeverShown++
			c.NeverReturned++
		}
	}
	return c
}

func (c *QueryCitations) add(d QueryCitations) {
	c.Cited += d.Cited
	c.Relevant += d.Relevant
	c.NeverOpened += d.NeverOpened
	c.NeverShown += d.NeverShown
	c.NeverReturned += d.NeverReturned
	c.Unknown += d.Unknown
}

func asSet(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// citations aggregates over queries.
func (m *means) citations(queries []QueryScores) Citations {
	var out Citations
	precision, recall, citing := make([]float64, m.n), make([]float64, m.n), make([]float64, m.n)
	judged := false
	for i, q := range queries {
		out.add(q.Citations)
		if q.Citations.Cited > 0 {
			citing[i] = 1
			precision[i] = float64(q.Citations.Relevant) / float64(q.Citations.Cited)
		}
		if q.Evidence != nil {
			judged = true
			if q.Evidence.Relevant > 0 {
				recall[i] = float64(q.Citations.Relevant) / float64(q.Evidence.Relevant)
			}
		}
	}
	out.Coverage = m.mean(citing)
	if judged {
		out.Precision, out.PrecisionCiting = m.mean(precision), m.ratio(precision, citing)
		out.Recall, out.RecallCiting = m.mean(recall), m.ratio(recall, citing)
	}
	return out
}
