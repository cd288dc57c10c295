package ollama

import (
	"strconv"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// encode writes the request so that a conversation that only grows gives bodies of which
// each begins with the one before, up to the end of its messages. The protocol cannot forbid
// tools and keep them described: whoever runs them must refuse.
func (c *Client) encode(req llm.Request, window int) ([]byte, error) {
	b := make([]byte, 0, 1<<16)
	b = wire.AppendString(append(b, `{"model":`...), req.Model)
	b = append(b, `,"stream":true,"truncate":false,"shift":false`...)
	switch req.Effort {
	case "":
	case "none", "off":
		b = append(b, `,"think":false`...)
	case "low", "medium", "high":
		b = wire.AppendString(append(b, `,"think":`...), req.Effort)
	default:
		b = append(b, `,"think":true`...)
	}
	b, err := appendTools(b, req.Tools)
	if err != nil {
		return nil, err
	}
	b = append(b, `,"messages":[`...)
	if req.System != "" {
		b = appendText(b, "system", req.System)
		b = append(b, '}')
	}
	for _, m := range req.Messages {
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		b = appendMessage(b, m)
	}
	b = strconv.AppendInt(append(b, `],"options":{"num_ctx":`...), int64(window), 10)
	if req.MaxOutputTokens > 0 {
		b = strconv.AppendInt(append(b, `,"num_predict":`...), int64(req.MaxOutputTokens), 10)
	}
	if c.cfg.Temperature != nil {
		b = strconv.AppendFloat(append(b, `,"temperature":`...), *c.cfg.Temperature, 'g', -1, 64)
	}
	return append(b, `}}`...), nil
}

var toolForm = wire.ToolForm{Open: `{"type":"function","function":{`, Schema: "parameters", Close: `}}`}

func appendTools(b []byte, tools []llm.ToolSpec) ([]byte, error) {
	if len(tools) == 0 {
		return b, nil
	}
	return wire.AppendTools(append(b, `,"tools":`...), tools, toolForm)
}

func appendText(b []byte, role, text string) []byte {
	b = wire.AppendString(append(b, `{"role":`...), role)
	return wire.AppendString(append(b, `,"content":`...), text)
}

func appendMessage(b []byte, m llm.Message) []byte {
	switch {
	case m.Role == llm.Assistant && len(m.Raw) > 0:
		return append(b, m.Raw...)
	case m.Role == llm.Assistant:
		return appendAssistant(b, m.Text, "", appendCalls(nil, m.Calls, nil))
	case m.Role == llm.Tool:
		b = appendText(b, "tool", m.Text)
		b = wire.AppendString(append(b, `,"tool_name":`...), m.ToolName)
		b = wire.AppendString(append(b, `,"tool_call_id":`...), m.CallID)
		return append(b, '}')
	}
	return append(appendText(b, string(m.Role), m.Text), '}')
}

func appendAssistant(b []byte, text, thinking string, calls []byte) []byte {
	b = appendText(b, "assistant", text)
	if thinking != "" {
		b = wire.AppendString(append(b, `,"thinking":`...), thinking)
	}
	if len(calls) > 0 {
		b = append(append(append(b, `,"tool_calls":[`...), calls...), ']')
	}
	return append(b, '}')
}

func appendCalls(b []byte, calls []llm.Call, offered []llm.ToolSpec) []byte {
	for i, call := range calls {
		if i > 0 {
			b = append(b, ',')
		}
		_, name := llm.ToolName(call.Name, offered)
		b = wire.AppendString(append(b, `{"id":`...), call.ID)
		b = wire.AppendString(append(b, `,"function":{"name":`...), name)
		b = append(b, `,"arguments":`...)
		b = append(b, wire.HistoryArguments(wire.RepairSurrogates(call.Arguments))...)
		b = append(b, `}}`...)
	}
	return b
}
