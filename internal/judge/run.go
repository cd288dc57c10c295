package judge

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// Options say how a run is judged.
type Options struct {
	// Workers is how many answers are judged at a time (0: 4).
	Workers int
	// Known are earlier verdicts. One whose Key still fits and that is settled is reused; unparsed
	// and broken ones are asked for again.
	Known []Verdict
	// Emit is called with each new verdict as soon as it is there, one call at a time. An
	// error ends the run.
	Emit func(Verdict) error
	// Progress is called after each answer, one call at a time.
	Progress func(done, total int)
}

// Run judges every item and returns the verdicts in the order of the items. Questions that ended
// without an answer get a verdict without the judge being asked. A judge that cannot be asked
// about one item makes a verdict of state Broken; an error that would meet every item, such as
// a refused key, ends the run. Verdicts made before an error have been emitted.
func Run(ctx context.Context, j Judge, items []Item, opts Options) ([]Verdict, error) {
	if err := distinct(items); err != nil {
		return nil, err
	}
	r := runner{judge: j, opts: opts, known: reusable(j, opts.Known), verdicts: make([]Verdict, len(items))}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(opts.Workers, 0))
	if opts.Workers <= 0 {
		g.SetLimit(4)
	}
	for i, it := range items {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error { return r.one(ctx, i, it) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil && r.done < len(items) {
		return nil, err
	}
	return r.verdicts, nil
}

func distinct(items []Item) error {
	seen := make(map[string]bool, len(items))
	for _, it := range items {
		if seen[it.QueryID] {
			return fmt.Errorf("judge: query %q has two answers: keep one", it.QueryID)
		}
		seen[it.QueryID] = true
	}
	return nil
}

func reusable(j Judge, known []Verdict) map[string]Verdict {
	out := make(map[string]Verdict, len(known))
	for _, v := range known {
		if v.Judge == j.Name() && v.settled() {
			out[v.Key] = v
		}
	}
	return out
}

type runner struct {
	judge    Judge
	opts     Options
	known    map[string]Verdict
	verdicts []Verdict

	mu   sync.Mutex // guards done, and the calls of Emit and Progress
	done int
}

func (r *runner) one(ctx context.Context, i int, it Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	v, known := r.known[Key(r.judge, it)]
	if !known {
		var err error
		if v, err = decideItem(ctx, r.judge, it); err != nil {
			return err
		}
	}
	r.verdicts[i] = v
	r.mu.Lock()
	defer r.mu.Unlock()
	if !known && r.opts.Emit != nil {
		if err := r.opts.Emit(v); err != nil {
			return err
		}
	}
	r.done++
	if r.opts.Progress != nil {
		r.opts.Progress(r.done, len(r.verdicts))
	}
	return nil
}

// decideItem judges one answer.
func decideItem(ctx context.Context, j Judge, it Item) (Verdict, error) {
	if it.blank() || it.Status != trajectory.Completed {
		return notJudged(j, it), nil
	}
	if j.Mode() == GoldAnswer && !it.Reference.known() {
		v := newVerdict(j, it)
		v.State, v.Error = NoReference, "the question has no known answer: judge it in reference-free mode"
		return v, nil
	}
	v, err := j.Judge(ctx, it)
	if err == nil {
		return v, nil
	}
	if ctx.Err() != nil || meetsEveryItem(err) {
		return v, err
	}
	v.State, v.Error = Broken, err.Error()
	return v, nil
}

// meetsEveryItem reports whether the next item would fail in the same way.
func meetsEveryItem(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && !e.Retryable && !e.ContextOverflow
}
