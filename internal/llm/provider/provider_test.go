package provider

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/llm"
	"goserini/internal/llm/limit"
	"goserini/internal/llm/llmtest"
)

// variables is a Lookup over a map.
func variables(set map[string]string) Lookup {
	return func(name string) (string, string) { return set[name], "a test" }
}

func registry(t *testing.T, set map[string]string, named ...Endpoint) *Registry {
	t.Helper()
	r, err := New(variables(set), named...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNamesOfModels(t *testing.T) {
	for in, want := range map[string]Name{
		"deepseek/deepseek-v4-flash":           {"deepseek", "deepseek-v4-flash", ""},
		"deepseek:deepseek-v4-flash":           {"deepseek", "deepseek-v4-flash", ""},
		"openrouter/anthropic/claude-opus-4.7": {"openrouter", "anthropic/claude-opus-4.7", ""},
		"ollama/qwen3:4b":                      {"ollama", "qwen3:4b", ""},
		"ollama:qwen3:4b":                      {"ollama", "qwen3:4b", ""},
		"openai/gpt-5.5@high":                  {"openai", "gpt-5.5", "high"},
		"vertex/claude-haiku-4-5@20251001":     {"vertex", "claude-haiku-4-5@20251001", ""},
		"vertex/claude-haiku-4-5@20251001@low": {"vertex", "claude-haiku-4-5@20251001", "low"},
		"script//tmp/turns.json":               {"script", "/tmp/turns.json", ""},
		"script/turns@home.json":               {"script", "turns@home.json", ""},
	} {
		got, err := Parse(in)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "gpt-5", "/gpt-5", "openai/", ":"} {
		if _, err := Parse(bad); err == nil || !strings.Contains(err.Error(), "PROVIDER/MODEL") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

// server notes what it is sent and answers every path with one body.
type server struct {
	*httptest.Server
	path, body string
	header     http.Header
}

func serve(t *testing.T, kind, answer string) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		s.path, s.body, s.header = r.URL.Path, string(raw), r.Header
		if r.URL.Path == "/api/show" {
			_, _ = io.WriteString(w, `{"capabilities":["tools"],"model_info":{"x.context_length":9000}}`)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

const (
	chatAnswer      = `{"choices":[{"message":{"content":"done"},"finish_reason":"stop"}]}`
	responsesAnswer = "data: {\"type\":\"response.completed\",\"response\":{\"output\":[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"done\"}]}]}}\n\n"
	messagesAnswer  = "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"done\"}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	ollamaAnswer    = `{"message":{"content":"done"},"done":true}` + "\n"
	geminiAnswer    = `data: {"candidates":[{"content":{"parts":[{"text":"done"}]},"finishReason":"STOP"}]}` + "\n\n"
)

func TestEveryProtocolIsReachedByItsVariables(t *testing.T) {
	const key = "key-0123456789abcd"
	for _, tc := range []struct {
		model, kind, answer string
		vars                map[string]string // URL stands for the server's
		path                string
		header, value       string
	}{
		{"deepseek/m", "application/json", chatAnswer, map[string]string{"DEEPSEEK_API_KEY": key, "DEEPSEEK_BASE_URL": "URL"}, "/chat/completions", "Authorization", "Bearer " + key},
		{"openrouter/a/b", "application/json", chatAnswer, map[string]string{"OPENROUTER_API_KEY": key, "OPENROUTER_BASE_URL": "URL/api/v1"}, "/api/v1/chat/completions", "Authorization", "Bearer " + key},
		{"openai/m", "text/event-stream", responsesAnswer, map[string]string{"OPENAI_API_KEY": key, "OPENAI_BASE_URL": "URL/v1", "OPENAI_ORG_ID": "org"}, "/v1/responses", "Openai-Organization", "org"},
		{"openai/m", "text/event-stream", responsesAnswer, map[string]string{"OPENAI_API_KEY": key, "OPENAI_BASE_URL": "URL/v1", "OPENAI_CUSTOM_HEADERS": "X-A: 1\nX-B: two words\n"}, "/v1/responses", "X-B", "two words"},
		{"openai-chat/m", "application/json", chatAnswer, map[string]string{"OPENAI_API_KEY": key, "OPENAI_BASE_URL": "URL/v1"}, "/v1/chat/completions", "Authorization", "Bearer " + key},
		{"anthropic/m", "text/event-stream", messagesAnswer, map[string]string{"ANTHROPIC_API_KEY": key, "ANTHROPIC_BASE_URL": "URL"}, "/v1/messages", "Authorization", "Bearer " + key},
		{"anthropic/m", "text/event-stream", messagesAnswer, map[string]string{"ANTHROPIC_AUTH_TOKEN": key, "ANTHROPIC_BASE_URL": "URL"}, "/v1/messages", "Authorization", "Bearer " + key},
		{"gemini/m", "text/event-stream", geminiAnswer, map[string]string{"GEMINI_API_KEY": key, "GOOGLE_GEMINI_BASE_URL": "URL"}, "/v1beta/models/m:streamGenerateContent", "X-Goog-Api-Key", key},
		{"ollama/m", "application/x-ndjson", ollamaAnswer, map[string]string{"OLLAMA_HOST": "HOST"}, "/api/chat", "Authorization", ""},
		{"vllm/org/m", "application/json", chatAnswer, map[string]string{"VLLM_BASE_URL": "URL/v1"}, "/v1/chat/completions", "Authorization", ""},
	} {
		t.Run(tc.model, func(t *testing.T) {
			s := serve(t, tc.kind, tc.answer)
			for name, value := range tc.vars {
				value = strings.Replace(value, "URL", s.URL, 1)
				tc.vars[name] = strings.Replace(value, "HOST", strings.TrimPrefix(s.URL, "http://"), 1)
			}
			m, err := registry(t, tc.vars).Open(tc.model, Options{})
			if err != nil {
				t.Fatal(err)
			}
			req := llmtest.Question("q")
			req.Model = m.Name.Model
			resp, err := m.Client.Complete(t.Context(), req, nil)
			if err != nil || resp.Message.Text != "done" {
				t.Fatalf("got %q, %v", resp.Message.Text, err)
			}
			if s.path != tc.path || s.header.Get(tc.header) != tc.value {
				t.Errorf("got path %s and headers %v, want %s and %s %q", s.path, s.header, tc.path, tc.header, tc.value)
			}
			if !m.IsLanguageModel || m.Name.String() != tc.model {
				t.Errorf("got %+v", m)
			}
			if strings.Contains(m.Key.String(), key) {
				t.Errorf("the key shows: %s", m.Key)
			}
		})
	}
}

func TestAMissingKeyNamesItsVariable(t *testing.T) {
	for model, vars := range map[string][]string{
		"deepseek/m": {"DEEPSEEK_API_KEY"}, "anthropic/m": {"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"}, "gemini/m": {"GOOGLE_API_KEY", "GEMINI_API_KEY"},
	} {
		_, err := registry(t, nil).Open(model, Options{})
		var missing *MissingKeyError
		if !errors.As(err, &missing) || !cmp.Equal(missing.Vars, vars) || !strings.Contains(err.Error(), vars[0]) {
			t.Errorf("%s: got %v", model, err)
		}
	}
	if _, err := registry(t, map[string]string{"DEEPSEEK_BASE_URL": "http://127.0.0.1:9"}).Open("deepseek/m", Options{}); err != nil {
		t.Errorf("a server of one's own needs no key: got %v", err)
	}
}

func TestBadNamesAndSettings(t *testing.T) {
	r := registry(t, map[string]string{"DEEPSEEK_API_KEY": "k", "OPENAI_API_KEY": "k", "OPENAI_CUSTOM_HEADERS": "no colon here"})
	for model, want := range map[string]string{
		"nobody/m":            `no provider "nobody"; there are builtin, script, openai`,
		"builtin/other":       "builtin/lexical",
		"script/nowhere.json": "open script",
		"openai/m":            "Name: value",
	} {
		if _, err := r.Open(model, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", model, err, want)
		}
	}
	if _, err := r.Open("deepseek/m", Options{Record: "a", Replay: "b"}); err == nil {
		t.Error("recording and replaying at once is accepted")
	}
	if _, err := r.Open("deepseek/m", Options{BaseURL: "localhost:80"}); err == nil || !strings.Contains(err.Error(), "base URL") {
		t.Errorf("a base URL without scheme: got %v", err)
	}
}

func TestTheModelsThatNeedNoServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(path, []byte(`{"version":1,"turns":[{"text":"done"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"builtin/lexical", "script/" + path} {
		m, err := registry(t, nil).Open(name, Options{})
		if err != nil || m.Client == nil || m.IsLanguageModel || m.BaseURL != "" {
			t.Errorf("%s: got %+v, %v", name, m, err)
		}
	}
}

func TestNamedEndpoints(t *testing.T) {
	s := serve(t, "application/json", chatAnswer)
	path := filepath.Join(t.TempDir(), "endpoints.json")
	content := `{"house": {"protocol": "chat", "base_url": "` + s.URL + `/v9", "key_vars": ["HOUSE_KEY"], "headers": {"api-key": "${HOUSE_KEY}"}, "extra": {"top_k": 5}, "reasoning": "drop", "window": 4096},
		"deepseek": {"protocol": "chat", "base_url": "` + s.URL + `"}}`
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	named, err := LoadEndpoints(path)
	if err != nil {
		t.Fatal(err)
	}
	r := registry(t, map[string]string{"HOUSE_KEY": "house-secret-1234"}, named...)
	m, err := r.Open("house/m", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Client.Complete(t.Context(), llmtest.Question("q"), nil); err != nil {
		t.Fatal(err)
	}
	if s.path != "/v9/chat/completions" || s.header.Get("Api-Key") != "house-secret-1234" || !strings.Contains(s.body, `"top_k":5`) {
		t.Errorf("got %s, %v, %s", s.path, s.header, s.body)
	}
	if w, err := m.Window(t.Context()); err != nil || w != 4096 {
		t.Errorf("got window %d, %v", w, err)
	}
	if m, err := r.Open("deepseek/m", Options{}); err != nil || m.BaseURL != s.URL {
		t.Errorf("a known endpoint is not replaced: %+v, %v", m, err)
	}
	if _, err := registry(t, nil, named...).Open("house/m", Options{}); err == nil || !strings.Contains(err.Error(), "HOUSE_KEY") {
		t.Errorf("a header whose variable is not set: got %v", err)
	}
}

func TestBadEndpointFiles(t *testing.T) {
	for content, want := range map[string]string{
		`{"a/b": {"protocol": "chat", "base_url": "http://h"}}`:                       "slash",
		`{"script": {"protocol": "chat", "base_url": "http://h"}}`:                    "taken",
		`{"a": {"protocol": "smtp", "base_url": "http://h"}}`:                         `protocol "smtp"`,
		`{"a": {"protocol": "chat", "base_url": "h"}}`:                                "base URL",
		`{"a": {"protocol": "chat", "base_url": "http://h", "bass": 1}}`:              "bass",
		`{"a": {"protocol": "chat", "base_url": "http://h", "reasoning": "perhaps"}}`: "replay or drop",
		`[`: "unexpected end",
	} {
		path := filepath.Join(t.TempDir(), "endpoints.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadEndpoints(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error with %q and the file", content, err, want)
		}
	}
}

func TestOllamaHosts(t *testing.T) {
	for in, want := range map[string]string{
		"0.0.0.0": "http://127.0.0.1:11434", "127.0.0.1:4000": "http://127.0.0.1:4000", "gpu": "http://gpu:11434",
		"http://gpu:80": "http://gpu:80", "https://ollama.example.com": "https://ollama.example.com", ":5000": "http://127.0.0.1:5000",
	} {
		if got := ollamaHost(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func TestModelsOfOneKeyShareTheirLimits(t *testing.T) {
	s := serve(t, "application/json", chatAnswer)
	r := registry(t, map[string]string{"DEEPSEEK_API_KEY": "k1", "DEEPSEEK_BASE_URL": s.URL, "GROQ_API_KEY": "k2", "GROQ_BASE_URL": s.URL})
	for _, model := range []string{"deepseek/a", "deepseek/b", "groq/a"} {
		if _, err := r.Open(model, Options{Rates: limit.Rates{RequestsPerMinute: 6}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.limiters) != 2 {
		t.Errorf("got %d limiters, want one for each key", len(r.limiters))
	}
}

func TestRecordThenReplayWithoutKeyOrServer(t *testing.T) {
	s := serve(t, "application/json", chatAnswer)
	dir := t.TempDir()
	secret := "sk-very-secret-0123456789"
	m, err := registry(t, map[string]string{"DEEPSEEK_API_KEY": secret, "DEEPSEEK_BASE_URL": s.URL}).Open("deepseek/m", Options{Record: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Client.Complete(t.Context(), llmtest.Question("q"), nil); err != nil {
		t.Fatal(err)
	}
	s.Close()
	m, err = registry(t, nil).Open("deepseek/m", Options{Replay: dir})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := m.Client.Complete(t.Context(), llmtest.Question("q"), nil)
	if err != nil || resp.Message.Text != "done" {
		t.Errorf("got %q, %v", resp.Message.Text, err)
	}
	if _, err := m.Client.Complete(t.Context(), llmtest.Question("another"), nil); err == nil || !strings.Contains(err.Error(), "messages[0].text") {
		t.Errorf("got %v, want a miss that shows the difference", err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(raw), secret) {
			t.Errorf("%s: %v, or it holds the key", f, err)
		}
	}
}

func TestLocalServersAreFound(t *testing.T) {
	documents := map[string]map[string]string{
		"vllm":     {"/v1/models": `{"data":[{"id":"org/m","max_model_len":8192}]}`},
		"llamacpp": {"/v1/models": `{"data":[{"id":"gguf"}]}`, "/props": `{"default_generation_settings":{"n_ctx":4096}}`},
		"lmstudio": {"/v1/models": `{"data":[{"id":"a"},{"id":"b"}]}`, "/api/v0/models": `{"data":[{"id":"b","loaded_context_length":2048}]}`},
		"ollama":   {"/api/tags": `{"models":[{"name":"qwen3:4b"}]}`},
		"sglang":   {},
	}
	vars := map[string]string{"DEEPSEEK_API_KEY": "sk-0123456789abcd"}
	for name, pages := range documents {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			page, ok := pages[r.URL.Path]
			if !ok {
				http.NotFound(w, r)
				return
			}
			_, _ = io.WriteString(w, page)
		}))
		defer srv.Close()
		vars[strings.ToUpper(name)+"_BASE_URL"] = srv.URL + "/v1"
		if name == "ollama" {
			vars["OLLAMA_HOST"] = srv.URL
		}
	}
	r := registry(t, vars)
	got := map[string][]ServedModel{}
	for _, s := range r.Servers(t.Context()) {
		got[s.Provider] = s.Models
	}
	want := map[string][]ServedModel{
		"vllm": {{"org/m", 8192}}, "llamacpp": {{"gguf", 4096}}, "lmstudio": {{"a", 0}, {"b", 2048}}, "ollama": {{"qwen3:4b", 0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	// A server of one model answers with it whatever its name; one of several goes by the name.
	for name, want := range map[string]int{"llamacpp/gguf": 4096, "llamacpp/any": 4096, "lmstudio/b": 2048, "lmstudio/other": 0} {
		m, err := r.Open(name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if w, err := m.Window(t.Context()); err != nil || w != want {
			t.Errorf("%s: got window %d, %v, want %d", name, w, err, want)
		}
	}
	wantKeys := []FoundKey{{"deepseek", Key{Var: "DEEPSEEK_API_KEY", Source: "a test", Tail: "abcd"}}}
	if diff := cmp.Diff(wantKeys, r.Keys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

func TestOnlyLoopbackIsAskedUnasked(t *testing.T) {
	for base, want := range map[string]bool{"http://127.0.0.1:80": true, "http://localhost:80": true, "http://[::1]:80": true, "http://10.0.0.1": false, "http://example.com": false, "::": false} {
		if got := isLoopback(base); got != want {
			t.Errorf("%s: got %v, want %v", base, got, want)
		}
	}
}

func TestOllamasWindow(t *testing.T) {
	s := serve(t, "application/x-ndjson", ollamaAnswer)
	m, err := registry(t, map[string]string{"OLLAMA_HOST": s.URL, "OLLAMA_CONTEXT_LENGTH": "7000"}).Open("ollama/m", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if w, err := m.Window(t.Context()); err != nil || w != 7000 {
		t.Errorf("got window %d, %v", w, err)
	}
}

func FuzzEndpoints(f *testing.F) {
	f.Add([]byte(`{"a": {"protocol": "chat", "base_url": "http://h", "headers": {"x": "$Y"}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		named, err := parseEndpoints(raw)
		if err != nil {
			return
		}
		if _, err := New(variables(nil), named...); err != nil {
			t.Errorf("what was read is refused: %v", err)
		}
	})
}

var _ llm.Client = llmtest.ClientFunc(nil)
