package eval

import (
	"slices"

	"goserini/internal/trajectory"
)

// Stage is the furthest that a relevant document came on its way into the answer.
type Stage string

// The stages, from lost first to used. Every relevant document of every query is at
// exactly one of them.
const (
	// NoRecord: the query was not run.
	NoRecord Stage = "no_record"
	// NeverRetrieved: no ranking held the document.
	NeverRetrieved Stage = "never_retrieved"
	// NeverShown: a ranking held it, but its excerpt was not shown to the model.
	NeverShown Stage = "never_shown"
	// NotOpened: its excerpt was shown, its text was not read.
	NotOpened Stage = "not_opened"
	// NotCited: its text was read, the answer does not cite it.
	NotCited Stage = "not_cited"
	// Used: the answer cites it.
	Used Stage = "cited"
)

// Fate is what became of one relevant document.
type Fate struct {
	DocID string `json:"docid"`
	// Evidence and Gold say which judgments call it relevant.
	Evidence bool  `json:"evidence,omitempty"`
	Gold     bool  `json:"gold,omitempty"`
	Stage    Stage `json:"stage"`
	// BestRank is the best rank it had in any ranking, from 1; 0 if it was in none.
	BestRank int `json:"best_rank,omitempty"`
}

// Funnel counts relevant documents by stage.
type Funnel struct {
	Relevant       int `json:"relevant"`
	NoRecord       int `json:"no_record"`
	NeverRetrieved int `json:"never_retrieved"`
	NeverShown     int `json:"never_shown"`
	NotOpened      int `json:"not_opened"`
	NotCited       int `json:"not_cited"`
	Used           int `json:"cited"`
}

func (f *Funnel) count(s Stage) {
	f.Relevant++
	switch s {
	case NoRecord:
		f.NoRecord++
	case NeverRetrieved:
		f.NeverRetrieved++
	case NeverShown:
		f.NeverShown++
	case NotOpened:
		f.NotOpened++
	case NotCited:
		f.NotCited++
	case Used:
		f.Used++
	}
}

// fates traces the relevant documents of one query, in docid order; rec is nil if there is no record.
func fates(rec *trajectory.Record, evidence, gold map[string]bool) []Fate {
	var out []Fate
	stage := func(string) Stage { return NoRecord }
	var best map[string]int
	if rec != nil {
		cited, opened, shown, returned := asSet(rec.Cited), asSet(rec.Opened), asSet(rec.Previewed), asSet(rec.Surfaced)
		best = rec.BestRank
		stage = func(id string) Stage {
			switch {
			case cited[id]:
				return Used
			case opened[id]:
				return NotCited
			case shown[id]:
				return NotOpened
			case returned[id]:
				return NeverShown
			}
			return NeverRetrieved
		}
	}
	trace := func(id string) {
		out = append(out, Fate{DocID: id, Evidence: evidence[id], Gold: gold[id], Stage: stage(id), BestRank: best[id]})
	}
	for id := range evidence {
		trace(id)
	}
	for id := range gold {
		if !evidence[id] {
			trace(id)
		}
	}
	slices.SortFunc(out, func(a, b Fate) int { return compareText(a.DocID, b.DocID) })
	return out
}

// DepthPoint says how much of the relevant documents some ranking held at depth or above.
type DepthPoint struct {
	Depth int     `json:"depth"`
	Macro float64 `json:"macro"`
	Micro float64 `json:"micro"`
}

// curveDepths are the depths of a recall-by-depth curve.
var curveDepths = []int{1, 5, 10, 20, 50, 100, 200, 500, 1000}

// depthCurve computes recall by depth from the best rank of each document; every query is in the
// macro mean.
func depthCurve(queries []QueryScores, counts func(Fate) bool) []DepthPoint {
	var out []DepthPoint
	for _, depth := range curveDepths {
		p := DepthPoint{Depth: depth}
		hits, total := 0, 0
		for _, q := range queries {
			found, relevant := 0, 0
			for _, f := range q.Fates {
				if !counts(f) {
					continue
				}
				relevant++
				if f.BestRank > 0 && f.BestRank <= depth {
					found++
				}
			}
			if relevant > 0 {
				p.Macro += float64(found) / float64(relevant)
			}
			hits += found
			total += relevant
		}
		if total > 0 {
			p.Macro /= float64(len(queries))
			p.Micro = float64(hits) / float64(total)
		}
		out = append(out, p)
	}
	return out
}
