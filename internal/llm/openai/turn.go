package openai

import (
	"cmp"
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
	model   string
	// items are the finished output items in the order of the output.
	items []output
	// status is that of the whole response, once it is over; reason says why it is incomplete.
	status, reason string
	// failure is the error of a response that failed.
	failure json.RawMessage
	usage   usage
}

// output is a finished output item, exactly as it came. Only the event that ends an item has it whole.
type output struct {
	index int
	raw   json.RawMessage
}

func newTurn(req llm.Request) *turn { return &turn{req: req} }

// ended reports whether no event matters any more.
func (t *turn) ended() bool { return t.status != "" || t.failure != nil }

type event struct {
	Type     string          `json:"type"`
	Delta    json.RawMessage `json:"delta"`
	Item     json.RawMessage `json:"item"`
	Index    int             `json:"output_index"`
	Response *struct {
		Model      string            `json:"model"`
		Status     string            `json:"status"`
		Output     []json.RawMessage `json:"output"`
		Usage      json.RawMessage   `json:"usage"`
		Error      json.RawMessage   `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	} `json:"response"`
}

// add takes one event and passes its text on.
func (t *turn) add(raw []byte, stream func(llm.Delta)) error {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	t.started = true
	if e.Response != nil {
		if e.Response.Model != "" {
			t.model = e.Response.Model
		}
		t.usage.update(e.Response.Usage)
	}
	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		stream(llm.Delta{Text: text(e.Delta)})
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		stream(llm.Delta{Reasoning: text(e.Delta)})
	case "response.output_item.done":
		if len(e.Item) > 0 {
			t.items = append(t.items, output{e.Index, e.Item})
		}
	case "response.completed", "response.incomplete":
		t.finish(e)
	case "response.failed":
		t.failure = raw
		if e.Response != nil && len(e.Response.Error) > 0 {
			t.failure = e.Response.Error
		}
	case "error":
		t.failure = raw
	}
	return nil
}

func (t *turn) finish(e event) {
	t.status = strings.TrimPrefix(e.Type, "response.")
	if e.Response == nil {
		return
	}
	t.reason = e.Response.Incomplete.Reason
	if len(t.items) == 0 { // gateways that send no items one by one
		for i, raw := range e.Response.Output {
			t.items = append(t.items, output{i, raw})
		}
	}
	slices.SortStableFunc(t.items, func(a, b output) int { return cmp.Compare(a.index, b.index) })
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // anything else is no text
	return s
}

// item is what this package reads of an output item.
type item struct {
	fields                                   map[string]json.RawMessage
	kind, callID, name, arguments, encrypted string
	content, summary                         []part
}

// readItem reads the fields by their exact names: encoding/json would take others of another case
// for them, and the service would not.
func readItem(raw json.RawMessage) (item, bool) {
	var it item
	if json.Unmarshal(raw, &it.fields) != nil || text(it.fields["type"]) == "" {
		return item{}, false
	}
	f := it.fields
	it.kind, it.callID, it.name = text(f["type"]), text(f["call_id"]), text(f["name"])
	it.arguments, it.encrypted = text(f["arguments"]), text(f["encrypted_content"])
	_ = json.Unmarshal(f["content"], &it.content) // absent in most items
	_ = json.Unmarshal(f["summary"], &it.summary)
	return it, true
}

type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// response closes the turn.
func (t *turn) response() llm.Response {
	ids := llm.NewIDs(t.req.Messages)
	m := llm.Message{Role: llm.Assistant}
	var said, thought strings.Builder
	refused := false
	var raw []json.RawMessage
	for _, o := range t.items {
		it, ok := readItem(o.raw)
		if !ok {
			continue // it is no item of this protocol and could not stand in a request
		}
		keep := json.RawMessage(wire.RepairSurrogates(string(o.raw)))
		switch it.kind {
		case "message":
			for _, p := range it.content {
				said.WriteString(p.Text + p.Refusal)
				refused = refused || p.Refusal != ""
			}
		case "reasoning":
			thought.WriteString(it.readable())
			if it.encrypted == "" {
				continue // its id means nothing where nothing is stored: the service would not find it
			}
		case "function_call":
			call := llm.Call{ID: ids.Unique(it.callID), Name: it.name, Arguments: wire.RepairSurrogates(it.arguments)}
			m.Calls = append(m.Calls, call)
			keep = t.clean(keep, it, call)
		}
		raw = append(raw, keep)
	}
	m.Text, m.Reasoning = said.String(), thought.String()
	m.Raw = join(raw)
	r := llm.Response{Message: m, StopReason: t.stopReason(m, refused), Model: t.model}
	r.Usage, r.UsageKnown = t.usage.normal()
	return r
}

// join makes a list of the items without touching their bytes.
func join(items []json.RawMessage) json.RawMessage {
	b := []byte{'['}
	for i, it := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, it...)
	}
	return append(b, ']')
}

func (it item) readable() string {
	parts := it.summary
	if len(it.content) > 0 {
		parts = it.content
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

// clean returns a call as it may stand in a later request: as it came, unless its id, its name or
// its arguments would be refused.
func (t *turn) clean(source json.RawMessage, it item, call llm.Call) json.RawMessage {
	_, name := llm.ToolName(it.name, t.req.Tools)
	args := wire.HistoryArguments(call.Arguments)
	if it.callID == call.ID && it.name == name && it.arguments == args {
		return source
	}
	fields := maps.Clone(it.fields)
	for field, value := range map[string]string{"call_id": call.ID, "name": name, "arguments": args} {
		fields[field] = wire.AppendString(nil, value)
	}
	b := []byte{'{'}
	for i, field := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(wire.AppendString(b, field), ':')
		b = append(b, fields[field]...)
	}
	return append(b, '}')
}

func (t *turn) stopReason(m llm.Message, refused bool) llm.StopReason {
	switch {
	case t.reason == "content_filter":
		return llm.StopRefusal
	case t.status == "incomplete":
		return llm.StopLength
	case len(m.Calls) > 0:
		return llm.StopCalls
	case refused:
		return llm.StopRefusal
	}
	return llm.StopEnd
}

// usage is the newest usage object.
type usage struct{ raw json.RawMessage }

func (u *usage) update(raw json.RawMessage) {
	if len(raw) > 0 && string(raw) != "null" {
		u.raw = raw
	}
}

// normal is the normal form: the input of the service includes what the cache served and stored.
func (u *usage) normal() (trajectory.Usage, bool) {
	var got struct {
		Input   *wire.Count `json:"input_tokens"`
		Output  wire.Count  `json:"output_tokens"`
		Details struct {
			Cached  wire.Count `json:"cached_tokens"`
			Written wire.Count `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		OfOutput struct {
			Reasoning wire.Count `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	}
	_ = json.Unmarshal(u.raw, &got) // a field of another type does not spoil the rest
	if got.Input == nil {
		return trajectory.Usage{}, false
	}
	out := trajectory.Usage{
		Input: int64(*got.Input), CacheRead: int64(got.Details.Cached), CacheWrite: int64(got.Details.Written),
		Output: int64(got.Output), Reasoning: int64(got.OfOutput.Reasoning),
	}
	out.Input = max(0, out.Input-out.CacheRead-out.CacheWrite)
	return out, true
}
