package openaichat

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// reasoning collects the thoughts of a turn and remembers the names they came under.
type reasoning struct {
	drop bool
	// readable is for people.
	readable strings.Builder
	// fields are the plain text fields, in order of first appearance.
	fields  []*field
	details []detail
}

type field struct {
	name string
	text strings.Builder
}

// add takes the reasoning of a piece and returns its readable part.
func (r *reasoning) add(m *message) string {
	plain := ""
	for _, f := range []struct {
		name string
		raw  json.RawMessage
	}{{"reasoning_content", m.ReasoningContent}, {"reasoning", m.Reasoning}} {
		s, ok := str(f.raw)
		if !ok {
			continue
		}
		r.field(f.name).WriteString(s)
		if plain == "" {
			plain = s
		}
	}
	detailed := r.addDetails(m.ReasoningDetails)
	if plain == "" {
		return detailed
	}
	return plain
}

func (r *reasoning) field(name string) *strings.Builder {
	for _, f := range r.fields {
		if f.name == name {
			return &f.text
		}
	}
	f := &field{name: name}
	r.fields = append(r.fields, f)
	return &f.text
}

// detail is one entry of reasoning_details. A stream sends it in pieces: its texts are to
// be joined, its other fields are sent once.
type detail struct {
	fields map[string]json.RawMessage
	texts  map[string]*strings.Builder
}

// joined are the fields of a detail whose pieces are joined.
var joined = []string{"text", "summary", "data"}

func (r *reasoning) addDetails(raw json.RawMessage) string {
	var list []map[string]json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var said strings.Builder
	for _, fields := range list {
		r.detail(fields).add(fields, &said)
	}
	return said.String()
}

func (d *detail) add(fields map[string]json.RawMessage, said *strings.Builder) {
	for _, name := range joined {
		s, ok := str(fields[name])
		if !ok {
			continue
		}
		if d.texts[name] == nil {
			d.texts[name] = new(strings.Builder)
		}
		d.texts[name].WriteString(s)
		if name != "data" {
			said.WriteString(s)
		}
		delete(fields, name)
	}
	for name, value := range fields {
		if string(value) != "null" || d.fields[name] == nil {
			d.fields[name] = value
		}
	}
}

// detail returns the entry that a piece continues, or a new one: the last entry, if it has
// the same index, type and id.
func (r *reasoning) detail(fields map[string]json.RawMessage) *detail {
	if n := len(r.details); n > 0 {
		last := &r.details[n-1]
		same := true
		for _, name := range []string{"index", "type", "id"} {
			have, got := wire.Scalar(last.fields[name]), wire.Scalar(fields[name])
			same = same && (have == got || have == "" || got == "")
		}
		if same && wire.Scalar(fields["type"]) != "reasoning.encrypted" {
			return last
		}
	}
	r.details = append(r.details, detail{fields: map[string]json.RawMessage{}, texts: map[string]*strings.Builder{}})
	return &r.details[len(r.details)-1]
}

// append writes the fields that go back. Where details came, the plain text only repeats them
// and stays out.
func (r *reasoning) append(b []byte) []byte {
	if r.drop {
		return b
	}
	if len(r.details) == 0 {
		for _, f := range r.fields {
			b = append(wire.AppendString(append(b, ','), f.name), ':')
			b = wire.AppendString(b, f.text.String())
		}
		return b
	}
	b = append(b, `,"reasoning_details":[`...)
	for i, d := range r.details {
		if i > 0 {
			b = append(b, ',')
		}
		b = d.append(b)
	}
	return append(b, ']')
}

func (d detail) append(b []byte) []byte {
	for name, text := range d.texts {
		d.fields[name] = wire.AppendString(nil, text.String())
	}
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(d.fields)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(wire.AppendString(b, name), ':')
		b = append(b, wire.RepairSurrogates(string(d.fields[name]))...)
	}
	return append(b, '}')
}

// reasoningFields are the names under which reasoning goes back.
var reasoningFields = []string{"reasoning_content", "reasoning_details", "reasoning"}

func mentionsReasoning(said string) bool {
	return strings.Contains(said, "reasoning") && !strings.Contains(said, "effort")
}

// raw is an earlier answer as it came, less what the server has refused.
func (q quirks) raw(raw json.RawMessage) json.RawMessage {
	if q.noReasoning {
		raw = withoutReasoning(raw)
	}
	if q.noNull {
		raw = withoutNull(raw)
	}
	return raw
}

func repliesWithReasoning(req llm.Request) bool { return changes(req, withoutReasoning) }

func repliesWithNull(req llm.Request) bool { return changes(req, withoutNull) }

// changes reports whether an earlier answer is another after the change.
func changes(req llm.Request, change func(json.RawMessage) json.RawMessage) bool {
	return slices.ContainsFunc(req.Messages, func(m llm.Message) bool {
		return m.Role == llm.Assistant && len(m.Raw) > 0 && string(change(m.Raw)) != string(m.Raw)
	})
}

// withoutReasoning is a raw message with its reasoning taken out, and otherwise as it was.
func withoutReasoning(raw json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || !slices.ContainsFunc(reasoningFields, func(f string) bool { return fields[f] != nil }) {
		return raw
	}
	return compose(fields, "role", "content", "tool_calls")
}

// withoutNull is a raw message with an empty text where it has none or null, and otherwise as it was.
func withoutNull(raw json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields["content"] != nil && string(fields["content"]) != "null" {
		return raw
	}
	fields["content"] = json.RawMessage(`""`)
	return compose(fields, append([]string{"role", "content", "tool_calls"}, reasoningFields...)...)
}

// compose writes those of the fields that have these names, in this order.
func compose(fields map[string]json.RawMessage, names ...string) json.RawMessage {
	b := []byte{'{'}
	for _, name := range names {
		if fields[name] == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(wire.AppendString(b, name), ':')
		b = append(b, fields[name]...)
	}
	return append(b, '}')
}
