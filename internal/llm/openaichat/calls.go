package openaichat

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// calls puts tool calls together from pieces whose index may be missing or repeated, whose
// id may be missing, null or empty, and whose arguments may come whole, in bits or as an object.
type calls struct {
	list    []*call
	byIndex map[string]*call
	byID    map[string]*call
}

type call struct {
	id, name string
	args     strings.Builder
	// more are fields this protocol does not know, such as a signature: they go back as they came.
	more map[string]json.RawMessage
}

type callPiece struct {
	index    string
	id, name string
	args     string
	more     map[string]json.RawMessage
}

func (c *calls) add(raw json.RawMessage) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] == 'n' {
		return
	}
	list := []json.RawMessage{raw}
	if raw[0] == '[' && json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, item := range list {
		if p, ok := readPiece(item); ok {
			c.addPiece(p)
		}
	}
}

func readPiece(raw json.RawMessage) (callPiece, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return callPiece{}, false
	}
	var p callPiece
	p.index = wire.Scalar(fields["index"])
	p.id, _ = str(fields["id"])
	var f struct {
		Name      json.RawMessage `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(fields["function"], &f)
	p.name, _ = str(f.Name)
	p.args = arguments(f.Arguments)
	for _, known := range []string{"index", "id", "type", "function"} {
		delete(fields, known)
	}
	maps.DeleteFunc(fields, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	p.more = fields
	return p, p.id != "" || p.name != "" || p.args != "" || len(p.more) > 0
}

// arguments reads a string of JSON, or JSON itself.
func arguments(raw json.RawMessage) string {
	if s, ok := str(raw); ok {
		return s
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] == 'n' {
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// maxName bounds a name that comes in bits, in bytes. No tool's is longer than 64.
const maxName = 256

func (c *calls) addPiece(p callPiece) {
	at := c.find(p)
	if at == nil || startsAnother(at, p) {
		at = &call{}
		c.list = append(c.list, at)
	}
	if c.byIndex == nil {
		c.byIndex, c.byID = map[string]*call{}, map[string]*call{}
	}
	if p.index != "" {
		c.byIndex[p.index] = at
	}
	if at.id == "" && p.id != "" {
		at.id = p.id
		c.byID[p.id] = at
	}
	if at.name == "" {
		at.name = p.name
	} else if p.name != at.name && len(at.name) < maxName {
		at.name += p.name // a name that comes in bits
	}
	at.args.WriteString(p.args)
	for name, value := range p.more {
		if at.more == nil {
			at.more = map[string]json.RawMessage{}
		}
		at.more[name] = value
	}
}

// find returns the call a piece seems to continue: that of its index, else of its id, else the last.
func (c *calls) find(p callPiece) *call {
	if p.index != "" {
		return c.byIndex[p.index]
	}
	if p.id != "" {
		return c.byID[p.id]
	}
	if len(c.list) == 0 {
		return nil
	}
	return c.list[len(c.list)-1]
}

// startsAnother reports whether a piece opens a new call although its index, or the lack of one,
// points at an open one: it has a name, and either another id, or the open call is complete.
func startsAnother(open *call, p callPiece) bool {
	if p.name == "" || open.name == "" {
		return false
	}
	if p.id != "" && open.id != "" {
		return p.id != open.id
	}
	if p.index == "" && p.id == "" && p.name != open.name {
		return true
	}
	return p.args != "" && wire.IsObject(open.args.String())
}

// finish returns the calls in order, and the tool_calls field of the message that goes back.
func (c *calls) finish(req llm.Request) ([]llm.Call, []byte) {
	if len(c.list) == 0 {
		return nil, nil
	}
	ids := llm.NewIDs(req.Messages)
	out := make([]llm.Call, 0, len(c.list))
	raw := []byte(`,"tool_calls":[`)
	for i, k := range c.list {
		_, clean := llm.ToolName(k.name, req.Tools)
		args := wire.RepairSurrogates(k.args.String())
		id := ids.Unique(k.id)
		out = append(out, llm.Call{ID: id, Name: k.name, Arguments: args})
		if i > 0 {
			raw = append(raw, ',')
		}
		raw = appendCall(raw, id, clean, wire.HistoryArguments(args), k.moreFields())
	}
	return out, append(raw, ']')
}

func (k *call) moreFields() []byte {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(k.more)) {
		b = append(wire.AppendString(append(b, ','), name), ':')
		b = append(b, wire.RepairSurrogates(string(k.more[name]))...)
	}
	return b
}
