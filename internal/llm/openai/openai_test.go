package openai_test

import (
	"bytes"
	"encoding/json"
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
	"goserini/internal/llm/openai"
	"goserini/internal/trajectory"
)

func newClient(tb testing.TB, cfg openai.Config) *openai.Client {
	tb.Helper()
	if cfg.Provider == "" {
		cfg.Provider = "openai"
	}
	c, err := openai.New(cfg)
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

// output writes the events of a stream, item by item.
type output struct {
	bytes.Buffer
	items []string
}

func (o *output) event(kind, fields string) {
	fmt.Fprintf(o, "event: %s\ndata: {\"type\":%q,%s}\n\n", kind, kind, fields)
}

// item sends an item as the protocol does: a partial one when it starts, the whole when it is done.
func (o *output) item(partial, whole string, deltas ...[2]string) {
	n := len(o.items)
	o.event("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, n, partial))
	for _, d := range deltas {
		o.event(d[0], fmt.Sprintf(`"output_index":%d,"delta":%s`, n, quote(d[1])))
	}
	o.event("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, n, whole))
	o.items = append(o.items, whole)
}

func (o *output) end(kind, more string, u trajectory.Usage) {
	usage := fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d}}`,
		u.Input+u.CacheRead+u.CacheWrite, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning)
	o.event("response."+kind, fmt.Sprintf(`"response":{"id":"resp_1","model":"test-model","status":%q,"error":null,"output":[%s],"usage":%s%s}`, kind, strings.Join(o.items, ","), usage, more))
}

func render(_ llmtest.Request, a llmtest.Answer) (string, []byte) {
	var o output
	o.event("response.created", `"response":{"id":"resp_1","model":"test-model","status":"in_progress","usage":null}`)
	if a.Reasoning != "" {
		o.item(`{"id":"rs_1","type":"reasoning","summary":[]}`,
			`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":`+quote(a.Reasoning)+`}],"encrypted_content":"gAAA+/`+fmt.Sprint(len(a.Reasoning))+`=="}`,
			[2]string{"response.reasoning_summary_text.delta", a.Reasoning})
	}
	if a.Text != "" {
		o.item(`{"id":"msg_1","type":"message","role":"assistant","content":[]}`,
			`{"id":"msg_1","type":"message","status":"completed","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":`+quote(a.Text)+`,"annotations":[]}]}`,
			[2]string{"response.output_text.delta", a.Text})
	}
	for _, c := range a.Calls {
		o.item(`{"id":"fc_1","type":"function_call","call_id":`+quote(c.ID)+`,"name":`+quote(c.Name)+`,"arguments":""}`,
			`{"id":"fc_1","type":"function_call","status":"completed","call_id":`+quote(c.ID)+`,"name":`+quote(c.Name)+`,"arguments":`+quote(c.Arguments)+`}`,
			[2]string{"response.function_call_arguments.delta", c.Arguments})
	}
	switch a.Finish {
	case "length":
		o.end("incomplete", `,"incomplete_details":{"reason":"max_output_tokens"}`, a.Usage)
	case "content_filter":
		o.end("incomplete", `,"incomplete_details":{"reason":"content_filter"}`, a.Usage)
	default:
		o.end("completed", `,"incomplete_details":null`, a.Usage)
	}
	return "text/event-stream", o.Bytes()
}

func TestConformance(t *testing.T) {
	llmtest.Run(t, llmtest.Family{
		New: func(tb testing.TB, url, key string, idle time.Duration) llm.Client {
			return newClient(tb, openai.Config{BaseURL: url + "/v1", Key: key, Idle: idle})
		},
		Render: render,
		Error: func(status int, message string) string {
			return `{"error":{"message":` + quote(message) + `,"type":"some_error","param":null,"code":null}}`
		},
		Overflow: "Your input exceeds the context window of this model. Please adjust your input and try again.",
		History:  func(body []byte) []byte { return body[:bytes.LastIndex(body, []byte("]"))] },
		Forbids:  func(body []byte) bool { return bytes.Contains(body, []byte(`"tool_choice":"none"`)) },
	})
}

// answered returns what a client makes of one stream, and the body it was sent.
func answered(t *testing.T, req llm.Request, stream string) (llm.Response, string, error) {
	t.Helper()
	var body string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
	}))
	defer srv.Close()
	resp, err := newClient(t, openai.Config{BaseURL: srv.URL}).Complete(t.Context(), req, nil)
	return resp, body, err
}

func TestItemsGoBackAsTheyCame(t *testing.T) {
	const whole = `{"id":"fc","type":"function_call","status":"completed","call_id":"a","name":"search","arguments":"{\"query\": \"x\"}","novel": [1, 2]}`
	for _, tc := range []struct {
		name  string
		items []string
		want  string
	}{
		{"untouched", []string{
			`{"id":"rs","type":"reasoning","summary":[],"encrypted_content":"g+/=="}`,
			`{"id":"m","type":"message","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"<T>"}]}`, whole},
			`[{"id":"rs","type":"reasoning","summary":[],"encrypted_content":"g+/=="},{"id":"m","type":"message","role":"assistant","phase":"final_answer","content":[{"type":"output_text","text":"<T>"}]},` + whole + `]`},
		{"reasoning nobody stored stays out", []string{`{"id":"rs","type":"reasoning","summary":[]}`, whole}, `[` + whole + `]`},
		{"broken arguments", []string{`{"id":"fc","type":"function_call","call_id":"a","name":"search","arguments":"{\"qu"}`},
			`[{"arguments":"{}","call_id":"a","id":"fc","name":"search","type":"function_call"}]`},
		{"control tokens in the name", []string{`{"type":"function_call","call_id":"a","name":"search<|x|>","arguments":"{}"}`},
			`[{"arguments":"{}","call_id":"a","name":"search","type":"function_call"}]`},
		{"items nobody knows yet", []string{`{"type":"novel","x": 1}`}, `[{"type":"novel","x": 1}]`},
		{"nothing", nil, `[]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var o output
			for _, it := range tc.items {
				o.item(`{"type":"partial"}`, it)
			}
			o.end("completed", "", trajectory.Usage{})
			got, _, err := answered(t, llmtest.Question("q"), o.String())
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Message.Raw) != tc.want {
				t.Errorf("raw\ngot  %s\nwant %s", got.Message.Raw, tc.want)
			}
		})
	}
}

func TestItemsOutOfOrderAndItemsOnlyAtTheEnd(t *testing.T) {
	a, b := `{"type":"novel","n":0}`, `{"type":"novel","n":1}`
	want := "[" + a + "," + b + "]"
	for name, stream := range map[string]string{
		"out of order":    "data: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":" + b + "}\n\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":" + a + "}\n\ndata: {\"type\":\"response.completed\",\"response\":{}}\n\n",
		"only at the end": "data: {\"type\":\"response.completed\",\"response\":{\"output\":" + want + "}}\n\n",
	} {
		got, _, err := answered(t, llmtest.Question("q"), stream)
		if err != nil || string(got.Message.Raw) != want {
			t.Errorf("%s: got %s, %v", name, got.Message.Raw, err)
		}
	}
}

func done() string {
	_, body := render(llmtest.Request{}, llmtest.Answer{Text: "done"})
	return string(body)
}

func TestTheRequestAsItIsSent(t *testing.T) {
	req := llm.Request{
		Model: "gpt-5.5", System: "S", Effort: "high", MaxOutputTokens: 9000, ForbidTools: true, CacheKey: "k",
		Tools: []llm.ToolSpec{{Name: "search", Description: "D <b>", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []llm.Message{
			{Role: llm.User, Text: "Q"},
			{Role: llm.Assistant, Raw: json.RawMessage(`[{"type":"x", "kept":1},{"type":"y"}]`)},
			{Role: llm.User, Text: "Use a tool."},
			{Role: llm.Assistant, Text: "T", Calls: []llm.Call{{ID: "a", Name: "search", Arguments: "{"}}},
			{Role: llm.Tool, CallID: "a", Text: "no", IsError: true},
			{Role: llm.Assistant, Raw: json.RawMessage(`[]`)},
			{Role: llm.User, Text: "Answer now."},
		},
	}
	_, body, err := answered(t, req, done())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"gpt-5.5","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"high","summary":"auto"},"prompt_cache_key":"k",` +
		`"tools":[{"type":"function","name":"search","description":"D <b>","parameters":{"type":"object"},"strict":false}],"instructions":"S",` +
		`"input":[{"role":"user","content":"Q"},{"type":"x", "kept":1},{"type":"y"},{"role":"user","content":"Use a tool."},{"role":"assistant","content":"T"},` +
		`{"type":"function_call","call_id":"a","name":"search","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"no"},` +
		`{"role":"user","content":"Answer now."}],"max_output_tokens":9000,"tool_choice":"none"}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestFailuresInsideAStream(t *testing.T) {
	for _, tc := range []struct {
		name, stream, says  string
		retryable, overflow bool
	}{
		{"failed", `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"it broke"},"usage":{"input_tokens":7,"output_tokens":1}}}`, "it broke", true, false},
		{"rate limit", `{"type":"response.failed","response":{"error":{"code":"rate_limit_exceeded","message":"slow down"}}}`, "slow down", true, false},
		{"bad prompt", `{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"no"}}}`, "no", false, false},
		{"overflow", `{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}`, "context window", false, true},
		{"error event", `{"type":"error","code":"server_error","message":"it broke","param":null}`, "it broke", true, false},
		{"error object", `{"type":"error","error":{"type":"server_error","message":"it broke"}}`, "it broke", true, false},
		{"no end", `{"type":"response.output_text.delta","delta":"half"}`, "broke off", true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := answered(t, llmtest.Question("q"), "data: "+tc.stream+"\n\n")
			e, ok := err.(*llm.Error)
			if !ok || e.Retryable != tc.retryable || e.ContextOverflow != tc.overflow || !strings.Contains(e.Message, tc.says) {
				t.Errorf("got %+v", err)
			}
			if tc.name == "failed" && e.Usage != (trajectory.Usage{Input: 7, Output: 1}) {
				t.Errorf("got usage %+v", e.Usage)
			}
		})
	}
}

func TestARefusalInTheContent(t *testing.T) {
	var o output
	o.item(`{"type":"message"}`, `{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I will not."}]}`, [2]string{"response.refusal.delta", "I will not."})
	o.end("completed", "", trajectory.Usage{})
	got, _, err := answered(t, llmtest.Question("q"), o.String())
	if err != nil || got.StopReason != llm.StopRefusal || got.Message.Text != "I will not." {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestWhatAModelRefusesIsLearnedOnce(t *testing.T) {
	for _, tc := range []struct{ name, words, field string }{
		{"encrypted reasoning", `{"error":{"message":"Encrypted content is not supported with this model.","param":"include","code":null}}`, "include"},
		{"summary", `{"error":{"message":"Your organization must be verified to generate reasoning summaries.","param":"reasoning.summary","code":"unsupported_value"}}`, "summary"},
		{"cache key", `{"error":{"message":"Unknown parameter: 'prompt_cache_key'.","param":"prompt_cache_key"}}`, "prompt_cache_key"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var bodies []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				bodies = append(bodies, string(raw))
				if strings.Contains(string(raw), `"`+tc.field+`"`) {
					w.WriteHeader(400)
					_, _ = io.WriteString(w, tc.words)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, done())
			}))
			defer srv.Close()
			var notices []string
			c := newClient(t, openai.Config{BaseURL: srv.URL, Notice: func(s string) { notices = append(notices, s) }})
			req := llmtest.Question("q")
			req.Effort, req.CacheKey = "high", "k"
			for range 2 {
				if _, err := c.Complete(t.Context(), req, nil); err != nil {
					t.Fatal(err)
				}
			}
			if len(bodies) != 3 || len(notices) != 1 {
				t.Errorf("got %d requests and notices %q, want 3 and one", len(bodies), notices)
			}
		})
	}
}

func TestAnEffortThatIsRefusedIsAnError(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(400)
		_, _ = io.WriteString(w, `{"error":{"message":"Unsupported value: 'xhigh'","param":"reasoning.effort","code":"unsupported_value"}}`)
	}))
	defer srv.Close()
	req := llmtest.Question("q")
	req.Effort = "xhigh"
	_, err := newClient(t, openai.Config{BaseURL: srv.URL}).Complete(t.Context(), req, nil)
	if err == nil || !strings.Contains(err.Error(), "choose one this model takes") {
		t.Errorf("got %v", err)
	}
}

func FuzzEvents(f *testing.F) {
	_, body := render(llmtest.Request{}, llmtest.Answer{Text: "T", Reasoning: "R", Calls: []llm.Call{{ID: "a", Name: "search", Arguments: `{"q":"\ud800"}`}}})
	for line := range strings.Lines(string(body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			f.Add(data, data)
		}
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		req := llmtest.Question("q")
		got, err := openai.Assemble(req, first, second)
		if err != nil {
			return
		}
		req.Messages = append(req.Messages, got.Message)
		for _, c := range got.Message.Calls {
			req.Messages = append(req.Messages, llm.Message{Role: llm.Tool, CallID: c.ID, Text: "x"})
		}
		var next map[string]any
		if raw := openai.Encode(req); json.Unmarshal(raw, &next) != nil {
			t.Errorf("the next request is no JSON: %s", raw)
		}
		for _, problem := range llmtest.Unpaired(next) {
			t.Error(problem)
		}
	})
}
