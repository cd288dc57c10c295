package ollama_test

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
	"goserini/internal/llm/llmtest"
	"goserini/internal/llm/ollama"
)

func newClient(tb testing.TB, cfg ollama.Config) *ollama.Client {
	tb.Helper()
	if cfg.Provider == "" {
		cfg.Provider = "ollama"
	}
	c, err := ollama.New(cfg)
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

func line(message, more string) string {
	return `{"model":"test-model","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant",` + message + `}` + more + "}\n"
}

func render(_ llmtest.Request, a llmtest.Answer) (string, []byte) {
	var b bytes.Buffer
	if a.Reasoning != "" {
		half := len(a.Reasoning) / 2
		b.WriteString(line(`"content":"","thinking":`+quote(a.Reasoning[:half]), `,"done":false`))
		b.WriteString(line(`"content":"","thinking":`+quote(a.Reasoning[half:]), `,"done":false`))
	}
	if a.Text != "" {
		b.WriteString(line(`"content":`+quote(a.Text), `,"done":false`))
	}
	for i, c := range a.Calls {
		args := c.Arguments
		if !json.Valid([]byte(args)) {
			args = quote(args)
		}
		b.WriteString(line(fmt.Sprintf(`"content":"","tool_calls":[{"id":%s,"function":{"index":%d,"name":%s,"arguments":%s}}]`, quote(c.ID), i, quote(c.Name), args), `,"done":false`))
	}
	reason := "stop"
	if a.Finish != "" {
		reason = a.Finish
	}
	u := a.Usage
	b.WriteString(line(`"content":""`, fmt.Sprintf(`,"done":true,"done_reason":%q,"prompt_eval_count":%d,"eval_count":%d`, reason, u.Input+u.CacheRead+u.CacheWrite, u.Output)))
	return "application/x-ndjson", b.Bytes()
}

const shown = `{"capabilities":["completion","tools","thinking"],"model_info":{"general.architecture":"test","test.context_length":40960}}`

func show(description string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, description) })
}

func TestConformance(t *testing.T) {
	llmtest.Run(t, llmtest.Family{
		New: func(tb testing.TB, url, key string, idle time.Duration) llm.Client {
			return newClient(tb, ollama.Config{BaseURL: url, Key: key, Idle: idle})
		},
		Render:            render,
		Get:               show(shown),
		Error:             func(_ int, message string) string { return `{"error":` + quote(message) + `}` },
		Overflow:          "the input length exceeds the context length",
		History:           func(body []byte) []byte { return body[:bytes.LastIndex(body, []byte(`],"options"`))] },
		NoCacheReads:      true,
		NoCacheWrites:     true,
		NoReasoningTokens: true,
		NoRefusals:        true,
	})
}

// server answers /api/show with a description and everything else with answer.
func server(t *testing.T, description string, answer http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/show" {
			show(description).ServeHTTP(w, r)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestTheRequestAsItIsSent(t *testing.T) {
	var body string
	url := server(t, shown, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		_, answer := render(llmtest.Request{}, llmtest.Answer{Text: "done"})
		_, _ = w.Write(answer)
	})
	req := llm.Request{
		Model: "qwen", System: "S", Effort: "high", MaxOutputTokens: 90,
		Tools: []llm.ToolSpec{{Name: "search", Description: "D <b>", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []llm.Message{
			{Role: llm.User, Text: "Q"},
			{Role: llm.Assistant, Text: "T", Calls: []llm.Call{{ID: "a", Name: "search", Arguments: `{"q": 1}`}, {ID: "b", Name: "search", Arguments: "{"}}},
			{Role: llm.Tool, CallID: "a", ToolName: "search", Text: "r"},
			{Role: llm.Assistant, Raw: json.RawMessage(`{"role":"assistant", "content":"kept"}`)},
		},
	}
	half := 0.5
	if _, err := newClient(t, ollama.Config{BaseURL: url + "/v1", Temperature: &half}).Complete(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"qwen","stream":true,"truncate":false,"shift":false,"think":"high","tools":[{"type":"function","function":{"name":"search","description":"D <b>","parameters":{"type":"object"}}}],` +
		`"messages":[{"role":"system","content":"S"},{"role":"user","content":"Q"},` +
		`{"role":"assistant","content":"T","tool_calls":[{"id":"a","function":{"name":"search","arguments":{"q": 1}}},{"id":"b","function":{"name":"search","arguments":{}}}]},` +
		`{"role":"tool","content":"r","tool_name":"search","tool_call_id":"a"},{"role":"assistant", "content":"kept"}],"options":{"num_ctx":32768,"num_predict":90,"temperature":0.5}}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestTheWindowIsTheSmallerOfWishAndModel(t *testing.T) {
	for _, tc := range []struct {
		name        string
		description string
		wish, want  int
	}{
		{"default", shown, 0, 32768},
		{"wish below the model's", shown, 16384, 16384},
		{"wish above the model's", shown, 100000, 40960},
		{"small model", `{"model_info":{"x.context_length":2048}}`, 0, 2048},
		{"nothing told", `{}`, 0, 32768},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var notices []string
			c := newClient(t, ollama.Config{BaseURL: server(t, tc.description, nil), Window: tc.wish, Notice: func(s string) { notices = append(notices, s) }})
			for range 2 {
				got, err := c.Window(t.Context(), "m")
				if err != nil || got != tc.want {
					t.Errorf("got %d, %v; want %d", got, err, tc.want)
				}
			}
			if len(notices) != 1 {
				t.Errorf("got notices %q, want one", notices)
			}
		})
	}
}

func TestAPromptThatWasCutIsAnError(t *testing.T) {
	var count int
	url := server(t, shown, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, line(`"content":"answer"`, fmt.Sprintf(`,"done":true,"done_reason":"stop","prompt_eval_count":%d,"eval_count":3`, count)))
	})
	long := llmtest.Question(strings.Repeat("A sentence of ordinary length, as documents have it. ", 1200))
	for _, tc := range []struct {
		name  string
		count int
		want  bool
	}{{"all read", 14000, false}, {"half of a small window", 2051, true}, {"not counted", 0, false}} {
		t.Run(tc.name, func(t *testing.T) {
			count = tc.count
			_, err := newClient(t, ollama.Config{BaseURL: url}).Complete(t.Context(), long, nil)
			var e *llm.Error
			if got := errors.As(err, &e) && e.ContextOverflow; got != tc.want {
				t.Errorf("got %v, want overflow: %v", err, tc.want)
			}
			if tc.want && (e.Usage.Input != 2051 || !strings.Contains(e.Message, "read 2051 tokens")) {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestAGrowingConversationIsWatched(t *testing.T) {
	count, requests := 8000, 0
	url := server(t, shown, func(w http.ResponseWriter, _ *http.Request) {
		requests++
		_, _ = io.WriteString(w, line(`"content":"answer"`, fmt.Sprintf(`,"done":true,"done_reason":"stop","prompt_eval_count":%d,"eval_count":3`, count)))
	})
	c := newClient(t, ollama.Config{BaseURL: url, Window: 10000})
	req := llmtest.Question(strings.Repeat("word ", 6400))
	ask := func() error { _, err := c.Complete(t.Context(), req, nil); return err }
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	req.Messages = append(req.Messages, llm.Message{Role: llm.User, Text: "a little more"})
	count = 7000
	if err := ask(); err == nil || !strings.Contains(err.Error(), "cut the prompt") {
		t.Errorf("fewer tokens than before: got %v", err)
	}
	req.Messages = append(req.Messages, llm.Message{Role: llm.User, Text: strings.Repeat("word ", 3000)})
	if err := ask(); err == nil || !strings.Contains(err.Error(), "has grown to about") || requests != 2 {
		t.Errorf("a request that cannot fit: got %v after %d requests", err, requests)
	}
}

func TestAModelThatCannotCallToolsIsRefused(t *testing.T) {
	url := server(t, `{"capabilities":["completion"]}`, func(http.ResponseWriter, *http.Request) { t.Error("the model was asked") })
	_, err := newClient(t, ollama.Config{BaseURL: url}).Complete(t.Context(), llmtest.Question("q"), nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.Retryable || !strings.Contains(e.Message, "cannot call tools") {
		t.Errorf("got %v", err)
	}
}

func TestAMissingModelSaysHowToGetIt(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"model 'nope' not found"}`)
	}))
	defer srv.Close()
	req := llmtest.Question("q")
	req.Model = "nope"
	_, err := newClient(t, ollama.Config{BaseURL: srv.URL}).Complete(t.Context(), req, nil)
	if err == nil || !strings.Contains(err.Error(), "ollama pull nope") {
		t.Errorf("got %v", err)
	}
}

func TestAnErrorInTheMiddleOfAnAnswer(t *testing.T) {
	url := server(t, shown, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, line(`"content":"half"`, `,"done":false`)+`{"error":"an error was encountered while running the model"}`+"\n")
	})
	_, err := newClient(t, ollama.Config{BaseURL: url}).Complete(t.Context(), llmtest.Question("q"), nil)
	var e *llm.Error
	if !errors.As(err, &e) || !e.Retryable || !strings.Contains(e.Message, "while running the model") {
		t.Errorf("got %v", err)
	}
}

func FuzzLines(f *testing.F) {
	_, body := render(llmtest.Request{}, llmtest.Answer{Text: "T", Reasoning: "R", Calls: []llm.Call{{ID: "a", Name: "search", Arguments: `{"q":"\ud800"}`}}})
	f.Add(string(body))
	f.Fuzz(func(t *testing.T, answer string) {
		req := llmtest.Question("q")
		got, err := ollama.Assemble(req, strings.NewReader(answer))
		if err != nil {
			return
		}
		req.Messages = append(req.Messages, got.Message)
		for _, c := range got.Message.Calls {
			req.Messages = append(req.Messages, llm.Message{Role: llm.Tool, CallID: c.ID, ToolName: c.Name, Text: "x"})
		}
		var next map[string]any
		if raw := ollama.Encode(req); json.Unmarshal(raw, &next) != nil {
			t.Errorf("the next request is no JSON: %s", raw)
		}
		for _, problem := range llmtest.Unpaired(next) {
			t.Error(problem)
		}
	})
}
