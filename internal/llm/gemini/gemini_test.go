package gemini_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/llm"
	"goserini/internal/llm/gemini"
	"goserini/internal/llm/llmtest"
	"goserini/internal/trajectory"
)

func newClient(tb testing.TB, cfg gemini.Config) *gemini.Client {
	tb.Helper()
	if cfg.Provider == "" {
		cfg.Provider = "gemini"
	}
	c, err := gemini.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return strings.TrimSpace(b.String())
}

func event(parts, more string) string {
	return `data: {"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"index":0` + more + `}],"modelVersion":"test-model"`
}

var finishes = map[string]string{"": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}

func render(_ llmtest.Request, a llmtest.Answer) (string, []byte) {
	var b strings.Builder
	if a.Reasoning != "" {
		half := len(a.Reasoning) / 2
		b.WriteString(event(`{"text":`+quote(a.Reasoning[:half])+`,"thought":true}`, "") + "}\n\n")
		b.WriteString(event(`{"text":`+quote(a.Reasoning[half:])+`,"thought":true}`, "") + "}\n\n")
	}
	if a.Text != "" {
		b.WriteString(event(`{"text":`+quote(a.Text)+`}`, "") + "}\n\n")
	}
	for i, c := range a.Calls {
		args := c.Arguments
		if !json.Valid([]byte(args)) {
			args = quote(args)
		}
		id := ""
		if c.ID != "" {
			id = `"id":` + quote(c.ID) + `,`
		}
		b.WriteString(event(fmt.Sprintf(`{"functionCall":{%s"name":%s,"args":%s},"thoughtSignature":"sig+%d/=="}`, id, quote(c.Name), args, i), "") + "}\n\n")
	}
	u := a.Usage
	b.WriteString(event(`{"text":""}`, `,"finishReason":`+quote(finishes[a.Finish])))
	fmt.Fprintf(&b, `,"usageMetadata":{"promptTokenCount":%d,"cachedContentTokenCount":%d,"candidatesTokenCount":%d,"thoughtsTokenCount":%d}}`+"\n\n", u.Input+u.CacheRead+u.CacheWrite, u.CacheRead, u.Output-u.Reasoning, u.Reasoning)
	return "text/event-stream", []byte(b.String())
}

func TestConformance(t *testing.T) {
	llmtest.Run(t, llmtest.Family{
		New: func(tb testing.TB, url, key string, idle time.Duration) llm.Client {
			return newClient(tb, gemini.Config{BaseURL: url, Key: key, Idle: idle})
		},
		Render: render,
		Error: func(status int, message string) string {
			return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":"SOME_STATUS"}}`, status, quote(message))
		},
		Overflow:      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
		History:       func(body []byte) []byte { return body[:bytes.LastIndex(body, []byte(`],"generationConfig"`))] },
		Forbids:       func(body []byte) bool { return bytes.Contains(body, []byte(`"mode":"NONE"`)) },
		NoCacheWrites: true,
	})
}

// answered returns what a client makes of one stream, and path and body of the request.
func answered(t *testing.T, cfg gemini.Config, req llm.Request, stream string) (llm.Response, string, error) {
	t.Helper()
	var sent string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		sent = r.URL.String() + "\n" + string(raw)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
	}))
	defer srv.Close()
	cfg.BaseURL = srv.URL
	resp, err := newClient(t, cfg).Complete(t.Context(), req, nil)
	return resp, sent, err
}

func TestEveryPartGoesBackAsItCame(t *testing.T) {
	end := event(`{"text":""}`, `,"finishReason":"STOP"`) + "}\n\n"
	for _, tc := range []struct {
		name  string
		parts []string
		want  string
	}{
		{"one signature for each part", []string{
			`{"functionCall":{"name":"search","args":{"query": "a"}},"thoughtSignature":"A+/="}`,
			`{"functionCall":{"id":"x","name":"search","args":{}},"thoughtSignature":"B=="}`},
			`{"functionCall":{"name":"search","args":{"query": "a"}},"thoughtSignature":"A+/="},{"functionCall":{"id":"x","name":"search","args":{}},"thoughtSignature":"B=="}`},
		{"pieces of plain text are joined", []string{`{"text":"a <b"}`, `{"text":"> c"}`}, `{"text":"a <b> c"}`},
		{"thoughts and text stay apart", []string{`{"text":"t","thought":true}`, `{"text":"u","thought":true}`, `{"text":"v"}`}, `{"text":"tu","thought":true},{"text":"v"}`},
		{"a text with a signature is not joined", []string{`{"text":"a"}`, `{"text":"b","thoughtSignature":"S"}`, `{"text":"c"}`}, `{"text":"a"},{"text":"b","thoughtSignature":"S"},{"text":"c"}`},
		{"an empty text with a signature stays", []string{`{"text":"a"}`, `{"text":"","thoughtSignature":"S"}`}, `{"text":"a"},{"text":"","thoughtSignature":"S"}`},
		{"a call without arguments", []string{`{"functionCall":{"name":"search"},"thoughtSignature":"S"}`}, `{"functionCall":{"name":"search"},"thoughtSignature":"S"}`},
		{"broken arguments keep their signature", []string{`{"functionCall":{"name":"search","args":[1]},"thoughtSignature":"S"}`}, `{"functionCall":{"args":{},"name":"search"},"thoughtSignature":"S"}`},
		{"parts nobody knows yet", []string{`{"novel":{"x": 1}}`}, `{"novel":{"x": 1}}`},
		{"nothing", nil, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			stream := ""
			for _, p := range tc.parts {
				stream += event(p, "") + "}\n\n"
			}
			got, _, err := answered(t, gemini.Config{}, llmtest.Question("q"), stream+end)
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"role":"model","parts":[` + tc.want + `]}`; string(got.Message.Raw) != want {
				t.Errorf("raw\ngot  %s\nwant %s", got.Message.Raw, want)
			}
		})
	}
}

func done() string {
	_, body := render(llmtest.Request{}, llmtest.Answer{Text: "done"})
	return string(body)
}

func TestTheRequestAsItIsSent(t *testing.T) {
	half := 0.5
	req := llm.Request{
		Model: "models/gemini-3-pro-preview", System: "S", Effort: "high", MaxOutputTokens: 90, ForbidTools: true,
		Tools: []llm.ToolSpec{{Name: "search", Description: "D <b>", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []llm.Message{
			{Role: llm.User, Text: "Q"},
			{Role: llm.Assistant, Raw: json.RawMessage(`{"role":"model","parts":[{"functionCall":{"id":"w","name":"search", "args":{}}},{"functionCall":{"name":"find","args":{}}}]}`),
				Calls: []llm.Call{{ID: "a", Name: "search"}, {ID: "b", Name: "find!"}}},
			{Role: llm.Tool, CallID: "a", ToolName: "search", Text: "yes"},
			{Role: llm.Tool, CallID: "b", ToolName: "find!", Text: "no", IsError: true},
			{Role: llm.Assistant, Text: "T", Calls: []llm.Call{{ID: "c", Name: "search", Arguments: "{"}}},
			{Role: llm.Tool, CallID: "c", ToolName: "search", Text: "r"},
			{Role: llm.Assistant, Raw: json.RawMessage(`{"role":"model","parts":[]}`)},
			{Role: llm.User, Text: "Answer now."},
		},
	}
	_, sent, err := answered(t, gemini.Config{Temperature: &half}, req, done())
	if err != nil {
		t.Fatal(err)
	}
	want := "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse\n" +
		`{"tools":[{"functionDeclarations":[{"name":"search","description":"D <b>","parametersJsonSchema":{"type":"object"}}]}],"systemInstruction":{"parts":[{"text":"S"}]},` +
		`"contents":[{"role":"user","parts":[{"text":"Q"}]},{"role":"model","parts":[{"functionCall":{"id":"w","name":"search", "args":{}}},{"functionCall":{"name":"find","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"w","name":"search","response":{"output":"yes"}}},{"functionResponse":{"name":"find","response":{"error":"no"}}}]},` +
		`{"role":"model","parts":[{"text":"T"},{"functionCall":{"name":"search","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"search","response":{"output":"r"}}}]},` +
		`{"role":"user","parts":[{"text":"Answer now."}]}],` +
		`"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"},"maxOutputTokens":90,"temperature":0.5},"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}`
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for _, tc := range []struct {
		name, stream, says string
		retryable          bool
	}{
		{"no finish reason", event(`{"text":"half"}`, "") + "}\n\n", "broke off", true},
		{"malformed call", event("", `,"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(search("`) + "}\n\n", "MALFORMED_FUNCTION_CALL", true},
		{"error in the middle", event(`{"text":"half"}`, "") + "}\n\ndata: {\"error\":{\"code\":503,\"message\":\"overloaded\",\"status\":\"UNAVAILABLE\"}}\n\n", "overloaded", true},
		{"our mistake in the middle", "data: {\"error\":{\"code\":400,\"message\":\"bad\",\"status\":\"INVALID_ARGUMENT\"}}\n\n", "bad", false},
		{"no JSON", "data: {\"cand\n\n", "not a piece", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := answered(t, gemini.Config{}, llmtest.Question("q"), tc.stream)
			var e *llm.Error
			if !errors.As(err, &e) || e.Retryable != tc.retryable || !strings.Contains(e.Message, tc.says) {
				t.Errorf("got %+v", err)
			}
		})
	}
}

func TestABlockedPromptIsARefusal(t *testing.T) {
	got, _, err := answered(t, gemini.Config{}, llmtest.Question("q"), `data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":5}}`+"\n\n")
	if err != nil || got.StopReason != llm.StopRefusal || got.Usage != (trajectory.Usage{Input: 5}) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTheWaitComesFromTheBody(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(429)
		_, _ = io.WriteString(w, `[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]`)
	}))
	defer srv.Close()
	_, err := newClient(t, gemini.Config{BaseURL: srv.URL}).Complete(t.Context(), llmtest.Question("q"), nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.RetryAfter != 34*time.Second {
		t.Errorf("got %+v", err)
	}
}

func TestAModelWithoutLevelsGetsABudget(t *testing.T) {
	var bodies []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(raw))
		if strings.Contains(string(raw), "thinkingLevel") {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, `{"error":{"code":400,"message":"Thinking level is not supported for this model.","status":"INVALID_ARGUMENT"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, done())
	}))
	defer srv.Close()
	notices := 0
	c := newClient(t, gemini.Config{BaseURL: srv.URL, Notice: func(string) { notices++ }})
	req := llmtest.Question("q")
	req.Effort = "low"
	for range 2 {
		if _, err := c.Complete(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(bodies) != 3 || notices != 1 || !strings.Contains(bodies[2], `"thinkingBudget":2048`) {
		t.Errorf("got %d requests, %d notices, last %s", len(bodies), notices, bodies[len(bodies)-1])
	}
}

func FuzzEvents(f *testing.F) {
	_, body := render(llmtest.Request{}, llmtest.Answer{Text: "T", Reasoning: "R", Calls: []llm.Call{{ID: "a", Name: "search", Arguments: `{"q":"\ud800"}`}}})
	f.Add(string(body))
	f.Fuzz(func(t *testing.T, answer string) {
		req := llmtest.Question("q")
		got, err := gemini.Assemble(req, strings.NewReader(answer))
		if err != nil {
			return
		}
		req.Messages = append(req.Messages, got.Message)
		for _, c := range got.Message.Calls {
			req.Messages = append(req.Messages, llm.Message{Role: llm.Tool, CallID: c.ID, ToolName: c.Name, Text: "x"})
		}
		var next map[string]any
		raw := gemini.Encode(req)
		if json.Unmarshal(raw, &next) != nil {
			t.Errorf("the next request is no JSON: %s", raw)
		}
		for _, problem := range llmtest.Unpaired(next) {
			t.Errorf("%s in %s", problem, raw)
		}
	})
}
