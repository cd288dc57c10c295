package openai

import (
	"bytes"
	"strconv"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// encode writes the request so that a conversation that only grows gives bodies of which
// each begins with the one before, up to the end of its input.
func encode(req llm.Request, q quirks) ([]byte, error) {
	b := make([]byte, 0, 1<<16)
	b = wire.AppendString(append(b, `{"model":`...), req.Model)
	b = append(b, `,"stream":true,"store":false`...)
	if !q.noEncrypted {
		b = append(b, `,"include":["reasoning.encrypted_content"]`...)
	}
	if req.Effort != "" {
		b = wire.AppendString(append(b, `,"reasoning":{"effort":`...), req.Effort)
		if !q.noSummary {
			b = append(b, `,"summary":"auto"`...)
		}
		b = append(b, '}')
	}
	if req.CacheKey != "" && !q.noCacheKey {
		b = wire.AppendString(append(b, `,"prompt_cache_key":`...), req.CacheKey)
	}
	b, err := appendTools(b, req.Tools)
	if err != nil {
		return nil, err
	}
	if req.System != "" {
		b = wire.AppendString(append(b, `,"instructions":`...), req.System)
	}
	b = appendInput(append(b, `,"input":[`...), req.Messages)
	b = append(b, ']')
	if req.MaxOutputTokens > 0 {
		b = strconv.AppendInt(append(b, `,"max_output_tokens":`...), int64(req.MaxOutputTokens), 10)
	}
	if req.ForbidTools && len(req.Tools) > 0 {
		b = append(b, `,"tool_choice":"none"`...)
	}
	return append(b, '}'), nil
}

var toolForm = wire.ToolForm{Open: `{"type":"function",`, Schema: "parameters", Close: `,"strict":false}`}

func appendTools(b []byte, tools []llm.ToolSpec) ([]byte, error) {
	if len(tools) == 0 {
		return b, nil
	}
	return wire.AppendTools(append(b, `,"tools":`...), tools, toolForm)
}

func appendInput(b []byte, messages []llm.Message) []byte {
	for _, m := range messages {
		before := len(b)
		if b[before-1] != '[' {
			b = append(b, ',')
		}
		from := len(b)
		switch m.Role {
		case llm.Tool:
			b = wire.AppendString(append(b, `{"type":"function_call_output","call_id":`...), m.CallID)
			b = wire.AppendString(append(b, `,"output":`...), m.Text)
			b = append(b, '}')
		case llm.Assistant:
			b = appendItems(b, m)
		default:
			b = wire.AppendString(append(b, `{"role":"user","content":`...), m.Text)
			b = append(b, '}')
		}
		if len(b) == from {
			b = b[:before] // a turn without items leaves no trace
		}
	}
	return b
}

// appendItems writes the items of a turn: as they came, or built anew for a turn of another origin.
func appendItems(b []byte, m llm.Message) []byte {
	if raw := bytes.TrimSpace(m.Raw); len(raw) >= 2 && raw[0] == '[' {
		return append(b, raw[1:len(raw)-1]...)
	}
	if m.Text != "" {
		b = wire.AppendString(append(b, `{"role":"assistant","content":`...), m.Text)
		b = append(b, '}')
	}
	for i, call := range m.Calls {
		if i > 0 || m.Text != "" {
			b = append(b, ',')
		}
		_, name := llm.ToolName(call.Name, nil)
		b = appendCall(b, call.ID, name, wire.HistoryArguments(wire.RepairSurrogates(call.Arguments)))
	}
	return b
}

func appendCall(b []byte, id, name, arguments string) []byte {
	b = wire.AppendString(append(b, `{"type":"function_call","call_id":`...), id)
	b = wire.AppendString(append(b, `,"name":`...), name)
	b = wire.AppendString(append(b, `,"arguments":`...), arguments)
	return append(b, '}')
}
