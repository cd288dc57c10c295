package main

import (
	"math"

	"goserini/internal/bm25"
	"goserini/internal/eval"
)

// The upper ends of the way from Anserini's setting that are compared: careful ones, the paper's best, what
// the rule has, and what the paper uses.
var highK1s = []float64{4, 8, 16, bm25.HighK1, 25}

var steps = len(bm25.Steps()) - 1

// step is bm25.Step for another upper end.
func step(highK1, share float64) bm25.Params {
	share = math.Round(float64(steps)*share) / float64(steps)
	if highK1 == bm25.HighK1 {
		return bm25.Step(share)
	}
	a := bm25.Anserini
	return bm25.Params{
		K1: float32(float64(a.K1) * math.Pow(highK1/float64(a.K1), share)),
		B:  float32(float64(a.B) + (bm25.HighB-float64(a.B))*share),
	}
}

// rule is a kind of rule: a ramp over a statistic, whose ends are fitted.
type rule struct {
	name      string
	statistic func(*collection) float64
	highK1    float64
	// guarded rules also look at the 90th percentile of lengths, as bm25.Choose does.
	guarded bool
	// candidates for either end of the ramp go from low to high, each factor times the last.
	low, high, factor float64
}

func meanTF(c *collection) float64     { return c.statistics().MeanTF() }
func meanLength(c *collection) float64 { return c.stats.AverageLength() }

// shipped is the rule of bm25.Choose.
var shipped = rule{"mean tf, as shipped", meanTF, bm25.HighK1, true, 1, 4, 1.025}

// others are rules of other kinds, to see what the choice of the kind is worth.
var others = []rule{
	{"mean tf, without regard to the 90th percentile", meanTF, bm25.HighK1, false, 1, 4, 1.025},
	{"mean tf, upper end k1=4", meanTF, 4, true, 1, 4, 1.025},
	{"mean tf, upper end k1=8", meanTF, 8, true, 1, 4, 1.025},
	{"mean tf, upper end k1=16", meanTF, 16, true, 1, 4, 1.025},
	{"mean tf, upper end k1=25", meanTF, 25, true, 1, 4, 1.025},
	{"mean length", meanLength, bm25.HighK1, false, 20, 6000, 1.1},
	{"median length", func(c *collection) float64 { return float64(c.stats.Lengths.P50) }, bm25.HighK1, false, 20, 6000, 1.1},
	{"90th percentile of lengths", func(c *collection) float64 { return float64(c.stats.Lengths.P90) }, bm25.HighK1, false, 20, 6000, 1.1},
}

// setting is what the rule with some ramp chooses for a collection.
func (r rule) setting(ramp bm25.Ramp, c *collection) bm25.Params {
	share := ramp.Share(r.statistic(c))
	if r.guarded {
		share = min(share, bm25.Long.Share(float64(c.stats.Lengths.P90)))
	}
	return step(r.highK1, share)
}

// worst is the largest shortfall of the rule among collections.
func (r rule) worst(ramp bm25.Ramp, collections []*collection) float64 {
	var most float64
	for _, c := range collections {
		most = max(most, c.shortfall(r.setting(ramp, c)))
	}
	return most
}

// fit returns the ramp whose largest shortfall is least. Of all that are equal it takes the one
// nearest to their centre, so that no end stands at the edge of what the collections allow.
// The ends are rounded to two decimals, or lengths to whole numbers.
func (r rule) fit(collections []*collection) (ramp bm25.Ramp, equals int) {
	const equal = 1e-9
	least := math.Inf(1)
	var all []bm25.Ramp
	ends := r.ends()
	for i, from := range ends {
		for _, to := range ends[i+1:] {
			ramp := bm25.Ramp{From: from, To: to}
			switch worst := r.worst(ramp, collections); {
			case worst < least-equal:
				least, all = worst, []bm25.Ramp{ramp}
			case worst <= least+equal:
				all = append(all, ramp)
			}
		}
	}
	return centre(all), len(all)
}

// ends are the candidates.
func (r rule) ends() []float64 {
	unit := 1.0
	if r.low < 10 {
		unit = 100
	}
	var ends []float64
	for v := r.low; v <= r.high*1.0001; v *= r.factor {
		ends = append(ends, math.Round(v*unit)/unit)
	}
	return ends
}

// centre is the ramp nearest to the mean of all, by the logarithms of their ends.
func centre(all []bm25.Ramp) bm25.Ramp {
	var from, to float64
	for _, r := range all {
		from += math.Log(r.From) / float64(len(all))
		to += math.Log(r.To) / float64(len(all))
	}
	best, least := all[0], math.Inf(1)
	for _, r := range all {
		if d := math.Hypot(math.Log(r.From)-from, math.Log(r.To)-to); d < least-1e-12 {
			best, least = r, d
		}
	}
	return best
}

// leftOut fits the rule to all collections but one, in turn, and returns what it chooses for
// the one left out.
func (r rule) leftOut(collections []*collection) []choice {
	var all []choice
	for i, c := range collections {
		rest := append(append([]*collection{}, collections[:i]...), collections[i+1:]...)
		ramp, _ := r.fit(rest)
		all = append(all, choice{collection: c, ramp: ramp, setting: r.setting(ramp, c)})
	}
	return all
}

// fitted fits the rule to collections and returns what it chooses for others.
func (r rule) fitted(collections, others []*collection) []choice {
	ramp, _ := r.fit(collections)
	var all []choice
	for _, c := range others {
		all = append(all, choice{collection: c, ramp: ramp, setting: r.setting(ramp, c)})
	}
	return all
}

// choice is a setting chosen for a collection that the rule was not fitted to.
type choice struct {
	*collection
	ramp    bm25.Ramp
	setting bm25.Params
}

func (c choice) shortfall() float64 { return c.collection.shortfall(c.setting) }

// lead is how far the choice is ahead of the better of the two fixed settings, in either measure, with the interval over
// queries.
func (c choice) lead() (ndcg, recall *eval.Mean) {
	have := c.byQuery[c.setting]
	ahead := func(have []float64, measure func(queryScores) []float64) *eval.Mean {
		a, p := measure(c.byQuery[bm25.Anserini]), measure(c.byQuery[bm25.Paper])
		better := a
		if mean(p) > mean(a) {
			better = p
		}
		deltas := make([]float64, len(have))
		for i := range have {
			deltas[i] = have[i] - better[i]
		}
		return eval.MeanOf(deltas, eval.DefaultBootstrap)
	}
	return ahead(have.ndcg, func(q queryScores) []float64 { return q.ndcg }), ahead(have.recall, func(q queryScores) []float64 { return q.recall })
}
