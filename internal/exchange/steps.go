package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"goserini/internal/answer"
	"goserini/internal/browsecompplus"
	"goserini/internal/lazyregexp"
	"goserini/internal/trajectory"
)

// steps builds a trajectory from a list of what happened.
type steps struct {
	events  []trajectory.Event
	turns   int
	pending []string // reasoning that belongs to the next turn
	tally   trajectory.Tally
}

func newSteps(id, question, model string) *steps {
	s := &steps{}
	s.add(trajectory.Event{Type: trajectory.TypeHeader, Header: &trajectory.Header{
		Version: trajectory.Version, QueryID: id, Question: question, Model: model, Prompt: question,
	}})
	return s
}

// add numbers an event. Foreign forms tell no times: all events are at the beginning of time.
func (s *steps) add(e trajectory.Event) {
	e.Seq, e.Time = len(s.events)+1, time.Unix(0, 0).UTC()
	s.events = append(s.events, e)
	s.tally.Add(e)
}

// items adds everything that happened. The usage of the whole is entered at the last turn; where it
// is not known, each turn says so.
func (s *steps) items(items []browsecompplus.Item, usage *browsecompplus.Usage) {
	for i, item := range items {
		var u *browsecompplus.Usage
		if i == len(items)-1 {
			u = usage
		}
		switch item.Type {
		case browsecompplus.ItemReasoning:
			s.pending = append(s.pending, item.Output.Texts...)
			if i == len(items)-1 {
				s.turn(trajectory.Turn{StopReason: "other"}, usage, u)
			}
		case browsecompplus.ItemCall:
			s.call(item, usage, u)
		default:
			stop := "other"
			if i == len(items)-1 {
				stop = "stop"
			}
			s.turn(trajectory.Turn{Text: item.Output.String(), StopReason: stop}, usage, u)
		}
	}
}

func (s *steps) turn(t trajectory.Turn, known, here *browsecompplus.Usage) {
	s.turns++
	t.Turn, t.Reasoning, t.UsageUnknown = s.turns, strings.Join(s.pending, "\n"), known == nil
	s.pending = nil
	if here != nil {
		t.Usage = fromUsage(*here)
	}
	s.add(trajectory.Event{Type: trajectory.TypeTurn, Turn: &t})
}

// fromUsage brings that form's arithmetic into this project's: input without cached tokens.
func fromUsage(u browsecompplus.Usage) trajectory.Usage {
	cached := min(max(u.Cached, 0), u.Input)
	return trajectory.Usage{Input: u.Input - cached, CacheRead: cached, Output: u.Output, Reasoning: u.Reasoning}
}

func (s *steps) call(item browsecompplus.Item, known, here *browsecompplus.Usage) {
	id := fmt.Sprintf("call%05d", s.turns+1)
	s.turn(trajectory.Turn{StopReason: "tool_calls", Calls: []string{id}}, known, here)
	call := trajectory.Call{ID: id}
	if item.ToolName != nil {
		call.Tool = *item.ToolName
	}
	if item.Arguments != nil {
		call.Arguments, call.RawArguments = arguments(string(*item.Arguments))
	}
	s.add(trajectory.Event{Type: trajectory.TypeCall, Call: &call})
	s.add(trajectory.Event{Type: trajectory.TypeObservation, Observation: &trajectory.Observation{
		CallID: id, Tool: call.Tool, Text: item.Output.String(), IsError: item.Output.IsNull(), Access: access(call, item.Output),
	}})
}

// arguments returns the JSON object that a text is, and the text itself where it is none or is
// written in another way than a trajectory would write it.
func arguments(text string) (object json.RawMessage, raw string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &fields) != nil || fields == nil {
		return nil, text
	}
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil || b.String() != text {
		return json.RawMessage(text), text
	}
	return json.RawMessage(text), ""
}

// access reads from a call and its output which documents it touched: searches show what they
// list, and anything else that names a docid opens it.
func access(call trajectory.Call, out browsecompplus.Output) trajectory.Access {
	if out.IsNull() {
		return trajectory.Access{}
	}
	name := strings.ToLower(call.Tool)
	if strings.Contains(name, "search") || strings.Contains(name, "retrieval") {
		listed := docids(out.String())
		if name == "read_search_results" {
			return trajectory.Access{Previewed: listed}
		}
		return trajectory.Access{Surfaced: listed, Previewed: listed}
	}
	var args struct {
		DocID *browsecompplus.Text `json:"docid"`
	}
	if json.Unmarshal(call.Arguments, &args) == nil && args.DocID != nil && *args.DocID != "" {
		return trajectory.Access{Opened: []string{string(*args.DocID)}}
	}
	return trajectory.Access{}
}

var quotedDocID = lazyregexp.New(`"docid"\s*:\s*(?:"((?:[^"\\]|\\.)*)"|(\d+))`)

// docids reads the ids out of a search's output: a JSON list of objects with docid, else whatever
// in the text looks like one.
func docids(text string) []string {
	var list []struct {
		DocID browsecompplus.Text `json:"docid"`
	}
	if json.Unmarshal([]byte(text), &list) == nil {
		ids := make([]browsecompplus.Text, 0, len(list))
		for _, l := range list {
			if l.DocID != "" {
				ids = append(ids, l.DocID)
			}
		}
		return texts(ids)
	}
	var ids []browsecompplus.Text
	for _, m := range quotedDocID.FindAllStringSubmatch(text, -1) {
		id := m[2]
		if m[1] != "" {
			if json.Unmarshal([]byte(`"`+m[1]+`"`), &id) != nil {
				continue
			}
		}
		ids = append(ids, browsecompplus.Text(id))
	}
	return texts(ids)
}

// end closes the trajectory. retrieved are documents that count as shown where no step says so.
func (s *steps) end(status, text string, retrieved []string) Answered {
	end := trajectory.End{Status: trajectory.Failed}
	switch trajectory.Status(status) {
	case trajectory.Completed, trajectory.Timeout:
		end.Status = trajectory.Status(status)
	case trajectory.Failed:
		end.Reason = "error"
	default:
		end.Reason = status
	}
	if end.Status == trajectory.Timeout {
		end.Reason = "time"
	}
	sets := s.tally.Sets()
	known := sets
	known.Surfaced = append(known.Surfaced, retrieved...)
	known.Previewed = append(known.Previewed, retrieved...)
	if text != "" {
		end.Answer = answer.Parse(text, answer.Docs{Sets: known})
	}
	end.Sets = sets
	for _, c := range end.Answer.Citations {
		end.Sets.Cited = append(end.Sets.Cited, c.DocID)
	}
	end.Usage = s.tally.Record().Usage
	s.add(trajectory.Event{Type: trajectory.TypeEnd, End: &end})
	rec := s.tally.Record()
	rec.StartedAt, rec.Tries = time.Time{}, s.turns
	return Answered{Record: rec, Events: s.events}
}
