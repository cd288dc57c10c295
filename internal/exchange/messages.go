package exchange

import (
	"encoding/json"
	"fmt"
	"io"

	"goserini/internal/experiment"
	"goserini/internal/trajectory"
)

// conversation is one line of the form openai-messages.
type conversation struct {
	QueryID  string            `json:"query_id"`
	Model    string            `json:"model"`
	Status   trajectory.Status `json:"status"`
	Tools    []messageTool     `json:"tools,omitempty"`
	Messages []message         `json:"messages"`
}

type messageTool struct {
	Type     string          `json:"type"`
	Function json.RawMessage `json:"function"`
}

// message is a message as Chat Completions has it.
type message struct {
	Role       string        `json:"role"`
	Content    string        `json:"content"`
	Reasoning  string        `json:"reasoning_content,omitempty"`
	ToolCalls  []messageCall `json:"tool_calls,omitempty"`
	ToolCallID string        `json:"tool_call_id,omitempty"`
}

type messageCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// WriteMessages writes the conversation of every query of a run directory, one JSON object a
// line, as messages of the Chat Completions form: what was said as it was said, before any
// shortening. Queries without a trajectory are left out and counted.
func WriteMessages(w io.Writer, dir string) (queries, without int, err error) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	err = experiment.EachResult(dir, func(rec trajectory.Record) error {
		events, err := eventsOf(dir, rec)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			without++
			return nil
		}
		c, err := conversationOf(rec, events)
		if err != nil {
			return fmt.Errorf("query %q: %w", rec.QueryID, err)
		}
		queries++
		return enc.Encode(c)
	})
	return queries, without, err
}

func conversationOf(rec trajectory.Record, events []trajectory.Event) (conversation, error) {
	c := conversation{QueryID: rec.QueryID, Model: rec.Model, Status: rec.Status}
	for _, e := range events {
		switch {
		case e.Header != nil:
			if err := c.begin(*e.Header); err != nil {
				return c, err
			}
		case e.Turn != nil:
			c.Messages = append(c.Messages, message{Role: "assistant", Content: e.Turn.Text, Reasoning: e.Turn.Reasoning})
		case e.Call != nil:
			c.call(*e.Call)
		case e.Observation != nil:
			c.Messages = append(c.Messages, message{Role: "tool", Content: e.Observation.Text, ToolCallID: e.Observation.CallID})
		case e.Steer != nil:
			c.Messages = append(c.Messages, message{Role: "user", Content: e.Steer.Text})
		}
	}
	return c, nil
}

func (c *conversation) begin(h trajectory.Header) error {
	if h.System != "" {
		c.Messages = append(c.Messages, message{Role: "system", Content: h.System})
	}
	c.Messages = append(c.Messages, message{Role: "user", Content: h.Prompt})
	if len(h.Tools) == 0 {
		return nil
	}
	var tools []json.RawMessage
	if err := json.Unmarshal(h.Tools, &tools); err != nil {
		return fmt.Errorf("tools of the trajectory: %w", err)
	}
	for _, t := range tools {
		c.Tools = append(c.Tools, messageTool{Type: "function", Function: t})
	}
	return nil
}

// call adds a call to the assistant's message that made it.
func (c *conversation) call(call trajectory.Call) {
	for i := len(c.Messages) - 1; i >= 0; i-- {
		if c.Messages[i].Role != "assistant" {
			continue
		}
		m := messageCall{ID: call.ID, Type: "function"}
		m.Function.Name, m.Function.Arguments = call.Tool, string(call.Arguments)
		if call.RawTool != "" {
			m.Function.Name = call.RawTool
		}
		if call.RawArguments != "" {
			m.Function.Arguments = call.RawArguments
		}
		c.Messages[i].ToolCalls = append(c.Messages[i].ToolCalls, m)
		return
	}
}
