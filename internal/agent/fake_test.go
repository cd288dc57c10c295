package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"goserini/internal/llm"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// final is a complete answer.
const final = "Explanation: it is in the survey [d2].\nExact Answer: Lake Orrin\nConfidence: 80%"

// step is one response of the scripted model.
type step func(ctx context.Context, req llm.Request) (llm.Response, error)

// model is a scripted client: the n-th call takes the n-th step, later ones the last. It
// fails the test when a request does not repeat the one before, or holds a history that a
// server would refuse.
type model struct {
	t     *testing.T
	steps []step
	// shortens allows the history to change.
	shortens bool

	mu       sync.Mutex
	requests []llm.Request
}

func script(t *testing.T, steps ...step) *model { return &model{t: t, steps: steps} }

func (m *model) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	m.mu.Lock()
	n := len(m.requests)
	if n > 0 && !m.shortens {
		requirePrefix(m.t, m.requests[n-1], req)
	}
	requirePairs(m.t, req.Messages)
	m.requests = append(m.requests, req)
	m.mu.Unlock()
	resp, err := m.steps[min(n, len(m.steps)-1)](ctx, req)
	if err == nil && resp.Message.Text != "" {
		stream(llm.Delta{Text: resp.Message.Text})
	}
	return resp, err
}

// requirePrefix fails unless a request begins with the whole one before it.
func requirePrefix(t *testing.T, before, now llm.Request) {
	t.Helper()
	if len(now.Messages) < len(before.Messages) || encode(t, now.Messages[:len(before.Messages)]) != encode(t, before.Messages) ||
		encode(t, now.Tools) != encode(t, before.Tools) || now.System != before.System || now.CacheKey != before.CacheKey {
		t.Errorf("a request does not begin with the one before:\n%s\n%s", encode(t, before), encode(t, now))
	}
}

// requirePairs fails unless every call is answered right behind its turn, in order, ids are
// unique, names and arguments have a form every server takes, and no message is empty.
func requirePairs(t *testing.T, messages []llm.Message) {
	t.Helper()
	seen := map[string]bool{}
	var open []string
	for i, m := range messages {
		if m.Role == llm.Tool {
			if len(open) == 0 || open[0] != m.CallID {
				t.Errorf("message %d answers %q, want an answer to %q", i, m.CallID, open)
				return
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			t.Errorf("message %d: calls left open %q", i, open)
		}
		if strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0 {
			t.Errorf("message %d (%s) is empty", i, m.Role)
		}
		for _, c := range m.Calls {
			if c.ID == "" || seen[c.ID] {
				t.Errorf("message %d: call id %q is empty or used twice", i, c.ID)
			}
			seen[c.ID] = true
			open = append(open, c.ID)
			if c.Name == "" || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
				t.Errorf("message %d: tool name %q", i, c.Name)
			}
			var o map[string]json.RawMessage
			if json.Unmarshal([]byte(c.Arguments), &o) != nil || o == nil {
				t.Errorf("message %d: arguments %q are no object", i, c.Arguments)
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("calls left open at the end: %q", open)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var usage = trajectory.Usage{Input: 100, Output: 10}

// says responds with text.
func says(text string) step {
	return func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Message: llm.Message{Role: llm.Assistant, Text: text}, StopReason: llm.StopEnd, Usage: usage, UsageKnown: true}, nil
	}
}

// stops responds with text and a stop reason.
func stops(reason llm.StopReason, text string) step {
	return then(says(text), func(r *llm.Response) { r.StopReason = reason })
}

// then changes what a step responds.
func then(s step, change func(*llm.Response)) step {
	return func(ctx context.Context, req llm.Request) (llm.Response, error) {
		r, err := s(ctx, req)
		change(&r)
		return r, err
	}
}

// calls responds with calls given as name and arguments in turn. Ids are new each time.
func calls(pairs ...string) step {
	return func(_ context.Context, req llm.Request) (llm.Response, error) {
		r := llm.Response{Message: llm.Message{Role: llm.Assistant}, StopReason: llm.StopCalls, Usage: usage, UsageKnown: true}
		for i := 0; i < len(pairs); i += 2 {
			r.Message.Calls = append(r.Message.Calls, llm.Call{ID: fmt.Sprintf("c%d_%d", len(req.Messages), i/2), Name: pairs[i], Arguments: pairs[i+1]})
		}
		return r, nil
	}
}

var search = calls("search", `{"query":"salt works"}`)

// after waits before a step, or until the call is ended.
func after(d time.Duration, s step) step {
	return func(ctx context.Context, req llm.Request) (llm.Response, error) {
		select {
		case <-time.After(d):
			return s(ctx, req)
		case <-ctx.Done():
			return llm.Response{}, fmt.Errorf("call ended: %w", ctx.Err())
		}
	}
}

// never does not respond.
func never(ctx context.Context, _ llm.Request) (llm.Response, error) {
	<-ctx.Done()
	return llm.Response{}, ctx.Err()
}

// fails responds with an error.
func fails(e llm.Error) step {
	return func(context.Context, llm.Request) (llm.Response, error) { return llm.Response{}, &e }
}

// searchTool numbers its results when calls begin and surfaces three documents.
func searchTool() tool.Tool {
	n := 0
	return tool.Tool{
		Name: "search", Description: "Search the documents.",
		Schema: json.RawMessage(`{"type":"object","properties":{"reason":{"type":"string"},"query":{"type":"string"}},"required":["reason","query"]}`),
		Begin: func(args json.RawMessage) func(context.Context) (tool.Result, error) {
			n++
			id := n
			return func(ctx context.Context) (tool.Result, error) {
				var a struct{ Query string }
				_ = json.Unmarshal(args, &a)
				if a.Query == "" {
					return tool.Result{Text: "search: query is missing. Call search again with query.", IsError: true}, nil
				}
				return tool.Result{
					Text:   fmt.Sprintf("s%d: 3 documents for %s\n1. [d1]\n2. [d2]", id, a.Query),
					Access: trajectory.Access{Surfaced: []string{"d1", "d2", "d3"}, Previewed: []string{"d1", "d2"}},
				}, nil
			}
		},
	}
}

// readTool opens the document it is asked for.
func readTool() tool.Tool {
	return tool.Tool{
		Name: "read_document", Description: "Read a document.",
		Schema: json.RawMessage(`{"type":"object","properties":{"docid":{"type":"string"}},"required":["docid"]}`),
		Begin: func(args json.RawMessage) func(context.Context) (tool.Result, error) {
			return func(context.Context) (tool.Result, error) {
				var a struct{ DocID string }
				_ = json.Unmarshal(args, &a)
				if a.DocID == "" {
					return tool.Result{Text: "read_document: docid is missing", IsError: true}, nil
				}
				return tool.Result{Text: "1: text of " + a.DocID, Access: trajectory.Access{Opened: []string{a.DocID}}}, nil
			}
		},
	}
}

// twoTools are those of one conversation.
func twoTools() []tool.Tool { return []tool.Tool{searchTool(), readTool()} }

// trial is a question that was run, with everything it left.
type trial struct {
	trajectory.Record
	err    error
	events []trajectory.Event
	model  *model
}

// ask runs one question over the two tools. It fails the test unless the events are a
// whole trajectory that replays to the record.
func ask(t *testing.T, m *model, change func(*Config)) trial {
	t.Helper()
	return askContext(t, t.Context(), m, change)
}

func askContext(t *testing.T, ctx context.Context, m *model, change func(*Config)) trial {
	t.Helper()
	got := trial{model: m}
	cfg := Config{
		Client: m, Model: "test-model", Tools: twoTools(),
		Emit: func(e trajectory.Event) { got.events = append(got.events, e) },
	}
	if change != nil {
		change(&cfg)
	}
	got.Record, got.err = Run(ctx, Question{ID: "q1", Text: "Which lake?"}, cfg)
	requireTrajectory(t, got)
	return got
}

func requireTrajectory(t *testing.T, got trial) {
	t.Helper()
	if len(got.events) == 0 {
		if got.err == nil {
			t.Fatal("no events and no error")
		}
		return
	}
	path := t.TempDir() + "/q.jsonl"
	w, err := trajectory.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range got.events {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := trajectory.ReadFile(path)
	if err != nil || !file.Whole || file.Torn {
		t.Fatalf("the trajectory reads back as whole %v, torn %v, error %v", file.Whole, file.Torn, err)
	}
	if a, b := encode(t, trajectory.Replay(file.Events)), encode(t, got.Record); a != b {
		t.Errorf("the trajectory replays to\n%s\nthe record is\n%s", a, b)
	}
	requireOutcome(t, got.Record)
}

// requireOutcome fails unless a question ended in a state of the manual.
func requireOutcome(t *testing.T, r trajectory.Record) {
	t.Helper()
	switch r.Status {
	case trajectory.Completed:
		if r.Reason != "" || r.Answer.Text == "" {
			t.Errorf("completed with reason %q and answer %q", r.Reason, r.Answer.Text)
		}
	case trajectory.Timeout:
		if r.Reason != ReasonTime {
			t.Errorf("timeout with reason %q", r.Reason)
		}
	case trajectory.Failed:
		if !slices.Contains(Reasons, r.Reason) {
			t.Errorf("failed with reason %q, which the manual does not name", r.Reason)
		}
	default:
		t.Errorf("status %q", r.Status)
	}
}

// want fails unless the question ended so.
func (got trial) want(t *testing.T, status trajectory.Status, reason string) {
	t.Helper()
	if got.Status != status || got.Reason != reason {
		t.Fatalf("ended as %s %q (%s), want %s %q", got.Status, got.Reason, got.Error, status, reason)
	}
}

// find returns the events of a type.
func (got trial) find(kind trajectory.Type) []trajectory.Event {
	var out []trajectory.Event
	for _, e := range got.events {
		if e.Type == kind {
			out = append(out, e)
		}
	}
	return out
}

// observations returns them all.
func (got trial) observations() []trajectory.Observation {
	var out []trajectory.Observation
	for _, e := range got.find(trajectory.TypeObservation) {
		out = append(out, *e.Observation)
	}
	return out
}

// last is the last message of the n-th request, from 1.
func (got trial) last(n int) llm.Message {
	m := got.model.requests[n-1].Messages
	return m[len(m)-1]
}
