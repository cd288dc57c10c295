package script

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

func open(t *testing.T, name, content string) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(question string, history ...llm.Message) llm.Request {
	return llm.Request{Messages: append([]llm.Message{{Role: llm.User, Text: question}}, history...)}
}

const twoTurns = `{"version": 1, "turns": [
  {"reasoning": "look", "calls": [{"name": "search", "arguments": {"query": "salt"}}, {"id": "x", "name": "read_document", "arguments": "{broken"}], "usage": {"input_tokens": 10, "output_tokens": 2}},
  {"text": "Exact Answer: Lake Orrin"}
]}`

func TestTurnsAreGivenInOrder(t *testing.T) {
	c := open(t, "s.json", twoTurns)
	var streamed llm.Delta
	first, err := c.Complete(t.Context(), ask("q"), func(d llm.Delta) { streamed = d })
	if err != nil {
		t.Fatal(err)
	}
	want := llm.Response{
		Message: llm.Message{Role: llm.Assistant, Reasoning: "look", Calls: []llm.Call{
			{ID: "call00001", Name: "search", Arguments: `{"query":"salt"}`},
			{ID: "x", Name: "read_document", Arguments: "{broken"},
		}},
		StopReason: llm.StopCalls, Usage: trajectory.Usage{Input: 10, Output: 2}, UsageKnown: true, Model: "script",
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("first turn (-want +got):\n%s", diff)
	}
	if streamed.Reasoning != "look" {
		t.Errorf("got streamed %+v, want the reasoning", streamed)
	}
	second, err := c.Complete(t.Context(), ask("q", first.Message), nil)
	if err != nil {
		t.Fatal(err)
	}
	if second.Message.Text != "Exact Answer: Lake Orrin" || second.StopReason != llm.StopEnd || second.UsageKnown {
		t.Errorf("got second turn %+v", second)
	}
	_, err = c.Complete(t.Context(), ask("q", first.Message, second.Message), nil)
	if err == nil || !strings.Contains(err.Error(), "has 2 turns for this question and was asked for another") {
		t.Errorf("got error %v, want one that says the turns are used up", err)
	}
}

func TestQuestionsSideBySideKeepTheirPlaces(t *testing.T) {
	c := open(t, "s.jsonl", `{"text":"one"}`+"\n\n"+`{"text":"two"}`+"\n")
	for _, turn := range []string{"one", "two"} {
		for _, question := range []string{"a", "b"} {
			resp, err := c.Complete(t.Context(), ask(question), nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp.Message.Text != turn {
				t.Errorf("question %s: got %q, want %q", question, resp.Message.Text, turn)
			}
		}
	}
	again, err := c.Complete(t.Context(), ask("a"), nil)
	if err != nil || again.Message.Text != "one" {
		t.Errorf("asked from the start again: got %q, %v; want one", again.Message.Text, err)
	}
}

func TestTheLongestMatchingQuestionCounts(t *testing.T) {
	c := open(t, "s.json", `{"version":1,"conversations":[
		{"question":"lake","turns":[{"text":"short"}]},
		{"question":"which lake","turns":[{"text":"long"}]}]}`)
	resp, err := c.Complete(t.Context(), ask("Tell me which lake it is."), nil)
	if err != nil || resp.Message.Text != "long" {
		t.Errorf("got %q, %v; want long", resp.Message.Text, err)
	}
	if _, err = c.Complete(t.Context(), ask("Which river?"), nil); err == nil || !strings.Contains(err.Error(), "no turns for this question") {
		t.Errorf("got error %v, want one that says no turns fit", err)
	}
}

func TestRepeatAndAfterLast(t *testing.T) {
	c := open(t, "s.json", `{"version":1,"after_last":"repeat","turns":[{"text":"a","repeat":2},{"text":"b"}]}`)
	got := ""
	history := []llm.Message{{Role: llm.Assistant, Text: "earlier"}}
	for range 5 {
		resp, err := c.Complete(t.Context(), ask("q", history...), nil)
		if err != nil {
			t.Fatal(err)
		}
		got += resp.Message.Text
	}
	if got != "aabbb" {
		t.Errorf("got %q, want aabbb", got)
	}
}

func TestAFailureIsAnErrorOfTheClient(t *testing.T) {
	c := open(t, "s.jsonl", `{"error":{"status":429,"message":"slow down","retryable":true,"retry_after_ms":1500,"usage":{"input_tokens":3,"output_tokens":0}}}`)
	_, err := c.Complete(t.Context(), ask("q"), nil)
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want *llm.Error", err)
	}
	want := llm.Error{Provider: "script", Status: 429, Message: "slow down", Retryable: true, RetryAfter: 1500 * time.Millisecond, Usage: trajectory.Usage{Input: 3}}
	if *e != want {
		t.Errorf("got %+v, want %+v", *e, want)
	}
}

func TestAnInterruptedCallUsesItsTurnUp(t *testing.T) {
	c := open(t, "s.jsonl", `{"text":"slow","delay_ms":1000000}`+"\n"+`{"text":"fast"}`)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 210*time.Second)
		defer cancel()
		_, err := c.Complete(ctx, ask("q"), nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want a deadline", err)
		}
		resp, err := c.Complete(t.Context(), ask("q"), nil)
		if err != nil || resp.Message.Text != "fast" {
			t.Errorf("got %q, %v; want fast", resp.Message.Text, err)
		}
	})
}

func TestARecordedTrajectoryIsAScript(t *testing.T) {
	dir := t.TempDir()
	lines := strings.Join([]string{
		`{"type":"header","seq":1,"time":"2026-01-01T00:00:00Z","elapsed_ms":0,"header":{"version":1,"question":"Which lake?","model":"m","prompt":"p"}}`,
		`{"type":"turn","seq":2,"time":"2026-01-01T00:00:00Z","elapsed_ms":1,"turn":{"turn":1,"stop_reason":"tool_calls","calls":["c1"],"usage":{"input_tokens":5,"output_tokens":1}}}`,
		`{"type":"call","seq":3,"time":"2026-01-01T00:00:00Z","elapsed_ms":1,"call":{"id":"c1","tool":"search","arguments":{},"raw_arguments":"{\"que"}}`,
		`{"type":"turn","seq":4,"time":"2026-01-01T00:00:00Z","elapsed_ms":2,"turn":{"turn":2,"text":"Lake Orrin","stop_reason":"stop","usage":{"input_tokens":9,"output_tokens":2}}}`,
		`{"type":"end","se`,
	}, "\n")
	if err := os.WriteFile(filepath.Join(dir, "q1.jsonl"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "q1.jsonl")} {
		c, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		first, err := c.Complete(t.Context(), ask("Question: Which lake?"), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := []llm.Call{{ID: "c1", Name: "search", Arguments: `{"que`}}
		if diff := cmp.Diff(want, first.Message.Calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		second, err := c.Complete(t.Context(), ask("Question: Which lake?", first.Message), nil)
		if err != nil || second.Message.Text != "Lake Orrin" || second.Usage.Input != 9 {
			t.Errorf("got second turn %+v, %v", second, err)
		}
	}
}

func TestABadScriptIsRefusedWithPlaceAndReason(t *testing.T) {
	for _, tc := range []struct{ name, content, want string }{
		{"empty", "", "the file is empty"},
		{"not JSON", "{\"version\":1,\n\"turns\":[}", "line 2"},
		{"unknown version", `{"version":9,"turns":[{"text":"a"}]}`, "version 9 is unknown"},
		{"unknown field", `{"version":1,"turns":[{"txet":"a"}]}`, "txet"},
		{"unknown field on a line", "{\"text\":\"a\"}\n{\"txet\":\"a\"}", "line 2"},
		{"two turns on a line", `{"text":"a"} {"text":"b"}`, "one turn a line"},
		{"no turns", `{"version":1,"turns":[]}`, "no turns"},
		{"bad stop", `{"text":"a","stop":"done"}`, `stop "done"`},
		{"call without name", `{"calls":[{"arguments":{}}]}`, "name is missing"},
		{"conversation without question", `{"version":1,"conversations":[{"turns":[{"text":"a"}]}]}`, "question is missing"},
		{"bad after_last", `{"version":1,"after_last":"loop","turns":[{"text":"a"}]}`, "want error or repeat"},
		{"error with text", `{"text":"a","error":{"message":"m"}}`, "no text and no calls"},
		{"something after the document", `{"version":1,"turns":[{"text":"a"}]} {}`, "something follows"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Parse([]byte(tc.content))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(twoTurns))
	f.Add([]byte(`{"text":"a","repeat":3}` + "\n"))
	f.Add([]byte(`{"type":"header","seq":1,"header":{"version":1,"question":"q"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Parse(raw)
		if err != nil {
			return
		}
		if _, err := New("fuzz", s); err != nil {
			t.Errorf("a parsed script does not play: %v", err)
		}
	})
}
