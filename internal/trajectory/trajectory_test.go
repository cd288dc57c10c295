package trajectory

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// number gives events their sequence, times and a second each.
func number(events ...Event) []Event {
	for i := range events {
		events[i].Seq, events[i].Time, events[i].ElapsedMS = i+1, start.Add(time.Duration(i)*time.Second), int64(i)*1000
	}
	return events
}

func header() Event {
	return Event{Type: TypeHeader, Header: &Header{
		Version: Version, QueryID: "q1", Question: "Which lake?", Model: "test/model", Prompt: "…",
		Tools: json.RawMessage(`[{"name":"search"},{"name":"read"}]`),
	}}
}

func observed(o Observation) Event { return Event{Type: TypeObservation, Observation: &o} }

// example has one event of every type.
func example() []Event {
	confidence := 80.0
	return number(
		header(),
		Event{Type: TypeAttempt, Attempt: &Attempt{Turn: 1, Try: 1, Error: "HTTP 503", RetryMS: 500, WillRetry: true, Usage: Usage{Input: 3}}},
		Event{Type: TypeAttempt, Attempt: &Attempt{Turn: 1, Try: 2, Error: "ended", WillRetry: true, Interrupted: true, StreamedBytes: 40}},
		Event{Type: TypeTurn, Turn: &Turn{Turn: 1, StopReason: "tool_calls", Calls: []string{"a", "b", "c", "d"}, Usage: Usage{Input: 10, CacheRead: 5, Output: 7, Reasoning: 2}}},
		Event{Type: TypeCall, Call: &Call{ID: "a", Tool: "search", Arguments: json.RawMessage(`{"query":"lake"}`)}},
		observed(Observation{CallID: "a", Tool: "search", Text: "s1", Access: Access{Surfaced: []string{"d3", "d1", "d2"}, Previewed: []string{"d3"}}}),
		observed(Observation{CallID: "b", Tool: "search", Text: "s2", Access: Access{Surfaced: []string{"d1", "d4"}, Previewed: []string{"d1"}}}),
		observed(Observation{CallID: "c", Tool: "read", Text: "no such document", IsError: true}),
		observed(Observation{CallID: "d", Tool: "nothing", Text: "no such tool", IsError: true, Rejected: true}),
		Event{Type: TypeSteer, Steer: &Steer{Reason: SteerFormat, Text: "…"}},
		Event{Type: TypeShorten, Shorten: &Shorten{Policy: "mask", Calls: []string{"a"}, TokensBefore: 100, TokensAfter: 50}},
		Event{Type: TypeTurn, Turn: &Turn{Turn: 2, StopReason: "tool_calls", UsageUnknown: true}},
		observed(Observation{CallID: "e", Tool: "read", Text: "text", Access: Access{Opened: []string{"d1"}}}),
		Event{Type: TypeSteer, Steer: &Steer{Reason: "time", Text: "…"}},
		observed(Observation{CallID: "f", Tool: "read", Text: "over", IsError: true, Blocked: true}),
		Event{Type: TypeTurn, Turn: &Turn{Turn: 3, StopReason: "stop", Text: "…", Usage: Usage{Input: 20, Output: 3}}},
		Event{Type: TypeEnd, End: &End{
			Status:      Completed,
			Answer:      Answer{Exact: "Orrin", Confidence: &confidence, Citations: []Citation{{DocID: "d1", Access: "opened"}, {DocID: "d9", Access: "never"}}},
			PrefixShare: 0.97,
		}},
	)
}

func write(t *testing.T, events []Event) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "q.jsonl")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAReplayCountsWhatHappened(t *testing.T) {
	confidence := 80.0
	want := Record{
		QueryID: "q1", Question: "Which lake?", Status: Completed, Model: "test/model",
		Answer: Answer{Exact: "Orrin", Confidence: &confidence, Citations: []Citation{{DocID: "d1", Access: "opened"}, {DocID: "d9", Access: "never"}}},
		Sets: Sets{
			Surfaced: []string{"d3", "d1", "d2", "d4"}, Previewed: []string{"d3", "d1"},
			Opened: []string{"d1"}, Cited: []string{"d1", "d9"},
		},
		BestRank:       map[string]int{"d3": 1, "d1": 1, "d2": 3, "d4": 2},
		ToolCallCounts: map[string]int{"search": 2, "read": 3},
		ExecutedCalls:  4, ToolErrors: 2, BlockedCalls: 1, RejectedCalls: 1,
		Turns: 3, Tries: 5, Steered: true,
		Usage: Usage{Input: 33, CacheRead: 5, Output: 10, Reasoning: 2}, UncountedCalls: 2, PrefixShare: 0.97,
		StartedAt: start, ElapsedSeconds: 16,
	}
	if got := Replay(example()); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if got := want.Behavior(); !slices.Equal(got, []string{"d1", "d9"}) {
		t.Errorf("behavior set %v", got)
	}
}

func TestAQuestionThatWasStoppedHasARecordToo(t *testing.T) {
	for n := range example() {
		rec := Replay(example()[:n])
		if rec.Status != Failed || rec.Reason != Interrupted {
			t.Errorf("after %d events: %s %q", n, rec.Status, rec.Reason)
		}
		data, err := json.Marshal(rec)
		if err != nil || bytes.Contains(data, []byte(`docids":null`)) {
			t.Errorf("after %d events: %s, %v", n, data, err)
		}
	}
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	events := example()
	events[3].Turn.Raw = json.RawMessage(`{"signature":"a<b>&ü ","thinking":"\u2028"}`)
	file, err := ReadFile(write(t, events))
	if err != nil {
		t.Fatal(err)
	}
	if !file.Whole || file.Torn || !reflect.DeepEqual(file.Events, events) {
		t.Errorf("whole %v, torn %v, events\n%+v", file.Whole, file.Torn, file.Events)
	}
}

func TestATornTrajectoryKeepsItsWholeEvents(t *testing.T) {
	data, err := os.ReadFile(write(t, example()))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(data); n += 7 {
		file, err := Read(bytes.NewReader(data[:n]), "q.jsonl")
		whole := bytes.Count(data[:n], []byte("\n"))
		if n < len(data) && data[n] == '\n' {
			whole++ // complete but for its line end
		}
		if whole == 0 {
			if err == nil || !strings.Contains(err.Error(), "no whole event") {
				t.Errorf("%d bytes: error %v", n, err)
			}
			continue
		}
		if err != nil || len(file.Events) != whole {
			t.Fatalf("%d bytes: %d events, error %v; want %d", n, len(file.Events), err, whole)
		}
		if torn := data[n-1] != '\n' && data[n] != '\n'; file.Torn != torn || file.Whole && whole < len(example()) {
			t.Errorf("%d bytes: torn %v, whole %v; want torn %v", n, file.Torn, file.Whole, torn)
		}
	}
}

func TestEveryEventIsInTheFileWhenAppendReturns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.jsonl")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i, e := range example() {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
		if file, err := ReadFile(path); err != nil || len(file.Events) != i+1 {
			t.Fatalf("after event %d the file has %d, error %v", i+1, len(file.Events), err)
		}
	}
}

func TestATrajectoryIsBegunAnew(t *testing.T) {
	path := write(t, example())
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(number(header())[0]); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if file, err := ReadFile(path); err != nil || len(file.Events) != 1 || file.Whole {
		t.Errorf("%d events, error %v", len(file.Events), err)
	}
}

func TestBadEventsAreNotWritten(t *testing.T) {
	good := example()
	for words, events := range map[string][]Event{
		`type "turn" but holds "steer"`:  {good[0], {Type: TypeTurn, Seq: 2, Steer: &Steer{}}},
		`has type "turn" and 0 bodies`:   {good[0], {Type: TypeTurn, Seq: 2}},
		`but holds "header"`:             {good[0], {Type: TypeTurn, Seq: 2, Turn: &Turn{}, Header: &Header{}}},
		`event number 3, want 2`:         {good[0], good[2]},
		`the first event has type "end"`: {{Type: TypeEnd, Seq: 1, End: &End{}}},
		`event 2 (call): json`:           {good[0], {Type: TypeCall, Seq: 2, Call: &Call{Arguments: json.RawMessage(`{`)}}},
		`more than a line may hold`:      {good[0], {Type: TypeTurn, Seq: 2, Turn: &Turn{Text: strings.Repeat("x", MaxLine)}}},
	} {
		if testing.Short() && strings.HasPrefix(words, "more than") {
			continue // 64 MiB
		}
		path := filepath.Join(t.TempDir(), "q.jsonl")
		w, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		var failed error
		for _, e := range events {
			failed = w.Append(e)
		}
		if failed == nil || !strings.Contains(failed.Error(), words) {
			t.Errorf("got %v, want %q in it", failed, words)
		}
		if again := w.Append(Event{}); again == nil || again.Error() != failed.Error() {
			t.Errorf("after a failure Append says %v", again)
		}
		if err := w.Close(); err == nil {
			t.Error("Close forgets the failure")
		}
	}
}

func TestForeignAndDamagedTrajectories(t *testing.T) {
	line := func(e Event) string {
		b, err := encode(e)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	events := example()
	first, end := line(events[0]), line(Event{Type: TypeEnd, Seq: 2, End: &End{}})
	future := strings.Replace(first, `"version":1`, `"version":7,"shape":[1]`, 1)
	for name, c := range map[string]struct{ data, words string }{
		"another version":       {future, "q.jsonl:1: trajectory format version 7; this goserini reads version 1: read it with the goserini that wrote it, or record the question again with goserini run"},
		"no trajectory":         {`{"query_id":"q1"}` + "\n", `q.jsonl:1: not a trajectory: the first line has type "", want "header"`},
		"no JSON":               {"hello\n", "q.jsonl:1:"},
		"empty":                 {"", "no whole event; record the question again with goserini run"},
		"damage in the middle":  {first + "{\"type\":\n" + end, "q.jsonl:2:"},
		"a missing event":       {first + line(events[2]), "q.jsonl:2: event number 3, want 2"},
		"an unknown event type": {first + `{"type":"dream","seq":2}` + "\n", `q.jsonl:2: event 2 has type "dream" and 0 bodies`},
		"events behind the end": {first + end + line(Event{Type: TypeSteer, Seq: 3, Steer: &Steer{}}), "q.jsonl:3: event 3 (steer) follows the end"},
		"a wrong field type":    {first + `{"type":"turn","seq":"two"}` + "\n", "q.jsonl:2:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(c.data), "q.jsonl")
			if err == nil || !strings.Contains(err.Error(), c.words) {
				t.Errorf("got %v, want %q in it", err, c.words)
			}
		})
	}
}

func TestAMissingFileIsNamed(t *testing.T) {
	if _, err := ReadFile("nowhere/q.jsonl"); err == nil || !strings.Contains(err.Error(), "nowhere/q.jsonl") {
		t.Errorf("error %v", err)
	}
	if _, err := Create("nowhere/q.jsonl"); err == nil || !strings.Contains(err.Error(), "nowhere/q.jsonl") {
		t.Errorf("error %v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, e := range example() {
		b, err := encode(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(b))
	}
	f.Add([]byte(`{"type":"header","seq":1,"header":{"version":1}}` + "\n" + `{"type":"end","seq":2,"end":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Read(bytes.NewReader(data), "x")
		if err != nil {
			return
		}
		if rec := Replay(file.Events); !file.Whole && (rec.Status != Failed || rec.Reason != Interrupted) {
			t.Errorf("a trajectory without end replays to %s %q", rec.Status, rec.Reason)
		}
		for i, e := range file.Events {
			if err := e.check(i + 1); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestTheManualNamesEveryField keeps docs/formats/trajectory.md complete.
func TestTheManualNamesEveryField(t *testing.T) {
	manual, err := os.ReadFile("../../docs/formats/trajectory.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() || seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && !bytes.Contains(manual, []byte("`"+name+"`")) && !bytes.Contains(manual, []byte("\n### "+name+"\n")) {
				t.Errorf("%s.%s: the manual does not name %q", typ.Name(), f.Name, name)
			}
			visit(f.Type)
		}
	}
	visit(reflect.TypeFor[Event]())
	visit(reflect.TypeFor[Record]())
}
