// Package trajectory records everything that happens for one question, in
// order, as one JSON object a line. See docs/formats/trajectory.md.
package trajectory

import (
	"encoding/json"
	"time"
)

// Version is the version of the trajectory format.
//
//	1: first version
const Version = 1

// Event is one line of a trajectory. Exactly one of the pointers is set, and Type names it.
type Event struct {
	Type Type `json:"type"`
	// Seq counts from 1 without gaps.
	Seq int `json:"seq"`
	// Time is wall-clock time in UTC; ElapsedMS is measured monotonically from the start of the question.
	Time      time.Time `json:"time"`
	ElapsedMS int64     `json:"elapsed_ms"`

	Header      *Header      `json:"header,omitempty"`
	Turn        *Turn        `json:"turn,omitempty"`
	Call        *Call        `json:"call,omitempty"`
	Observation *Observation `json:"observation,omitempty"`
	Steer       *Steer       `json:"steer,omitempty"`
	Attempt     *Attempt     `json:"attempt,omitempty"`
	End         *End         `json:"end,omitempty"`
}

// Type names the kind of an event.
type Type string

// The closed set of event types.
const (
	TypeHeader      Type = "header"
	TypeTurn        Type = "turn"
	TypeCall        Type = "call"
	TypeObservation Type = "observation"
	TypeSteer       Type = "steer"
	TypeAttempt     Type = "attempt"
	TypeEnd         Type = "end"
)

// Header opens a trajectory and describes it.
type Header struct {
	Version  int    `json:"version"`
	QueryID  string `json:"query_id,omitempty"`
	Question string `json:"question"`
	Model    string `json:"model"`
	System   string `json:"system,omitempty"`
	Prompt   string `json:"prompt"`
	// Tools are the tool definitions as offered to the model.
	Tools json.RawMessage `json:"tools,omitempty"`
	// TimeoutSeconds is the time budget T; 0 means none.
	TimeoutSeconds float64 `json:"timeout_seconds,omitempty"`
	MaxTurns       int     `json:"max_turns,omitempty"`
}

// Turn is one model response.
type Turn struct {
	Turn      int    `json:"turn"`
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	// StopReason is normalised: stop, tool_calls, length, refusal, other.
	StopReason string `json:"stop_reason"`
	// Calls are the ids of the tool calls of this turn, in order.
	Calls []string `json:"calls,omitempty"`
	Usage Usage    `json:"usage"`
	// Raw is the assistant message as the provider sent it, sent back unchanged.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// Call is one request of the model for a tool.
type Call struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Arguments are valid JSON; where the model sent something else, RawArguments has it.
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	RawArguments string          `json:"raw_arguments,omitempty"`
}

// Observation is what a call gave back.
type Observation struct {
	CallID     string `json:"call_id"`
	Tool       string `json:"tool"`
	Text       string `json:"text"`
	IsError    bool   `json:"is_error,omitempty"`
	Blocked    bool   `json:"blocked,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	Access     Access `json:"access,omitzero"`
	Details    any    `json:"details,omitempty"`
}

// Steer is a message added to the conversation while it runs.
type Steer struct {
	// Reason says why: time, turns, calls, tokens, cost, format.
	Reason string `json:"reason"`
	Text   string `json:"text"`
}

// Attempt is a try at a model call that failed.
type Attempt struct {
	Turn        int    `json:"turn"`
	Try         int    `json:"try"`
	Error       string `json:"error"`
	RetryMS     int64  `json:"retry_ms,omitempty"`
	WillRetry   bool   `json:"will_retry"`
	Interrupted bool   `json:"interrupted,omitempty"`
}

// End closes a trajectory.
type End struct {
	Status Status `json:"status"`
	// Reason says more, for example max_turns or the error of the operator.
	Reason string `json:"reason,omitempty"`
	Answer Answer `json:"answer,omitzero"`
	Sets   Sets   `json:"sets"`
	Usage  Usage  `json:"usage"`
}

// Status is how a question ended.
type Status string

// The statuses of a question.
const (
	Completed Status = "completed"
	Timeout   Status = "timeout"
	Failed    Status = "failed"
)

// Usage counts tokens in one normal form, whatever the vendor's arithmetic:
// Input excludes CacheRead and CacheWrite; Output includes Reasoning.
type Usage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cache_read_tokens,omitempty"`
	CacheWrite int64 `json:"cache_write_tokens,omitempty"`
	Output     int64 `json:"output_tokens"`
	Reasoning  int64 `json:"reasoning_tokens,omitempty"`
}

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output, u.Reasoning + v.Reasoning}
}

// Answer is the final answer in its parts.
type Answer struct {
	Explanation string `json:"explanation,omitempty"`
	Exact       string `json:"exact_answer"`
	// Confidence is between 0 and 100; nil where the answer states none.
	Confidence *float64 `json:"confidence"`
	// Text is the whole final answer as the model wrote it.
	Text string `json:"text"`
	// Notes say how the parser had to interpret the text, for example "no labels" or "confidence clamped".
	Notes []string `json:"notes,omitempty"`
	// Citations are the cited docids in order of first appearance, each with the deepest access it had.
	Citations []Citation `json:"citations,omitempty"`
}

// Citation is a docid cited in an answer and what the model had seen of it.
type Citation struct {
	DocID string `json:"docid"`
	// Access is opened, previewed, surfaced or never.
	Access string `json:"access"`
}
