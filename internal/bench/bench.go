// Package bench measures on a machine that is not quiet: contestants take turns in rounds,
// a canary tells rounds in which the machine changed, and only ratios of what was measured side
// by side are compared, with intervals.
//
//	r, err := bench.Interleave(ctx, []bench.Contestant{ours, theirs}, bench.Plan{Rounds: 5})
//	fmt.Println(bench.Ratio(r.Batches[0], r.Batches[1], bench.P50))
package bench

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// Batch is what one contestant did in one round.
type Batch struct {
	// Wall has the time of every query, in the order of the queries; or one mean, if a
	// contestant can only be timed over all of them.
	Wall []time.Duration
	// Thread has the same as processor time of the thread that did it, which a busy machine
	// stretches less; nil if unknown.
	Thread []time.Duration
}

// OnThread takes processor time for wall time. Batches without it make it nil.
func OnThread(batches []Batch) []Batch {
	out := make([]Batch, len(batches))
	for i, b := range batches {
		if b.Thread == nil {
			return nil
		}
		out[i] = Batch{Wall: b.Thread}
	}
	return out
}

// Contestant does the same work as others. Run does all of it once.
type Contestant struct {
	Name string
	Run  func(context.Context) (Batch, error)
}

// Plan says how contestants take turns.
type Plan struct {
	// Rounds is how many rounds are wanted, at least 1.
	Rounds int
	// Warm is how long each contestant runs at most before the first round: until its last
	// three batches differ by less than 3 %. 0 is a single batch.
	Warm time.Duration
	// Tolerance is the largest change of the canary, 0.1 being 10 %, with which a round
	// counts; 0 accepts every round.
	Tolerance float64
	// Say, if not nil, is told what is going on.
	Say func(format string, args ...any)
}

// Rounds are batches side by side.
type Rounds struct {
	Names []string
	// Batches are by contestant and then by round.
	Batches [][]Batch
	// Discarded rounds were repeated because the machine changed in them; Unquiet ones were
	// kept in spite of it, since no better ones came.
	Discarded, Unquiet int
}

// patience is how many times more rounds than wanted are tried for quiet ones.
const patience = 3

// Interleave runs all contestants in every round, each round in another order.
func Interleave(ctx context.Context, contestants []Contestant, p Plan) (Rounds, error) {
	r := Rounds{Batches: make([][]Batch, len(contestants))}
	for _, c := range contestants {
		r.Names = append(r.Names, c.Name)
		if err := warm(ctx, c, p.Warm); err != nil {
			return r, err
		}
	}
	reading := func() Reading { return Reading{} }
	if p.Tolerance != 0 {
		canary := NewCanary()
		canary.Read() // the first touches cold memory
		reading = canary.Read
	}
	for tried := 0; len(r.Batches[0]) < p.Rounds; tried++ {
		before := reading()
		round := make([]Batch, len(contestants))
		for i := range contestants {
			at := (i + tried) % len(contestants)
			var err error
			if round[at], err = run(ctx, contestants[at]); err != nil {
				return r, err
			}
		}
		if change := reading().Change(before); p.Tolerance != 0 && change > p.Tolerance {
			if tried < patience*p.Rounds {
				r.Discarded++
				if p.Say != nil {
					p.Say("round discarded: the canary moved by %.0f %%", 100*change)
				}
				continue
			}
			r.Unquiet++
		}
		for i, b := range round {
			r.Batches[i] = append(r.Batches[i], b)
		}
	}
	return r, nil
}

func run(ctx context.Context, c Contestant) (Batch, error) {
	if err := ctx.Err(); err != nil {
		return Batch{}, err
	}
	b, err := c.Run(ctx)
	if err != nil {
		return b, fmt.Errorf("%s: %w", c.Name, err)
	}
	if len(b.Wall) == 0 {
		return b, fmt.Errorf("%s: nothing was measured", c.Name)
	}
	return b, nil
}

// warm runs a contestant until it is no longer getting faster.
func warm(ctx context.Context, c Contestant, most time.Duration) error {
	const steady = 0.03
	start := time.Now()
	var last []float64
	for {
		b, err := run(ctx, c)
		if err != nil {
			return err
		}
		last = append(last, Mean(b.Wall))
		if n := len(last); n >= 3 {
			if low, high := slices.Min(last[n-3:]), slices.Max(last[n-3:]); high <= low*(1+steady) {
				return nil
			}
		}
		if time.Since(start) >= most {
			return nil
		}
	}
}

// Statistic reduces the times of queries to one number of seconds.
type Statistic func([]time.Duration) float64

// Mean is the mean in seconds.
func Mean(d []time.Duration) float64 {
	var sum time.Duration
	for _, v := range d {
		sum += v
	}
	return sum.Seconds() / float64(len(d))
}

// Percentile returns the statistic of that name: the smallest time that at least the share p
// of the queries does not exceed, in seconds.
func Percentile(p float64) Statistic {
	return func(d []time.Duration) float64 {
		sorted := slices.Sorted(slices.Values(d))
		return sorted[min(max(int(math.Ceil(p*float64(len(sorted))))-1, 0), len(sorted)-1)].Seconds()
	}
}

// P50, P95 and P99 are percentiles.
var (
	P50 = Percentile(0.50)
	P95 = Percentile(0.95)
	P99 = Percentile(0.99)
)

// Of is the median over rounds of a statistic.
func Of(batches []Batch, s Statistic) float64 {
	values := make([]float64, len(batches))
	for i, b := range batches {
		values[i] = s(b.Wall)
	}
	return median(values)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
