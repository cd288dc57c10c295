package openaichat

import (
	"bytes"
	"encoding/json"
	"strings"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
	"goserini/internal/trajectory"
)

// turn puts one answer together from the pieces of a stream, or from one whole message.
type turn struct {
	req llm.Request

	model string
	// choice is the index of the first choice seen; others are ignored.
	choice  string
	started bool
	finish  string

	text, refusal strings.Builder
	// hasText tells content "" from content null: each goes back as it came.
	hasText   bool
	reasoning reasoning
	calls     calls

	usage      trajectory.Usage
	usageKnown bool
}

func newTurn(req llm.Request, policy Reasoning) *turn {
	return &turn{req: req, reasoning: reasoning{drop: policy == DropReasoning}}
}

// piece is a chunk of a stream or a whole answer.
type piece struct {
	Error   json.RawMessage `json:"error"`
	Model   json.RawMessage `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	// Groq is where Groq puts the usage of a stream.
	Groq json.RawMessage `json:"x_groq"`
}

type choice struct {
	Index        json.RawMessage `json:"index"`
	Delta        *message        `json:"delta"`
	Message      *message        `json:"message"`
	FinishReason json.RawMessage `json:"finish_reason"`
	Usage        json.RawMessage `json:"usage"`
}

type message struct {
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
}

// add takes one piece and passes its text on.
func (t *turn) add(p piece, stream func(llm.Delta)) {
	if t.model == "" {
		t.model = wire.Scalar(p.Model)
	}
	var groq struct {
		Usage json.RawMessage `json:"usage"`
	}
	_ = json.Unmarshal(p.Groq, &groq)
	t.addUsage(groq.Usage)
	t.addUsage(p.Usage)
	for _, c := range p.Choices {
		index := string(c.Index)
		if index == "" || index == "null" {
			index = "0"
		}
		if t.started && index != t.choice {
			continue
		}
		t.choice, t.started = index, true
		t.addUsage(c.Usage)
		if s := wire.Scalar(c.FinishReason); s != "" {
			t.finish = s
		}
		m := c.Delta
		if m == nil || c.Message != nil && t.empty() {
			m = c.Message
		}
		if m != nil {
			t.addMessage(m, stream)
		}
	}
}

func (t *turn) empty() bool {
	return t.text.Len() == 0 && t.refusal.Len() == 0 && len(t.calls.list) == 0
}

func (t *turn) addUsage(raw json.RawMessage) {
	if u, ok := parseUsage(raw); ok {
		t.usage, t.usageKnown = u, true
	}
}

func (t *turn) addMessage(m *message, stream func(llm.Delta)) {
	text, thought, isText := content(m.Content)
	t.hasText = t.hasText || isText
	t.text.WriteString(text)
	thought += t.reasoning.add(m)
	t.reasoning.readable.WriteString(thought)
	if s, ok := str(m.Refusal); ok {
		t.refusal.WriteString(s)
		text += s
	}
	t.calls.add(m.ToolCalls)
	if text != "" || thought != "" {
		stream(llm.Delta{Text: text, Reasoning: thought})
	}
}

// content reads a string, or a list of parts of which some may be thoughts.
func content(raw json.RawMessage) (text, thought string, ok bool) {
	var said, thoughts strings.Builder
	ok = readContent(raw, &said, &thoughts, 0)
	return said.String(), thoughts.String(), ok
}

// maxNesting bounds lists of parts within parts.
const maxNesting = 2

func readContent(raw json.RawMessage, said, thoughts *strings.Builder, depth int) bool {
	if s, ok := str(raw); ok {
		said.WriteString(s)
		return true
	}
	var parts []json.RawMessage
	if depth > maxNesting || json.Unmarshal(raw, &parts) != nil {
		return false
	}
	for _, part := range parts {
		var p struct {
			Type     string          `json:"type"`
			Text     json.RawMessage `json:"text"`
			Thinking json.RawMessage `json:"thinking"`
		}
		if s, isString := str(part); isString {
			said.WriteString(s)
			continue
		}
		if json.Unmarshal(part, &p) != nil {
			continue
		}
		to := said
		if p.Type == "thinking" || p.Type == "reasoning" {
			to = thoughts
			readContent(p.Thinking, thoughts, thoughts, depth+1)
		}
		s, _ := str(p.Text)
		to.WriteString(s)
	}
	return parts != nil
}

// str reads a JSON string.
func str(raw json.RawMessage) (string, bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	return s, json.Unmarshal(raw, &s) == nil
}

// response closes the turn.
func (t *turn) response() llm.Response {
	r := llm.Response{Usage: t.usage, UsageKnown: t.usageKnown, Model: t.model}
	calls, raw := t.calls.finish(t.req)
	m := llm.Message{Role: llm.Assistant, Text: t.text.String(), Reasoning: t.reasoning.readable.String(), Calls: calls}
	if m.Text == "" {
		m.Text = t.refusal.String()
	}
	m.Raw = t.raw(m.Text, raw)
	r.Message = m
	r.StopReason = t.stopReason(calls)
	return r
}

// raw is the message as it goes back in later requests.
func (t *turn) raw(text string, calls []byte) json.RawMessage {
	b := []byte(`{"role":"assistant","content":`)
	if text == "" && !t.hasText && len(calls) > 0 {
		b = append(b, "null"...)
	} else {
		b = wire.AppendString(b, text)
	}
	b = t.reasoning.append(b)
	b = append(b, calls...)
	return append(b, '}')
}

func (t *turn) stopReason(calls []llm.Call) llm.StopReason {
	switch t.finish {
	case "length", "max_tokens", "max_output_tokens", "MAX_TOKENS":
		return llm.StopLength
	case "content_filter", "refusal", "safety", "SAFETY":
		return llm.StopRefusal
	}
	if len(calls) > 0 {
		if t.cutInside(calls) {
			return llm.StopLength
		}
		return llm.StopCalls
	}
	if t.refusal.Len() > 0 && t.text.Len() == 0 {
		return llm.StopRefusal
	}
	switch t.finish {
	case "", "stop", "end_turn", "eos", "stop_sequence", "STOP":
		return llm.StopEnd
	}
	return llm.StopOther
}

// cutInside finds a turn that the output limit cut inside a call although the server gave
// another reason: the arguments do not parse and the limit is used up.
func (t *turn) cutInside(calls []llm.Call) bool {
	last := calls[len(calls)-1].Arguments
	limit := int64(t.req.MaxOutputTokens)
	return limit > 0 && t.usage.Output >= limit && last != "" && !json.Valid([]byte(last))
}
