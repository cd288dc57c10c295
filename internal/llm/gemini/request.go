package gemini

import (
	"encoding/json"
	"strconv"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// encode writes the request so that a conversation that only grows gives bodies of which
// each begins with the one before, up to the end of its contents.
func (c *Client) encode(req llm.Request, budget bool) ([]byte, error) {
	b := append(make([]byte, 0, 1<<16), '{')
	b, err := appendTools(b, req.Tools)
	if err != nil {
		return nil, err
	}
	if req.System != "" {
		b = wire.AppendString(append(b, `"systemInstruction":{"parts":[{"text":`...), req.System)
		b = append(b, `}]},`...)
	}
	b = appendContents(append(b, `"contents":[`...), req.Messages)
	b = append(b, `],"generationConfig":{`...)
	from := len(b)
	if req.Effort != "" {
		b = appendThinking(b, req.Effort, budget)
	}
	if req.MaxOutputTokens > 0 {
		b = strconv.AppendInt(append(comma(b, from), `"maxOutputTokens":`...), int64(req.MaxOutputTokens), 10)
	}
	if c.cfg.Temperature != nil {
		b = strconv.AppendFloat(append(comma(b, from), `"temperature":`...), *c.cfg.Temperature, 'g', -1, 64)
	}
	b = append(b, '}')
	if req.ForbidTools && len(req.Tools) > 0 {
		b = append(b, `,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}`...)
	}
	return append(b, '}'), nil
}

func comma(b []byte, from int) []byte {
	if len(b) > from {
		return append(b, ',')
	}
	return b
}

// budgets are the thinking budgets, in tokens, for models that know no level.
var budgets = map[string]int{"none": 0, "off": 0, "minimal": 512, "low": 2048, "medium": 8192}

// maxBudget is that of every higher effort; gemini-2.5-flash allows no more.
const maxBudget = 24_576

func budgetOf(effort string) int {
	if n, ok := budgets[effort]; ok {
		return n
	}
	return maxBudget
}

func appendThinking(b []byte, effort string, budget bool) []byte {
	b = append(b, `"thinkingConfig":{"includeThoughts":true,`...)
	if budget || effort == "none" || effort == "off" {
		b = strconv.AppendInt(append(b, `"thinkingBudget":`...), int64(budgetOf(effort)), 10)
	} else {
		b = wire.AppendString(append(b, `"thinkingLevel":`...), effort)
	}
	return append(b, '}')
}

var toolForm = wire.ToolForm{Open: `{`, Schema: "parametersJsonSchema", Close: `}`}

// appendTools offers the tools in the one form the protocol has, a list within a list.
func appendTools(b []byte, tools []llm.ToolSpec) ([]byte, error) {
	if len(tools) == 0 {
		return b, nil
	}
	b, err := wire.AppendTools(append(b, `"tools":[{"functionDeclarations":`...), tools, toolForm)
	return append(b, `}],`...), err
}

// noParts is the raw message of a turn in which the model said nothing. The service refuses it.
const noParts = `{"role":"model","parts":[]}`

func appendContents(b []byte, messages []llm.Message) []byte {
	from := len(b)
	var asked []wireCall // the calls of the newest turn
	for i := 0; i < len(messages); {
		m := messages[i]
		end := i + 1
		switch m.Role {
		case llm.Tool:
			for end < len(messages) && messages[end].Role == llm.Tool {
				end++
			}
			b = appendResponses(comma(b, from), messages[i:end], asked)
		case llm.Assistant:
			raw := m.Raw
			if len(raw) == 0 {
				raw = rebuild(m)
			}
			asked = wireCalls(raw, m.Calls)
			if string(raw) != noParts {
				b = append(comma(b, from), raw...)
			}
		default:
			b = wire.AppendString(append(comma(b, from), `{"role":"user","parts":[{"text":`...), m.Text)
			b = append(b, `}]}`...)
		}
		i = end
	}
	return b
}

// wireCall is a call as the history has it: the id may be missing there, and the name may
// differ from the one the model wrote.
type wireCall struct{ callID, id, name string }

func wireCalls(raw json.RawMessage, calls []llm.Call) []wireCall {
	var content struct {
		Parts []struct {
			FunctionCall *struct {
				ID   string `json:"id"`
				Name string `json:"name"`
			} `json:"functionCall"`
		} `json:"parts"`
	}
	_ = json.Unmarshal(raw, &content) // what this package wrote itself
	var out []wireCall
	for _, p := range content.Parts {
		if p.FunctionCall != nil && len(out) < len(calls) {
			out = append(out, wireCall{calls[len(out)].ID, p.FunctionCall.ID, p.FunctionCall.Name})
		}
	}
	return out
}

func appendResponses(b []byte, results []llm.Message, asked []wireCall) []byte {
	b = append(b, `{"role":"user","parts":[`...)
	for i, m := range results {
		if i > 0 {
			b = append(b, ',')
		}
		name, id := m.ToolName, ""
		for _, call := range asked {
			if call.callID == m.CallID {
				name, id = call.name, call.id
			}
		}
		b = append(b, `{"functionResponse":{`...)
		if id != "" {
			b = append(wire.AppendString(append(b, `"id":`...), id), ',')
		}
		b = wire.AppendString(append(b, `"name":`...), name)
		field := "output"
		if m.IsError {
			field = "error"
		}
		b = append(wire.AppendString(append(b, `,"response":{`...), field), ':')
		b = append(wire.AppendString(b, m.Text), `}}}`...)
	}
	return append(b, `]}`...)
}

// rebuild makes the content of a turn of another origin.
func rebuild(m llm.Message) json.RawMessage {
	b := []byte(`{"role":"model","parts":[`)
	from := len(b)
	if m.Text != "" {
		b = append(wire.AppendString(append(b, `{"text":`...), m.Text), '}')
	}
	for _, call := range m.Calls {
		_, name := llm.ToolName(call.Name, nil)
		b = wire.AppendString(append(comma(b, from), `{"functionCall":{"name":`...), name)
		b = append(b, `,"args":`...)
		b = append(append(b, wire.HistoryArguments(wire.RepairSurrogates(call.Arguments))...), `}}`...)
	}
	return append(b, `]}`...)
}
