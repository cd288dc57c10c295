package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"goserini/internal/llm"
)

// Tools are the specifications of three tools, for requests in tests.
var Tools = []llm.ToolSpec{
	{Name: "search", Description: "Search the collection.", Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`)},
	{Name: "read_search_results", Description: "Show more of a ranking.", Schema: json.RawMessage(`{"type":"object","properties":{"search_id":{"type":"string"}},"required":["search_id"]}`)},
	{Name: "read_document", Description: "Read a document.", Schema: json.RawMessage(`{"type":"object","properties":{"docid":{"type":"string"}},"required":["docid"]}`)},
}

// Conversation is what a client went through in Converse.
type Conversation struct {
	Messages  []llm.Message
	Responses []llm.Response
	// Failures are the errors after which the call was made again.
	Failures []*llm.Error
}

// Converse drives a client through one question as plainly as can be: every call is answered
// with a sentence, a retryable failure is tried again at once, and the first turn without
// calls, or the turn numbered turns, is the end. It stands in for the agent where a client is tested.
func Converse(tb testing.TB, client llm.Client, req llm.Request, turns int) Conversation {
	tb.Helper()
	c := Conversation{Messages: req.Messages}
	for len(c.Responses) < turns {
		req.Messages = c.Messages
		resp, err := client.Complete(context.Background(), req, nil)
		var failure *llm.Error
		if errors.As(err, &failure) && failure.Retryable && len(c.Failures) < 10 {
			c.Failures = append(c.Failures, failure)
			continue
		}
		if err != nil {
			tb.Fatalf("turn %d: %v", len(c.Responses)+1, err)
		}
		c.Responses = append(c.Responses, resp)
		c.Messages = append(c.Messages, resp.Message)
		if len(resp.Message.Calls) == 0 {
			break
		}
		for _, call := range resp.Message.Calls {
			c.Messages = append(c.Messages, llm.Message{Role: llm.Tool, CallID: call.ID, ToolName: call.Name, Text: "result of " + call.Name})
		}
	}
	return c
}

// Last is the last response.
func (c Conversation) Last() llm.Response { return c.Responses[len(c.Responses)-1] }

// Calls are all calls of all turns.
func (c Conversation) Calls() []llm.Call {
	var out []llm.Call
	for _, r := range c.Responses {
		out = append(out, r.Message.Calls...)
	}
	return out
}

// Question is a request with one user message and the three tools.
func Question(text string) llm.Request {
	return llm.Request{
		Model: "test-model", System: "You answer from the collection.", Tools: Tools,
		Messages: []llm.Message{{Role: llm.User, Text: text}},
	}
}
