// Package llmtest holds what tests of models and agents share: a Chat Completions
// server scripted in Go that can inject every known failure, a client that is a function,
// a player for recorded exchanges, and the conformance suite each client passes.
//
//	srv := llmtest.NewServer(t, llmtest.InTurn(
//		llmtest.Answer{Calls: []llm.Call{{ID: "c1", Name: "search", Arguments: `{"query":"salt"}`}}},
//		llmtest.Answer{Text: "Exact Answer: Lake Orrin"},
//	))
//	client, err := openaichat.New(openaichat.Config{Provider: "test", BaseURL: srv.URL})
package llmtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// Request is what a server received.
type Request struct {
	// N counts requests from 1.
	N      int
	Path   string
	Header http.Header
	Body   []byte
	// Messages and Stream are read from a Chat Completions body.
	Messages []Sent
	Stream   bool
}

// Sent is one message of a Chat Completions request.
type Sent struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCallID string          `json:"tool_call_id"`
	ToolCalls  []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// Text is the content where it is a string.
func (s Sent) Text() string {
	var text string
	_ = json.Unmarshal(s.Content, &text)
	return text
}

// Turn is the number of assistant messages in the request: 0 for the first of a conversation.
func (r Request) Turn() int {
	n := 0
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

// Question is the text of the first user message.
func (r Request) Question() string {
	for _, m := range r.Messages {
		if m.Role == "user" {
			return m.Text()
		}
	}
	return ""
}

// Answer is one turn of the scripted model.
type Answer struct {
	Text      string
	Reasoning string
	Calls     []llm.Call
	Usage     trajectory.Usage
	// NoUsage sends no usage at all.
	NoUsage bool
	// Finish is the finish reason; empty gives tool_calls or stop, as fits.
	Finish string
	// Wait passes before the first byte.
	Wait time.Duration
	// Fault spoils the answer.
	Fault Fault
	// Status, RetryAfter and Body replace the answer by a plain HTTP response.
	Status     int
	RetryAfter string
	Body       string
}

// Server is a Chat Completions server on loopback.
type Server struct {
	// URL is the base for a client; it ends in /v1.
	URL string

	answer func(Request) Answer
	done   chan struct{}

	mu       sync.Mutex
	requests []Request
	told     trajectory.Usage
}

// NewServer starts a server that ends with the test. answer is called once per request, from
// several goroutines where requests come so.
func NewServer(tb testing.TB, answer func(Request) Answer) *Server {
	tb.Helper()
	s := &Server{answer: answer, done: make(chan struct{})}
	h := httptest.NewServer(s)
	s.URL = h.URL + "/v1"
	tb.Cleanup(func() { close(s.done); h.Close() })
	return s
}

// InTurn answers the n-th request with the n-th answer, and every later one with the last.
func InTurn(answers ...Answer) func(Request) Answer {
	return func(r Request) Answer { return answers[min(r.N, len(answers))-1] }
}

// ByTurn answers by the number of assistant messages in the request, so that many
// conversations can share a server.
func ByTurn(answers ...Answer) func(Request) Answer {
	return func(r Request) Answer { return answers[min(r.Turn(), len(answers)-1)] }
}

// Requests are all requests so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Told is the sum of the usage of every answer that carried one to its end.
func (s *Server) Told() trajectory.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.told
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"test-model","object":"model"}]}`)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req := s.note(r, body)
	a := s.answer(req)
	select {
	case <-time.After(a.Wait):
	case <-r.Context().Done():
		return
	case <-s.done:
		return
	}
	x := exchange{server: s, w: w, r: r, req: req, a: a}
	x.serve()
}

func (s *Server) note(r *http.Request, body []byte) Request {
	req := Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	var seen struct {
		Messages []Sent `json:"messages"`
		Stream   bool   `json:"stream"`
	}
	_ = json.Unmarshal(body, &seen)
	req.Messages, req.Stream = seen.Messages, seen.Stream
	s.mu.Lock()
	defer s.mu.Unlock()
	req.N = len(s.requests) + 1
	s.requests = append(s.requests, req)
	return req
}

// exchange writes one answer.
type exchange struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	req    Request
	a      Answer
	// odd is a fault of the form of the call pieces.
	odd Fault
}

func (x *exchange) serve() {
	if x.a.RetryAfter != "" {
		x.w.Header().Set("Retry-After", x.a.RetryAfter)
	}
	if x.a.Status != 0 {
		x.plain(x.a.Status, "application/json", x.a.Body)
		return
	}
	if x.fault() {
		return
	}
	if !x.req.Stream {
		x.plain(http.StatusOK, "application/json", x.whole())
		x.tell()
		return
	}
	x.w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range x.events() {
		x.send(event)
	}
	x.send("[DONE]")
	x.tell()
}

func (x *exchange) plain(status int, kind, body string) {
	x.w.Header().Set("Content-Type", kind)
	x.w.WriteHeader(status)
	_, _ = io.WriteString(x.w, body)
}

func (x *exchange) send(data string) {
	_, _ = io.WriteString(x.w, "data: "+data+"\n\n")
	if f, ok := x.w.(http.Flusher); ok {
		f.Flush()
	}
}

// tell counts the usage of an answer that carries one.
func (x *exchange) tell() {
	if x.a.NoUsage {
		return
	}
	x.server.mu.Lock()
	defer x.server.mu.Unlock()
	x.server.told = x.server.told.Add(x.a.Usage)
}

func (x *exchange) finish() string {
	switch {
	case x.a.Finish != "":
		return x.a.Finish
	case len(x.a.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (x *exchange) usage() map[string]any {
	u := x.a.Usage
	prompt := u.Input + u.CacheRead + u.CacheWrite
	return map[string]any{
		"prompt_tokens": prompt, "completion_tokens": u.Output, "total_tokens": prompt + u.Output,
		"prompt_tokens_details":     map[string]any{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"completion_tokens_details": map[string]any{"reasoning_tokens": u.Reasoning},
	}
}

func (x *exchange) whole() string {
	m := map[string]any{"role": "assistant", "content": x.a.Text}
	if x.a.Reasoning != "" {
		m["reasoning_content"] = x.a.Reasoning
	}
	var calls []any
	for _, c := range x.a.Calls {
		calls = append(calls, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	answer := map[string]any{
		"id": "cmpl-1", "object": "chat.completion", "model": "test-model",
		"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": x.finish()}},
	}
	if !x.a.NoUsage {
		answer["usage"] = x.usage()
	}
	return encode(answer)
}

// events are the data of the events of a stream, without the end mark.
func (x *exchange) events() []string {
	var out []string
	delta := func(d map[string]any, finish any) {
		out = append(out, encode(map[string]any{
			"id": "cmpl-1", "object": "chat.completion.chunk", "model": "test-model",
			"choices": []any{map[string]any{"index": 0, "delta": d, "finish_reason": finish}},
		}))
	}
	delta(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, s := range halves(x.a.Reasoning) {
		delta(map[string]any{"reasoning_content": s}, nil)
	}
	for _, s := range halves(x.a.Text) {
		delta(map[string]any{"content": s}, nil)
	}
	for i, c := range x.a.Calls {
		for _, p := range x.pieces(i, c) {
			delta(map[string]any{"tool_calls": []any{p}}, nil)
		}
	}
	delta(map[string]any{}, x.finish())
	if !x.a.NoUsage {
		out = append(out, encode(map[string]any{"id": "cmpl-1", "choices": []any{}, "usage": x.usage()}))
	}
	return out
}

// pieces are those of one call.
func (x *exchange) pieces(i int, c llm.Call) []map[string]any {
	piece := func(id, name string, arguments any) map[string]any {
		f := map[string]any{"arguments": arguments}
		p := map[string]any{"index": i, "function": f}
		if name != "" {
			f["name"], p["type"], p["id"] = name, "function", id
		}
		switch x.odd {
		case NoIndex:
			delete(p, "index")
		case SameIndex:
			p["index"] = 0
		}
		return p
	}
	if x.odd == ArgumentObject && json.Valid([]byte(c.Arguments)) {
		return []map[string]any{piece(c.ID, c.Name, json.RawMessage(c.Arguments))}
	}
	out := []map[string]any{piece(c.ID, c.Name, "")}
	for _, s := range halves(c.Arguments) {
		out = append(out, piece("", "", s))
	}
	return out
}

// halves splits s in two at a rune, so that every text comes in pieces.
func halves(s string) []string {
	if s == "" {
		return nil
	}
	runes := []rune(s)
	cut := len(runes) / 2
	if cut == 0 {
		return []string{s}
	}
	return []string{string(runes[:cut]), string(runes[cut:])}
}

func encode(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // maps of strings, numbers and lists: cannot fail
	return strings.TrimSpace(b.String())
}
