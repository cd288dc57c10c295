package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
	"goserini/internal/trajectory"
)

// turn puts an answer together from the events of its stream.
type turn struct {
	req     llm.Request
	started bool
	done    bool
	model   string
	stop    string
	blocks  []*block
	byIndex map[int]*block
	usage   usage
}

// block is one content block: the fields it started with and the texts that were added.
type block struct {
	fields map[string]json.RawMessage
	kind   string
	text   strings.Builder // text, thinking or the JSON of a tool's input
	sign   strings.Builder
}

func newTurn(req llm.Request) *turn {
	return &turn{req: req, byIndex: map[int]*block{}}
}

type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string          `json:"model"`
		Usage json.RawMessage `json:"usage"`
	} `json:"message"`
	ContentBlock map[string]json.RawMessage `json:"content_block"`
	Delta        struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		Signature   string `json:"signature"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Usage json.RawMessage `json:"usage"`
}

// add takes one event and passes its text on.
func (t *turn) add(raw []byte, stream func(llm.Delta)) error {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	switch e.Type {
	case "message_start":
		t.started, t.model = true, e.Message.Model
		t.usage.update(e.Message.Usage)
	case "content_block_start":
		t.open(e, stream)
	case "content_block_delta":
		if b := t.byIndex[e.Index]; b != nil {
			b.add(e, stream)
		}
	case "message_delta":
		if e.Delta.StopReason != "" {
			t.stop = e.Delta.StopReason
		}
		t.usage.update(e.Usage)
	case "message_stop":
		t.done = true
	}
	return nil
}

func (t *turn) open(e event, stream func(llm.Delta)) {
	b := &block{fields: e.ContentBlock, kind: text(e.ContentBlock["type"])}
	t.blocks = append(t.blocks, b)
	t.byIndex[e.Index] = b
	switch b.kind {
	case "text", "thinking":
		b.text.WriteString(text(b.fields[b.kind]))
		b.sign.WriteString(text(b.fields["signature"]))
	}
	if b.text.Len() > 0 {
		b.pass(b.text.String(), stream)
	}
}

func (b *block) add(e event, stream func(llm.Delta)) {
	d := e.Delta
	b.sign.WriteString(d.Signature)
	s := d.Text + d.Thinking
	b.text.WriteString(s + d.PartialJSON)
	if s != "" {
		b.pass(s, stream)
	}
}

func (b *block) pass(s string, stream func(llm.Delta)) {
	switch b.kind {
	case "text":
		stream(llm.Delta{Text: s})
	case "thinking":
		stream(llm.Delta{Reasoning: s})
	}
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything else is no text
	return s
}

// response closes the turn.
func (t *turn) response() llm.Response {
	ids := llm.NewIDs(t.req.Messages)
	m := llm.Message{Role: llm.Assistant}
	raw := []byte(`{"role":"assistant","content":[`)
	var said, thought strings.Builder
	for _, b := range t.blocks {
		before := len(raw)
		if raw[before-1] != '[' {
			raw = append(raw, ',')
		}
		from := len(raw)
		switch b.kind {
		case "text":
			said.WriteString(b.text.String())
			raw = b.appendText(raw)
		case "thinking":
			thought.WriteString(b.text.String())
			raw = b.appendThinking(raw, t.stop == "max_tokens")
		case "tool_use":
			call := llm.Call{ID: ids.Unique(text(b.fields["id"])), Name: text(b.fields["name"]), Arguments: b.arguments()}
			m.Calls = append(m.Calls, call)
			_, name := llm.ToolName(call.Name, t.req.Tools)
			raw = appendToolUse(raw, call.ID, name, call.Arguments, b.more("id", "name", "input"))
		default:
			raw = b.appendUnknown(raw)
		}
		if len(raw) == from {
			raw = raw[:before]
		}
	}
	m.Text, m.Reasoning = said.String(), thought.String()
	m.Raw = append(raw, `]}`...)
	return llm.Response{
		Message: m, StopReason: t.stopReason(m), Usage: t.usage.normal(), UsageKnown: t.usage.known, Model: t.model,
	}
}

// arguments are the input of a tool call as the model wrote it.
func (b *block) arguments() string {
	args := b.text.String()
	if args == "" {
		args = string(b.fields["input"])
	}
	return wire.RepairSurrogates(args)
}

// more are the fields of the block that this package does not rebuild, so that they go back as they came.
func (b *block) more(known ...string) []byte {
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(b.fields)) {
		if name == "type" || slices.Contains(known, name) || string(b.fields[name]) == "null" {
			continue
		}
		out = append(wire.AppendString(append(out, ','), name), ':')
		out = append(out, wire.RepairSurrogates(string(b.fields[name]))...)
	}
	return out
}

// appendText leaves out a text of blanks, which the service refuses.
func (b *block) appendText(raw []byte) []byte {
	if strings.TrimSpace(b.text.String()) == "" {
		return raw
	}
	raw = wire.AppendString(append(raw, `{"type":"text","text":`...), b.text.String())
	return append(append(raw, b.more("text")...), '}')
}

// appendThinking leaves out a thought that the output limit cut before its signature came.
// Services that sign nothing get their thoughts back unsigned.
func (b *block) appendThinking(raw []byte, cut bool) []byte {
	if cut && b.sign.Len() == 0 {
		return raw
	}
	raw = wire.AppendString(append(raw, `{"type":"thinking","thinking":`...), b.text.String())
	if b.sign.Len() > 0 || b.fields["signature"] != nil {
		raw = wire.AppendString(append(raw, `,"signature":`...), b.sign.String())
	}
	return append(append(raw, b.more("thinking", "signature")...), '}')
}

// appendUnknown writes redacted thinking and whatever else the service invents as it came.
func (b *block) appendUnknown(raw []byte) []byte {
	raw = wire.AppendString(append(raw, `{"type":`...), b.kind)
	return append(append(raw, b.more()...), '}')
}

func (t *turn) stopReason(m llm.Message) llm.StopReason {
	switch t.stop {
	case "max_tokens", "model_context_window_exceeded":
		return llm.StopLength
	case "refusal":
		return llm.StopRefusal
	}
	if len(m.Calls) > 0 {
		return llm.StopCalls
	}
	switch t.stop {
	case "end_turn", "stop_sequence", "":
		return llm.StopEnd
	}
	return llm.StopOther
}

// usage holds the newest value of each count. The counts of the last event are totals, not additions.
type usage struct {
	known                       bool
	input, output, read, writes wire.Count
	thinking                    wire.Count
}

func (u *usage) update(raw json.RawMessage) {
	var got struct {
		Input    *wire.Count `json:"input_tokens"`
		Output   *wire.Count `json:"output_tokens"`
		Read     *wire.Count `json:"cache_read_input_tokens"`
		Writes   *wire.Count `json:"cache_creation_input_tokens"`
		OfOutput struct {
			Thinking *wire.Count `json:"thinking_tokens"`
		} `json:"output_tokens_details"`
	}
	_ = json.Unmarshal(raw, &got) // a field of another type does not spoil the rest
	for _, n := range []struct{ from, to *wire.Count }{
		{got.Input, &u.input}, {got.Output, &u.output}, {got.Read, &u.read}, {got.Writes, &u.writes}, {got.OfOutput.Thinking, &u.thinking},
	} {
		if n.from != nil {
			*n.to, u.known = *n.from, true
		}
	}
}

// normal is the normal form: the service already counts what the cache served apart from the input.
func (u *usage) normal() trajectory.Usage {
	return trajectory.Usage{Input: int64(u.input), CacheRead: int64(u.read), CacheWrite: int64(u.writes), Output: int64(u.output), Reasoning: int64(u.thinking)}
}
