package gemini

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
	"goserini/internal/trajectory"
)

// turn puts an answer together from the pieces of its stream.
type turn struct {
	req           llm.Request
	started       bool
	model         string
	finish        string
	finishMessage string
	// blocked says why the prompt got no answer.
	blocked    string
	parts      []*part
	usage      trajectory.Usage
	usageKnown bool
}

// part is one part of the answer. Plain text that comes in pieces is joined; everything else
// keeps its bytes.
type part struct {
	raw     json.RawMessage
	thought bool
	// text is that of a plain part, to which more may be added.
	text *strings.Builder
	call *functionCall
}

type functionCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

// piece is one event of a stream.
type piece struct {
	Error      json.RawMessage `json:"error"`
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage json.RawMessage `json:"usageMetadata"`
	Model string          `json:"modelVersion"`
}

func newTurn(req llm.Request) *turn { return &turn{req: req} }

// add takes one event and passes its text on.
func (t *turn) add(p piece, stream func(llm.Delta)) {
	if p.Model != "" {
		t.model = p.Model
	}
	if p.Feedback.BlockReason != "" {
		t.blocked = p.Feedback.BlockReason
	}
	t.addUsage(p.Usage)
	for _, c := range p.Candidates {
		if c.Index != 0 {
			continue
		}
		t.started = true
		for _, raw := range c.Content.Parts {
			t.addPart(raw, stream)
		}
		if c.FinishReason != "" {
			t.finish, t.finishMessage = c.FinishReason, c.FinishMessage
		}
	}
}

func (t *turn) addPart(raw json.RawMessage, stream func(llm.Delta)) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || len(fields) == 0 {
		return
	}
	p := &part{raw: raw, thought: string(fields["thought"]) == "true"}
	var said string
	isText := json.Unmarshal(fields["text"], &said) == nil && fields["text"] != nil
	if call := fields["functionCall"]; call != nil {
		p.call = readCall(call)
	}
	if said != "" {
		stream(delta(said, p.thought))
	}
	plain := isText && p.call == nil && (len(fields) == 1 || len(fields) == 2 && fields["thought"] != nil)
	if !plain {
		if isText {
			p.text = new(strings.Builder)
			p.text.WriteString(said)
		}
		t.parts = append(t.parts, p)
		return
	}
	if n := len(t.parts); n > 0 && t.parts[n-1].raw == nil && t.parts[n-1].thought == p.thought {
		t.parts[n-1].text.WriteString(said)
		return
	}
	p.raw, p.text = nil, new(strings.Builder)
	p.text.WriteString(said)
	t.parts = append(t.parts, p)
}

// readCall reads the fields by their exact names, as the service would.
func readCall(raw json.RawMessage) *functionCall {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // a call that is no object has no name
	c := &functionCall{Args: fields["args"]}
	_ = json.Unmarshal(fields["id"], &c.ID)
	_ = json.Unmarshal(fields["name"], &c.Name)
	return c
}

func delta(s string, thought bool) llm.Delta {
	if thought {
		return llm.Delta{Reasoning: s}
	}
	return llm.Delta{Text: s}
}

// response closes the turn.
func (t *turn) response() llm.Response {
	ids := llm.NewIDs(t.req.Messages)
	m := llm.Message{Role: llm.Assistant}
	var said, thought strings.Builder
	raw := []byte(`{"role":"model","parts":[`)
	from := len(raw)
	for _, p := range t.parts {
		switch {
		case p.call != nil:
			call := llm.Call{ID: ids.Unique(p.call.ID), Name: p.call.Name, Arguments: p.call.arguments()}
			m.Calls = append(m.Calls, call)
			raw = append(comma(raw, from), p.clean(call, t.req.Tools)...)
			continue
		case p.raw == nil && p.text.Len() == 0:
			continue // the service refuses an empty text
		case p.text != nil && p.thought:
			thought.WriteString(p.text.String())
		case p.text != nil:
			said.WriteString(p.text.String())
		}
		raw = append(comma(raw, from), p.bytes()...)
	}
	m.Text, m.Reasoning = said.String(), thought.String()
	m.Raw = append(raw, `]}`...)
	return llm.Response{Message: m, StopReason: t.stopReason(len(m.Calls) > 0), Usage: t.usage, UsageKnown: t.usageKnown, Model: t.model}
}

func (p *part) bytes() []byte {
	if p.raw != nil {
		return []byte(wire.RepairSurrogates(string(p.raw)))
	}
	b := wire.AppendString([]byte(`{"text":`), p.text.String())
	if p.thought {
		b = append(b, `,"thought":true`...)
	}
	return append(b, '}')
}

func (c *functionCall) arguments() string {
	if len(c.Args) == 0 || string(c.Args) == "null" {
		return "{}" // how the protocol writes a call without arguments
	}
	var s string
	if c.Args[0] == '"' && json.Unmarshal(c.Args, &s) == nil {
		return wire.RepairSurrogates(s)
	}
	return wire.RepairSurrogates(string(c.Args))
}

// clean returns the part of a call as it may stand in a later request: as it came, unless its name
// or its arguments would be refused.
func (p *part) clean(call llm.Call, offered []llm.ToolSpec) []byte {
	_, name := llm.ToolName(call.Name, offered)
	args := wire.HistoryArguments(call.Arguments)
	asItCame := len(p.call.Args) == 0 || string(p.call.Args) == args
	if p.call.Name == name && asItCame {
		return p.bytes()
	}
	var fields, inner map[string]json.RawMessage
	_ = json.Unmarshal(p.raw, &fields) // addPart has read it
	_ = json.Unmarshal(fields["functionCall"], &inner)
	if inner == nil {
		inner = map[string]json.RawMessage{}
	}
	inner["name"], inner["args"] = wire.AppendString(nil, name), json.RawMessage(args)
	fields["functionCall"] = appendObject(nil, inner)
	return []byte(wire.RepairSurrogates(string(appendObject(nil, fields))))
}

func appendObject(b []byte, fields map[string]json.RawMessage) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(wire.AppendString(b, name), ':')
		b = append(b, fields[name]...)
	}
	return append(b, '}')
}

func (t *turn) stopReason(calls bool) llm.StopReason {
	switch t.finish {
	case "MAX_TOKENS":
		return llm.StopLength
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY":
		return llm.StopRefusal
	}
	switch {
	case calls:
		return llm.StopCalls
	case t.finish == "STOP":
		return llm.StopEnd
	case t.blocked != "":
		return llm.StopRefusal
	}
	return llm.StopOther
}

// addUsage brings the newest usage object into the normal form: the service counts cached tokens as
// part of the prompt and thoughts apart from the candidates.
func (t *turn) addUsage(raw json.RawMessage) {
	var u struct {
		Prompt     *wire.Count `json:"promptTokenCount"`
		Cached     wire.Count  `json:"cachedContentTokenCount"`
		Candidates wire.Count  `json:"candidatesTokenCount"`
		Thoughts   wire.Count  `json:"thoughtsTokenCount"`
		ToolUse    wire.Count  `json:"toolUsePromptTokenCount"`
	}
	_ = json.Unmarshal(raw, &u) // a field of another type does not spoil the rest
	if u.Prompt == nil {
		return
	}
	t.usageKnown = true
	t.usage = trajectory.Usage{
		Input: int64(max(0, *u.Prompt-u.Cached) + u.ToolUse), CacheRead: int64(u.Cached),
		Output: int64(u.Candidates + u.Thoughts), Reasoning: int64(u.Thoughts),
	}
}
