// Package llm is what the agent knows of language models: messages, usage and
// a client with one method. Wire protocols live in leaf packages below it; this
// package imports none of them.
package llm

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"goserini/internal/trajectory"
)

// Role of a message.
type Role string

// The roles of a conversation. Tool messages answer one call each.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one entry of the append-only history.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`
	// Reasoning is readable reasoning text of an assistant message, if any.
	Reasoning string `json:"reasoning,omitempty"`
	// Calls are the tool calls of an assistant message, in order.
	Calls []Call `json:"calls,omitempty"`
	// CallID, ToolName and IsError belong to tool messages.
	CallID   string `json:"call_id,omitempty"`
	ToolName string `json:"tool_name,omitempty"`
	IsError  bool   `json:"is_error,omitempty"`
	// Raw is the provider's own JSON of an assistant message. A client that
	// receives it back sends exactly these bytes.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// Call is a request of the model for a tool.
type Call struct {
	// ID pairs the call with its result. The client makes ids unique within a
	// conversation where the server does not.
	ID string `json:"id"`
	// Name is as the model wrote it; ToolName finds the tool it means.
	Name string `json:"name"`
	// Arguments are as the model wrote them: possibly empty, possibly no JSON.
	Arguments string `json:"arguments"`
}

// ToolSpec offers a tool to the model.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"parameters"`
}

// Request is one model call: everything needed to make it, nothing else.
type Request struct {
	// Model is the provider's own name of the model, without provider prefix.
	Model    string
	System   string
	Tools    []ToolSpec
	Messages []Message
	// MaxOutputTokens 0 leaves it to the provider.
	MaxOutputTokens int
	// Effort is empty or the provider's word for reasoning effort.
	Effort string
	// ForbidTools asks for an answer without tool calls.
	ForbidTools bool
	// CacheKey is constant for one conversation.
	CacheKey string
}

// StopReason is the normalised reason why a response ended.
type StopReason string

// The normalised stop reasons.
const (
	StopEnd     StopReason = "stop"
	StopCalls   StopReason = "tool_calls"
	StopLength  StopReason = "length"
	StopRefusal StopReason = "refusal"
	StopOther   StopReason = "other"
)

// Response is one complete model turn.
type Response struct {
	Message    Message
	StopReason StopReason
	Usage      trajectory.Usage
	// UsageKnown is false where the server sent no usage.
	UsageKnown bool
	// Model is the name the server gave, which may be more exact than the one asked for.
	Model string
}

// Delta is a piece of a response while it streams.
type Delta struct {
	Text      string
	Reasoning string
}

// Client calls a model once. It does not retry: errors are of type *Error where the
// failure is the server's or the connection's, and the agent's one policy decides.
// A Client is safe for concurrent use.
type Client interface {
	Complete(ctx context.Context, req Request, stream func(Delta)) (Response, error)
}

// Error is a failed model call.
type Error struct {
	Provider string
	// Status is the HTTP status, 0 where there was none.
	Status int
	// Code is the server's own error code, if it sent one.
	Code string
	// Message is safe to show: it never holds a key.
	Message string
	// Retryable says whether the same request may succeed later.
	Retryable bool
	// RetryAfter is the server's wish, 0 if it has none.
	RetryAfter time.Duration
	// ContextOverflow says that the conversation is too long for the model.
	ContextOverflow bool
	// Usage was spent although the call failed, if the server said so.
	Usage trajectory.Usage
	Err   error
}

func (e *Error) Error() string {
	s := e.Provider + ": "
	if e.Status != 0 {
		s += "HTTP " + strconv.Itoa(e.Status) + ": "
	}
	s += e.Message
	if e.Message == "" && e.Err != nil {
		s += e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }
