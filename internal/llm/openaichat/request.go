package openaichat

import (
	"strconv"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// ownFields are the request fields the client sets itself.
var ownFields = []string{
	"model", "stream", "stream_options", "tools", "messages", limitOld, limitNew,
	"temperature", "reasoning_effort", "prompt_cache_key", "tool_choice",
}

// encode writes the request so that a conversation that only grows gives bodies of which
// each begins with the one before, up to the end of its messages: what is constant comes
// first, then the messages, then what may differ from call to call.
func (c *Client) encode(req llm.Request, q quirks) ([]byte, error) {
	b := make([]byte, 0, size(req))
	b = wire.AppendString(append(b, `{"model":`...), req.Model)
	if !c.cfg.NoStream && !q.noStream {
		b = append(b, `,"stream":true`...)
		if !q.noStreamOptions {
			b = append(b, `,"stream_options":{"include_usage":true}`...)
		}
	}
	if c.cfg.Temperature != nil && !q.noTemperature {
		b = strconv.AppendFloat(append(b, `,"temperature":`...), *c.cfg.Temperature, 'g', -1, 64)
	}
	if req.Effort != "" {
		b = wire.AppendString(append(b, `,"reasoning_effort":`...), req.Effort)
	}
	if c.cfg.CacheKey && req.CacheKey != "" && !q.noCacheKey {
		b = wire.AppendString(append(b, `,"prompt_cache_key":`...), req.CacheKey)
	}
	b = append(b, c.extra...)
	b, err := appendTools(b, req.Tools)
	if err != nil {
		return nil, err
	}
	b = appendMessages(append(b, `,"messages":[`...), req, q)
	b = append(b, ']')
	if limit := q.limitName(c.cfg.LimitName); limit != "" && req.MaxOutputTokens > 0 {
		b = append(wire.AppendString(append(b, ','), limit), ':')
		b = strconv.AppendInt(b, int64(req.MaxOutputTokens), 10)
	}
	if req.ForbidTools && len(req.Tools) > 0 && !q.noToolChoice {
		b = append(b, `,"tool_choice":"none"`...)
	}
	return append(b, '}'), nil
}

// size estimates the body so that it is allocated once.
func size(req llm.Request) int {
	n := 1024 + len(req.System)
	for _, t := range req.Tools {
		n += len(t.Description) + len(t.Schema) + 128
	}
	for _, m := range req.Messages {
		n += len(m.Text) + len(m.Text)/16 + len(m.Raw) + 128
	}
	return n
}

var toolForm = wire.ToolForm{Open: `{"type":"function","function":{`, Schema: "parameters", Close: `}}`}

func appendTools(b []byte, tools []llm.ToolSpec) ([]byte, error) {
	if len(tools) == 0 {
		return b, nil
	}
	return wire.AppendTools(append(b, `,"tools":`...), tools, toolForm)
}

func appendMessages(b []byte, req llm.Request, q quirks) []byte {
	comma := func() {
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
	}
	pending := ""
	switch {
	case req.System == "":
	case q.role == inUser:
		pending = req.System
	default:
		name := "system"
		if q.role == asDeveloper {
			name = "developer"
		}
		b = appendPlain(b, name, req.System)
	}
	for _, m := range req.Messages {
		comma()
		switch {
		case m.Role == llm.User && pending != "":
			b = appendPlain(b, "user", pending+"\n\n"+m.Text)
			pending = ""
		case m.Role == llm.Assistant && len(m.Raw) > 0:
			b = append(b, q.raw(m.Raw)...)
		case m.Role == llm.Assistant:
			b = appendAssistant(b, m)
		case m.Role == llm.Tool:
			b = wire.AppendString(append(b, `{"role":"tool","tool_call_id":`...), m.CallID)
			b = wire.AppendString(append(b, `,"content":`...), m.Text)
			b = append(b, '}')
		default:
			b = appendPlain(b, string(m.Role), m.Text)
		}
	}
	if pending != "" {
		comma()
		b = appendPlain(b, "user", pending)
	}
	return b
}

func appendPlain(b []byte, role, text string) []byte {
	b = wire.AppendString(append(b, `{"role":`...), role)
	b = wire.AppendString(append(b, `,"content":`...), text)
	return append(b, '}')
}

// appendAssistant writes an assistant message that did not come from a server of this protocol.
func appendAssistant(b []byte, m llm.Message) []byte {
	b = wire.AppendString(append(b, `{"role":"assistant","content":`...), m.Text)
	for i, call := range m.Calls {
		b = append(b, [...]string{`,"tool_calls":[`, `,`}[min(i, 1)]...)
		_, name := llm.ToolName(call.Name, nil)
		b = appendCall(b, call.ID, name, wire.HistoryArguments(wire.RepairSurrogates(call.Arguments)), nil)
	}
	if len(m.Calls) > 0 {
		b = append(b, ']')
	}
	return append(b, '}')
}

func appendCall(b []byte, id, name, arguments string, more []byte) []byte {
	b = wire.AppendString(append(b, `{"id":`...), id)
	b = wire.AppendString(append(b, `,"type":"function","function":{"name":`...), name)
	b = wire.AppendString(append(b, `,"arguments":`...), arguments)
	return append(append(append(b, '}'), more...), '}')
}
