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
	Shorten     *Shorten     `json:"shorten,omitempty"`
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
	TypeShorten     Type = "shorten"
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
	// PromptHash identifies the texts the agent sends, whatever the question.
	PromptHash string `json:"prompt_hash,omitempty"`
	// Tools are the tool definitions as offered to the model.
	Tools json.RawMessage `json:"tools,omitempty"`
	// TimeoutSeconds is the time budget T; 0 means none.
	TimeoutSeconds float64 `json:"timeout_seconds,omitempty"`
	// The other limits of the question; 0 means none.
	MaxTurns   int     `json:"max_turns,omitempty"`
	MaxCalls   int     `json:"max_calls,omitempty"`
	MaxTokens  int64   `json:"max_tokens,omitempty"`
	MaxCostUSD float64 `json:"max_cost_usd,omitempty"`
	// Window is the model's context window in tokens, 0 where unknown, and Shortening
	// what is done when it fills: off, mask or compact.
	Window     int    `json:"window,omitempty"`
	Shortening string `json:"shortening,omitempty"`
}

// Turn is one model response.
type Turn struct {
	// Turn counts from 1.
	Turn      int    `json:"turn"`
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	// Model is the name the server gave, where it gave one.
	Model string `json:"model,omitempty"`
	// StopReason is normalised: stop, tool_calls, length, refusal, other.
	StopReason string `json:"stop_reason"`
	// Calls are the ids of the tool calls of this turn, in order.
	Calls []string `json:"calls,omitempty"`
	Usage Usage    `json:"usage"`
	// UsageUnknown says that the server sent no usage: Usage is zero and means nothing.
	UsageUnknown bool `json:"usage_unknown,omitempty"`
	// Raw is the assistant message as the provider sent it, sent back unchanged.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// Call is one request of the model for a tool.
type Call struct {
	ID string `json:"id"`
	// Tool is the name of an offered tool, or what the model wrote where there is none
	// of that name; RawTool is what it wrote where that was read as another name.
	Tool    string `json:"tool"`
	RawTool string `json:"raw_tool,omitempty"`
	// Arguments are valid JSON; where the model sent something else, RawArguments has it.
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	RawArguments string          `json:"raw_arguments,omitempty"`
}

// Observation is what a call gave back.
type Observation struct {
	CallID  string `json:"call_id"`
	Tool    string `json:"tool"`
	Text    string `json:"text"`
	IsError bool   `json:"is_error,omitempty"`
	// Blocked: the call was not run because research was over. Rejected: it was not run
	// because no tool has the name, the arguments are no JSON object, or the response
	// was cut inside it. Both imply IsError.
	Blocked    bool   `json:"blocked,omitempty"`
	Rejected   bool   `json:"rejected,omitempty"`
	DurationMS int64  `json:"duration_ms"`
	Access     Access `json:"access,omitzero"`
	Details    any    `json:"details,omitempty"`
}

// Steer is a message added to the conversation while it runs.
type Steer struct {
	// Reason says why: time, turns, calls, tokens, cost, context; or format, branch, verify.
	Reason string `json:"reason"`
	Text   string `json:"text"`
}

// The reasons of steers that do not end the research.
const (
	// SteerFormat asks for another form of response.
	SteerFormat = "format"
	// SteerBranch says that a branch was searched in vain.
	SteerBranch = "branch"
	// SteerVerify holds an answer back to have it checked, or says what its check found missing.
	SteerVerify = "verify"
)

// EndsResearch reports whether every call is blocked from then on.
func (s Steer) EndsResearch() bool {
	return s.Reason != SteerFormat && s.Reason != SteerBranch && s.Reason != SteerVerify
}

// Attempt is a try at a model call that gave no response.
type Attempt struct {
	// Turn is the turn that was tried for; Try counts from 1 within it.
	Turn  int    `json:"turn"`
	Try   int    `json:"try"`
	Error string `json:"error"`
	// RetryMS is the wait before the next try; WillRetry says whether there is one.
	RetryMS   int64 `json:"retry_ms,omitempty"`
	WillRetry bool  `json:"will_retry"`
	// Interrupted: we ended the call, at the steer or at the end of the time budget.
	Interrupted bool `json:"interrupted,omitempty"`
	// Usage is what the server said it spent all the same. StreamedBytes counts the
	// text and reasoning that had arrived; where it is not 0 and Usage is zero, tokens
	// were spent that nobody counted.
	Usage         Usage `json:"usage,omitzero"`
	StreamedBytes int   `json:"streamed_bytes,omitempty"`
}

// Uncounted reports whether the try spent tokens that no usage tells of.
func (a Attempt) Uncounted() bool {
	return a.Usage == Usage{} && (a.Interrupted || a.StreamedBytes > 0)
}

// Shorten says that earlier messages were made shorter because the context window
// was filling. It is the only thing that ever changes what was sent before.
type Shorten struct {
	// Policy is mask or compact.
	Policy string `json:"policy"`
	// Calls are the ids of the calls whose results were masked or folded.
	Calls []string `json:"calls"`
	// Text is the note that stands for the folded turns (compact only).
	Text string `json:"text,omitempty"`
	// TokensBefore and TokensAfter are estimates of the next request.
	TokensBefore int64 `json:"tokens_before"`
	TokensAfter  int64 `json:"tokens_after"`
}

// End closes a trajectory.
type End struct {
	Status Status `json:"status"`
	// Reason is one of the words of docs/agent.md, for example max_turns; empty when
	// completed.
	Reason string `json:"reason,omitempty"`
	// Error is for the operator: the cause, where the machinery failed.
	Error  string `json:"error,omitempty"`
	Answer Answer `json:"answer,omitzero"`
	Sets   Sets   `json:"sets"`
	Usage  Usage  `json:"usage"`
	// UncountedCalls is the number of model calls that spent tokens no usage tells of:
	// where it is not 0, Usage is a lower bound.
	UncountedCalls int `json:"uncounted_calls,omitempty"`
	// PrefixShare is the share of input, from the second request on, that repeated the
	// request before it byte for byte, which is what a prefix cache could serve.
	PrefixShare float64 `json:"prefix_share,omitempty"`
	// Notebook and Verification are there where the model had them.
	Notebook     *Notebook     `json:"notebook,omitempty"`
	Verification *Verification `json:"verification,omitempty"`
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
	// Unknown says that the collection has no such document.
	Unknown bool `json:"unknown,omitempty"`
}
