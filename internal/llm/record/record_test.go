package record

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/llm"
	"goserini/internal/llm/llmtest"
	"goserini/internal/trajectory"
)

// answers gives its results in order.
func answers(results ...any) llm.Client {
	var mu sync.Mutex
	n := 0
	return llmtest.ClientFunc(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
		mu.Lock()
		r := results[min(n, len(results)-1)]
		n++
		mu.Unlock()
		if err, failed := r.(error); failed {
			return llm.Response{}, err
		}
		return r.(llm.Response), nil
	})
}

var said = llm.Response{
	Message: llm.Message{
		Role: llm.Assistant, Text: "a <b> 灯塔", Reasoning: "r", Calls: []llm.Call{{ID: "c", Name: "search", Arguments: `{"q`}},
		Raw: json.RawMessage(`{"role":"assistant","signature":"a+/<b>=="}`),
	},
	StopReason: llm.StopCalls, Usage: trajectory.Usage{Input: 5, CacheRead: 3, Output: 2, Reasoning: 1}, UsageKnown: true, Model: "exact",
}

func TestWhatWasRecordedIsPlayedBack(t *testing.T) {
	dir := t.TempDir()
	limited := &llm.Error{Provider: "p", Status: 429, Code: "slow", Message: "slow down", Retryable: true, RetryAfter: 1500 * time.Millisecond, Usage: trajectory.Usage{Input: 1}}
	r, err := New("p", answers(limited, said), dir)
	if err != nil {
		t.Fatal(err)
	}
	req := llmtest.Question("Which lake?")
	for range 2 {
		_, _ = r.Complete(t.Context(), req, nil)
	}
	p, err := Open("p", dir)
	if err != nil {
		t.Fatal(err)
	}
	req.CacheKey = "another run"
	_, err = p.Complete(t.Context(), req, nil)
	var e *llm.Error
	if !errors.As(err, &e) || *e != *limited {
		t.Errorf("got failure %+v, want %+v", e, limited)
	}
	var streamed llm.Delta
	got, err := p.Complete(t.Context(), req, func(d llm.Delta) { streamed = d })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(said, got); diff != "" {
		t.Errorf("response (-recorded +played):\n%s", diff)
	}
	if streamed != (llm.Delta{Text: said.Message.Text, Reasoning: "r"}) {
		t.Errorf("got streamed %+v", streamed)
	}
	if _, err = p.Complete(t.Context(), req, nil); err == nil || !strings.Contains(err.Error(), "recorded 2 times") {
		t.Errorf("got %v, want an error that the recording is used up", err)
	}
}

func TestAMissSaysWhereTheRequestFirstDiffers(t *testing.T) {
	dir := t.TempDir()
	r, err := New("p", answers(said), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{"Which river flows north?", "Which lake is salty?"} {
		if _, err := r.Complete(t.Context(), llmtest.Question(question), nil); err != nil {
			t.Fatal(err)
		}
	}
	p, err := Open("p", dir)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(change func(*llm.Request)) llm.Request {
		req := llmtest.Question("Which lake is salty?")
		req.Tools = append([]llm.ToolSpec(nil), req.Tools...)
		change(&req)
		return req
	}
	for name, tc := range map[string]struct {
		req  llm.Request
		want []string
	}{
		"text":    {changed(func(r *llm.Request) { r.Messages[0].Text = "Which lake is sweet?" }), []string{"messages[0].text, byte 15", `"Which lake is salty?"`, `"Which lake is sweet?"`, "request 1"}},
		"model":   {changed(func(r *llm.Request) { r.Model = "other" }), []string{"model, byte 0", `"test-model"`, `"other"`}},
		"effort":  {changed(func(r *llm.Request) { r.Effort = "low" }), []string{"effort", "recorded nothing", `"\"low\""`}},
		"tool":    {changed(func(r *llm.Request) { r.Tools[1].Description = "Changed." }), []string{"tools[1].description, byte 0"}},
		"history": {changed(func(r *llm.Request) { r.Messages = append(r.Messages, said.Message) }), []string{"the length of messages", "recorded 1, asked 2", "request 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := p.Complete(t.Context(), tc.req, nil)
			var e *llm.Error
			if !errors.As(err, &e) || e.Retryable {
				t.Fatalf("got %v, want an error that is not retried", err)
			}
			for _, want := range tc.want {
				if !strings.Contains(e.Message, want) {
					t.Errorf("got %q, want it to say %q", e.Message, want)
				}
			}
		})
	}
	other, err := Open("another provider", dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Complete(t.Context(), llmtest.Question("Which lake is salty?"), nil); err == nil || !strings.Contains(err.Error(), "provider, byte 0") {
		t.Errorf("got %v, want the provider to differ", err)
	}
}

func TestAnInterruptedCallIsInterruptedAgain(t *testing.T) {
	dir := t.TempDir()
	wait := llmtest.ClientFunc(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
		<-ctx.Done()
		return llm.Response{}, ctx.Err()
	})
	r, err := New("p", wait, dir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	_, _ = r.Complete(ctx, llmtest.Question("q"), nil)
	p, err := Open("p", dir)
	if err != nil {
		t.Fatal(err)
	}
	again, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err = p.Complete(again, llmtest.Question("q"), nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the caller's deadline", err)
	}
}

func TestAWholeConversationAgainstAServerIsReplayed(t *testing.T) {
	dir := t.TempDir()
	turns := []llm.Response{said, {Message: llm.Message{Role: llm.Assistant, Text: "done"}, StopReason: llm.StopEnd}}
	turns[0].Message.Calls[0].ID = "c"
	r, err := New("p", answers(turns[0], turns[1]), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := llmtest.Converse(t, r, llmtest.Question("q"), 5)
	p, err := Open("p", dir)
	if err != nil {
		t.Fatal(err)
	}
	got := llmtest.Converse(t, p, llmtest.Question("q"), 5)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conversation (-recorded +played):\n%s", diff)
	}
}

func TestBadRecordings(t *testing.T) {
	for content, want := range map[string]string{
		`{"version":9,"request":{},"answers":[{"interrupted":true}]}`: "version 9",
		`{"version":1,"request":{},"answers":[]}`:                     "no answer",
		`{"version":1,"request":{},"answers":[{}]}`:                   "answers[0]",
		`{"version":1,`: "unexpected end",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "x.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open("p", dir); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error with %q and the file", content, err, want)
		}
	}
	if _, err := Open("p", t.TempDir()); err == nil || !strings.Contains(err.Error(), "make one with --record") {
		t.Errorf("an empty folder: got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"request":{"provider":"p","messages":[{"role":"user","text":"q","raw":{"a":1}}]},"answers":[{"response":{"message":{"role":"assistant"}}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := parse(raw)
		if err != nil {
			return
		}
		encoded, err := got.encode()
		if err != nil {
			return // a raw message that is no JSON cannot come from a client
		}
		again, err := parse(encoded)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, encoded)
		}
		a, errA := got.Request.hash()
		b, errB := again.Request.hash()
		if errA != nil || errB != nil || a != b {
			t.Errorf("the request changed: %s %v, %s %v", a, errA, b, errB)
		}
	})
}
