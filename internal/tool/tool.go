// Package tool defines what a model may call: a name, a description, a schema
// and a function. A tool returns two different things on failure: a Go error
// means the machinery broke and ends the question; a Result with IsError is a
// sentence the model can act on.
package tool

import (
	"context"
	"encoding/json"

	"goserini/internal/trajectory"
)

// Tool is one callable function.
type Tool struct {
	Name        string
	Description string
	// Schema is the JSON Schema of the arguments, serialised once so that every
	// request carries the same bytes.
	Schema json.RawMessage
	// Begin is called in call order with the raw arguments and returns the function that
	// does the work; what Begin returns may run concurrently with others. All calls of a
	// turn are begun before the first of them runs, so that identifiers the model sees
	// (such as s1, s2) and what a call may know of earlier ones depend on call order alone.
	Begin func(args json.RawMessage) func(ctx context.Context) (Result, error)
}

// Result is what comes back from a call.
type Result struct {
	// Text is exactly what the model reads.
	Text string
	// IsError marks a refusal or a failure the model can act on.
	IsError bool
	// Access says which documents this call surfaced, previewed and opened.
	Access trajectory.Access
	// Lines are the lines of opened documents that Text shows. They are for whoever keeps
	// the model company; the record has them in Text.
	Lines []Line
	// Details are machine-readable facts about the result for the record, or nil.
	Details any
}

// Line is a line of a document as it was shown: all of it, or the piece that was.
type Line struct {
	DocID string
	// Number counts from 1.
	Number int
	Text   string
}

// Exchange is a call together with what came back from it.
type Exchange struct {
	Call   trajectory.Call
	Result Result
}
