package openaichat_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/llm"
	"goserini/internal/llm/llmtest"
	"goserini/internal/llm/openaichat"
)

// fussy is a server that refuses requests in which refuse finds something, with the words it gives.
type fussy struct {
	refuse func(body map[string]any) (status int, words string)

	mu     sync.Mutex
	bodies []map[string]any
}

func (f *fussy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	f.mu.Lock()
	f.bodies = append(f.bodies, body)
	f.mu.Unlock()
	if status, words := f.refuse(body); status != 0 {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, words)
		return
	}
	_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"done"},"finish_reason":"stop"}]}`)
}

func has(field, words string) func(map[string]any) (int, string) {
	return func(body map[string]any) (int, string) {
		if _, ok := body[field]; ok {
			return 400, words
		}
		return 0, ""
	}
}

func TestWhatAServerRefusesIsLearnedOnce(t *testing.T) {
	one := 1.0
	system := func(body map[string]any) string {
		m := body["messages"].([]any)[0].(map[string]any)
		return m["role"].(string)
	}
	for _, tc := range []struct {
		name     string
		refuse   func(map[string]any) (int, string)
		cfg      openaichat.Config
		requests int // of the first call; the second takes one
		notices  int
	}{
		{"output limit under the new name", has("max_tokens", `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens","code":"unsupported_parameter"}}`), openaichat.Config{}, 2, 1},
		{"output limit under the old name", has("max_completion_tokens", `{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}]}`), openaichat.Config{LimitName: "max_completion_tokens"}, 2, 1},
		{"no output limit at all", func(b map[string]any) (int, string) {
			for _, name := range []string{"max_tokens", "max_completion_tokens"} {
				if b[name] != nil {
					return 400, `{"error":"unknown field ` + name + `"}`
				}
			}
			return 0, ""
		}, openaichat.Config{}, 3, 2},
		{"temperature", has("temperature", `{"error":{"message":"only the default is allowed","param":"temperature","code":"unsupported_value"}}`), openaichat.Config{Temperature: &one}, 2, 1},
		{"stream_options", has("stream_options", `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`), openaichat.Config{}, 2, 1},
		{"tool_choice", has("tool_choice", `{"error":{"message":"tool_choice is not supported"}}`), openaichat.Config{}, 2, 1},
		{"prompt_cache_key", has("prompt_cache_key", `{"error":{"message":"property 'prompt_cache_key' is unsupported"}}`), openaichat.Config{CacheKey: true}, 2, 1},
		{"streaming with tools", has("stream", `{"error":{"code":500,"message":"Cannot use tools with stream","type":"server_error"}}`), openaichat.Config{}, 2, 1},
		{"role system", func(b map[string]any) (int, string) {
			if system(b) == "system" {
				return 400, `{"error":{"message":"Unsupported value: 'messages[0].role' does not support 'system' with this model.","param":"messages[0].role","code":"unsupported_value"}}`
			}
			return 0, ""
		}, openaichat.Config{}, 2, 1},
		{"no role for instructions", func(b map[string]any) (int, string) {
			if system(b) != "user" {
				return 500, `{"error":{"code":500,"message":"System role not supported by the template","type":"server_error"}}`
			}
			return 0, ""
		}, openaichat.Config{}, 3, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &fussy{refuse: tc.refuse}
			srv := httptest.NewServer(f)
			defer srv.Close()
			var notices []string
			cfg := tc.cfg
			cfg.BaseURL, cfg.Notice = srv.URL, func(s string) { notices = append(notices, s) }
			c := newClient(t, cfg)
			req := llmtest.Question("Which lake?")
			req.MaxOutputTokens, req.ForbidTools, req.CacheKey = 100, true, "k"
			for call, want := range []int{tc.requests, tc.requests + 1} {
				if _, err := c.Complete(t.Context(), req, nil); err != nil {
					t.Fatal(err)
				}
				if len(f.bodies) != want {
					t.Errorf("call %d: got %d requests, want %d", call+1, len(f.bodies), want)
				}
			}
			if len(notices) != tc.notices {
				t.Errorf("got notices %q, want %d", notices, tc.notices)
			}
			for i := 1; i < tc.requests; i++ {
				if cmp.Equal(f.bodies[i-1], f.bodies[i]) {
					t.Error("the unchanged request was sent again")
				}
			}
			if last := f.bodies[len(f.bodies)-1]; !strings.Contains(toJSON(last), "You answer from the collection.") {
				t.Error("the instructions were lost")
			}
		})
	}
}

func TestReasoningThatIsRefusedStaysOut(t *testing.T) {
	f := &fussy{refuse: func(b map[string]any) (int, string) {
		if strings.Contains(toJSON(b), `"reasoning":`) {
			return 400, `{"error":{"message":"'messages.1' : property 'reasoning' is unsupported"}}`
		}
		return 0, ""
	}}
	srv := httptest.NewServer(f)
	defer srv.Close()
	req := llmtest.Question("q")
	req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Raw: json.RawMessage(`{"role":"assistant","content":"a","reasoning":"r"}`)}, llm.Message{Role: llm.User, Text: "go on"})
	c := newClient(t, openaichat.Config{BaseURL: srv.URL})
	for range 2 {
		if _, err := c.Complete(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.bodies) != 3 {
		t.Errorf("got %d requests, want 3", len(f.bodies))
	}
	got := toJSON(f.bodies[2]["messages"].([]any)[2])
	if want := `{"content":"a","role":"assistant"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNullThatIsRefusedGoesBackAsNoText(t *testing.T) {
	f := &fussy{refuse: func(b map[string]any) (int, string) {
		if strings.Contains(toJSON(b), `"content":null`) {
			return 500, `{"error":{"message":"` + strings.Repeat("1 validation error: role: Input should be 'system'; ", 20) +
				`'loc': ('body', 'messages', 2, 'content'), 'msg': 'Input should be a valid string'","type":"internal_server_error"}}`
		}
		return 0, ""
	}}
	srv := httptest.NewServer(f)
	defer srv.Close()
	req := llmtest.Question("q")
	raw := `{"role":"assistant","content":null,"reasoning":"r","tool_calls":[{"id":"a","type":"function","function":{"name":"search","arguments":"{}"}}]}`
	req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Raw: json.RawMessage(raw)}, llm.Message{Role: llm.Tool, CallID: "a", Text: "found"})
	c := newClient(t, openaichat.Config{BaseURL: srv.URL})
	for range 2 {
		if _, err := c.Complete(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.bodies) != 3 {
		t.Errorf("got %d requests, want 3", len(f.bodies))
	}
	got := toJSON(f.bodies[2]["messages"].([]any)[2])
	if want := `{"content":"","reasoning":"r","role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"search"},"id":"a","type":"function"}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func toJSON(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

func TestWhatIsNoQuirkIsAnError(t *testing.T) {
	for _, tc := range []struct{ name, words, says string }{
		{"a value out of range", `{"error":{"message":"max_tokens is too large: 100. This model takes at most 50 completion tokens.","param":"max_tokens","code":"invalid_value"}}`, "too large"},
		{"effort refused", `{"error":{"message":"Unsupported value: 'reasoning_effort' does not support 'xhigh'","param":"reasoning_effort","code":"unsupported_value"}}`, "choose one this model takes"},
		{"context overflow that names the limit", `{"error":{"message":"maximum context length is 4096 tokens, you asked for 100 in max_tokens; not supported","code":"context_length_exceeded"}}`, "context length"},
		{"an unsupported field we did not send", `{"error":{"message":"temperature is not supported"}}`, "temperature"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := &fussy{refuse: func(map[string]any) (int, string) { return 400, tc.words }}
			srv := httptest.NewServer(f)
			defer srv.Close()
			req := llmtest.Question("q")
			req.MaxOutputTokens, req.Effort = 100, "xhigh"
			_, err := newClient(t, openaichat.Config{BaseURL: srv.URL}).Complete(t.Context(), req, nil)
			if err == nil || !strings.Contains(err.Error(), tc.says) || len(f.bodies) != 1 {
				t.Errorf("got %v after %d requests, want one request and an error that says %q", err, len(f.bodies), tc.says)
			}
		})
	}
}

func TestAServerThatRefusesEverythingIsAskedAFewTimesOnly(t *testing.T) {
	one := 1.0
	words := `{"error":"unsupported: max_tokens max_completion_tokens temperature stream_options tool_choice prompt_cache_key tools with stream system role"}`
	f := &fussy{refuse: func(map[string]any) (int, string) { return 400, words }}
	srv := httptest.NewServer(f)
	defer srv.Close()
	req := llmtest.Question("q")
	req.MaxOutputTokens, req.ForbidTools = 100, true
	_, err := newClient(t, openaichat.Config{BaseURL: srv.URL, Temperature: &one, CacheKey: true}).Complete(t.Context(), req, nil)
	if err == nil || len(f.bodies) > 12 {
		t.Errorf("got %v after %d requests", err, len(f.bodies))
	}
}

func TestQuirksAreRememberedByModelAndByAllQuestions(t *testing.T) {
	f := &fussy{refuse: has("stream_options", `{"error":"unknown field stream_options"}`)}
	srv := httptest.NewServer(f)
	defer srv.Close()
	notices := 0
	c := newClient(t, openaichat.Config{BaseURL: srv.URL, Notice: func(string) { notices++ }})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := c.Complete(t.Context(), llmtest.Question("q"), nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if notices != 1 {
		t.Errorf("got %d notices, want 1", notices)
	}
	req := llmtest.Question("q")
	req.Model = "another"
	before := len(f.bodies)
	if _, err := c.Complete(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	if f.bodies[before]["stream_options"] == nil {
		t.Error("what one model refuses is kept from another")
	}
}

func TestTheRequestAsItIsSent(t *testing.T) {
	f := &fussy{refuse: func(map[string]any) (int, string) { return 0, "" }}
	var raw []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(raw)))
		if got := r.Header.Get("Authorization"); got != "Bearer secret-key" {
			t.Errorf("got authorization %q", got)
		}
		if got := r.Header.Get("X-Title"); got != "goserini" {
			t.Errorf("got header %q", got)
		}
		f.ServeHTTP(w, r)
	}))
	defer srv.Close()
	half := 0.5
	c := newClient(t, openaichat.Config{
		BaseURL: srv.URL + "/v1/", Key: "secret-key", Header: map[string]string{"X-Title": "goserini"}, CacheKey: true, Temperature: &half,
		Extra: map[string]json.RawMessage{"top_k": json.RawMessage("20"), "provider": json.RawMessage(`{"order":["a"]}`)},
	})
	req := llm.Request{
		Model: "m", System: "S", Effort: "low", CacheKey: "k", MaxOutputTokens: 9, ForbidTools: true,
		Tools: []llm.ToolSpec{{Name: "search", Description: "D <b>", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []llm.Message{
			{Role: llm.User, Text: "Q\n灯塔"},
			{Role: llm.Assistant, Text: "T", Calls: []llm.Call{{ID: "c1", Name: "search", Arguments: `{"a"`}}},
			{Role: llm.Tool, CallID: "c1", Text: "R"},
			{Role: llm.Assistant, Text: "ignored", Raw: json.RawMessage(`{"role":"assistant", "content":"kept as it is"}`)},
		},
	}
	if _, err := c.Complete(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.5,"reasoning_effort":"low","prompt_cache_key":"k",` +
		`"provider":{"order":["a"]},"top_k":20,` +
		`"tools":[{"type":"function","function":{"name":"search","description":"D <b>","parameters":{"type":"object"}}}],` +
		`"messages":[{"role":"system","content":"S"},{"role":"user","content":"Q\n灯塔"},` +
		`{"role":"assistant","content":"T","tool_calls":[{"id":"c1","type":"function","function":{"name":"search","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"R"},{"role":"assistant", "content":"kept as it is"}],"max_tokens":9,"tool_choice":"none"}`
	if string(raw) != want {
		t.Errorf("request\ngot  %s\nwant %s", raw, want)
	}
}

func TestBadConfigurationsAreRefused(t *testing.T) {
	for name, cfg := range map[string]openaichat.Config{
		"no URL":                {},
		"URL without scheme":    {BaseURL: "localhost:8080"},
		"extra field of ours":   {BaseURL: "http://h", Extra: map[string]json.RawMessage{"messages": json.RawMessage("[]")}},
		"extra that is no JSON": {BaseURL: "http://h", Extra: map[string]json.RawMessage{"x": json.RawMessage("{")}},
	} {
		if _, err := openaichat.New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func BenchmarkEncode800KB(b *testing.B) {
	req := llmtest.Question("q")
	text := strings.Repeat("An ordinary line of a document with \"quotes\" and 灯塔.\n", 400)
	for range 40 {
		req.Messages = append(req.Messages,
			llm.Message{Role: llm.Assistant, Raw: json.RawMessage(`{"role":"assistant","content":null,"tool_calls":[]}`)},
			llm.Message{Role: llm.Tool, CallID: "c", Text: text})
	}
	b.SetBytes(int64(len(openaichat.Encode(req))))
	for b.Loop() {
		openaichat.Encode(req)
	}
}
