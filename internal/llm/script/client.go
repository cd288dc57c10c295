package script

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"goserini/internal/llm"
)

// Client plays a script. Each conversation, told apart by cache key and first user message, has its
// own place in it, so that questions may run side by side; every call takes the next turn, also
// one that fails or is interrupted.
type Client struct {
	script Script
	name   string

	mu   sync.Mutex
	next map[string]int
}

// New returns a client that plays s; name stands in errors, usually the path of the file.
func New(name string, s Script) (*Client, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("script %s: %w", name, err)
	}
	s.Turns = unroll(s.Turns)
	conversations := make([]Conversation, len(s.Conversations))
	for i, c := range s.Conversations {
		conversations[i] = Conversation{Question: c.Question, Turns: unroll(c.Turns)}
	}
	s.Conversations = conversations
	return &Client{script: s, name: name, next: map[string]int{}}, nil
}

// Open loads a script and returns a client that plays it.
func Open(path string) (*Client, error) {
	s, err := Load(path)
	if err != nil {
		return nil, err
	}
	return New(path, s)
}

// maxRepeat bounds the turns a hostile script can unroll to.
const maxRepeat = 100_000

func unroll(turns []Turn) []Turn {
	var out []Turn
	for _, t := range turns {
		for range min(max(1, t.Repeat), maxRepeat) {
			out = append(out, t)
		}
	}
	return out
}

// Complete gives the next turn of the conversation.
func (c *Client) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return llm.Response{}, fmt.Errorf("script: call interrupted: %w", err)
	}
	turn, err := c.take(req)
	if err != nil {
		return llm.Response{}, err
	}
	if err := sleep(ctx, turn.delay()); err != nil {
		return llm.Response{}, fmt.Errorf("script: call interrupted: %w", err)
	}
	if turn.Error != nil {
		return llm.Response{}, turn.Error.err()
	}
	resp := turn.response(req)
	if stream != nil && (turn.Text != "" || turn.Reasoning != "") {
		stream(llm.Delta{Text: turn.Text, Reasoning: turn.Reasoning})
	}
	return resp, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take advances the conversation of the request.
func (c *Client) take(req llm.Request) (Turn, error) {
	question := firstUser(req)
	turns := c.turnsFor(question)
	if len(turns) == 0 {
		return Turn{}, &llm.Error{Provider: "script", Message: fmt.Sprintf("%s has no turns for this question: %.80q", c.name, question)}
	}
	key := req.CacheKey + "\x00" + question
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.next[key]
	if n >= len(turns) {
		switch {
		case len(req.Messages) == 1:
			n = 0 // the same question is asked from the start again
		case c.script.AfterLast == "repeat":
			n = len(turns) - 1
		default:
			return Turn{}, &llm.Error{Provider: "script", Message: fmt.Sprintf("%s has %d turns for this question and was asked for another: add turns, or set after_last to repeat", c.name, len(turns))}
		}
	}
	c.next[key] = n + 1
	return turns[n], nil
}

func (c *Client) turnsFor(question string) []Turn {
	best, turns := -1, c.script.Turns
	for _, conv := range c.script.Conversations {
		if len(conv.Question) > best && strings.Contains(question, conv.Question) {
			best, turns = len(conv.Question), conv.Turns
		}
	}
	return turns
}

func firstUser(req llm.Request) string {
	for _, m := range req.Messages {
		if m.Role == llm.User {
			return m.Text
		}
	}
	return ""
}

func (t Turn) response(req llm.Request) llm.Response {
	ids := llm.NewIDs(req.Messages)
	m := llm.Message{Role: llm.Assistant, Text: t.Text, Reasoning: t.Reasoning}
	for _, call := range t.Calls {
		m.Calls = append(m.Calls, llm.Call{ID: ids.Unique(call.ID), Name: call.Name, Arguments: call.written()})
	}
	r := llm.Response{Message: m, StopReason: t.Stop, Model: "script"}
	if t.Usage != nil {
		r.Usage, r.UsageKnown = *t.Usage, true
	}
	if r.StopReason == "" {
		r.StopReason = llm.StopEnd
		if len(m.Calls) > 0 {
			r.StopReason = llm.StopCalls
		}
	}
	return r
}

func (f *Failure) err() *llm.Error {
	e := &llm.Error{
		Provider: "script", Status: f.Status, Code: f.Code, Message: f.Message, Retryable: f.Retryable,
		RetryAfter: time.Duration(f.RetryAfterMS) * time.Millisecond, ContextOverflow: f.ContextOverflow,
	}
	if f.Usage != nil {
		e.Usage = *f.Usage
	}
	return e
}
