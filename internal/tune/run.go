package tune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"goserini/internal/bm25"
	"goserini/internal/eval"
)

// Options of a run.
type Options struct {
	Grid    Grid
	Measure eval.Measure
	// Named are settings that the grid is held against, whether they are in it or not. The
	// first is the default: what one has without tuning.
	Named []NamedSetting
	// Bootstrap says how intervals are drawn; the zero value is eval.DefaultBootstrap.
	Bootstrap eval.Bootstrap
	// Progress, if not nil, is told from several goroutines how many queries are done.
	Progress func(done int)
}

// NamedSetting is a setting with a name.
type NamedSetting struct {
	Name   string      `json:"name"`
	Params bm25.Params `json:"bm25"`
}

// Cell is a setting and the mean of the measure.
type Cell struct {
	bm25.Params
	Value float64 `json:"value"`
}

// Named is what a named setting comes to.
type Named struct {
	NamedSetting
	Mean eval.Mean `json:"mean"`
}

// Result is what a run found out.
type Result struct {
	Measure eval.Measure `json:"measure"`
	Queries int          `json:"queries"`
	Grid    Grid         `json:"grid"`
	// Cells are those of the grid, by k1 and then by b.
	Cells []Cell  `json:"cells"`
	Named []Named `json:"named"`
	// Best is the best setting of the grid for these queries: how good it is for others, its
	// mean does not say. Gains are its advantages over the named settings on these very queries.
	Best  Named  `json:"best"`
	Gains []Gain `json:"gains_in_sample"`
	// CrossValidated is what tuning brings on queries it has not seen; nil with fewer than two.
	CrossValidated *CrossValidated `json:"cross_validated"`
}

// Gain is a mean difference to a named setting.
type Gain struct {
	Over string    `json:"over"`
	Gain eval.Mean `json:"gain"`
}

// Real says that the interval of the gain lies above zero.
func (g Gain) Real() bool { return g.Gain.Low > 0 }

// CrossValidated is the value of tuning: the queries are cut into two halves at random, each
// half is measured at the best setting of the other, and all that is repeated.
type CrossValidated struct {
	Splits int       `json:"splits"`
	Mean   eval.Mean `json:"mean"`
	// Gains are over the named settings, in their order.
	Gains []Gain `json:"gains"`
	// Chosen are the settings that halves chose, the most frequent first.
	Chosen []Chosen `json:"chosen"`
}

// Chosen counts the halves that chose a setting.
type Chosen struct {
	bm25.Params
	Halves int `json:"halves"`
}

// Splits is the number of times the queries are cut into halves.
const Splits = 50

// Run ranks the queries at every setting and compares.
func Run(ctx context.Context, r Ranker, queries []Query, o Options) (*Result, error) {
	if err := o.Grid.Validate(); err != nil {
		return nil, err
	}
	if len(queries) == 0 {
		return nil, fmt.Errorf("no query has judgments: there is nothing to tune on")
	}
	settings := o.Grid.Settings()
	inGrid := len(settings)
	for _, n := range o.Named {
		if !slices.Contains(settings, n.Params) {
			settings = append(settings, n.Params)
		}
	}
	measured, err := Evaluate(ctx, r, queries, settings, []eval.Measure{o.Measure}, o.Progress)
	if err != nil {
		return nil, err
	}
	c := comparison{named: o.Named, bootstrap: o.Bootstrap}
	for _, n := range o.Named {
		c.namedValues = append(c.namedValues, measured[0][slices.Index(settings, n.Params)])
	}
	res := &Result{Measure: o.Measure, Queries: len(queries), Grid: o.Grid}
	grid := measured[0][:inGrid]
	for s, v := range grid {
		res.Cells = append(res.Cells, Cell{Params: settings[s], Value: mean(v, nil)})
	}
	for i, n := range o.Named {
		res.Named = append(res.Named, Named{NamedSetting: n, Mean: *eval.MeanOf(c.namedValues[i], o.Bootstrap)})
	}
	best := Best(grid, nil)
	res.Best = Named{NamedSetting: NamedSetting{Name: "best", Params: settings[best]}, Mean: *eval.MeanOf(grid[best], o.Bootstrap)}
	res.Gains = c.gains(grid[best])
	if len(queries) > 1 {
		res.CrossValidated = c.crossValidate(grid, settings)
	}
	return res, nil
}

// Best returns the setting with the highest mean over some queries, all if nil. Of equal means
// the first wins.
func Best(values Values, queries []int) int {
	// Sums of the same numbers in another order differ by less.
	const equal = 1e-12
	best, most := 0, mean(values[0], queries)
	for s := 1; s < len(values); s++ {
		if m := mean(values[s], queries); m > most+equal {
			best, most = s, m
		}
	}
	return best
}

func mean(values []float64, queries []int) float64 {
	var sum float64
	if queries == nil {
		for _, v := range values {
			sum += v
		}
		return sum / float64(len(values))
	}
	for _, q := range queries {
		sum += values[q]
	}
	return sum / float64(len(queries))
}

// comparison holds what a setting is compared with.
type comparison struct {
	named       []NamedSetting
	namedValues [][]float64
	bootstrap   eval.Bootstrap
}

// gains are the advantages of values, one a query, over the named settings.
func (c comparison) gains(values []float64) []Gain {
	var all []Gain
	for i, n := range c.named {
		differences := make([]float64, len(values))
		for q, v := range values {
			differences[q] = v - c.namedValues[i][q]
		}
		all = append(all, Gain{Over: n.Name, Gain: *eval.MeanOf(differences, c.bootstrap)})
	}
	return all
}

func (c comparison) crossValidate(grid Values, settings []bm25.Params) *CrossValidated {
	n := len(grid[0])
	r := rand.New(rand.NewPCG(eval.DefaultBootstrap.Seed, 1))
	unseen := make([]float64, n)
	halves := make([]int, len(grid))
	for range Splits {
		order := r.Perm(n)
		a, b := order[:n/2], order[n/2:]
		for _, half := range [2][2][]int{{a, b}, {b, a}} {
			best := Best(grid, half[0])
			halves[best]++
			for _, q := range half[1] {
				unseen[q] += grid[best][q] / Splits
			}
		}
	}
	cv := &CrossValidated{Splits: Splits, Mean: *eval.MeanOf(unseen, c.bootstrap), Gains: c.gains(unseen)}
	for s, count := range halves {
		if count > 0 {
			cv.Chosen = append(cv.Chosen, Chosen{Params: settings[s], Halves: count})
		}
	}
	slices.SortStableFunc(cv.Chosen, func(a, b Chosen) int { return b.Halves - a.Halves })
	return cv
}
