package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// Family is what the conformance suite needs to know of one protocol: how to make its
// client, and how a server of it would say a scripted answer.
type Family struct {
	// New returns a client for the server at url that gives up after idle without a byte.
	New func(tb testing.TB, url, key string, idle time.Duration) llm.Client
	// Render is a complete answer with status 200.
	Render func(req Request, a Answer) (contentType string, body []byte)
	// Error is the body of an error answer.
	Error func(status int, message string) string
	// Overflow is the message with which the family's server says that the conversation is too long.
	Overflow string
	// History returns the part of a request that must be the beginning of the same part of
	// the next request: everything up to the end of the messages.
	History func(body []byte) []byte
	// NoCacheWrites says that the protocol tells no tokens written to the cache.
	NoCacheWrites bool
	// NoReasoningTokens says that the protocol tells no reasoning tokens apart.
	NoReasoningTokens bool
	// NoCacheReads says that the protocol tells no tokens read from the cache.
	NoCacheReads bool
	// NoIDs says that the protocol's calls carry no ids, so that the client makes them.
	NoIDs bool
	// NoRefusals says that the protocol has no word for a refusal.
	NoRefusals bool
	// Forbids reports whether the request keeps the model from calling tools. Nil: the protocol cannot.
	Forbids func(body []byte) bool
	// Get answers requests that are not for an answer, such as for the model's window. May be nil.
	Get http.Handler
}

// suiteKey is the key the suite's clients use and no error may show.
const suiteKey = "sk-suite-0123456789abcdef"

// Run checks that a client keeps the contract of llm.Client.
func Run(t *testing.T, f Family) {
	for _, tc := range []struct {
		name string
		test func(*testing.T, Family)
	}{
		{"a text answer arrives whole, streamed and counted", testText},
		{"parallel calls keep their order", testCalls},
		{"six turns with reasoning go back byte for byte", testSixTurns},
		{"messages survive being saved and loaded", testSaved},
		{"broken arguments never enter the history", testBrokenArguments},
		{"ids are unique within a conversation", testIDs},
		{"the output limit and a refusal are told apart", testStops},
		{"tools can be forbidden without touching the history", testForbid},
		{"failures say whether to try again", testFailures},
		{"a key never shows", testKey},
		{"an answer that breaks off fails and may be retried", testBroken},
		{"silence ends a call", testSilence},
		{"an ended context ends the call", testInterrupted},
		{"calls may run side by side", testConcurrent},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(t, f) })
	}
}

// backend serves a family's answers and keeps what it was sent.
type backend struct {
	url  string
	done chan struct{}

	mu       sync.Mutex
	requests []Request
}

func (f Family) serve(t *testing.T, answer func(Request) Answer) *backend {
	t.Helper()
	b := &backend{done: make(chan struct{})}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if f.Get != nil && (r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/show")) {
			f.Get.ServeHTTP(w, r)
			return
		}
		req := Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: body, Stream: true}
		b.mu.Lock()
		req.N = len(b.requests) + 1
		b.requests = append(b.requests, req)
		b.mu.Unlock()
		f.write(w, r, req, answer(req), b.done)
	}))
	b.url = srv.URL
	t.Cleanup(func() { close(b.done); srv.Close() })
	return b
}

func (f Family) write(w http.ResponseWriter, r *http.Request, req Request, a Answer, done chan struct{}) {
	if a.RetryAfter != "" {
		w.Header().Set("Retry-After", a.RetryAfter)
	}
	if a.Status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(a.Status)
		_, _ = io.WriteString(w, a.Body)
		return
	}
	kind, body := f.Render(req, a)
	w.Header().Set("Content-Type", kind)
	switch a.Fault {
	case NoEnd:
		body = body[:len(body)/2]
	case EmptyAnswer:
		body = nil
	case Silence:
		body = body[:len(body)/2]
		_, _ = w.Write(body)
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-done:
		}
		return
	case Reset:
		_, _ = w.Write(body[:len(body)/2])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(body)
}

func (b *backend) seen() []Request {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]Request(nil), b.requests...)
}

func (f Family) client(t *testing.T, b *backend) llm.Client {
	return f.New(t, b.url, suiteKey, 5*time.Second)
}

func complete(t *testing.T, c llm.Client, req llm.Request) (llm.Response, string, error) {
	t.Helper()
	var text strings.Builder
	resp, err := c.Complete(t.Context(), req, func(d llm.Delta) { text.WriteString(d.Text) })
	return resp, text.String(), err
}

// told is the usage as far as the protocol tells it.
func (f Family) told(u trajectory.Usage) trajectory.Usage {
	if f.NoCacheReads {
		u.Input, u.CacheRead = u.Input+u.CacheRead, 0
	}
	if f.NoCacheWrites {
		u.Input, u.CacheWrite = u.Input+u.CacheWrite, 0
	}
	if f.NoReasoningTokens {
		u.Reasoning = 0
	}
	return u
}

var suiteUsage = trajectory.Usage{Input: 100, CacheRead: 800, CacheWrite: 64, Output: 50, Reasoning: 20}

func testText(t *testing.T, f Family) {
	b := f.serve(t, InTurn(Answer{Text: "Lake Orrin, 灯塔 \"quoted\"\n<b>", Usage: suiteUsage}))
	resp, streamed, err := complete(t, f.client(t, b), Question("Which lake?"))
	if err != nil {
		t.Fatal(err)
	}
	want := "Lake Orrin, 灯塔 \"quoted\"\n<b>"
	if resp.Message.Text != want || streamed != want {
		t.Errorf("got text %q, streamed %q, want %q", resp.Message.Text, streamed, want)
	}
	if resp.StopReason != llm.StopEnd || resp.Message.Role != llm.Assistant || len(resp.Message.Calls) != 0 {
		t.Errorf("got %+v, want an assistant's end of turn without calls", resp)
	}
	if !resp.UsageKnown || resp.Usage != f.told(suiteUsage) {
		t.Errorf("got usage %+v (known: %v), want %+v", resp.Usage, resp.UsageKnown, f.told(suiteUsage))
	}
}

func twoCalls(n int) []llm.Call {
	return []llm.Call{
		{ID: fmt.Sprintf("a%d", n), Name: "search", Arguments: `{"query":"salt \"works\" 灯塔"}`},
		{ID: fmt.Sprintf("b%d", n), Name: "read_document", Arguments: `{"docid":"d` + fmt.Sprint(n) + `"}`},
	}
}

func testCalls(t *testing.T, f Family) {
	b := f.serve(t, InTurn(Answer{Text: "Looking.", Calls: twoCalls(1), Usage: suiteUsage}))
	resp, _, err := complete(t, f.client(t, b), Question("Which lake?"))
	if err != nil {
		t.Fatal(err)
	}
	f.assertCalls(t, resp.Message.Calls, twoCalls(1))
	if resp.StopReason != llm.StopCalls || resp.Message.Text != "Looking." {
		t.Errorf("got stop %q and text %q, want tool_calls and Looking.", resp.StopReason, resp.Message.Text)
	}
}

func (f Family) assertCalls(t *testing.T, got, want []llm.Call) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got calls %+v, want %+v", got, want)
	}
	seen := map[string]bool{}
	for i := range got {
		if !f.NoIDs && got[i].ID != want[i].ID {
			t.Errorf("call %d: got id %q, want %q", i, got[i].ID, want[i].ID)
		}
		if got[i].ID == "" || seen[got[i].ID] {
			t.Errorf("call %d: id %q is empty or not unique", i, got[i].ID)
		}
		seen[got[i].ID] = true
		if got[i].Name != want[i].Name || !sameJSON(got[i].Arguments, want[i].Arguments) {
			t.Errorf("call %d: got %s(%s), want %s(%s)", i, got[i].Name, got[i].Arguments, want[i].Name, want[i].Arguments)
		}
	}
}

// sameJSON compares JSON by value, and anything else byte for byte.
func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return a == b
	}
	return cmp.Equal(x, y)
}

func sixTurns() []Answer {
	var out []Answer
	for n := 1; n <= 6; n++ {
		u := trajectory.Usage{Input: 50, CacheRead: int64(200 * n), CacheWrite: 30, Output: 40, Reasoning: 10}
		out = append(out, Answer{Text: fmt.Sprintf("Turn %d.", n), Reasoning: fmt.Sprintf("Thought %d of several words.", n), Calls: twoCalls(n), Usage: u})
	}
	last := trajectory.Usage{Input: 60, CacheRead: 1400, CacheWrite: 30, Output: 50, Reasoning: 20}
	return append(out, Answer{Text: "Exact Answer: Lake Orrin", Reasoning: "Enough.", Usage: last})
}

func testSixTurns(t *testing.T, f Family) {
	b := f.serve(t, InTurn(sixTurns()...))
	got := Converse(t, f.client(t, b), Question("Which lake?"), 9)
	requests := b.seen()
	if len(requests) != 7 || len(got.Responses) != 7 {
		t.Fatalf("got %d requests and %d responses, want 7", len(requests), len(got.Responses))
	}
	for i, r := range got.Responses {
		want := sixTurns()[i]
		if r.Message.Reasoning != want.Reasoning {
			t.Errorf("turn %d: got reasoning %q, want %q", i+1, r.Message.Reasoning, want.Reasoning)
		}
		if r.Usage != f.told(want.Usage) {
			t.Errorf("turn %d: got usage %+v, want %+v", i+1, r.Usage, f.told(want.Usage))
		}
		f.assertCalls(t, r.Message.Calls, want.Calls)
		if !json.Valid(r.Message.Raw) {
			t.Errorf("turn %d: raw message is not JSON: %s", i+1, r.Message.Raw)
		}
	}
	for n := 1; n < len(requests); n++ {
		before, now := f.History(requests[n-1].Body), f.History(requests[n].Body)
		if !bytes.HasPrefix(now, before) {
			t.Errorf("request %d does not begin with request %d:\n%s\n%s", n+1, n, before, now)
		}
		for i := range n {
			if !bytes.Contains(requests[n].Body, rawInner(got.Responses[i].Message.Raw)) {
				t.Errorf("request %d lacks the raw message of turn %d: %s", n+1, i+1, got.Responses[i].Message.Raw)
			}
		}
	}
}

// rawInner is a raw message, or, where it is a list of items, the items.
func rawInner(raw json.RawMessage) []byte {
	raw = bytes.TrimSpace(raw)
	if bytes.HasPrefix(raw, []byte("[")) {
		return raw[1 : len(raw)-1]
	}
	return raw
}

func testSaved(t *testing.T, f Family) {
	b := f.serve(t, InTurn(sixTurns()...))
	c := f.client(t, b)
	got := Converse(t, c, Question("Which lake?"), 3)
	saved, err := json.Marshal(got.Messages)
	if err != nil {
		t.Fatal(err)
	}
	var loaded []llm.Message
	if err := json.Unmarshal(saved, &loaded); err != nil {
		t.Fatal(err)
	}
	for _, messages := range [][]llm.Message{got.Messages, loaded} {
		req := Question("")
		req.Messages = messages
		if _, _, err := complete(t, c, req); err != nil {
			t.Fatal(err)
		}
	}
	requests := b.seen()
	n := len(requests)
	if !bytes.Equal(requests[n-1].Body, requests[n-2].Body) {
		t.Errorf("a loaded conversation is sent differently:\n%s\n%s", requests[n-2].Body, requests[n-1].Body)
	}
}

func testBrokenArguments(t *testing.T, f Family) {
	for _, args := range []string{`{"query": "salt`, ``, `[1]`, `"text"`, `{"query":"\ud99c"}`} {
		b := f.serve(t, InTurn(Answer{Calls: []llm.Call{{ID: "c1", Name: "search", Arguments: args}}, Usage: suiteUsage}, Answer{Text: "done", Usage: suiteUsage}))
		Converse(t, f.client(t, b), Question("Which lake?"), 3)
		requests := b.seen()
		if len(requests) != 2 {
			t.Fatalf("arguments %q: got %d requests, want 2", args, len(requests))
		}
		body := requests[1].Body
		if !json.Valid(body) || loneSurrogate(string(body)) {
			t.Errorf("arguments %q: the next request is not clean: %s", args, body)
		}
		if bytes.Contains(body, []byte(`\"salt`)) && !bytes.Contains(body, []byte("result of")) {
			t.Errorf("arguments %q: the next request repeats them: %s", args, body)
		}
	}
}

func testIDs(t *testing.T, f Family) {
	same := Answer{Calls: []llm.Call{{ID: "call:0", Name: "search", Arguments: `{"query":"a"}`}}, Usage: suiteUsage}
	none := Answer{Calls: []llm.Call{{Name: "search", Arguments: `{"query":"b"}`}}, Usage: suiteUsage}
	b := f.serve(t, InTurn(same, same, none, none, Answer{Text: "done", Usage: suiteUsage}))
	got := Converse(t, f.client(t, b), Question("Which lake?"), 9)
	seen := map[string]bool{}
	for _, c := range got.Calls() {
		if c.ID == "" || seen[c.ID] {
			t.Errorf("id %q is empty or repeated", c.ID)
		}
		seen[c.ID] = true
	}
	if len(seen) != 4 {
		t.Errorf("got %d ids, want 4", len(seen))
	}
	requests := b.seen()
	var body map[string]any
	if err := json.Unmarshal(requests[len(requests)-1].Body, &body); err != nil {
		t.Fatal(err)
	}
	for _, problem := range Unpaired(body) {
		t.Error(problem)
	}
}

func testStops(t *testing.T, f Family) {
	for finish, want := range map[string]llm.StopReason{"length": llm.StopLength, "content_filter": llm.StopRefusal} {
		if want == llm.StopRefusal && f.NoRefusals {
			continue
		}
		b := f.serve(t, InTurn(Answer{Text: "half an ans", Finish: finish, Usage: suiteUsage}))
		resp, _, err := complete(t, f.client(t, b), Question("Which lake?"))
		if err != nil {
			t.Fatal(err)
		}
		if resp.StopReason != want {
			t.Errorf("finish %q: got %q, want %q", finish, resp.StopReason, want)
		}
	}
}

func testForbid(t *testing.T, f Family) {
	b := f.serve(t, InTurn(Answer{Text: "done", Usage: suiteUsage}))
	c := f.client(t, b)
	for _, forbid := range []bool{false, true} {
		req := Question("Which lake?")
		req.ForbidTools = forbid
		if _, _, err := complete(t, c, req); err != nil {
			t.Fatal(err)
		}
	}
	requests := b.seen()
	if f.Forbids != nil && (f.Forbids(requests[0].Body) || !f.Forbids(requests[1].Body)) {
		t.Errorf("only the second request should forbid tools:\n%s\n%s", requests[0].Body, requests[1].Body)
	}
	if !bytes.Equal(f.History(requests[0].Body), f.History(requests[1].Body)) {
		t.Error("forbidding tools changes the history")
	}
}

func testFailures(t *testing.T, f Family) {
	for _, tc := range []struct {
		name      string
		answer    Answer
		retryable bool
		overflow  bool
		after     time.Duration
	}{
		{"rate limit", Answer{Status: 429, RetryAfter: "7", Body: f.Error(429, "slow down")}, true, false, 7 * time.Second},
		{"server error", Answer{Status: 500, Body: f.Error(500, "something broke")}, true, false, 0},
		{"overloaded", Answer{Status: 529, Body: f.Error(529, "overloaded")}, true, false, 0},
		{"web page", Answer{Status: 502, Body: "<html><h1>Bad Gateway</h1>" + strings.Repeat("x", 5000) + "</html>"}, true, false, 0},
		{"plain string", Answer{Status: 503, Body: `{"error":"plain string"}`}, true, false, 0},
		{"empty answer", Answer{Fault: EmptyAnswer, Usage: suiteUsage}, true, false, 0},
		{"bad request", Answer{Status: 400, Body: f.Error(400, "this is wrong")}, false, false, 0},
		{"bad key", Answer{Status: 401, Body: f.Error(401, "bad key")}, false, false, 0},
		{"unknown model", Answer{Status: 404, Body: f.Error(404, "no such model")}, false, false, 0},
		{"overflow", Answer{Status: 400, Body: f.Error(400, f.Overflow)}, false, true, 0},
		{"redirect", Answer{Status: 302, Body: "moved"}, false, false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := f.serve(t, InTurn(tc.answer))
			_, _, err := complete(t, f.client(t, b), Question("Which lake?"))
			var e *llm.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want *llm.Error", err)
			}
			if e.Retryable != tc.retryable || e.ContextOverflow != tc.overflow || e.RetryAfter != tc.after {
				t.Errorf("got retryable %v, overflow %v, after %v; want %v, %v, %v: %v", e.Retryable, e.ContextOverflow, e.RetryAfter, tc.retryable, tc.overflow, tc.after, e)
			}
			if tc.answer.Status != 0 && e.Status != tc.answer.Status {
				t.Errorf("got status %d, want %d", e.Status, tc.answer.Status)
			}
			if len(e.Error()) > 700 {
				t.Errorf("the error is %d bytes long: %s", len(e.Error()), e)
			}
			if n := len(b.seen()); n != 1 {
				t.Errorf("got %d requests, want 1: the client must not retry", n)
			}
		})
	}
}

func testKey(t *testing.T, f Family) {
	b := f.serve(t, func(r Request) Answer {
		head := fmt.Sprint(r.Header)
		return Answer{Status: 401, Body: f.Error(401, "you sent "+head)}
	})
	_, _, err := complete(t, f.client(t, b), Question("Which lake?"))
	if err == nil {
		t.Fatal("got no error")
	}
	if !strings.Contains(fmt.Sprint(b.seen()[0].Header), suiteKey) {
		t.Error("the request carries no key")
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), suiteKey) || strings.Contains(fmt.Sprintf("%+v", e), suiteKey) {
			t.Errorf("the key shows: %v", e)
		}
	}
}

func testBroken(t *testing.T, f Family) {
	for _, fault := range []Fault{NoEnd, Reset} {
		b := f.serve(t, InTurn(Answer{Text: strings.Repeat("A long answer. ", 40), Usage: suiteUsage, Fault: fault}))
		resp, _, err := complete(t, f.client(t, b), Question("Which lake?"))
		var e *llm.Error
		if !errors.As(err, &e) || !e.Retryable {
			t.Errorf("%s: got %+v, %v; want a retryable *llm.Error", fault, resp.Message, err)
		}
	}
}

func testSilence(t *testing.T, f Family) {
	b := f.serve(t, InTurn(Answer{Text: "never finished", Usage: suiteUsage, Fault: Silence}))
	_, _, err := complete(t, f.New(t, b.url, suiteKey, 30*time.Millisecond), Question("Which lake?"))
	var e *llm.Error
	if !errors.As(err, &e) || !e.Retryable || !strings.Contains(e.Error(), "silent") {
		t.Errorf("got %v, want a retryable *llm.Error that speaks of silence", err)
	}
}

func testInterrupted(t *testing.T, f Family) {
	b := f.serve(t, InTurn(Answer{Text: strings.Repeat("never finished ", 20), Usage: suiteUsage, Fault: Silence}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err := f.client(t, b).Complete(ctx, Question("Which lake?"), nil)
	var e *llm.Error
	if !errors.Is(err, context.Canceled) || errors.As(err, &e) {
		t.Errorf("got %v (%T), want an error of the context that is no *llm.Error", err, err)
	}
}

func testConcurrent(t *testing.T, f Family) {
	b := f.serve(t, func(r Request) Answer {
		return Answer{Text: "echo", Calls: twoCalls(1), Usage: suiteUsage}
	})
	c := f.client(t, b)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			resp, err := c.Complete(context.Background(), Question("Which lake?"), nil)
			if err != nil || len(resp.Message.Calls) != 2 {
				t.Errorf("got %+v, %v", resp, err)
			}
		})
	}
	all.Wait()
}

// ChatFamily is the conformance family of Chat Completions, whose server is that of this package.
func ChatFamily(create func(tb testing.TB, url, key string, idle time.Duration) llm.Client) Family {
	return Family{
		New: create,
		Render: func(req Request, a Answer) (string, []byte) {
			x := exchange{req: req, a: a}
			var b bytes.Buffer
			for _, e := range x.events() {
				b.WriteString("data: " + e + "\n\n")
			}
			b.WriteString("data: [DONE]\n\n")
			return "text/event-stream", b.Bytes()
		},
		Error: func(status int, message string) string {
			return encode(map[string]any{"error": map[string]any{"message": message, "type": "some_error"}})
		},
		Overflow: "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens.",
		History: func(body []byte) []byte {
			return body[:bytes.LastIndex(body, []byte("]"))]
		},
		Forbids: func(body []byte) bool { return bytes.Contains(body, []byte(`"tool_choice":"none"`)) },
	}
}
