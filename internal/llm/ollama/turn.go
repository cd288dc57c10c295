package ollama

import (
	"bytes"
	"encoding/json"
	"strings"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
	"goserini/internal/trajectory"
)

// turn puts an answer together from its lines.
type turn struct {
	req             llm.Request
	started, done   bool
	model, reason   string
	text, thinking  strings.Builder
	calls           []call
	prompt, written wire.Count
	counted         bool
}

type call struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// piece is one line of an answer.
type piece struct {
	Error   json.RawMessage `json:"error"`
	Model   string          `json:"model"`
	Message struct {
		Content  string `json:"content"`
		Thinking string `json:"thinking"`
		Calls    []call `json:"tool_calls"`
	} `json:"message"`
	Done       bool        `json:"done"`
	DoneReason string      `json:"done_reason"`
	Prompt     *wire.Count `json:"prompt_eval_count"`
	Written    *wire.Count `json:"eval_count"`
}

func newTurn(req llm.Request) *turn { return &turn{req: req} }

// add takes one line and passes its text on.
func (t *turn) add(p piece, stream func(llm.Delta)) {
	t.started = true
	if p.Model != "" {
		t.model = p.Model
	}
	t.text.WriteString(p.Message.Content)
	t.thinking.WriteString(p.Message.Thinking)
	t.calls = append(t.calls, p.Message.Calls...)
	if p.Message.Content != "" || p.Message.Thinking != "" {
		stream(llm.Delta{Text: p.Message.Content, Reasoning: p.Message.Thinking})
	}
	if p.Prompt != nil {
		t.prompt, t.counted = *p.Prompt, true
	}
	if p.Written != nil {
		t.written = *p.Written
	}
	t.done, t.reason = p.Done, p.DoneReason
}

// response closes the turn.
func (t *turn) response() llm.Response {
	ids := llm.NewIDs(t.req.Messages)
	m := llm.Message{Role: llm.Assistant, Text: t.text.String(), Reasoning: t.thinking.String()}
	for _, c := range t.calls {
		m.Calls = append(m.Calls, llm.Call{ID: ids.Unique(c.ID), Name: c.Function.Name, Arguments: wire.RepairSurrogates(c.arguments())})
	}
	m.Raw = appendAssistant(nil, m.Text, m.Reasoning, appendCalls(nil, m.Calls, t.req.Tools))
	r := llm.Response{Message: m, StopReason: t.stopReason(), Model: t.model}
	r.Usage, r.UsageKnown = t.usage()
	return r
}

// arguments are an object here; imitators send a string that holds one.
func (c call) arguments() string {
	raw := bytes.TrimSpace(c.Function.Arguments)
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

func (t *turn) stopReason() llm.StopReason {
	switch {
	case t.reason == "length":
		return llm.StopLength
	case len(t.calls) > 0:
		return llm.StopCalls
	case t.reason == "stop" || t.reason == "":
		return llm.StopEnd
	}
	return llm.StopOther
}

// usage is what the server counted: the prompt, and what was written, thoughts included. It tells
// nothing of its cache.
func (t *turn) usage() (trajectory.Usage, bool) {
	return trajectory.Usage{Input: int64(t.prompt), Output: int64(t.written)}, t.counted
}
