package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Interval is a value with its 95 % bootstrap interval.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (i Interval) String() string { return fmt.Sprintf("%.3g (%.3g to %.3g)", i.Value, i.Low, i.High) }

// resamples of the bootstrap; a bound moves by about a hundredth of the interval between seeds.
const resamples = 2000

// Ratio is the median over rounds of ours by theirs, each reduced to a statistic. Rounds are
// drawn anew for the interval and, where both timed the same queries one by one, queries as
// well.
func Ratio(ours, theirs []Batch, s Statistic) Interval {
	n := min(len(ours), len(theirs))
	ratio := func(rounds, queries []int) float64 {
		values := make([]float64, 0, n)
		for _, r := range rounds {
			values = append(values, s(pick(ours[r].Wall, queries))/s(pick(theirs[r].Wall, queries)))
		}
		return median(values)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	g := rand.New(rand.NewPCG(2605, 0))
	drawn := make([]float64, resamples)
	for i := range drawn {
		var queries []int
		if q := len(ours[0].Wall); q > 1 && q == len(theirs[0].Wall) {
			queries = draw(g, q)
		}
		drawn[i] = ratio(draw(g, n), queries)
	}
	slices.Sort(drawn)
	return Interval{Value: ratio(all, nil), Low: drawn[resamples*25/1000], High: drawn[resamples*975/1000]}
}

func draw(g *rand.Rand, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = g.IntN(n)
	}
	return out
}

// pick returns the times of some queries, all for nil.
func pick(d []time.Duration, queries []int) []time.Duration {
	if queries == nil {
		return d
	}
	out := make([]time.Duration, len(queries))
	for i, q := range queries {
		out[i] = d[q]
	}
	return out
}
