package anthropic

import (
	"encoding/json"
	"strconv"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// cacheMark asks for the prefix up to here to be cached.
const cacheMark = `"cache_control":{"type":"ephemeral"}`

// encode writes the request so that a conversation that only grows gives bodies of which
// each begins with the one before, up to the end of its messages. The mark at the request's
// level moves with the conversation and touches no message.
func (c *Client) encode(req llm.Request, q quirks) ([]byte, error) {
	b := make([]byte, 0, 1<<16)
	b = wire.AppendString(append(b, `{"model":`...), req.Model)
	b = append(b, `,"stream":true`...)
	b = c.appendThinking(b, req, q)
	if !c.cfg.NoCache {
		b = append(append(b, ','), cacheMark...)
	}
	b, err := appendTools(b, req.Tools)
	if err != nil {
		return nil, err
	}
	if req.System != "" {
		b = wire.AppendString(append(b, `,"system":[{"type":"text","text":`...), req.System)
		if !c.cfg.NoCache {
			b = append(append(b, ','), cacheMark...)
		}
		b = append(b, `}]`...)
	}
	mark := -1
	if !c.cfg.NoCache {
		mark = bridge(req.Messages)
	}
	b = appendMessages(append(b, `,"messages":[`...), req.Messages, mark)
	b = strconv.AppendInt(append(b, `],"max_tokens":`...), int64(q.maxTokens(req)), 10)
	if req.ForbidTools && len(req.Tools) > 0 {
		b = append(b, `,"tool_choice":{"type":"none"}`...)
	}
	return append(b, '}'), nil
}

// budgets are the thinking budgets, in tokens, for models that know no effort.
var budgets = map[string]int{"minimal": 1024, "low": 4096, "medium": 10_000, "high": 20_000}

// maxBudget is that of every higher effort.
const maxBudget = 28_000

// appendThinking writes how much the model is to think. An effort goes to models that know
// efforts as it is, with adaptive thinking, and to others as a budget.
func (c *Client) appendThinking(b []byte, req llm.Request, q quirks) []byte {
	thinking := c.cfg.Thinking
	effort := req.Effort
	switch {
	case effort == "none" || effort == "off":
		effort, thinking = "", json.RawMessage(`{"type":"disabled"}`)
	case effort != "" && q.noAdaptive:
		thinking = json.RawMessage(`{"type":"enabled","budget_tokens":` + strconv.Itoa(budget(effort)) + `}`)
		effort = ""
	case effort != "" && thinking == nil:
		thinking = json.RawMessage(`{"type":"adaptive","display":"summarized"}`)
	}
	if thinking != nil {
		b = append(append(b, `,"thinking":`...), thinking...)
	}
	if effort != "" {
		b = wire.AppendString(append(b, `,"output_config":{"effort":`...), effort)
		b = append(b, '}')
	}
	return b
}

func budget(effort string) int {
	if n, ok := budgets[effort]; ok {
		return n
	}
	return maxBudget
}

var toolForm = wire.ToolForm{Open: `{`, Schema: "input_schema", Close: `}`}

func appendTools(b []byte, tools []llm.ToolSpec) ([]byte, error) {
	if len(tools) == 0 {
		return b, nil
	}
	return wire.AppendTools(append(b, `,"tools":`...), tools, toolForm)
}

// lookBack is how many blocks the service searches backwards from a mark for a cached
// prefix, less some room. Prompt caching guide: 20.
const lookBack = 15

// bridge returns the index of the last message before the newest turn where that turn added so many
// blocks that the mark at the end would not find what was cached before it; else -1.
func bridge(messages []llm.Message) int {
	last := len(messages) - 1
	for last >= 0 && messages[last].Role != llm.Assistant {
		last--
	}
	if last <= 0 {
		return -1
	}
	blocks := len(messages) - 1 - last + len(messages[last].Calls) + 2
	if blocks <= lookBack {
		return -1
	}
	return last - 1
}

// appendMessages writes the history. The results of one turn form one message, as the
// protocol wants; the message at index mark, or the group it ends, carries a cache mark.
func appendMessages(b []byte, messages []llm.Message, mark int) []byte {
	first := true
	for i := 0; i < len(messages); {
		m := messages[i]
		end := i + 1
		if m.Role == llm.Tool {
			for end < len(messages) && messages[end].Role == llm.Tool {
				end++
			}
		}
		if m.Role == llm.Assistant && isEmpty(m) {
			i = end
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		switch m.Role {
		case llm.Tool:
			b = appendResults(b, messages[i:end], mark == end-1)
		case llm.Assistant:
			b = appendAssistant(b, m)
		default:
			b = appendUser(b, m.Text, mark == i)
		}
		i = end
	}
	return b
}

// noBlocks is the raw message of a turn in which the model said nothing. The service refuses it.
const noBlocks = `{"role":"assistant","content":[]}`

func isEmpty(m llm.Message) bool {
	if len(m.Raw) > 0 {
		return string(m.Raw) == noBlocks
	}
	return m.Text == "" && len(m.Calls) == 0
}

func appendUser(b []byte, text string, mark bool) []byte {
	b = wire.AppendString(append(b, `{"role":"user","content":[{"type":"text","text":`...), text)
	if mark {
		b = append(append(b, ','), cacheMark...)
	}
	return append(b, `}]}`...)
}

func appendResults(b []byte, results []llm.Message, mark bool) []byte {
	b = append(b, `{"role":"user","content":[`...)
	for i, m := range results {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(append(b, `{"type":"tool_result","tool_use_id":`...), m.CallID)
		b = wire.AppendString(append(b, `,"content":`...), m.Text)
		if m.IsError {
			b = append(b, `,"is_error":true`...)
		}
		if mark && i == len(results)-1 {
			b = append(append(b, ','), cacheMark...)
		}
		b = append(b, '}')
	}
	return append(b, `]}`...)
}

func appendAssistant(b []byte, m llm.Message) []byte {
	if len(m.Raw) > 0 {
		return append(b, m.Raw...)
	}
	b = append(b, `{"role":"assistant","content":[`...)
	if m.Text != "" {
		b = wire.AppendString(append(b, `{"type":"text","text":`...), m.Text)
		b = append(b, '}')
	}
	for i, call := range m.Calls {
		if i > 0 || m.Text != "" {
			b = append(b, ',')
		}
		_, name := llm.ToolName(call.Name, nil)
		b = appendToolUse(b, call.ID, name, call.Arguments, nil)
	}
	return append(b, `]}`...)
}

func appendToolUse(b []byte, id, name, arguments string, more []byte) []byte {
	b = wire.AppendString(append(b, `{"type":"tool_use","id":`...), id)
	b = wire.AppendString(append(b, `,"name":`...), name)
	b = append(b, `,"input":`...)
	b = append(b, wire.HistoryArguments(wire.RepairSurrogates(arguments))...)
	return append(append(b, more...), '}')
}
