package eval

import (
	"encoding/json"
	"slices"
	"strings"

	"goserini/internal/trajectory"
)

// Step is one thing that a model did for a question: a tool call, or the end of the question. Exactly one of
// Tool and End is set.
type Step struct {
	// Number counts from 1.
	Number int `json:"step"`
	// Tool and Arguments are the call, as the trajectory has it.
	Tool         string          `json:"tool,omitempty"`
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	RawArguments string          `json:"raw_arguments,omitempty"`
	// Surfaced is the length of the ranking the call returned; Previewed and Opened are the documents it showed.
	Surfaced  int      `json:"surfaced,omitempty"`
	Previewed []string `json:"previewed_docids,omitempty"`
	Opened    []string `json:"opened_docids,omitempty"`
	End       *StepEnd `json:"end,omitempty"`

	// Observation is what the call gave back, nil where the question ended before.
	Observation *trajectory.Observation `json:"-"`
}

// StepEnd is how a question ended.
type StepEnd struct {
	Status trajectory.Status `json:"status"`
	Reason string            `json:"reason,omitempty"`
	Exact  string            `json:"exact_answer"`
	// Confidence is between 0 and 100; nil where the answer states none.
	Confidence *float64 `json:"confidence"`
	Cited      []string `json:"cited_docids"`
}

// Divergence is where two trajectories of one query part.
type Divergence struct {
	Base  string `json:"base"`
	Other string `json:"other"`
	// BaseSteps and OtherSteps are the lengths of the two.
	BaseSteps  int `json:"base_steps"`
	OtherSteps int `json:"other_steps"`
	// Agreed are the steps, from the first on, that both took, as the base has them.
	Agreed []Step `json:"agreed"`
	// OtherTexts are the numbers of the agreed steps that did not give both models the same text to
	// read, and OtherDocuments those among them that did not show the same documents in the same order. A step
	// is a decision; from there on decisions rest on different grounds.
	OtherTexts     []int `json:"other_texts"`
	OtherDocuments []int `json:"other_documents"`
	// BaseNext and OtherNext are what each did then; nil where the trajectory goes no further. Both
	// are nil where the two do not part.
	BaseNext  *Step `json:"base_next"`
	OtherNext *Step `json:"other_next"`
}

// Diverge compares what two models did, step by step. Calls are equal if tool and arguments are: arguments as JSON values,
// keys in any order, without the reason, which no tool reads. Ends are equal if status, reason, exact answer and
// cited docids are.
func Diverge(base, other []trajectory.Event) Divergence {
	a, b := Steps(base), Steps(other)
	d := Divergence{BaseSteps: len(a), OtherSteps: len(b), Agreed: []Step{}, OtherTexts: []int{}, OtherDocuments: []int{}}
	n := 0
	for n < min(len(a), len(b)) && a[n].equal(b[n]) {
		if a[n].read() != b[n].read() {
			d.OtherTexts = append(d.OtherTexts, a[n].Number)
			if !slices.Equal(a[n].Previewed, b[n].Previewed) || !slices.Equal(a[n].Opened, b[n].Opened) {
				d.OtherDocuments = append(d.OtherDocuments, a[n].Number)
			}
		}
		n++
	}
	d.Agreed = append(d.Agreed, a[:n]...)
	if n < len(a) {
		d.BaseNext = &a[n]
	}
	if n < len(b) {
		d.OtherNext = &b[n]
	}
	return d
}

// Steps are what a model did, in order.
func Steps(events []trajectory.Event) []Step {
	var steps []Step
	waiting := map[string]int{}
	for _, e := range events {
		switch {
		case e.Call != nil:
			waiting[e.Call.ID] = len(steps)
			steps = append(steps, Step{Number: len(steps) + 1, Tool: e.Call.Tool, Arguments: e.Call.Arguments, RawArguments: e.Call.RawArguments})
		case e.Observation != nil:
			if i, ok := waiting[e.Observation.CallID]; ok {
				steps[i].take(e.Observation)
				delete(waiting, e.Observation.CallID)
			}
		case e.End != nil:
			end := &StepEnd{Status: e.End.Status, Reason: e.End.Reason, Exact: e.End.Answer.Exact, Confidence: e.End.Answer.Confidence, Cited: []string{}}
			for _, c := range e.End.Answer.Citations {
				end.Cited = append(end.Cited, c.DocID)
			}
			steps = append(steps, Step{Number: len(steps) + 1, End: end})
		}
	}
	return steps
}

func (s *Step) take(o *trajectory.Observation) {
	s.Observation = o
	s.Surfaced, s.Previewed, s.Opened = len(o.Access.Surfaced), o.Access.Previewed, o.Access.Opened
}

// read is the text that the call gave the model, "" where it gave none.
func (s Step) read() string {
	if s.Observation == nil {
		return ""
	}
	return s.Observation.Text
}

func (s Step) equal(t Step) bool {
	if s.End != nil || t.End != nil {
		return s.End != nil && t.End != nil && s.End.equal(*t.End)
	}
	return s.Tool == t.Tool && s.RawArguments == t.RawArguments && canonicalArguments(s.Arguments) == canonicalArguments(t.Arguments)
}

func (e StepEnd) equal(f StepEnd) bool {
	fold := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return e.Status == f.Status && e.Reason == f.Reason && fold(e.Exact) == fold(f.Exact) && slices.Equal(e.Cited, f.Cited)
}

// canonicalArguments is one text for all ways to write the same arguments. Numbers stay as written.
func canonicalArguments(raw json.RawMessage) string {
	var fields map[string]any
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	if dec.Decode(&fields) != nil {
		return string(raw)
	}
	delete(fields, "reason")
	text, err := json.Marshal(fields)
	if err != nil {
		return string(raw)
	}
	return string(text)
}
