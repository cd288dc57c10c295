package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"goserini/internal/notebook"
	"goserini/internal/trajectory"
)

// liveView shows a trajectory while it happens, one line a step.
type liveView struct {
	term *terminal
	mu   sync.Mutex
	// calls remembers what was asked for, until the observation comes.
	calls map[string]*trajectory.Call
}

func newLiveView(term *terminal) *liveView {
	return &liveView{term: term, calls: map[string]*trajectory.Call{}}
}

func (v *liveView) event(e trajectory.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	t := v.term
	at := fmt.Sprintf("%6.1f s", time.Duration(e.ElapsedMS*int64(time.Millisecond)).Seconds())
	switch {
	case e.Turn != nil && len(e.Turn.Calls) > 0 && e.Turn.Text != "":
		t.say("%s  %s", t.paint(dim, at), clip(printable(oneLine(e.Turn.Text)), t.width-12))
	case e.Call != nil:
		v.calls[e.Call.ID] = e.Call
	case e.Observation != nil:
		call := v.calls[e.Observation.CallID]
		delete(v.calls, e.Observation.CallID)
		t.say("%s  %s", t.paint(dim, at), v.step(call, e.Observation))
	case e.Steer != nil:
		t.say("%s  %s %s", t.paint(dim, at), t.paint(yellow, "steer"), printable(oneLine(e.Steer.Reason)))
	case e.Attempt != nil:
		again := "giving up"
		if e.Attempt.WillRetry {
			again = "trying again in " + duration(time.Duration(e.Attempt.RetryMS)*time.Millisecond)
		}
		t.say("%s  %s %s; %s", t.paint(dim, at), t.paint(yellow, "model call failed:"), printable(oneLine(e.Attempt.Error)), again)
	case e.Shorten != nil:
		t.say("%s  %s %d results (%s)", t.paint(dim, at), t.paint(yellow, "shortened"), len(e.Shorten.Calls), e.Shorten.Policy)
	}
}

// step describes a tool call and what came of it.
func (v *liveView) step(call *trajectory.Call, o *trajectory.Observation) string {
	t := v.term
	name, asked := o.Tool, ""
	if call != nil {
		asked = arguments(call.Arguments)
	}
	text := fmt.Sprintf("%-19s %s", t.paint(cyan, name), printable(asked))
	return clipStep(text, cameOf(t, o), t.width-12)
}

// cameOf says what came of a tool call.
func cameOf(t *terminal, o *trajectory.Observation) string {
	switch {
	case o.Blocked:
		return t.paint(yellow, "blocked")
	case o.IsError:
		return t.paint(red, "refused: ") + printable(oneLine(o.Text))
	case o.Tool == notebook.Tool:
		first, _, _ := strings.Cut(o.Text, "\n")
		return t.paint(dim, printable(first))
	}
	return t.paint(dim, touched(o.Access))
}

func clipStep(asked, came string, width int) string {
	if came == "" {
		return clip(asked, max(width, 40))
	}
	return asked + "  " + came
}

// arguments shows what a call asks for, without the reason.
func arguments(raw json.RawMessage) string {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return clip(oneLine(string(raw)), 60)
	}
	var parts []string
	for _, name := range []string{"query", "search_id", "docid", "offset", "limit", "constraint", "status", "candidate"} {
		switch value := args[name].(type) {
		case nil:
		case string:
			if name == "query" {
				value = fmt.Sprintf("%q", clip(oneLine(value), 60))
			}
			parts = append(parts, value)
		default:
			parts = append(parts, fmt.Sprintf("%s=%v", name, value))
		}
	}
	return strings.Join(parts, " ")
}

// touched says what documents a call reached.
func touched(a trajectory.Access) string {
	switch {
	case len(a.Opened) > 0:
		return "opened"
	case len(a.Surfaced) > 0:
		return fmt.Sprintf("%d ranked, %d shown", len(a.Surfaced), len(a.Previewed))
	case len(a.Previewed) > 0:
		return fmt.Sprintf("%d shown", len(a.Previewed))
	}
	return "nothing"
}

// showAnswer prints a final answer on the result stream.
func showAnswer(term *terminal, rec trajectory.Record) {
	a := rec.Answer
	if a.Text == "" && rec.Status != trajectory.Completed {
		return // closing says how the question ended
	}
	if a.Explanation != "" {
		term.print("%s\n\n", printable(strings.TrimSpace(a.Explanation)))
	}
	term.print("%s %s\n", term.paint(bold, "Answer:"), printable(a.Exact))
	term.print("%s %s\n", term.paint(bold, "Confidence:"), confidence(a.Confidence))
	if len(a.Citations) > 0 {
		var cited []string
		for _, c := range a.Citations {
			cited = append(cited, fmt.Sprintf("%s (%s)", printable(c.DocID), c.Access))
		}
		term.print("%s %s\n", term.paint(bold, "Cited:"), strings.Join(cited, ", "))
	}
	if n := rec.Notebook; n != nil && len(n.Constraints) > 0 {
		term.print("%s %s\n", term.paint(bold, "Noted:"), standing(n))
	}
	if v := rec.Verification; v != nil {
		term.print("%s %s (answers held back: %d, research reopened: %d)\n", term.paint(bold, "Checked:"), v.Outcome, v.Checks, v.Reopened)
	}
}

// standing says how the constraints of a question stand.
func standing(n *trajectory.Notebook) string {
	met, unread := 0, 0
	for _, c := range n.Constraints {
		if c.Status == "met" {
			met++
		}
		for _, l := range c.Lines {
			if !l.Opened {
				unread++
			}
		}
	}
	text := fmt.Sprintf("constraints met: %d of %d", met, len(n.Constraints))
	if unread > 0 {
		text += fmt.Sprintf("; citations of lines that were not opened: %d", unread)
	}
	return text
}

func confidence(c *float64) string {
	if c == nil {
		return "not stated"
	}
	return fmt.Sprintf("%.0f %%", *c)
}
