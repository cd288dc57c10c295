package trajectory

import (
	"encoding/json"
	"maps"
	"time"
)

// Interrupted is the reason of a record whose trajectory has no end: the process
// was stopped before the question came to one.
const Interrupted = "interrupted"

// Tally folds the events of one question, in order, into its record. The agent
// builds its record this way, so a record and a replay of its trajectory cannot differ.
// The zero value is ready.
type Tally struct {
	rec   Record
	tools map[string]bool
	ended bool
	// The sets, and the ranks in BestRank, grow here and are copied when asked for.
	surfaced, previewed, opened, cited union
}

// Replay is the record of a whole list of events.
func Replay(events []Event) Record {
	var t Tally
	for _, e := range events {
		t.Add(e)
	}
	return t.Record()
}

// Record is what the events so far came to. Without an end event the status is
// failed and the reason interrupted.
func (t *Tally) Record() Record {
	rec := t.rec
	if !t.ended {
		rec.Status, rec.Reason = Failed, Interrupted
	}
	rec.Sets = t.Sets()
	rec.BestRank, rec.ToolCallCounts = maps.Clone(rec.BestRank), maps.Clone(rec.ToolCallCounts)
	return rec
}

// Sets are the document sets of the events so far.
func (t *Tally) Sets() Sets {
	return Sets{Surfaced: t.surfaced.list(), Previewed: t.previewed.list(), Opened: t.opened.list(), Cited: t.cited.list()}
}

// Add folds the next event in.
func (t *Tally) Add(e Event) {
	if t.rec.ToolCallCounts == nil {
		t.rec.ToolCallCounts, t.rec.BestRank = map[string]int{}, map[string]int{}
	}
	t.rec.ElapsedSeconds = (time.Duration(e.ElapsedMS) * time.Millisecond).Seconds()
	switch {
	case e.Header != nil:
		t.header(e)
	case e.Turn != nil:
		t.turn(*e.Turn)
	case e.Observation != nil:
		t.observation(*e.Observation)
	case e.Steer != nil:
		t.rec.Steered = t.rec.Steered || e.Steer.EndsResearch()
	case e.Attempt != nil:
		t.attempt(*e.Attempt)
	case e.End != nil:
		t.end(*e.End)
	}
}

func (t *Tally) header(e Event) {
	t.rec.QueryID, t.rec.Question, t.rec.Model = e.Header.QueryID, e.Header.Question, e.Header.Model
	t.rec.StartedAt = e.Time.Add(-time.Duration(e.ElapsedMS) * time.Millisecond)
	t.tools = toolNames(e.Header.Tools)
}

func (t *Tally) turn(turn Turn) {
	t.rec.Turns++
	t.rec.Tries++
	t.rec.Usage = t.rec.Usage.Add(turn.Usage)
	if turn.UsageUnknown {
		t.rec.UncountedCalls++
	}
}

func (t *Tally) attempt(a Attempt) {
	t.rec.Tries++
	t.rec.Usage = t.rec.Usage.Add(a.Usage)
	if a.Uncounted() {
		t.rec.UncountedCalls++
	}
}

func (t *Tally) observation(o Observation) {
	if t.tools == nil || t.tools[o.Tool] {
		t.rec.ToolCallCounts[o.Tool]++
	}
	switch {
	case o.Blocked:
		t.rec.BlockedCalls++
	case o.Rejected:
		t.rec.RejectedCalls++
	default:
		t.rec.ExecutedCalls++
	}
	if o.IsError && !o.Blocked {
		t.rec.ToolErrors++
	}
	t.surfaced.add(o.Access.Surfaced)
	t.previewed.add(o.Access.Previewed)
	t.opened.add(o.Access.Opened)
	for i, docid := range o.Access.Surfaced {
		if best, ok := t.rec.BestRank[docid]; !ok || i+1 < best {
			t.rec.BestRank[docid] = i + 1
		}
	}
}

// end takes from the end what only the end knows; sets and usage were counted on
// the way.
func (t *Tally) end(end End) {
	t.ended = true
	t.rec.Status, t.rec.Reason, t.rec.Error = end.Status, end.Reason, end.Error
	t.rec.Answer, t.rec.PrefixShare = end.Answer, end.PrefixShare
	t.rec.Notebook, t.rec.Verification = end.Notebook, end.Verification
	for _, c := range end.Answer.Citations {
		t.cited.add([]string{c.DocID})
	}
}

// toolNames are the names of the offered tools, nil where the header does not list any.
func toolNames(tools json.RawMessage) map[string]bool {
	var offered []struct {
		Name string `json:"name"`
	}
	if len(tools) == 0 || json.Unmarshal(tools, &offered) != nil {
		return nil
	}
	names := make(map[string]bool, len(offered))
	for _, t := range offered {
		names[t.Name] = true
	}
	return names
}
