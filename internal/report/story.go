package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"goserini/internal/experiment"
	"goserini/internal/trajectory"
)

// story is a trajectory made ready to be shown.
type story struct {
	system, prompt string
	tools          json.RawMessage
	// limit is the time budget in seconds, 0 for none.
	limit float64
	steps []step
	spans []span
	// steers are the moments of steers, in milliseconds.
	steers []int64
	endMS  int64
	error  string
	// targets are the places the answer cites, numbered from 1 in order of first appearance.
	targets []target
	// noted are the lines that the notebook cites, as the model read them.
	noted map[trajectory.LineRange]string
	// answer is the final answer cut at its citations.
	answer []phrase
	// veiled says that texts were left out on purpose.
	veiled bool
	// missing says why there is nothing, or not everything, to show.
	missing string
}

// step is one thing that happened.
type step struct {
	atMS    int64
	turn    *trajectory.Turn
	call    *callStep
	steer   *trajectory.Steer
	attempt *trajectory.Attempt
	shorten *trajectory.Shorten
}

// callStep is a tool call with what came back.
type callStep struct {
	id, tool, rawTool string
	// reason and arguments are what the model gave; arguments without the reason.
	reason    string
	arguments []argument
	raw       string
	// result is nil where the question ended before one came.
	result *trajectory.Observation
	// text is what the model read, in pieces.
	text []piece
	// ranked, shown and read count the documents the call touched; evidence says which of them
	// are relevant.
	ranked, shown, read int
	evidence            []string
}

// argument is one argument of a call, for people.
type argument struct{ name, value string }

// kind is what a stretch of time went to.
type kind int

// The kinds of time. Their numbers are the colours of the timelines.
const (
	kindModel kind = iota + 1
	kindTool
	kindRetry
	kindOther
)

// span is a stretch of time of one kind, in milliseconds from the start.
type span struct {
	from, to int64
	kind     kind
}

// readStories reads the trajectories of a run and returns notes on those that could not be read.
// What tools returned is kept up to a bound that no report of maxBytes could exceed.
func (rd *runData) readStories(maxBytes int) []string {
	const compression = 16 // text is never packed better than this
	keep := max(16<<10, compression*maxBytes/max(len(rd.items), 1))
	root, err := os.OpenRoot(rd.Dir)
	if err != nil {
		for _, it := range rd.items {
			it.story.missing = "The run directory could not be opened."
		}
		return []string{fmt.Sprintf("%s: no trajectory is shown: %v", rd.Name, err)}
	}
	defer root.Close()
	problems := make([]string, len(rd.items))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, it := range rd.items {
		if it.record == nil {
			it.story.missing = "The question was not run."
			continue
		}
		g.Go(func() error {
			problems[i] = it.readStory(root, keep)
			return nil
		})
	}
	g.Wait() //nolint:errcheck // no goroutine returns one
	problems = slices.DeleteFunc(problems, func(s string) bool { return s == "" })
	const most = 3
	if n := len(problems); n > most {
		problems = append(problems[:most:most], fmt.Sprintf("%s: the steps of %d more questions are not shown either", rd.Name, n-most))
	}
	return problems
}

// readStory reads one trajectory; what it returns is for the operator.
func (it *item) readStory(root *os.Root, keep int) string {
	file, err := experiment.ReadTrajectory(root, *it.record)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		it.story.missing = "The trajectory is missing from the run directory."
	case err != nil:
		it.story.missing = "The trajectory could not be read."
	case !file.Whole:
		it.story.missing = "The trajectory has no end: the process that wrote it was stopped."
	}
	if err == nil {
		it.story.tell(file.Events)
		it.story.resolve(*it.record)
		it.story.condense(it.scores.Fates)
		it.story.shorten(keep)
	}
	if err != nil {
		return fmt.Sprintf("query %s: its steps are not shown: %v", it.id, err)
	}
	return ""
}

// tell turns events into steps and times.
func (s *story) tell(events []trajectory.Event) {
	calls := map[string]*callStep{}
	var clock stopwatch
	for _, e := range events {
		clock.add(e)
		st := step{atMS: e.ElapsedMS}
		switch {
		case e.Header != nil:
			s.system, s.prompt, s.tools, s.limit = e.Header.System, e.Header.Prompt, e.Header.Tools, e.Header.TimeoutSeconds
			continue
		case e.Turn != nil:
			e.Turn.Raw = nil
			st.turn = e.Turn
		case e.Call != nil:
			st.call = newCallStep(*e.Call)
			calls[e.Call.ID] = st.call
		case e.Observation != nil:
			if c := calls[e.Observation.CallID]; c != nil && c.result == nil {
				c.result = e.Observation
				continue
			}
			st.call = &callStep{id: e.Observation.CallID, tool: e.Observation.Tool, result: e.Observation}
		case e.Steer != nil:
			st.steer = e.Steer
			s.steers = append(s.steers, e.ElapsedMS)
		case e.Attempt != nil:
			st.attempt = e.Attempt
		case e.Shorten != nil:
			st.shorten = e.Shorten
		case e.End != nil:
			s.error = e.End.Error
			continue
		default:
			continue
		}
		s.steps = append(s.steps, st)
	}
	s.spans, s.endMS = clock.spans, clock.now
}

func newCallStep(c trajectory.Call) *callStep {
	out := &callStep{id: c.ID, tool: c.Tool, rawTool: c.RawTool, raw: c.RawArguments}
	fields, err := objectFields(c.Arguments)
	if err != nil {
		if out.raw == "" {
			out.raw = string(c.Arguments)
		}
		return out
	}
	for _, f := range fields {
		if f.name == "reason" {
			out.reason = f.value
			continue
		}
		out.arguments = append(out.arguments, f)
	}
	return out
}

// objectFields reads a JSON object in the order of its fields. Texts come without quotes.
func objectFields(raw json.RawMessage) ([]argument, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(argumentOrder(a), argumentOrder(b)), cmp.Compare(a, b))
	})
	var out []argument
	for _, name := range names {
		value := string(values[name])
		var text string
		if json.Unmarshal(values[name], &text) == nil {
			value = text
		}
		out = append(out, argument{name, value})
	}
	return out, nil
}

// argumentOrder puts what a call is about before where it looks.
func argumentOrder(name string) int {
	switch name {
	case "query", "docid", "search_id":
		return 0
	case "offset":
		return 1
	case "limit":
		return 2
	}
	return 3
}

// stopwatch tells what the time between events went to.
type stopwatch struct {
	now int64
	// wait is what is left of the pause after a failed try.
	wait  int64
	spans []span
}

func (w *stopwatch) add(e trajectory.Event) {
	gap := e.ElapsedMS - w.now
	if gap > 0 {
		if pause := min(w.wait, gap); pause > 0 {
			w.span(pause, kindRetry)
			gap -= pause
		}
		w.span(gap, timeOf(e))
	}
	w.wait = 0
	if e.Attempt != nil && e.Attempt.WillRetry {
		w.wait = e.Attempt.RetryMS
	}
}

// timeOf says what the time before an event was spent on.
func timeOf(e trajectory.Event) kind {
	switch {
	case e.Turn != nil:
		return kindModel
	case e.Observation != nil:
		return kindTool
	case e.Attempt != nil && e.Attempt.Interrupted:
		return kindModel // the model was slow, and we ended the wait
	case e.Attempt != nil:
		return kindRetry
	}
	return kindOther
}

func (w *stopwatch) span(ms int64, k kind) {
	if ms <= 0 {
		return
	}
	if n := len(w.spans); n > 0 && w.spans[n-1].kind == k {
		w.spans[n-1].to += ms
	} else {
		w.spans = append(w.spans, span{w.now, w.now + ms, k})
	}
	w.now += ms
}

// spent sums the time of each kind, in milliseconds.
func (s story) spent() map[kind]int64 {
	out := map[kind]int64{}
	for _, sp := range s.spans {
		out[sp.kind] += sp.to - sp.from
	}
	return out
}
