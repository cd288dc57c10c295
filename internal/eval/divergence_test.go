package eval

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"goserini/internal/trajectory"
)

// told makes the events of a question: calls as "tool arguments -> text", and an end.
type told struct {
	calls [][3]string
	end   *trajectory.End
}

func (s told) events() []trajectory.Event {
	events := []trajectory.Event{{Header: &trajectory.Header{Version: trajectory.Version}}}
	for i, c := range s.calls {
		id := fmt.Sprint("c", i)
		call := &trajectory.Call{ID: id, Tool: c[0]}
		if json.Valid([]byte(c[1])) {
			call.Arguments = json.RawMessage(c[1])
		} else {
			call.RawArguments = c[1]
		}
		events = append(events, trajectory.Event{Turn: &trajectory.Turn{Turn: i + 1, Calls: []string{id}}}, trajectory.Event{Call: call})
		if c[2] != "" {
			events = append(events, trajectory.Event{Observation: &trajectory.Observation{CallID: id, Tool: c[0], Text: c[2]}})
		}
	}
	if s.end != nil {
		events = append(events, trajectory.Event{End: s.end})
	}
	return events
}

func ended(exact string, cited ...string) *trajectory.End {
	end := &trajectory.End{Status: trajectory.Completed, Answer: trajectory.Answer{Exact: exact}}
	for _, id := range cited {
		end.Answer.Citations = append(end.Answer.Citations, trajectory.Citation{DocID: id})
	}
	return end
}

func TestWhereTwoTrajectoriesPart(t *testing.T) {
	search := [3]string{"search", `{"reason": "begin", "query": "light keeper"}`, "s1: a, b"}
	read := [3]string{"read_document", `{"docid": "a", "offset": 1}`, "text"}
	for _, test := range []struct {
		name        string
		base, other told
		agreed      int
		otherTexts  []int
		// baseNext and otherNext are a tool, "end", or "" for nothing.
		baseNext, otherNext string
	}{
		{"the same", told{[][3]string{search, read}, ended("1893", "a")}, told{[][3]string{search, read}, ended(" 1893\n", "a")}, 3, []int{}, "", ""},
		{"another reason and another order of keys are no difference",
			told{[][3]string{search}, ended("x")}, told{[][3]string{{"search", `{"query":"light keeper","reason":"other words"}`, "s1: a, b"}}, ended("x")}, 2, []int{}, "", ""},
		{"another result of the same call is no step of its own, but said",
			told{[][3]string{search, read}, ended("x")}, told{[][3]string{{"search", search[1], "s1: b, a"}, {"read_document", `{"docid": "b", "offset": 1}`, "text"}}, ended("x")}, 1, []int{1}, "read_document", "read_document"},
		{"the first step", told{[][3]string{search}, nil}, told{[][3]string{{"search", `{"query": "keeper"}`, ""}}, nil}, 0, []int{}, "search", "search"},
		{"one answers, the other goes on", told{[][3]string{search}, ended("x")}, told{[][3]string{search, read}, ended("x")}, 1, []int{}, "end", "read_document"},
		{"another answer", told{[][3]string{search}, ended("x")}, told{[][3]string{search}, ended("y")}, 1, []int{}, "end", "end"},
		{"other citations", told{nil, ended("x", "a")}, told{nil, ended("x", "b")}, 0, []int{}, "end", "end"},
		{"one was stopped before its end", told{[][3]string{search}, nil}, told{[][3]string{search}, ended("x")}, 1, []int{}, "", "end"},
		{"numbers are not texts, and large ones keep their digits",
			told{[][3]string{{"read_document", `{"docid": 9007199254740993}`, ""}}, nil}, told{[][3]string{{"read_document", `{"docid": 9007199254740992}`, ""}}, nil}, 0, []int{}, "read_document", "read_document"},
		{"arguments that are no JSON", told{[][3]string{{"search", `{"query": `, "rejected"}}, nil}, told{[][3]string{{"search", `{"query": `, "rejected"}}, nil}, 1, []int{}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := Diverge(test.base.events(), test.other.events())
			if len(d.Agreed) != test.agreed || !slices.Equal(d.OtherTexts, test.otherTexts) {
				t.Errorf("agreed on %d steps, other texts at %v; want %d and %v", len(d.Agreed), d.OtherTexts, test.agreed, test.otherTexts)
			}
			for _, next := range []struct {
				who  string
				step *Step
				want string
			}{{"base", d.BaseNext, test.baseNext}, {"other", d.OtherNext, test.otherNext}} {
				got := ""
				if next.step != nil {
					if got = next.step.Tool; next.step.End != nil {
						got = "end"
					}
					if next.step.Number != test.agreed+1 {
						t.Errorf("%s goes on with step %d, want %d", next.who, next.step.Number, test.agreed+1)
					}
				}
				if got != next.want {
					t.Errorf("%s goes on with %q, want %q", next.who, got, next.want)
				}
			}
		})
	}
}

func TestOtherTextsAreNotAlwaysOtherDocuments(t *testing.T) {
	events := func(text string, shown ...string) []trajectory.Event {
		return []trajectory.Event{
			{Call: &trajectory.Call{ID: "1", Tool: "search", Arguments: json.RawMessage(`{"query":"a"}`)}},
			{Observation: &trajectory.Observation{CallID: "1", Tool: "search", Text: text, Access: trajectory.Access{Surfaced: shown, Previewed: shown}}},
		}
	}
	d := Diverge(events("a score=1, b score=0.5", "a", "b"), events("a score=2, b score=0.3", "a", "b"))
	if !slices.Equal(d.OtherTexts, []int{1}) || len(d.OtherDocuments) != 0 {
		t.Errorf("other scores: texts %v, documents %v", d.OtherTexts, d.OtherDocuments)
	}
	d = Diverge(events("a, b", "a", "b"), events("b, a", "b", "a"))
	if !slices.Equal(d.OtherTexts, []int{1}) || !slices.Equal(d.OtherDocuments, []int{1}) {
		t.Errorf("another order: texts %v, documents %v", d.OtherTexts, d.OtherDocuments)
	}
}

func TestStepsOfParallelCallsKeepTheirResults(t *testing.T) {
	call := func(id, query string) trajectory.Event {
		return trajectory.Event{Call: &trajectory.Call{ID: id, Tool: "search", Arguments: json.RawMessage(`{"query":"` + query + `"}`)}}
	}
	result := func(id, docid string) trajectory.Event {
		return trajectory.Event{Observation: &trajectory.Observation{CallID: id, Tool: "search", Access: trajectory.Access{Surfaced: []string{docid, "z"}, Previewed: []string{docid}}}}
	}
	steps := Steps([]trajectory.Event{call("1", "a"), call("2", "b"), result("2", "B"), result("1", "A"), result("3", "C")})
	if len(steps) != 2 || steps[0].Previewed[0] != "A" || steps[1].Previewed[0] != "B" || steps[0].Surfaced != 2 {
		t.Errorf("got %+v", steps)
	}
}
