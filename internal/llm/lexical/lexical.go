// Package lexical is the model builtin/lexical: a policy that answers from word matches
// alone and is no language model.
//
// It plays the part of one in the agent's conversation. It takes the question apart into
// clues and searches for each, browses, opens the documents that share most with the
// clues, follows names it finds there, and puts forward the span of the asked kind (a
// person, a place, a date, a number, a name) that most clues support. It cites the
// sentences, states as confidence the share of the clues that is covered, and says "not
// found" where too little is. docs/lexical.md tells the rules.
//
// It is a floor to measure models against, and a way to see the whole program work
// without one. It sees what a model would see, the text of the conversation, and
// nothing else; the same conversation always gets the same response.
package lexical

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"goserini/internal/llm"
)

// Name is the model's name as users give it.
const Name = "builtin/lexical"

// Client is the policy as an llm.Client. It is safe for concurrent use.
type Client struct{ memo memo }

// New returns a client.
func New() *Client { return &Client{} }

var _ llm.Client = (*Client)(nil)

// Complete makes the next move of the conversation. Usage is known to be nothing.
func (c *Client) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return llm.Response{}, err
	}
	if len(req.Messages) == 0 {
		return llm.Response{}, &llm.Error{Provider: Name, Message: "the conversation is empty", Err: errors.New("no messages")}
	}
	s := c.memo.take(req.Messages)
	s.take(req.Messages)
	r := llm.Response{Message: llm.Message{Role: llm.Assistant}, StopReason: llm.StopCalls, UsageKnown: true, Model: Name}
	var calls []call
	if !req.ForbidTools {
		calls = offered(s.plan(), req.Tools)
	}
	for i, k := range calls {
		args, err := json.Marshal(k.args)
		if err != nil {
			return llm.Response{}, fmt.Errorf("%s: arguments of %s: %w", Name, k.tool, err)
		}
		r.Message.Calls = append(r.Message.Calls, llm.Call{ID: fmt.Sprintf("call-%d", s.calls+i+1), Name: k.tool, Arguments: string(args)})
	}
	if len(calls) > 0 {
		c.memo.keep(req.Messages, s)
		return r, nil
	}
	r.StopReason = llm.StopEnd
	r.Message.Text = s.answer().String()
	if stream != nil {
		stream(llm.Delta{Text: r.Message.Text})
	}
	return r, nil
}

// offered leaves the calls of tools that are on offer.
func offered(calls []call, tools []llm.ToolSpec) []call {
	var out []call
	for _, c := range calls {
		for _, t := range tools {
			if t.Name == c.tool {
				out = append(out, c)
				break
			}
		}
	}
	return out
}
