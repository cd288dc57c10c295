package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"goserini/internal/benchmark"
	"goserini/internal/trajectory"
)

// Question is one line of a plan.
type Question struct{ ID, Text string }

// Plan is a run to be made: what decides its outcome, the questions, and the function
// that researches one of them. Research gives every event to emit, in order, and stops
// when ctx ends. The record it returns is a result, also when its status is timeout or
// failed; an error means that the machinery failed, and makes the result a failed one, unless it
// wraps ErrStop.
type Plan struct {
	Spec    Spec
	Name    string
	Program []byte
	Prices  string
	Inputs  map[string]Input
	// Findings and Private go into the manifest as they are.
	Findings  []benchmark.Finding
	Private   bool
	Questions []Question
	Research  func(ctx context.Context, q Question, emit func(trajectory.Event)) (trajectory.Record, error)
}

// ErrStop is wrapped by an error of Research that says: this question gets no result, and no other
// shall begin. Those under way go on to their end. The run can be continued later.
var ErrStop = errors.New("the run stops")

// Options say how a plan is carried out; they do not change what it comes to.
type Options struct {
	// Concurrency is the number of questions at once, at least 1.
	Concurrency int
	// Retry lists statuses, and reasons of failures, whose questions are run again.
	Retry []string
	// RunMaxCostUSD and RunMaxTokens are noted in the manifest; Research keeps to them.
	RunMaxCostUSD float64
	RunMaxTokens  int64
	// Override continues a directory although its spec differs; the differences are recorded.
	Override bool
	// Command is how the lock file names this process.
	Command string
	// Observe, if set, hears of every event of every question. It may be called from
	// several goroutines at once.
	Observe func(Notice)
}

// Notice is something that happened in a run.
type Notice struct {
	QueryID string
	// Event is set while a question runs, Record when it has a result.
	Event  *trajectory.Event
	Record *trajectory.Record
	// Done of Total questions have a result.
	Done, Total int
}

// Summary says what a run has come to.
type Summary struct {
	Total, Completed, TimedOut, Failed int
	// Unfinished questions have no result yet: the run was interrupted.
	Unfinished int
	// Ran counts the questions of this session, Kept those that had a result already.
	Ran, Kept int
	// FailedIDs are the queries that failed or timed out, in order.
	FailedIDs []string
	// Notes say what a reader of the results should know, for example that the run was begun by another
	// build of the program.
	Notes []string
}

// SpecError says that a directory holds a run with other settings.
type SpecError struct {
	Dir         string
	Differences []Difference
}

func (e *SpecError) Error() string {
	lines := make([]string, len(e.Differences))
	for i, d := range e.Differences {
		lines[i] = "  " + d.String()
	}
	return fmt.Sprintf("%s holds a run with other settings:\n%s\nuse another --out, or --override to go on all the same and record the differences", e.Dir, strings.Join(lines, "\n"))
}

// Run carries out a plan in a directory, which it creates or continues: a question that
// has a result is not run again unless its status is to be retried. When ctx ends,
// questions under way are given up without a result, and the same call goes on later.
func Run(ctx context.Context, dir string, plan Plan, opts Options) (summary Summary, err error) {
	if err := checkQuestions(plan.Questions); err != nil {
		return Summary{}, err
	}
	d, err := open(dir, plan, opts)
	if err != nil {
		return Summary{}, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	todo := d.todo(opts.Retry)
	summary = Summary{Total: len(plan.Questions), Ran: len(todo), Kept: len(plan.Questions) - len(todo), Notes: d.notes}
	runErr := d.runAll(ctx, plan, opts, todo)
	d.summarise(&summary)
	if err := d.finish(summary); err != nil {
		return summary, errors.Join(runErr, err)
	}
	return summary, runErr
}

// checkQuestions refuses a plan that could not give one result a question.
func checkQuestions(questions []Question) error {
	if len(questions) == 0 {
		return errors.New("the query set is empty: there is nothing to run")
	}
	seen := make(map[string]int, len(questions))
	for i, q := range questions {
		if q.ID == "" {
			return fmt.Errorf("question %d has an empty query id", i+1)
		}
		if strings.TrimSpace(q.Text) == "" {
			return fmt.Errorf("query %q has an empty question", q.ID)
		}
		if j, twice := seen[q.ID]; twice {
			return fmt.Errorf("query id %q occurs twice, as questions %d and %d", q.ID, j+1, i+1)
		}
		seen[q.ID] = i
	}
	return nil
}

func (d *runDir) runAll(ctx context.Context, plan Plan, opts Options, todo []Question) error {
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(max(opts.Concurrency, 1))
	for _, q := range todo {
		if running.Err() != nil || d.stopped() != nil {
			break
		}
		g.Go(func() error {
			if running.Err() == nil && d.stopped() == nil {
				return d.runOne(running, plan, opts, q)
			}
			return nil // waited for a place until the run was over: no result, not an error of its own
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return d.stopped()
}

// stopped returns why no more questions shall begin, nil if they shall.
func (d *runDir) stopped() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stop
}

func (d *runDir) stopBecause(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop == nil {
		d.stop = err
	}
}

// runOne researches a question and keeps its result. It returns an error only where the
// run as a whole cannot go on.
func (d *runDir) runOne(ctx context.Context, plan Plan, opts Options, q Question) error {
	a, err := d.beginAttempt(q.ID)
	if err != nil {
		return err
	}
	// A question whose steps cannot be recorded is given up at once; Close tells the cause.
	recorded, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	emit := func(e trajectory.Event) {
		if err := a.Append(e); err != nil {
			giveUp(err)
		} else if opts.Observe != nil {
			opts.Observe(Notice{QueryID: q.ID, Event: &e, Done: d.done(), Total: len(plan.Questions)})
		}
	}
	started := time.Now()
	rec, err := plan.Research(recorded, q, emit)
	if closeErr := a.Close(); closeErr != nil {
		return errors.Join(fmt.Errorf("query %q: %w", q.ID, closeErr), a.dropEmpty())
	}
	if errors.Is(err, ErrStop) {
		d.stopBecause(err)
		return a.dropUnpaid(rec)
	}
	if ctx.Err() != nil && rec.Status != trajectory.Completed {
		return a.dropEmpty() // interrupted: no result, so that the question is run again
	}
	if err != nil {
		rec.Status, rec.Error = trajectory.Failed, err.Error()
		if rec.Reason == "" {
			rec.Reason = "error"
		}
	}
	rec.QueryID, rec.Question, rec.Trajectory = q.ID, q.Text, trajectoryPath(q.ID)
	if rec.StartedAt.IsZero() {
		rec.StartedAt = started.UTC()
	}
	done, err := d.keep(rec)
	if err != nil {
		return err
	}
	if err := a.stand(); err != nil {
		return err
	}
	if opts.Observe != nil {
		opts.Observe(Notice{QueryID: q.ID, Record: &rec, Done: done, Total: len(plan.Questions)})
	}
	return nil
}

func (d *runDir) todo(retry []string) []Question {
	var out []Question
	for _, q := range d.questions {
		rec, ok := d.byID[q.ID]
		if !ok || rec.Status != trajectory.Completed && (slices.Contains(retry, string(rec.Status)) || slices.Contains(retry, rec.Reason)) {
			out = append(out, q)
		}
	}
	return out
}

func (d *runDir) summarise(s *Summary) {
	for _, q := range d.questions {
		rec, ok := d.byID[q.ID]
		switch {
		case !ok:
			s.Unfinished++
			continue
		case rec.Status == trajectory.Completed:
			s.Completed++
			continue
		case rec.Status == trajectory.Timeout:
			s.TimedOut++
		default:
			s.Failed++
		}
		s.FailedIDs = append(s.FailedIDs, q.ID)
	}
}
