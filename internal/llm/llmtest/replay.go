package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Replay plays a script of recorded answers over HTTP, whatever their protocol, and keeps
// what it was sent. The script is a JSON file beside the answers:
//
//	{"steps": [{"status": 200, "json": "r1.json", "sse": "r1.sse"}], "checks": [...], "expect": {...}}
//
// A request with "stream": true gets the sse file. The last step repeats.
type Replay struct {
	URL    string
	Script Script

	dir   string
	steps []Step
	done  chan struct{}

	mu       sync.Mutex
	requests []Request
}

// Script is the file.
type Script struct {
	API    string         `json:"api"`
	Steps  []Step         `json:"steps"`
	Checks []Check        `json:"checks"`
	Expect map[string]any `json:"expect"`
}

// Step is one answer.
type Step struct {
	Status int               `json:"status"`
	JSON   string            `json:"json"`
	SSE    string            `json:"sse"`
	Header map[string]string `json:"headers"`
	Repeat int               `json:"repeat"`
	// ChunkBytes sends the answer in packets of this size.
	ChunkBytes int `json:"chunk_bytes"`
	// HangAfterBytes sends so many bytes and then nothing.
	HangAfterBytes *int `json:"hang_after_bytes"`
	// Abort resets the connection at the end.
	Abort bool `json:"abort"`
}

// Check is a condition on the n-th request.
type Check struct {
	N     int    `json:"n"`
	Path  string `json:"path"`
	Op    string `json:"op"`
	Value any    `json:"value"`
}

// placeholders of the scripts and the names they stand for here.
var placeholders = strings.NewReplacer("@@SEARCH@@", "search", "@@READ@@", "read_document", "@@QUERY@@", "query", "@@DOCID@@", "docid")

// NewReplay serves the script in folder dir until the test ends.
func NewReplay(tb testing.TB, dir string) *Replay {
	tb.Helper()
	r := &Replay{dir: dir, done: make(chan struct{})}
	raw, err := os.ReadFile(filepath.Join(dir, "script.json"))
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal([]byte(placeholders.Replace(string(raw))), &r.Script); err != nil {
		tb.Fatalf("%s: %v", dir, err)
	}
	for _, s := range r.Script.Steps {
		for range max(1, s.Repeat) {
			r.steps = append(r.steps, s)
		}
	}
	h := httptest.NewServer(r)
	r.URL = h.URL
	tb.Cleanup(func() { close(r.done); h.Close() })
	return r
}

// Requests are all requests so far.
func (r *Replay) Requests() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Request(nil), r.requests...)
}

func (r *Replay) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		return
	}
	req := Request{Path: hr.URL.Path, Header: hr.Header.Clone(), Body: body}
	var seen struct {
		Stream bool `json:"stream"`
	}
	_ = json.Unmarshal(body, &seen)
	req.Stream = seen.Stream
	r.mu.Lock()
	req.N = len(r.requests) + 1
	r.requests = append(r.requests, req)
	r.mu.Unlock()
	r.play(w, hr, req, r.steps[min(req.N, len(r.steps))-1])
}

func (r *Replay) play(w http.ResponseWriter, hr *http.Request, req Request, step Step) {
	name, kind := step.JSON, "application/json"
	if req.Stream {
		name = step.SSE
	}
	if strings.HasSuffix(name, ".sse") {
		kind = "text/event-stream"
	}
	raw, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	answer := []byte(strings.ReplaceAll(placeholders.Replace(string(raw)), "@@N@@", strconv.Itoa(req.N)))
	w.Header().Set("Content-Type", kind)
	for k, v := range step.Header {
		w.Header().Set(k, headerValue(v))
	}
	w.WriteHeader(step.Status)
	if step.HangAfterBytes != nil {
		answer = answer[:min(len(answer), *step.HangAfterBytes)]
	}
	send(w, answer, step.ChunkBytes)
	if step.Abort {
		panic(http.ErrAbortHandler)
	}
	if step.HangAfterBytes != nil {
		select {
		case <-hr.Context().Done():
		case <-r.done:
		}
	}
}

var dateHeader = regexp.MustCompile(`^@@HTTPDATE\+(\d+)@@$`)

func headerValue(v string) string {
	m := dateHeader.FindStringSubmatch(v)
	if m == nil {
		return v
	}
	seconds, _ := strconv.Atoi(m[1])
	return time.Now().UTC().Add(time.Duration(seconds) * time.Second).Format(http.TimeFormat)
}

func send(w http.ResponseWriter, answer []byte, size int) {
	if size <= 0 {
		size = max(1, len(answer))
	}
	for len(answer) > 0 {
		n := min(size, len(answer))
		_, _ = w.Write(answer[:n])
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		answer = answer[n:]
	}
}

// Verify tests the script's own checks, the number of requests, and that in every request
// calls and results belong together.
func (r *Replay) Verify(tb testing.TB) {
	tb.Helper()
	requests := r.Requests()
	for _, req := range requests {
		var body map[string]any
		if err := json.Unmarshal(req.Body, &body); err != nil {
			tb.Errorf("request %d is not JSON: %v", req.N, err)
			continue
		}
		for _, problem := range Unpaired(body) {
			tb.Errorf("request %d: %s", req.N, problem)
		}
	}
	for _, c := range r.Script.Checks {
		if c.N > len(requests) {
			tb.Errorf("check %+v: only %d requests", c, len(requests))
			continue
		}
		if !c.holds(requests[c.N-1].Body) {
			tb.Errorf("check %+v does not hold; the request is\n%s", c, requests[c.N-1].Body)
		}
	}
	if want, ok := r.Script.Expect["requests"].(float64); ok && len(requests) != int(want) {
		tb.Errorf("got %d requests, want %d", len(requests), int(want))
	}
	if most, ok := r.Script.Expect["max_requests"].(float64); ok && len(requests) > int(most) {
		tb.Errorf("got %d requests, want at most %d", len(requests), int(most))
	}
}

func (c Check) holds(raw []byte) bool {
	if c.Op == "no_lone_surrogate" {
		return !loneSurrogate(string(raw))
	}
	var body any
	if json.Unmarshal(raw, &body) != nil {
		return false
	}
	found := find(body, c.Path)
	switch c.Op {
	case "absent":
		return len(found) == 0
	case "present":
		return len(found) > 0
	}
	for _, v := range found {
		if !c.fits(v) {
			return false
		}
	}
	return len(found) > 0 || c.Op == "not_contains"
}

func (c Check) fits(v any) bool {
	text, ok := v.(string)
	if !ok {
		raw, _ := json.Marshal(v)
		text = string(raw)
	}
	want, _ := c.Value.(string)
	switch c.Op {
	case "equals":
		return fmt.Sprint(v) == fmt.Sprint(c.Value)
	case "contains":
		return strings.Contains(text, want)
	case "not_contains":
		return !strings.Contains(text, want)
	case "regex":
		return regexp.MustCompile(want).MatchString(text)
	case "json_object":
		var o map[string]any
		return json.Unmarshal([]byte(text), &o) == nil && o != nil
	}
	return false
}

var pathStep = regexp.MustCompile(`[^.\[\]]+|\[[^\]]*\]`)

// find returns the values at a path such as messages[-1].tool_calls[*].id.
func find(v any, path string) []any {
	out := []any{v}
	for _, step := range pathStep.FindAllString(path, -1) {
		var next []any
		for _, x := range out {
			next = append(next, child(x, step)...)
		}
		out = next
	}
	return out
}

func child(x any, step string) []any {
	if !strings.HasPrefix(step, "[") {
		if o, ok := x.(map[string]any); ok {
			if v, ok := o[step]; ok {
				return []any{v}
			}
		}
		return nil
	}
	list, ok := x.([]any)
	if !ok || step == "[*]" {
		return list
	}
	i, err := strconv.Atoi(strings.Trim(step, "[]"))
	if i < 0 {
		i += len(list)
	}
	if err != nil || i < 0 || i >= len(list) {
		return nil
	}
	return list[i : i+1]
}

var surrogate = regexp.MustCompile(`\\+u([dD][89a-fA-F])[0-9a-fA-F]{2}`)

// halfEscape finds an escape of half a surrogate pair in JSON text. An even number of
// backslashes is no escape but text.
func halfEscape(text string) bool {
	end, high := -1, false
	for _, m := range surrogate.FindAllStringSubmatchIndex(text, -1) {
		if (m[2]-1-m[0])%2 == 0 {
			continue
		}
		low := strings.ContainsAny(text[m[2]+1:m[3]], "cCdDeEfF")
		if high && (!low || m[0] != end) || low && !high {
			return true
		}
		end, high = m[1], !low
	}
	return high
}

// loneSurrogate finds an escape of half a surrogate pair at any depth of quoting.
func loneSurrogate(text string) bool {
	end, high := -1, false
	for _, m := range surrogate.FindAllStringSubmatchIndex(text, -1) {
		low := strings.ContainsAny(text[m[2]+1:m[3]], "cCdDeEfF")
		if high && (!low || m[0] != end) || low && !high {
			return true
		}
		end, high = m[1], !low
	}
	return high
}

// Problems lists what is wrong with a request body whatever its meaning: it is no JSON, holds
// half a surrogate pair, carries arguments that are no object, or calls and results that do not
// belong together.
func Problems(raw []byte) []string {
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		return []string{"not JSON: " + err.Error()}
	}
	bad := Unpaired(body)
	if halfEscape(string(raw)) {
		bad = append(bad, "half a surrogate pair")
	}
	objects := Check{Op: "json_object"}
	for _, args := range find(body, "messages[*].tool_calls[*].function.arguments") {
		if !objects.fits(args) {
			bad = append(bad, fmt.Sprintf("arguments are no object: %v", args))
		}
		if text, ok := args.(string); ok && halfEscape(text) {
			bad = append(bad, fmt.Sprintf("half a surrogate pair in the arguments: %v", args))
		}
	}
	return bad
}

// Unpaired lists where, in a body of Chat Completions, Messages, Responses or Gemini, a call has no
// result right after its turn or a result has no call.
func Unpaired(body map[string]any) []string {
	if contents, ok := body["contents"].([]any); ok {
		return unpairedParts(contents)
	}
	bad, open := unpairedItems(body)
	messages, _ := body["messages"].([]any)
	for i, raw := range messages {
		m, _ := raw.(map[string]any)
		for _, id := range results(m) {
			at := slices.Index(open, id)
			if at < 0 {
				bad = append(bad, fmt.Sprintf("message %d answers unknown call %q", i, id))
				continue
			}
			open = slices.Delete(open, at, at+1)
		}
		if len(open) > 0 && m["role"] != "tool" {
			bad = append(bad, fmt.Sprintf("message %d: calls left open %q", i, open))
			open = nil
		}
		open = append(open, callIDs(m)...)
	}
	if len(open) > 0 {
		bad = append(bad, fmt.Sprintf("calls left open at the end %q", open))
	}
	return bad
}

// unpairedItems looks at the input items of a Responses body.
func unpairedItems(body map[string]any) (bad, open []string) {
	items, _ := body["input"].([]any)
	for i, raw := range items {
		m, _ := raw.(map[string]any)
		id, _ := m["call_id"].(string)
		switch {
		case m["type"] == "function_call":
			open = append(open, id)
		case m["type"] == "function_call_output":
			at := slices.Index(open, id)
			if at < 0 {
				bad = append(bad, fmt.Sprintf("item %d answers unknown call %q", i, id))
				continue
			}
			open = slices.Delete(open, at, at+1)
		case m["role"] == "user" && len(open) > 0:
			bad = append(bad, fmt.Sprintf("item %d: calls left open %q", i, open))
			open = nil
		}
	}
	return bad, open
}

// unpairedParts looks at the contents of a Gemini body, whose results follow the calls in number,
// order and name.
func unpairedParts(contents []any) []string {
	var bad, open []string
	for i, raw := range contents {
		answers := partNames(raw, "functionResponse")
		if !slices.Equal(answers, open) {
			bad = append(bad, fmt.Sprintf("content %d answers %q where %q was called", i, answers, open))
		}
		open = partNames(raw, "functionCall")
	}
	if len(open) > 0 {
		bad = append(bad, fmt.Sprintf("calls left open at the end %q", open))
	}
	return bad
}

func partNames(content any, kind string) []string {
	var out []string
	for _, call := range find(content, "parts[*]."+kind) {
		o, _ := call.(map[string]any)
		name, _ := o["name"].(string)
		id, _ := o["id"].(string)
		out = append(out, id+" "+name)
	}
	return out
}

func results(m map[string]any) []string {
	if m["role"] == "tool" {
		id, _ := m["tool_call_id"].(string)
		return []string{id}
	}
	return blockIDs(m, "tool_result", "tool_use_id")
}

func callIDs(m map[string]any) []string {
	var out []string
	calls, _ := m["tool_calls"].([]any)
	for _, raw := range calls {
		c, _ := raw.(map[string]any)
		id, _ := c["id"].(string)
		out = append(out, id)
	}
	return append(out, blockIDs(m, "tool_use", "id")...)
}

func blockIDs(m map[string]any, kind, field string) []string {
	var out []string
	blocks, _ := m["content"].([]any)
	for _, raw := range blocks {
		b, _ := raw.(map[string]any)
		if b["type"] == kind {
			id, _ := b[field].(string)
			out = append(out, id)
		}
	}
	return out
}
