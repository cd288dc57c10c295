package agent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"goserini/internal/agent"
	"goserini/internal/controller"
	"goserini/internal/llm"
	"goserini/internal/llm/llmtest"
	"goserini/internal/llm/openaichat"
	"goserini/internal/retrieval/retrievaltest"
	"goserini/internal/sharedtest"
	"goserini/internal/trajectory"
)

// quick is the policy of retries without the waiting.
var quick = agent.Retry{Base: time.Microsecond, Max: time.Microsecond}

// client speaks to a server that may be silent for idle (0: for as long as the client's
// default), and asks for whole answers or streams.
func client(t *testing.T, url string, idle time.Duration, whole bool) *openaichat.Client {
	t.Helper()
	c, err := openaichat.New(openaichat.Config{Provider: "test", BaseURL: url, Idle: idle, NoStream: whole})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// corpus reads the small collection a case talks about.
func corpus(t *testing.T, path string) *retrievaltest.Memory {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var docs []retrievaltest.Document
	for line := range bytes.Lines(data) {
		var d struct {
			ID       json.RawMessage
			Contents string
		}
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		docs = append(docs, retrievaltest.Document{DocID: strings.Trim(string(d.ID), `"`), Text: d.Contents})
	}
	return retrievaltest.NewMemory(docs...)
}

// TestCasesOfModels runs every recorded conversation through the real client, loop and
// tools. What the record must say comes with the case; what the case leaves open is fixed
// here as the manual has it.
func TestCasesOfModels(t *testing.T) {
	for _, c := range []struct {
		id                         string
		executed, rejected, errors int
		idle                       time.Duration
		change                     func(*agent.Config)
	}{
		{id: "LLM-01", rejected: 1, errors: 1},
		{id: "LLM-02", rejected: 1, errors: 1},
		{id: "LLM-04", executed: 1, errors: 1},
		{id: "LLM-05", rejected: 1, errors: 1},
		{id: "LLM-06", executed: 2},
		{id: "LLM-07", executed: 2, errors: 1},
		{id: "LLM-09", executed: 2},
		{id: "LLM-10", executed: 2},
		{id: "LLM-11", executed: 2},
		{id: "LLM-12"},
		{id: "LLM-15", rejected: 1, errors: 1},
		{id: "LLM-17"},
		{id: "LLM-21"},
		{id: "LLM-23", executed: 60, change: func(c *agent.Config) { c.Window, c.Shorten = 4000, agent.ShortenCompact }},
		{id: "LLM-23", executed: 60, change: func(c *agent.Config) { c.Window, c.Shorten = 4000, agent.ShortenMask }},
		{id: "LLM-29", executed: 1},
		{id: "LLM-34", executed: 1},
		{id: "LLM-36", executed: 2},
		{id: "LLM-39", executed: 1},
		{id: "LLM-40"},
		{id: "LLM-41"},
		{id: "LLM-42", idle: time.Second},
		{id: "LLM-44", executed: 1},
	} {
		for _, whole := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s whole %v", c.id, whole), func(t *testing.T) {
				dir := sharedtest.Path(t, "cases", c.id)
				docs := filepath.Join(dir, "corpus.jsonl")
				if _, err := os.Stat(docs); err != nil {
					docs = sharedtest.Path(t, "cases", "_tools", "corpus.jsonl")
				}
				replay := llmtest.NewReplay(t, dir)
				cfg := agent.Config{
					Client: client(t, replay.URL, c.idle, whole), Model: "mock", Retry: quick,
					Tools: controller.New(corpus(t, docs), controller.Options{}).Tools(),
				}
				if c.change != nil {
					c.change(&cfg)
				}
				rec, err := agent.Run(t.Context(), agent.Question{ID: "q", Text: "Which lake?"}, cfg)
				if err != nil {
					t.Fatal(err)
				}
				replay.Verify(t)
				if rec.ExecutedCalls != c.executed || rec.RejectedCalls != c.rejected {
					t.Errorf("%d calls run, %d rejected; want %d, %d", rec.ExecutedCalls, rec.RejectedCalls, c.executed, c.rejected)
				}
				// In streams, some placeholders for field names are split over two events and stay.
				if whole && rec.ToolErrors != c.errors {
					t.Errorf("%d calls gave an error, want %d", rec.ToolErrors, c.errors)
				}
				want := replay.Script.Expect
				if n, ok := want["executed"].(float64); ok && rec.ExecutedCalls != int(n) {
					t.Errorf("%d calls run, want %v", rec.ExecutedCalls, n)
				}
				if s, ok := want["status"].(string); ok && string(rec.Status) != s {
					t.Errorf("status %s %s, want %s", rec.Status, rec.Reason, s)
				}
				if rec.Answer.Exact != "Lake Orrin" || rec.Answer.Confidence == nil || *rec.Answer.Confidence != 80 {
					t.Errorf("answer %+v", rec.Answer)
				}
			})
		}
	}
}

// A turn whose reason promises calls and has none is an empty turn.
func TestCaseReasonForCallsWithoutCalls(t *testing.T) {
	dir := sharedtest.Path(t, "cases", "LLM-39")
	data, err := os.ReadFile(filepath.Join(dir, "alt-empty-list.json"))
	if err != nil {
		t.Fatal(err)
	}
	server := llmtest.NewServer(t, func(llmtest.Request) llmtest.Answer {
		return llmtest.Answer{Status: 200, Body: string(data)}
	})
	rec, err := agent.Run(t.Context(), agent.Question{}, agent.Config{Client: client(t, server.URL, 0, true), Model: "m"})
	if err != nil || rec.Status != trajectory.Failed || rec.Reason != agent.ReasonNoAnswer {
		t.Errorf("ended as %s %q, error %v", rec.Status, rec.Reason, err)
	}
}

// Over 20 turns through the real client and tools, each body repeats the one before it.
func TestBodiesBeginAsTheOnesBefore(t *testing.T) {
	var answers []llmtest.Answer
	for i := range 19 {
		answers = append(answers, llmtest.Answer{Calls: []llm.Call{{ID: fmt.Sprint(i), Name: "read_document", Arguments: `{"reason":"r","docid":"d2"}`}}})
	}
	server := llmtest.NewServer(t, llmtest.InTurn(append(answers, llmtest.Answer{Text: "Exact Answer: Lake Orrin\nConfidence: 1%"})...))
	rec, err := agent.Run(t.Context(), agent.Question{Text: "Which lake?"}, agent.Config{
		Client: client(t, server.URL, 0, false), Model: "m", Tools: controller.New(library(), controller.Options{}).Tools(),
	})
	if err != nil || rec.Turns != 20 {
		t.Fatalf("%d turns, error %v", rec.Turns, err)
	}
	same, all := 0, 0
	requests := server.Requests()
	for i, r := range requests[1:] {
		before := requests[i].Body
		n := 0
		for n < len(before) && before[n] == r.Body[n] {
			n++
		}
		if rest := len(before) - n; rest > 8 { // what closes the list of messages
			t.Errorf("request %d differs from the one before in its last %d bytes", i+2, rest)
		}
		same, all = same+n, all+len(r.Body)
	}
	share := float64(same) / float64(all)
	if share < 0.95 || rec.PrefixShare < 0.95 || share-rec.PrefixShare > 0.02 || rec.PrefixShare-share > 0.02 {
		t.Errorf("%.3f of the bytes are repeated, the record says %.3f; want both at least 0.95", share, rec.PrefixShare)
	}
}

// library is a collection for questions about numbered lakes.
func library() *retrievaltest.Memory {
	return retrievaltest.NewMemory(
		retrievaltest.Document{DocID: "d1", Text: "harbour records of the salt works"},
		retrievaltest.Document{DocID: "d2", Text: "the survey names Lake Orrin as the northern basin"},
		retrievaltest.Document{DocID: "d3", Text: "notes on bridge repairs in the valley"},
	)
}

// research is a conversation of six turns with parallel calls. Each answer has its own usage.
func research() func(llmtest.Request) llmtest.Answer {
	spent := func(n int64) trajectory.Usage {
		return trajectory.Usage{Input: 100 + n, CacheRead: 10 * n, Output: 20 + n, Reasoning: n}
	}
	call := func(id, name, args string) llm.Call { return llm.Call{ID: id, Name: name, Arguments: args} }
	return llmtest.ByTurn(
		llmtest.Answer{Usage: spent(1), Calls: []llm.Call{call("a", "search", `{"reason":"r","query":"salt works"}`), call("b", "search", `{"reason":"r","query":"northern basin"}`)}},
		llmtest.Answer{Usage: spent(2), Reasoning: "The survey.", Calls: []llm.Call{call("c", "read_document", `{"reason":"r","docid":"d2"}`)}},
		llmtest.Answer{Usage: spent(3), Calls: []llm.Call{call("d", "read_search_results", `{"reason":"r","search_id":"s1"}`), call("e", "read_document", `{"reason":"r","docid":"d1"}`)}},
		llmtest.Answer{Usage: spent(4), Calls: []llm.Call{call("f", "search", `{"reason":"r","query":"bridge"}`)}},
		llmtest.Answer{Usage: spent(5), Text: "Explanation: [d2].\nExact Answer: Lake Orrin\nConfidence: 90%"},
	)
}

// audible are the failures of a server but silence, which takes time to find out.
var audible = slices.DeleteFunc(slices.Clone(llmtest.ServerFaults), func(f llmtest.Fault) bool { return f == llmtest.Silence })

func TestQuestionsToAServerThatFallsSilent(t *testing.T) {
	if testing.Short() {
		t.Skip("silence takes time")
	}
	server := llmtest.NewServer(t, llmtest.Spoil(2605, 0.2, []llmtest.Fault{llmtest.Silence}, research()))
	for i, rec := range askMany(t, server, workers, 500*time.Millisecond) {
		if rec.Status != trajectory.Completed {
			t.Errorf("question %d ended as %s %q", i, rec.Status, rec.Reason)
		}
	}
}

// TestFiveHundredQuestionsUnderFaults asks 500 questions of a server that commits every
// known failure. Whatever happens, every question ends in a state of the manual, none is
// lost, the histories that were sent are whole, and the tokens in the records are those the
// server counted.
func TestFiveHundredQuestionsUnderFaults(t *testing.T) {
	for _, c := range []struct {
		name      string
		rate      float64
		faults    []llmtest.Fault
		questions int
		completed int // at least
	}{
		{"every failure at a fifth", 0.2, slices.Concat(llmtest.ModelFaults, audible), 500, 0},
		{"failures of the server at a fifth", 0.2, audible, 150, 1},
		{"every failure at a hundredth", 0.01, slices.Concat(audible, llmtest.ModelFaults), 150, 120},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() {
				c.completed, c.questions = c.completed*40/c.questions, 40
			}
			server := llmtest.NewServer(t, llmtest.Spoil(2605, c.rate, c.faults, research()))
			records := askMany(t, server, c.questions, 0)
			states := map[string]int{}
			var told trajectory.Usage
			for i, rec := range records {
				states[string(rec.Status)+" "+rec.Reason]++
				told = told.Add(rec.Usage)
				if want := fmt.Sprintf("q%d", i); rec.QueryID != want {
					t.Errorf("record %d is that of %q", i, rec.QueryID)
				}
			}
			t.Logf("%d requests; %v", len(server.Requests()), states)
			if told != server.Told() {
				t.Errorf("the records count %+v, the server %+v", told, server.Told())
			}
			tries := 0
			for _, rec := range records {
				tries += rec.Tries
			}
			if n := len(server.Requests()); tries != n {
				t.Errorf("the records count %d tries, the server %d requests", tries, n)
			}
			if n := states["completed "]; n < c.completed {
				t.Errorf("%d completed, want at least %d", n, c.completed)
			}
			for _, r := range server.Requests() {
				if bad := llmtest.Problems(r.Body); len(bad) > 0 {
					t.Fatalf("request %d: %v\n%s", r.N, bad, r.Body)
				}
			}
		})
	}
}

const workers = 8

// askMany asks numbered questions with eight workers. Every question must end in a state of
// the manual, with a whole trajectory.
func askMany(t *testing.T, server *llmtest.Server, n int, idle time.Duration) []trajectory.Record {
	t.Helper()
	c := client(t, server.URL, idle, false)
	known := map[string]bool{}
	for _, reason := range agent.Reasons {
		known[reason] = true
	}
	records := make([]trajectory.Record, n)
	next := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range next {
				var events []trajectory.Event
				rec, err := agent.Run(t.Context(), agent.Question{ID: fmt.Sprintf("q%d", i), Text: fmt.Sprintf("Which lake is number %d?", i)}, agent.Config{
					Client: c, Model: "test-model", Retry: quick, Tools: controller.New(library(), controller.Options{}).Tools(),
					Budget: agent.Budget{MaxTurns: 30},
					Emit:   func(e trajectory.Event) { events = append(events, e) },
				})
				ok := rec.Status == trajectory.Completed && rec.Reason == "" || rec.Status == trajectory.Failed && known[rec.Reason]
				if !ok || err != nil && rec.Reason != agent.ReasonModel {
					t.Errorf("question %d ended as %s %q, error %v", i, rec.Status, rec.Reason, err)
				}
				if events[len(events)-1].Type != trajectory.TypeEnd || trajectory.Replay(events).Usage != rec.Usage {
					t.Errorf("question %d: the trajectory does not end, or counts otherwise", i)
				}
				records[i] = rec
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
	return records
}
