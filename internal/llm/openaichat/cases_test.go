package openaichat_test

import (
	"strings"
	"testing"
	"time"

	"goserini/internal/llm"
	"goserini/internal/llm/llmtest"
	"goserini/internal/llm/openaichat"
	"goserini/internal/sharedtest"
)

func newClient(t *testing.T, cfg openaichat.Config) *openaichat.Client {
	t.Helper()
	if cfg.Provider == "" {
		cfg.Provider = "test"
	}
	c, err := openaichat.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cases are those of odd servers, each with what this package decides about it.
var cases = []struct {
	id       string
	calls    []llm.Call // of all turns
	answer   string
	failures int
	turns    int
	cfg      func(*openaichat.Config)
	stop     llm.StopReason // of the first turn, where it matters
}{
	{id: "LLM-01", calls: []llm.Call{{ID: "call_a", Name: "search", Arguments: `{"query": "salt works records, "northern basin"}`}}},
	{id: "LLM-02", calls: []llm.Call{{ID: "call_a", Name: "read_document", Arguments: `{"docid": "d2`}}},
	{id: "LLM-04", calls: []llm.Call{{ID: "call_a", Name: "search", Arguments: ""}}},
	{id: "LLM-05", calls: []llm.Call{{ID: "call_a", Name: "query_archive_index", Arguments: `{"q": "salt"}`}}},
	{id: "LLM-06", calls: []llm.Call{{ID: "call_a", Name: "search<|channel|>commentary", Arguments: `{"query": "salt works"}`}, {ID: "call_b", Name: "functions.read_document", Arguments: `{"docid": "d2"}`}}},
	{id: "LLM-07", calls: []llm.Call{{ID: "call_a", Name: "read_document", Arguments: `{"docid": "d999"}`}, {ID: "call_b", Name: "search", Arguments: `{"query": "Lake Orrin"}`}}},
	{id: "LLM-09", calls: []llm.Call{{ID: "call_a", Name: "search", Arguments: `{"query": "salt works"}`}, {ID: "call_b", Name: "read_document", Arguments: `{"docid": "d2"}`}}},
	{id: "LLM-10", calls: []llm.Call{{ID: "call_a", Name: "search", Arguments: `{"query": "salt works"}`}, {ID: "call_b", Name: "read_document", Arguments: `{"docid": "d2"}`}}},
	{id: "LLM-11", calls: []llm.Call{{ID: "search:0", Name: "search", Arguments: `{"query": "salt works"}`}, {ID: "call00002", Name: "read_document", Arguments: `{"docid": "d2"}`}}},
	{id: "LLM-15", stop: llm.StopLength, turns: 1, calls: []llm.Call{{ID: "call_a", Name: "search", Arguments: `{"query": "salt works records of the n`}}},
	{id: "LLM-17", failures: 1, answer: "Lake Orrin"},
	{id: "LLM-21", failures: 3, answer: "Lake Orrin"},
	{id: "LLM-29", calls: []llm.Call{{ID: "call_a", Name: "search", Arguments: `{"query": "basin survey"}`}}},
	{id: "LLM-32", cfg: func(c *openaichat.Config) { one := 1.0; c.Temperature = &one }, calls: []llm.Call{{ID: "call_a", Name: "search", Arguments: `{"query": "survey"}`}}},
	{id: "LLM-34", calls: []llm.Call{{ID: "call_a", Name: "search", Arguments: `{"query":"현\ufffd 기록 \ud83d\udc3b"}`}}},
	{id: "LLM-36", calls: []llm.Call{{ID: "call_a", Name: "read_document", Arguments: `{"docid": 12345678901234567890}`}, {ID: "call_b", Name: "read_document", Arguments: `{"docid": 7}`}}},
	{id: "LLM-39", stop: llm.StopCalls, calls: []llm.Call{{ID: "call_a", Name: "search", Arguments: `{"query": "salt works"}`}}},
	{id: "LLM-40", answer: "Lake Orrin"},
	{id: "LLM-41", answer: "Lake Orrin"},
	{id: "LLM-42", answer: "Lake Orrin", failures: 1},
	{id: "LLM-44", stop: llm.StopCalls, answer: "Lake Orrin", calls: []llm.Call{{ID: "call_a", Name: "search", Arguments: `{"query": "survey basin"}`}}},
}

func TestCasesOfOddServers(t *testing.T) {
	for _, tc := range cases {
		for _, form := range []string{"stream", "whole"} {
			t.Run(tc.id+" "+form, func(t *testing.T) {
				replay := llmtest.NewReplay(t, sharedtest.Path(t, "cases", tc.id))
				cfg := openaichat.Config{BaseURL: replay.URL + "/v1", NoStream: form == "whole", Idle: 2 * time.Second}
				if tc.id == "LLM-42" {
					cfg.Idle = 50 * time.Millisecond
				}
				if tc.cfg != nil {
					tc.cfg(&cfg)
				}
				req := llmtest.Question("Which lake is it?")
				req.MaxOutputTokens = 64
				turns := tc.turns
				if turns == 0 {
					turns = 9
				}
				got := llmtest.Converse(t, newClient(t, cfg), req, turns)
				if tc.turns == 0 {
					replay.Verify(t)
				}
				assertCalls(t, got.Calls(), tc.calls)
				if len(got.Failures) != tc.failures {
					t.Errorf("got failures %v, want %d", got.Failures, tc.failures)
				}
				if !strings.Contains(got.Last().Message.Text, tc.answer) {
					t.Errorf("got answer %q, want it to contain %q", got.Last().Message.Text, tc.answer)
				}
				if first := got.Responses[0].StopReason; tc.stop != "" && first != tc.stop {
					t.Errorf("got stop reason %q, want %q", first, tc.stop)
				}
			})
		}
	}
}

func assertCalls(t *testing.T, got, want []llm.Call) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d calls %+v, want %d", len(got), got, len(want))
	}
	for i := range got {
		// A stream cuts some placeholders in two, which the player then cannot fill.
		got[i].Arguments = strings.NewReplacer("@@DOCID@@", "docid", "@@QUERY@@", "query").Replace(got[i].Arguments)
		if got[i].ID != want[i].ID || got[i].Name != want[i].Name || !sameJSON(got[i].Arguments, want[i].Arguments) {
			t.Errorf("call %d: got %+v, want %+v", i+1, got[i], want[i])
		}
	}
}
