// Package tune finds out how much k1 and b matter for a collection: it ranks judged queries
// at every setting of a grid, and tells a gain that would hold for other queries from one
// that only fits these.
//
//	grid := tune.NewGrid(tune.DefaultK1, tune.DefaultB)
//	result, err := tune.Run(ctx, ix, queries, tune.Options{Grid: grid, Measure: ndcg10})
//	fmt.Println(result.Best.Params, result.CrossValidated.Gains[0].Gain)
//
// Settings are compared by the mean of a measure over the queries. Of settings whose means are
// equal the one with the lower k1 is taken, then that with the lower b: the one nearer to
// what most collections are searched with.
package tune

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"goserini/internal/bm25"
	"goserini/internal/eval"
	"goserini/internal/index"
)

// Depth is how deep rankings are: what lies below counts as not found.
const Depth = 1000

// Query is a judged query.
type Query struct {
	ID   string
	Text string
	// Grades are all judgments of the query, by docid.
	Grades map[string]int
}

// Ranker says where documents stand in the rankings of a query.
type Ranker interface {
	// Lookup finds a document by its docid.
	Lookup(docid string) (index.Ordinal, bool)
	// GridRanks returns, for every setting, the rank of each of the documents: from 1, and 0
	// if it is not among the best depth. It is safe for concurrent use.
	GridRanks(ctx context.Context, text string, settings []bm25.Params, documents []index.Ordinal, depth int) ([][]int, error)
}

// Values are a measure's values, by setting and then by query.
type Values [][]float64

// Evaluate computes measures for every query at every setting. Queries go through several at
// once; progress, if not nil, is told how many are done, from several goroutines.
func Evaluate(ctx context.Context, r Ranker, queries []Query, settings []bm25.Params, measures []eval.Measure, progress func(done int)) ([]Values, error) {
	for _, m := range measures {
		if err := m.CheckPlaces(); err != nil {
			return nil, err
		}
	}
	values := make([]Values, len(measures))
	for m := range values {
		values[m] = make(Values, len(settings))
		for s := range values[m] {
			values[m][s] = make([]float64, len(queries))
		}
	}
	var done atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, q := range queries {
		g.Go(func() error {
			if err := evaluateQuery(ctx, r, q, settings, func(setting int, places []eval.Placed) error {
				for m, measure := range measures {
					v, err := measure.OfPlaces(places)
					if err != nil {
						return err
					}
					values[m][setting][i] = v
				}
				return nil
			}); err != nil {
				return fmt.Errorf("query %q: %w", q.ID, err)
			}
			if n := int(done.Add(1)); progress != nil {
				progress(n)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return values, nil
}

// evaluateQuery visits the places of a query's judged documents at every setting. The places
// are valid during the visit.
func evaluateQuery(ctx context.Context, r Ranker, q Query, settings []bm25.Params, visit func(setting int, places []eval.Placed) error) error {
	var documents []index.Ordinal
	var places []eval.Placed // of the documents in the index, then of the others
	var absent []eval.Placed
	for docid, grade := range q.Grades {
		if ordinal, ok := r.Lookup(docid); ok {
			documents = append(documents, ordinal)
			places = append(places, eval.Placed{Grade: grade})
		} else {
			absent = append(absent, eval.Placed{Grade: grade})
		}
	}
	places = append(places, absent...)
	ranks, err := r.GridRanks(ctx, q.Text, settings, documents, Depth)
	if err != nil {
		return err
	}
	for s := range settings {
		for d, rank := range ranks[s] {
			places[d].Rank = rank
		}
		if err := visit(s, places); err != nil {
			return err
		}
	}
	return nil
}
