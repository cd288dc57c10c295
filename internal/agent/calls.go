package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"goserini/internal/llm"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// What the model is told instead of a result.
const (
	// blockedText refuses a call after the research is over.
	blockedText = "Research is over for this question, so %s was not run. Call no more tools. Submit your best answer now, from what you have already seen, as plain text in exactly this format:"
	// cutCallText refuses the calls of a response that was cut.
	cutCallText = "The response was cut off at the output limit, so %s was not run. Send the call again with shorter arguments, less text before it, or fewer calls at once."
	// unfinishedText stands in the record for a call that was running when the question ended.
	unfinishedText = "The question ended while this call was running."
)

func blocked(tool string) string { return fmt.Sprintf(blockedText, tool) + "\n\n" + answerFormat }

// toolError is a failure of the machinery behind a tool: it ends the question.
type toolError struct {
	tool string
	err  error
}

func (e *toolError) Error() string { return "tool " + e.tool + ": " + e.err.Error() }
func (e *toolError) Unwrap() error { return e.err }

// plannedCall is a call as it will be run, or the sentence that refuses it.
type plannedCall struct {
	record  trajectory.Call
	args    json.RawMessage
	refusal string
}

// admit reads the calls of a response and brings the message into a form that can stand in
// the history: ids are unique, names have letters, digits, _ and -, arguments are JSON
// objects. Only a message whose ids had to change loses its raw form: clients keep the
// rest of it acceptable to their server.
func (s *session) admit(m *llm.Message, cut bool) []plannedCall {
	m.Role = llm.Assistant
	m.Raw = compactJSON(m.Raw)
	planned := make([]plannedCall, 0, len(m.Calls))
	m.Calls = slices.Clone(m.Calls)
	for i := range m.Calls {
		c := &m.Calls[i]
		if id := s.uniqueID(c.ID); id != c.ID {
			c.ID, m.Raw = id, nil
		}
		p := s.planCall(*c, cut)
		c.Name = historyName(p.record.Tool)
		c.Arguments = "{}"
		if p.args != nil {
			c.Arguments = string(p.args)
		}
		planned = append(planned, p)
	}
	return planned
}

func (s *session) uniqueID(id string) string {
	unique := id
	for n := len(s.ids) + 1; unique == "" || s.ids[unique]; n++ {
		unique = "call" + strconv.Itoa(n)
	}
	s.ids[unique] = true
	return unique
}

// planCall decides whether a call can be run.
func (s *session) planCall(c llm.Call, cut bool) plannedCall {
	name, known := s.toolName(c.Name)
	p := plannedCall{record: trajectory.Call{ID: c.ID, Tool: name}}
	if name != c.Name {
		p.record.RawTool = c.Name
	}
	args, problem := parseArguments(c.Arguments)
	p.args = args
	p.record.Arguments = args
	if problem != "" || string(args) != c.Arguments {
		p.record.RawArguments = c.Arguments
	}
	switch {
	case !known:
		p.refusal = s.unknownTool(name)
	case cut:
		p.refusal = fmt.Sprintf(cutCallText, name)
	case problem != "":
		p.refusal = fmt.Sprintf("%s was not run: its arguments %s. They began: %s\nCall %s again with one JSON object with %s.",
			name, problem, shown(c.Arguments), name, fields(s.tools[name].Schema))
	}
	return p
}

// toolName finds the offered tool a name means: control tokens behind it and a prefix such
// as "functions." before it are no part of it.
func (s *session) toolName(written string) (string, bool) {
	if _, ok := s.tools[written]; ok {
		return written, true
	}
	name, _, _ := strings.Cut(written, "<|")
	name = strings.Trim(name, " \t\r\n\"'`()")
	for {
		if _, ok := s.tools[name]; ok {
			return name, true
		}
		i := strings.IndexAny(name, ".:/")
		if i < 0 {
			break
		}
		name = name[i+1:]
	}
	for _, offered := range s.specs {
		if strings.EqualFold(offered.Name, name) {
			return offered.Name, true
		}
	}
	return strings.ToValidUTF8(written, "\uFFFD"), false
}

func (s *session) unknownTool(name string) string {
	if len(s.specs) == 0 {
		return "There are no tools for this question. Give your final answer as plain text in exactly this format:\n\n" + answerFormat
	}
	names := make([]string, len(s.specs))
	for i, t := range s.specs {
		names[i] = t.Name
	}
	return fmt.Sprintf("There is no tool %s, so nothing was run. The tools are %s. Call one of them by exactly that name.", shown(name), strings.Join(names, ", "))
}

// historyName is the name in the form every provider takes back.
func historyName(name string) string {
	const longest = 64
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == '_', r == '-', '0' <= r && r <= '9', 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
			return r
		}
		return '_'
	}, name)
	if clean == "" {
		return "unnamed"
	}
	return clean[:min(longest, len(clean))]
}

// running is a call that was begun.
type running struct {
	done     chan struct{}
	result   tool.Result
	err      error
	duration time.Duration
	blocked  bool
	rejected bool
	// begun calls have work to do, unless err says that not even the beginning went well.
	begun bool
	work  func(context.Context) (tool.Result, error)
}

// runCalls runs the calls of a turn concurrently and adds their results to the history in
// call order. It returns how many reached a tool. An error is the machinery's or the
// context's; then the question ends, and every call has its observation all the same.
func (s *session) runCalls(ctx context.Context, calls []plannedCall) (int, error) {
	over := s.over != "" || s.clock.steerDue()
	toolCtx, cancel := s.clock.untilSteer(ctx)
	defer cancel()
	toolCtx, stop := context.WithCancelCause(toolCtx)
	defer stop(nil)
	started := make([]*running, len(calls))
	for i, c := range calls {
		record := c.record
		s.emit(trajectory.Event{Type: trajectory.TypeCall, Call: &record})
		started[i] = s.begin(c, over)
	}
	// Only now does the first one run: what a call may know of the others is settled when it begins.
	for i, r := range started {
		if r.begun {
			go r.run(toolCtx, calls[i].record.Tool, stop)
		}
	}
	ran := 0
	var failed error
	var answered []tool.Exchange
	for i, r := range started {
		<-r.done
		if !r.blocked && !r.rejected {
			ran++
		}
		if r.begun && r.err == nil {
			answered = append(answered, tool.Exchange{Call: calls[i].record, Result: r.result})
		}
		if err := s.observe(ctx, calls[i], r, context.Cause(toolCtx)); err != nil {
			failed = err
		}
	}
	if failed == nil {
		s.watch(answered)
	}
	return ran, failed
}

// begin begins a call, or refuses it. Identifiers are assigned here, in call order.
func (s *session) begin(c plannedCall, over bool) *running {
	r := &running{done: make(chan struct{})}
	limit := s.cfg.Budget.MaxCalls
	switch {
	case over || limit > 0 && s.calls >= limit:
		r.blocked = true
		r.result = tool.Result{Text: blocked(c.record.Tool), IsError: true}
	case c.refusal != "":
		s.calls++
		r.rejected = true
		r.result = tool.Result{Text: c.refusal, IsError: true}
	default:
		s.calls++
		r.begun = true
		r.work, r.err = beginTool(s.tools[c.record.Tool], c.args)
		return r
	}
	close(r.done)
	return r
}

// run does the work of a call that was begun. One that breaks stops the others of its turn.
func (r *running) run(ctx context.Context, name string, stop context.CancelCauseFunc) {
	defer close(r.done)
	start, err := time.Now(), r.err
	if err == nil {
		r.result, err = runTool(ctx, r.work)
	}
	r.duration = time.Since(start)
	if err != nil {
		r.err = &toolError{tool: name, err: err}
		stop(r.err)
	}
}

func beginTool(t tool.Tool, args json.RawMessage) (work func(context.Context) (tool.Result, error), err error) {
	defer recovered(&err)
	return t.Begin(slices.Clone(args)), nil
}

func runTool(ctx context.Context, work func(context.Context) (tool.Result, error)) (result tool.Result, err error) {
	defer recovered(&err)
	return work(ctx)
}

func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
	}
}

// observe records the result of a call and adds it to the history. stopped is why the
// context of the tools ended, if it did.
func (s *session) observe(ctx context.Context, c plannedCall, r *running, stopped error) error {
	result, isBlocked, failed := r.result, r.blocked, error(nil)
	if r.err != nil {
		switch {
		case ctx.Err() != nil:
			failed, isBlocked = context.Cause(ctx), true
			result = tool.Result{Text: unfinishedText, IsError: true}
		case errors.Is(stopped, errSteer):
			isBlocked = true
			result = tool.Result{Text: blocked(c.record.Tool), IsError: true}
		default: // the first call that broke, which stopped the others
			failed = stopped
			result = tool.Result{Text: unfinishedText, IsError: true}
		}
	}
	s.emit(trajectory.Event{Type: trajectory.TypeObservation, Observation: &trajectory.Observation{
		CallID: c.record.ID, Tool: c.record.Tool, Text: result.Text, IsError: result.IsError,
		Blocked: isBlocked, Rejected: r.rejected, DurationMS: r.duration.Milliseconds(),
		Access: result.Access, Details: result.Details,
	}})
	s.messages = append(s.messages, llm.Message{
		Role: llm.Tool, Text: result.Text, IsError: result.IsError, CallID: c.record.ID, ToolName: historyName(c.record.Tool),
	})
	return failed
}
