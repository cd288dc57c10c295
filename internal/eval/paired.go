package eval

import (
	"cmp"
	"math"
	"slices"
)

// Difference is how a measure differs between two runs, query by query.
type Difference struct {
	Measure string `json:"measure"`
	// Base and Other are the means of the two runs over the common queries.
	Base  float64 `json:"base"`
	Other float64 `json:"other"`
	// Delta is Other - Base with its paired bootstrap interval.
	Delta Mean `json:"delta"`
	// P is the two-sided p-value of a paired randomisation test; nil for measures of effort, which
	// have no better side. PHolm is P corrected for everything tested in the same comparison.
	P     *float64 `json:"p,omitempty"`
	PHolm *float64 `json:"p_holm,omitempty"`
	// Wins are the queries where Other is better, Losses those where it is worse. Ties are the rest.
	Wins   []string `json:"wins,omitempty"`
	Losses []string `json:"losses,omitempty"`
	Ties   []string `json:"ties,omitempty"`
}

// pairs are the values of one measure in two runs, by query.
type pairs struct {
	measure     string
	queries     []string
	base, other []float64
	// tested measures are better when higher.
	tested bool
}

// difference computes everything but the correction for several tests.
func (p pairs) difference(b Bootstrap) Difference {
	deltas := make([]float64, len(p.queries))
	for i := range deltas {
		deltas[i] = p.other[i] - p.base[i]
	}
	m := &means{n: len(deltas)}
	delta := m.mean(deltas)
	m.intervals(b)
	n := float64(len(deltas))
	d := Difference{Measure: p.measure, Base: sum(p.base) / n, Other: sum(p.other) / n, Delta: *delta}
	if !p.tested {
		return d
	}
	value := RandomisationTest(deltas, b)
	d.P = &value
	for i, query := range p.queries {
		switch {
		case deltas[i] > 0:
			d.Wins = append(d.Wins, query)
		case deltas[i] < 0:
			d.Losses = append(d.Losses, query)
		default:
			d.Ties = append(d.Ties, query)
		}
	}
	return d
}

// RandomisationTest is Fisher's paired randomisation test on differences by query: the two-sided
// p-value of the hypothesis that it does not matter which run a value comes from. Under it
// every difference is as likely with the other sign; p is the share of sign
// assignments whose sum is at least as far from 0. All assignments are
// tried where there are no more than b.Resamples, otherwise b.Resamples random ones are, and the
// observed one counts among them, so that p is never 0. See Smucker, Allan and Carterette 2007.
func RandomisationTest(deltas []float64, b Bootstrap) float64 {
	b = b.orDefault()
	var moving []float64
	for _, d := range deltas {
		if d != 0 {
			moving = append(moving, d)
		}
	}
	if len(moving) == 0 {
		return 1
	}
	// Sums in another order round differently: what should be equal must not count as less.
	scale := 0.0
	for _, d := range moving {
		scale += math.Abs(d)
	}
	threshold := math.Abs(sum(moving)) - 1e-12*scale
	if len(moving) < 31 && 1<<len(moving) <= b.Resamples {
		return exactTest(moving, threshold)
	}
	g := b.generator()
	extreme := 1
	for range b.Resamples {
		var total float64
		var bits uint64
		for i, d := range moving {
			if i%64 == 0 {
				bits = g.Uint64()
			}
			total += signed(d, bits>>(i%64))
		}
		if math.Abs(total) >= threshold {
			extreme++
		}
	}
	return float64(extreme) / float64(b.Resamples+1)
}

func exactTest(moving []float64, threshold float64) float64 {
	extreme := 0
	for signs := range uint64(1) << len(moving) {
		var total float64
		for i, d := range moving {
			total += signed(d, signs>>i)
		}
		if math.Abs(total) >= threshold {
			extreme++
		}
	}
	return float64(extreme) / float64(uint64(1)<<len(moving))
}

// signed flips the sign if the lowest bit is set.
func signed(d float64, bits uint64) float64 {
	if bits&1 == 1 {
		return -d
	}
	return d
}

// Holm corrects p-values for the number of tests (Holm 1979): the smallest is multiplied by the
// number of tests, the next by one less, and so on, never below the one before, never above 1.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out := make([]float64, len(p))
	least := 0.0
	for k, i := range order {
		least = max(least, min(1, float64(len(p)-k)*p[i]))
		out[i] = least
	}
	return out
}

// correct applies Holm to everything tested in a set of comparisons.
func correct(comparisons []Comparison) {
	var tested []*Difference
	var p []float64
	for c := range comparisons {
		for d := range comparisons[c].Differences {
			if diff := &comparisons[c].Differences[d]; diff.P != nil {
				tested = append(tested, diff)
				p = append(p, *diff.P)
			}
		}
	}
	for i, value := range Holm(p) {
		tested[i].PHolm = &value
	}
}
