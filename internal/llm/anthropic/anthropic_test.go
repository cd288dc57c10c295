package anthropic_test

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
	"goserini/internal/llm/anthropic"
	"goserini/internal/llm/llmtest"
	"goserini/internal/sharedtest"
	"goserini/internal/trajectory"
)

func newClient(tb testing.TB, cfg anthropic.Config) *anthropic.Client {
	tb.Helper()
	if cfg.Provider == "" {
		cfg.Provider = "anthropic"
	}
	c, err := anthropic.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// events writes a stream of the protocol.
type events struct {
	bytes.Buffer
	n int
}

func (e *events) add(kind string, fields string) {
	if fields != "" {
		fields = "," + fields
	}
	fmt.Fprintf(e, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, fields)
}

func (e *events) block(start string, deltas ...string) {
	e.add("content_block_start", fmt.Sprintf(`"index":%d,"content_block":%s`, e.n, start))
	for _, d := range deltas {
		e.add("content_block_delta", fmt.Sprintf(`"index":%d,"delta":%s`, e.n, d))
	}
	e.add("content_block_stop", fmt.Sprintf(`"index":%d`, e.n))
	e.n++
}

func quote(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

var stops = map[string]string{"": "end_turn", "length": "max_tokens", "content_filter": "refusal"}

func render(_ llmtest.Request, a llmtest.Answer) (string, []byte) {
	var e events
	u := a.Usage
	e.add("message_start", fmt.Sprintf(`"message":{"id":"msg_1","role":"assistant","model":"test-model","content":[],"usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":1}}`, u.Input, u.CacheRead, u.CacheWrite))
	e.add("ping", "")
	if a.Reasoning != "" {
		half := len(a.Reasoning) / 2
		e.block(`{"type":"thinking","thinking":"","signature":""}`,
			`{"type":"thinking_delta","thinking":`+quote(a.Reasoning[:half])+`}`, `{"type":"thinking_delta","thinking":`+quote(a.Reasoning[half:])+`}`,
			`{"type":"signature_delta","signature":"c2ln+`+fmt.Sprint(len(a.Reasoning))+`/=="}`)
		e.block(`{"type":"redacted_thinking","data":"b3BhcXVl"}`)
	}
	if a.Text != "" {
		e.block(`{"type":"text","text":""}`, `{"type":"text_delta","text":`+quote(a.Text)+`}`)
	}
	stop := stops[a.Finish]
	for _, c := range a.Calls {
		stop = "tool_use"
		id, _ := json.Marshal(c.ID)
		e.block(`{"type":"tool_use","id":`+string(id)+`,"name":`+quote(c.Name)+`,"input":{}}`, `{"type":"input_json_delta","partial_json":""}`, `{"type":"input_json_delta","partial_json":`+quote(c.Arguments)+`}`)
	}
	e.add("message_delta", fmt.Sprintf(`"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":%d,"output_tokens_details":{"thinking_tokens":%d}}`, stop, u.Output, u.Reasoning))
	e.add("message_stop", "")
	return "text/event-stream; charset=utf-8", e.Bytes()
}

func TestConformance(t *testing.T) {
	llmtest.Run(t, llmtest.Family{
		New: func(tb testing.TB, url, key string, idle time.Duration) llm.Client {
			return newClient(tb, anthropic.Config{BaseURL: url, Key: key, Idle: idle})
		},
		Render: render,
		Error: func(status int, message string) string {
			kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}[status]
			if kind == "" {
				kind = "api_error"
			}
			return `{"type":"error","error":{"type":"` + kind + `","message":` + quote(message) + `},"request_id":"req_1"}`
		},
		Overflow: "prompt is too long: 210000 tokens > 200000 maximum",
		History:  func(body []byte) []byte { return body[:bytes.LastIndex(body, []byte(`],"max_tokens"`))] },
		Forbids:  func(body []byte) bool { return bytes.Contains(body, []byte(`"tool_choice":{"type":"none"}`)) },
	})
}

func TestCasesOfTheMessagesForm(t *testing.T) {
	for _, id := range []string{"LLM-08", "LLM-28", "LLM-30"} {
		t.Run(id, func(t *testing.T) {
			replay := llmtest.NewReplay(t, sharedtest.Path(t, "cases", id))
			got := llmtest.Converse(t, newClient(t, anthropic.Config{BaseURL: replay.URL}), llmtest.Question("Which lake?"), 9)
			replay.Verify(t)
			if !strings.Contains(got.Last().Message.Text, "Lake Orrin") {
				t.Errorf("got answer %q", got.Last().Message.Text)
			}
			if want := (trajectory.Usage{Input: 2000, CacheRead: 8000, CacheWrite: 1000, Output: 500}); id == "LLM-28" && got.Last().Usage != want {
				t.Errorf("got usage %+v, want %+v", got.Last().Usage, want)
			}
		})
	}
}

// answered returns what a client makes of one stream, and the body it was sent.
func answered(t *testing.T, cfg anthropic.Config, req llm.Request, stream string) (llm.Response, string, error) {
	t.Helper()
	var body string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
	}))
	defer srv.Close()
	cfg.BaseURL = srv.URL
	resp, err := newClient(t, cfg).Complete(t.Context(), req, nil)
	return resp, body, err
}

func TestTheRawMessageKeepsEveryBlock(t *testing.T) {
	for _, tc := range []struct {
		name   string
		stop   string
		blocks func(*events)
		want   string
	}{
		{"signed, redacted, text and call", "tool_use", func(e *events) {
			e.block(`{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"a \"b\" <c>\n"}`, `{"type":"signature_delta","signature":"Eq+/"}`, `{"type":"signature_delta","signature":"x=="}`)
			e.block(`{"type":"redacted_thinking","data":"b3Bh+/=="}`)
			e.block(`{"type":"text","text":""}`, `{"type":"text_delta","text":"T"}`)
			e.block(`{"type":"tool_use","id":"tu_1","name":"search","input":{},"caller":{"type":"direct"}}`, `{"type":"input_json_delta","partial_json":"{\"query\": "}`, `{"type":"input_json_delta","partial_json":"\"q\"}"}`)
		}, `{"type":"thinking","thinking":"a \"b\" <c>\n","signature":"Eq+/x=="},{"type":"redacted_thinking","data":"b3Bh+/=="},{"type":"text","text":"T"},{"type":"tool_use","id":"tu_1","name":"search","input":{"query": "q"},"caller":{"type":"direct"}}`},
		{"an omitted thought keeps its signature", "end_turn", func(e *events) {
			e.block(`{"type":"thinking","thinking":"","signature":""}`, `{"type":"signature_delta","signature":"only"}`)
			e.block(`{"type":"text","text":""}`, `{"type":"text_delta","text":"T"}`)
		}, `{"type":"thinking","thinking":"","signature":"only"},{"type":"text","text":"T"}`},
		{"a thought between calls keeps its place", "tool_use", func(e *events) {
			e.block(`{"type":"tool_use","id":"a","name":"search","input":{"query":"x"}}`)
			e.block(`{"type":"thinking","thinking":"then"}`)
			e.block(`{"type":"tool_use","id":"b","name":"search","input":{}}`)
		}, `{"type":"tool_use","id":"a","name":"search","input":{"query":"x"}},{"type":"thinking","thinking":"then"},{"type":"tool_use","id":"b","name":"search","input":{}}`},
		{"a thought that was cut off stays out", "max_tokens", func(e *events) {
			e.block(`{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"half a th"}`)
		}, ``},
		{"texts of blanks stay out", "end_turn", func(e *events) {
			e.block(`{"type":"text","text":""}`)
			e.block(`{"type":"text","text":"\n\n"}`)
			e.block(`{"type":"text","text":"T","citations":null}`)
		}, `{"type":"text","text":"T"}`},
		{"blocks nobody knows yet", "end_turn", func(e *events) {
			e.block(`{"type":"novel_block","payload":{"a": [1, 2]},"z":"x"}`)
			e.block(`{"type":"text","text":"T"}`)
		}, `{"type":"novel_block","payload":{"a": [1, 2]},"z":"x"},{"type":"text","text":"T"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var e events
			e.add("message_start", `"message":{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}`)
			tc.blocks(&e)
			e.add("message_delta", `"delta":{"stop_reason":"`+tc.stop+`"},"usage":{"output_tokens":5}`)
			e.add("message_stop", "")
			got, _, err := answered(t, anthropic.Config{}, llmtest.Question("q"), e.String())
			if err != nil {
				t.Fatal(err)
			}
			if want := `{"role":"assistant","content":[` + tc.want + `]}`; string(got.Message.Raw) != want {
				t.Errorf("raw message\ngot  %s\nwant %s", got.Message.Raw, want)
			}
		})
	}
}

func done() string {
	_, body := render(llmtest.Request{}, llmtest.Answer{Text: "done"})
	return string(body)
}

func TestTheRequestAsItIsSent(t *testing.T) {
	req := llm.Request{
		Model: "claude-opus-4-7", System: "S", Effort: "high", MaxOutputTokens: 9000, ForbidTools: true,
		Tools: []llm.ToolSpec{{Name: "search", Description: "D <b>", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []llm.Message{
			{Role: llm.User, Text: "Q"},
			{Role: llm.Assistant, Raw: json.RawMessage(`{"role":"assistant","content":[{"type":"text", "text":"kept"}]}`)},
			{Role: llm.User, Text: "Use a tool."},
			{Role: llm.Assistant, Text: "T", Calls: []llm.Call{{ID: "a", Name: "search", Arguments: "{"}, {ID: "b", Name: "search", Arguments: `{"q":1}`}}},
			{Role: llm.Tool, CallID: "a", Text: "no", IsError: true},
			{Role: llm.Tool, CallID: "b", Text: "yes"},
			{Role: llm.User, Text: "Time is up."},
			{Role: llm.Assistant, Raw: json.RawMessage(`{"role":"assistant","content":[]}`)},
			{Role: llm.User, Text: "Answer now."},
		},
	}
	_, body, err := answered(t, anthropic.Config{}, req, done())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"claude-opus-4-7","stream":true,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"},"cache_control":{"type":"ephemeral"},` +
		`"tools":[{"name":"search","description":"D <b>","input_schema":{"type":"object"}}],"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"Q"}]},{"role":"assistant","content":[{"type":"text", "text":"kept"}]},` +
		`{"role":"user","content":[{"type":"text","text":"Use a tool."}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"T"},{"type":"tool_use","id":"a","name":"search","input":{}},{"type":"tool_use","id":"b","name":"search","input":{"q":1}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"no","is_error":true},{"type":"tool_result","tool_use_id":"b","content":"yes"}]},` +
		`{"role":"user","content":[{"type":"text","text":"Time is up."}]},{"role":"user","content":[{"type":"text","text":"Answer now."}]}],"max_tokens":9000,"tool_choice":{"type":"none"}}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestManyCallsInATurnGetABridgeForTheCache(t *testing.T) {
	req := llmtest.Question("q")
	answer := llm.Message{Role: llm.Assistant}
	for i := range 12 {
		answer.Calls = append(answer.Calls, llm.Call{ID: fmt.Sprint("c", i), Name: "search", Arguments: "{}"})
	}
	req.Messages = append(req.Messages, answer)
	for _, c := range answer.Calls {
		req.Messages = append(req.Messages, llm.Message{Role: llm.Tool, CallID: c.ID, Text: "r"})
	}
	_, body, err := answered(t, anthropic.Config{}, req, done())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(body, `{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}`) || strings.Count(body, "cache_control") != 3 {
		t.Errorf("want marks on the request, the system text and the message before the large turn:\n%s", body)
	}
	_, body, err = answered(t, anthropic.Config{NoCache: true}, req, done())
	if err != nil || strings.Contains(body, "cache_control") {
		t.Errorf("marks although they are off: %v\n%s", err, body)
	}
}

func TestWhatAModelRefusesIsLearnedOnce(t *testing.T) {
	for _, tc := range []struct {
		name, words string
		refuse      func(map[string]any) bool
		check       func(map[string]any) bool
	}{
		{"effort", "adaptive thinking is not supported on this model", func(b map[string]any) bool { return b["output_config"] != nil }, func(b map[string]any) bool {
			return b["output_config"] == nil && b["thinking"].(map[string]any)["budget_tokens"].(float64) < b["max_tokens"].(float64)
		}},
		{"output limit", "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m", func(b map[string]any) bool { return b["max_tokens"].(float64) > 8192 }, func(b map[string]any) bool {
			return b["max_tokens"].(float64) == 8192
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var bodies []map[string]any
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var b map[string]any
				_ = json.NewDecoder(r.Body).Decode(&b)
				bodies = append(bodies, b)
				if tc.refuse(b) {
					w.WriteHeader(400)
					_, _ = io.WriteString(w, `{"type":"error","error":{"type":"invalid_request_error","message":`+quote(tc.words)+`}}`)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, done())
			}))
			defer srv.Close()
			var notices []string
			c := newClient(t, anthropic.Config{BaseURL: srv.URL, Notice: func(s string) { notices = append(notices, s) }})
			req := llmtest.Question("q")
			req.Effort = "high"
			for range 2 {
				if _, err := c.Complete(t.Context(), req, nil); err != nil {
					t.Fatal(err)
				}
			}
			if len(bodies) != 3 || len(notices) != 1 {
				t.Errorf("got %d requests and notices %q, want 3 and one", len(bodies), notices)
			}
			if !tc.check(bodies[len(bodies)-1]) {
				t.Errorf("got %v", bodies[len(bodies)-1])
			}
		})
	}
}

func TestAnErrorInTheMiddleOfAStream(t *testing.T) {
	start := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n"
	_, _, err := answered(t, anthropic.Config{}, llmtest.Question("q"), start+"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n")
	e, ok := err.(*llm.Error)
	if !ok || !e.Retryable || e.Message != "Overloaded" || e.Usage.Input != 7 {
		t.Errorf("got %+v", err)
	}
}

func TestAStreamWithAStopReasonNeedsNoEndEvent(t *testing.T) {
	whole := done()
	cut := whole[:strings.Index(whole, "event: message_stop")]
	got, _, err := answered(t, anthropic.Config{}, llmtest.Question("q"), cut)
	if err != nil || got.Message.Text != "done" {
		t.Errorf("got %q, %v", got.Message.Text, err)
	}
}

func FuzzStream(f *testing.F) {
	_, body := render(llmtest.Request{}, llmtest.Answer{Text: "T", Reasoning: "R", Calls: []llm.Call{{ID: "a", Name: "search", Arguments: `{"q":"\ud800"}`}}})
	for line := range strings.Lines(string(body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			f.Add(data, `{"type":"content_block_delta","index":0,"delta":{"text":"x"}}`)
		}
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		req := llmtest.Question("q")
		got, err := anthropic.Assemble(req, first, second)
		if err != nil {
			return
		}
		req.Messages = append(req.Messages, got.Message)
		for _, c := range got.Message.Calls {
			req.Messages = append(req.Messages, llm.Message{Role: llm.Tool, CallID: c.ID, Text: "x"})
		}
		var body map[string]any
		if raw := anthropic.Encode(req); json.Unmarshal(raw, &body) != nil {
			t.Errorf("the next request is no JSON: %s", raw)
		}
		for _, problem := range llmtest.Unpaired(body) {
			t.Error(problem)
		}
	})
}
