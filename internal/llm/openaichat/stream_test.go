package openaichat_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/llm"
	"goserini/internal/llm/llmtest"
	"goserini/internal/llm/openaichat"
	"goserini/internal/trajectory"
)

// served returns what a client makes of one answer, given as it comes over the wire.
func served(t *testing.T, cfg openaichat.Config, answer string, req llm.Request) (llm.Response, error) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	defer srv.Close()
	cfg.BaseURL = srv.URL
	return newClient(t, cfg).Complete(t.Context(), req, nil)
}

// stream makes events of delta objects, finish reasons and whole chunks.
func stream(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case strings.HasPrefix(p, "finish "):
			p = `{"choices":[{"index":0,"delta":{},"finish_reason":"` + strings.TrimPrefix(p, "finish ") + `"}]}`
		case !strings.HasPrefix(p, `{"choices"`) && strings.HasPrefix(p, "{"):
			p = `{"choices":[{"index":0,"delta":` + p + `}]}`
		}
		b.WriteString("data: " + p + "\n\n")
	}
	return b.String()
}

func TestCallPiecesInEveryForm(t *testing.T) {
	two := []llm.Call{{ID: "a", Name: "search", Arguments: `{"q":1}`}, {ID: "b", Name: "read_document", Arguments: `{"d":2}`}}
	for _, tc := range []struct {
		name   string
		pieces []string
		want   []llm.Call
	}{
		{"by the book", []string{
			`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"search","arguments":""}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}`,
			`{"tool_calls":[{"index":1,"id":"b","function":{"name":"read_document","arguments":"{\"d\":2}"}}]}`}, two},
		{"interleaved", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"search"}},{"index":1,"id":"b","function":{"name":"read_document"}}]}`,
			`{"tool_calls":[{"index":1,"function":{"arguments":"{\"d\":2}"}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\":1}"}}]}`}, two},
		{"no index, id null on later pieces", []string{
			`{"tool_calls":[{"id":"a","function":{"name":"search","arguments":""}}]}`, `{"tool_calls":[{"id":null,"function":{"arguments":"{\"q\":1}"}}]}`,
			`{"tool_calls":[{"id":"b","function":{"name":"read_document","arguments":""}}]}`, `{"tool_calls":[{"id":"","function":{"name":null,"arguments":"{\"d\":2}"}}]}`}, two},
		{"index null", []string{
			`{"tool_calls":[{"index":null,"id":"a","function":{"name":"search","arguments":"{\"q\":1}"}}]}`,
			`{"tool_calls":[{"index":null,"id":"b","function":{"name":"read_document","arguments":"{\"d\":2}"}}]}`}, two},
		{"the same index, new id and name", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\":1}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"b","function":{"name":"read_document","arguments":"{\"d\":2}"}}]}`}, two},
		{"neither index nor id, whole calls", []string{
			`{"tool_calls":[{"function":{"name":"search","arguments":"{\"q\":1}"}}]}`, `{"tool_calls":[{"function":{"name":"read_document","arguments":"{\"d\":2}"}}]}`},
			[]llm.Call{{ID: "call00001", Name: "search", Arguments: `{"q":1}`}, {ID: "call00002", Name: "read_document", Arguments: `{"d":2}`}}},
		{"index 0 for all, no ids, whole calls of one tool", []string{
			`{"tool_calls":[{"index":0,"id":"","function":{"name":"search","arguments":"{\"q\":1}"}}]}`, `{"tool_calls":[{"index":0,"id":"","function":{"name":"search","arguments":"{\"q\":2}"}}]}`},
			[]llm.Call{{ID: "call00001", Name: "search", Arguments: `{"q":1}`}, {ID: "call00002", Name: "search", Arguments: `{"q":2}`}}},
		{"arguments as objects", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":{"q": 1}}},{"index":1,"id":"b","function":{"name":"read_document","arguments":{"d": 2}}}]}`}, two},
		{"arguments null, then whole", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":null}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\":1}"}}]}`}, two[:1]},
		{"id and name repeated on every piece", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\""}}]}`, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":":1}"}}]}`}, two[:1]},
		{"another id on every piece, without a name", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\""}}]}`, `{"tool_calls":[{"index":0,"id":"zz","function":{"arguments":":1}"}}]}`}, two[:1]},
		{"the name in bits", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"sea"}}]}`, `{"tool_calls":[{"index":0,"function":{"name":"rch","arguments":"{\"q\":1}"}}]}`}, two[:1]},
		{"one id for two calls of a turn", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\":1}"}},{"index":1,"id":"a","function":{"name":"read_document","arguments":"{\"d\":2}"}}]}`},
			[]llm.Call{two[0], {ID: "call00001", Name: "read_document", Arguments: `{"d":2}`}}},
		{"index as a string", []string{
			`{"tool_calls":[{"index":"0","id":"a","function":{"name":"search","arguments":"{\"q\""}}]}`, `{"tool_calls":[{"index":"0","function":{"arguments":":1}"}}]}`}, two[:1]},
		{"a call that is no list", []string{`{"tool_calls":{"id":"a","function":{"name":"search","arguments":"{\"q\":1}"}}}`}, two[:1]},
		{"empty pieces and null lists", []string{
			`{"tool_calls":null}`, `{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`, `{"tool_calls":[]}`,
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\":1}"}}]}`}, two[:1]},
	} {
		for _, finish := range []string{"finish tool_calls", "finish stop", "[DONE]"} {
			t.Run(tc.name+", "+finish, func(t *testing.T) {
				got, err := served(t, openaichat.Config{}, stream(append(tc.pieces, finish)...), llmtest.Question("q"))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got.Message.Calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if got.StopReason != llm.StopCalls {
					t.Errorf("got stop reason %q, want tool_calls", got.StopReason)
				}
			})
		}
	}
}

func TestTheRawMessageIsWhatGoesBack(t *testing.T) {
	for _, tc := range []struct {
		name  string
		parts []string
		cfg   openaichat.Config
		want  string
	}{
		{"text", []string{`{"role":"assistant","content":""}`, `{"content":"a\nb"}`}, openaichat.Config{},
			`{"role":"assistant","content":"a\nb"}`},
		{"content null with calls stays null", []string{`{"content":null,"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\": 1}"}}]}`}, openaichat.Config{},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"search","arguments":"{\"q\": 1}"}}]}`},
		{"empty content with calls stays empty", []string{`{"content":"","tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":""}}]}`}, openaichat.Config{},
			`{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"search","arguments":"{}"}}]}`},
		{"reasoning_content", []string{`{"reasoning_content":"think "}`, `{"reasoning_content":"hard"}`, `{"content":"a"}`}, openaichat.Config{},
			`{"role":"assistant","content":"a","reasoning_content":"think hard"}`},
		{"reasoning_content that is empty", []string{`{"reasoning_content":""}`, `{"content":"a"}`}, openaichat.Config{},
			`{"role":"assistant","content":"a","reasoning_content":""}`},
		{"reasoning_content null is none", []string{`{"reasoning_content":null,"content":"a"}`}, openaichat.Config{},
			`{"role":"assistant","content":"a"}`},
		{"reasoning", []string{`{"reasoning":"think"}`, `{"content":"a"}`}, openaichat.Config{},
			`{"role":"assistant","content":"a","reasoning":"think"}`},
		{"reasoning dropped", []string{`{"reasoning":"think"}`, `{"content":"a"}`}, openaichat.Config{Reasoning: openaichat.DropReasoning},
			`{"role":"assistant","content":"a"}`},
		{"reasoning_details replace the plain text", []string{
			`{"reasoning":"th","reasoning_details":[{"type":"reasoning.text","text":"th","index":0,"format":"x"}]}`,
			`{"reasoning":"ink","reasoning_details":[{"type":"reasoning.text","text":"ink","index":0}]}`,
			`{"reasoning_details":[{"type":"reasoning.text","signature":"sig=","index":0,"text":null}]}`,
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"AbC=","id":"r1","index":1}]}`,
			`{"reasoning_details":[{"type":"reasoning.encrypted","data":"DeF=","id":"r2","index":2}]}`, `{"content":"a"}`}, openaichat.Config{},
			`{"role":"assistant","content":"a","reasoning_details":[{"format":"x","index":0,"signature":"sig=","text":"think","type":"reasoning.text"},` +
				`{"data":"AbC=","id":"r1","index":1,"type":"reasoning.encrypted"},{"data":"DeF=","id":"r2","index":2,"type":"reasoning.encrypted"}]}`},
		{"a signature on a call comes back with it", []string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s=="}}}]}`}, openaichat.Config{},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"search","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s=="}}}]}`},
		{"control tokens in a tool name", []string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"search<|channel|>commentary","arguments":"{}"}}]}`}, openaichat.Config{},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"search","arguments":"{}"}}]}`},
		{"an invented tool name", []string{`{"tool_calls":[{"index":0,"id":"a","function":{"name":"find it!","arguments":"{}"}}]}`}, openaichat.Config{},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"find_it_","arguments":"{}"}}]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := served(t, tc.cfg, stream(append(tc.parts, "finish stop", "[DONE]")...), llmtest.Question("q"))
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Message.Raw) != tc.want {
				t.Errorf("raw message\ngot  %s\nwant %s", got.Message.Raw, tc.want)
			}
		})
	}
}

func TestReadableReasoning(t *testing.T) {
	for name, parts := range map[string][]string{
		"reasoning_content":  {`{"reasoning_content":"think "}`, `{"reasoning_content":"hard"}`},
		"reasoning":          {`{"reasoning":"think "}`, `{"reasoning":"hard"}`},
		"both names at once": {`{"reasoning":"think ","reasoning_content":"think "}`, `{"reasoning":"hard","reasoning_content":"hard"}`},
		"details alone":      {`{"reasoning_details":[{"type":"reasoning.summary","summary":"think "}]}`, `{"reasoning_details":[{"type":"reasoning.summary","summary":"hard"}]}`},
		"parts of content":   {`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"think "}]}]}`, `{"content":[{"type":"thinking","thinking":"hard"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := served(t, openaichat.Config{}, stream(append(parts, `{"content":"a"}`, "finish stop")...), llmtest.Question("q"))
			if err != nil {
				t.Fatal(err)
			}
			if got.Message.Reasoning != "think hard" || got.Message.Text != "a" {
				t.Errorf("got reasoning %q and text %q", got.Message.Reasoning, got.Message.Text)
			}
		})
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for _, tc := range []struct {
		name, answer, says string
		retryable          bool
		usage              trajectory.Usage
	}{
		{"nothing", "", "empty", true, trajectory.Usage{}},
		{"blanks", " \n\n", "empty", true, trajectory.Usage{}},
		{"comments alone", ": ping\n\n", "no choice", true, trajectory.Usage{}},
		{"an end mark alone", "data: [DONE]\n\n", "no choice", true, trajectory.Usage{}},
		{"no end mark", stream(`{"content":"half of the"}`), "broke off", true, trajectory.Usage{}},
		{"no end mark after usage", stream(`{"content":"half"}`, `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}`), "broke off", true, trajectory.Usage{Input: 5, Output: 2}},
		{"an event that is no JSON", stream(`{"content":"half"}`, `{"choices":[{`), "not a chunk", true, trajectory.Usage{}},
		{"torn whole answer", `{"id":"x","choices":[{"mess`, "not a chat completion", true, trajectory.Usage{}},
		{"a web page", "<html><h1>Welcome</h1></html>", "a web page: Welcome", true, trajectory.Usage{}},
		{"error inside an answer", `{"error":{"message":"model is loading","code":503}}`, "HTTP 503: model is loading", true, trajectory.Usage{}},
		{"our mistake inside an answer", `{"error":{"message":"bad tool","type":"invalid_request_error"}}`, "bad tool", false, trajectory.Usage{}},
		{"plain error inside an answer", `{"error":"no slot"}`, "no slot", true, trajectory.Usage{}},
		{"error at the top", `{"object":"error","message":"too busy","code":429}`, "HTTP 429: too busy", true, trajectory.Usage{}},
		{"error in the middle", stream(`{"content":"half"}`, `{"choices":[{"delta":{},"finish_reason":"error"}],"error":{"message":"upstream died","code":502}}`), "upstream died", true, trajectory.Usage{}},
		{"error event", stream(`{"content":"half"}`) + "event: error\ndata: {\"message\":\"worker died\"}\n\n", "worker died", true, trajectory.Usage{}},
		{"no choices", `{"id":"x","choices":[]}`, "choices", true, trajectory.Usage{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := served(t, openaichat.Config{Provider: "p"}, tc.answer, llmtest.Question("q"))
			var e *llm.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %+v, %v; want *llm.Error", got, err)
			}
			if e.Retryable != tc.retryable || !strings.Contains(e.Error(), tc.says) || e.Usage != tc.usage {
				t.Errorf("got %v (retryable %v, usage %+v); want it to say %q (retryable %v, usage %+v)", e, e.Retryable, e.Usage, tc.says, tc.retryable, tc.usage)
			}
		})
	}
}

func TestStopReasons(t *testing.T) {
	call := `{"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\": \"cut he"}}]}`
	spent := `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":64}}`
	for _, tc := range []struct {
		name  string
		parts []string
		want  llm.StopReason
	}{
		{"stop", []string{`{"content":"a"}`, "finish stop"}, llm.StopEnd},
		{"end mark without reason", []string{`{"content":"a"}`, "[DONE]"}, llm.StopEnd},
		{"length", []string{`{"content":"a"}`, "finish length"}, llm.StopLength},
		{"filter", []string{`{"content":"a"}`, "finish content_filter"}, llm.StopRefusal},
		{"refusal", []string{`{"refusal":"I will not."}`, "finish stop"}, llm.StopRefusal},
		{"calls announced and none given", []string{`{"content":"a"}`, "finish tool_calls"}, llm.StopOther},
		{"a word of the server's own", []string{`{"content":"a"}`, "finish meteor"}, llm.StopOther},
		{"length inside a call", []string{call, "finish length"}, llm.StopLength},
		{"limit used up inside a call, other reason", []string{call, "finish tool_calls", spent}, llm.StopLength},
		{"broken call below the limit", []string{call, "finish tool_calls"}, llm.StopCalls},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := llmtest.Question("q")
			req.MaxOutputTokens = 64
			got, err := served(t, openaichat.Config{}, stream(tc.parts...), req)
			if err != nil {
				t.Fatal(err)
			}
			if got.StopReason != tc.want {
				t.Errorf("got %q, want %q", got.StopReason, tc.want)
			}
		})
	}
}

func TestUsageInTheNormalForm(t *testing.T) {
	for _, tc := range []struct {
		name, usage string
		want        trajectory.Usage
	}{
		{"plain", `{"prompt_tokens":120,"completion_tokens":20,"total_tokens":140}`, trajectory.Usage{Input: 120, Output: 20}},
		{"cached is part of the prompt", `{"prompt_tokens":1000,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":800}}`, trajectory.Usage{Input: 200, CacheRead: 800, Output: 20}},
		{"written to the cache", `{"prompt_tokens":1000,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":700,"cache_write_tokens":200}}`, trajectory.Usage{Input: 100, CacheRead: 700, CacheWrite: 200, Output: 20}},
		{"DeepSeek", `{"prompt_tokens":1000,"completion_tokens":20,"prompt_cache_hit_tokens":900,"prompt_cache_miss_tokens":100,"completion_tokens_details":{"reasoning_tokens":15}}`, trajectory.Usage{Input: 100, CacheRead: 900, Output: 20, Reasoning: 15}},
		{"cached on top of the prompt", `{"prompt_tokens":200,"completion_tokens":20,"cache_read_input_tokens":800}`, trajectory.Usage{Input: 200, CacheRead: 800, Output: 20}},
		{"reasoning on top of the completion", `{"prompt_tokens":100,"completion_tokens":20,"total_tokens":420,"completion_tokens_details":{"reasoning_tokens":300}}`, trajectory.Usage{Input: 100, Output: 320, Reasoning: 300}},
		{"reasoning on top, small", `{"prompt_tokens":100,"completion_tokens":20,"total_tokens":130,"completion_tokens_details":{"reasoning_tokens":10}}`, trajectory.Usage{Input: 100, Output: 30, Reasoning: 10}},
		{"nulls and floats", `{"prompt_tokens":100.0,"completion_tokens":"20","prompt_tokens_details":null,"completion_tokens_details":[]}`, trajectory.Usage{Input: 100, Output: 20}},
		{"hostile", `{"prompt_tokens":-5,"completion_tokens":1e300}`, trajectory.Usage{Output: 1 << 40}},
	} {
		for form, answer := range map[string]string{
			"after the finish reason": stream(`{"content":"a"}`, "finish stop", `{"choices":[],"usage":`+tc.usage+`}`, "[DONE]"),
			"on every chunk":          stream(`{"choices":[{"index":0,"delta":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":`+tc.usage+`}`),
			"inside the choice":       stream(`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop","usage":` + tc.usage + `}]}`),
			"under x_groq":            stream(`{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"x_groq":{"usage":` + tc.usage + `}}`),
			"whole answer":            `{"choices":[{"index":0,"message":{"content":"a"},"finish_reason":"stop"}],"usage":` + tc.usage + `}`,
		} {
			t.Run(tc.name+", "+form, func(t *testing.T) {
				got, err := served(t, openaichat.Config{}, answer, llmtest.Question("q"))
				if err != nil {
					t.Fatal(err)
				}
				if got.Usage != tc.want || !got.UsageKnown {
					t.Errorf("got %+v (known %v), want %+v", got.Usage, got.UsageKnown, tc.want)
				}
			})
		}
	}
}

func TestNoUsageIsNotZeroUsage(t *testing.T) {
	got, err := served(t, openaichat.Config{}, stream(`{"content":"a"}`, "finish stop"), llmtest.Question("q"))
	if err != nil || got.UsageKnown {
		t.Errorf("got known %v, %v; want unknown", got.UsageKnown, err)
	}
}

func TestOnlyTheFirstChoiceCounts(t *testing.T) {
	answer := stream(`{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"content":"X"}}]}`, `{"choices":[{"index":1,"delta":{"content":"X"},"finish_reason":"length"}]}`, "finish stop")
	got, err := served(t, openaichat.Config{}, answer, llmtest.Question("q"))
	if err != nil || got.Message.Text != "a" || got.StopReason != llm.StopEnd {
		t.Errorf("got %q, %q, %v", got.Message.Text, got.StopReason, err)
	}
}

func TestAStreamOfWholeMessages(t *testing.T) {
	answer := stream(`{"choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}`)
	got, err := served(t, openaichat.Config{}, answer, llmtest.Question("q"))
	if err != nil || got.Message.Text != "a" {
		t.Errorf("got %q, %v", got.Message.Text, err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(stream(`{"content":"a","reasoning_details":[{"type":"reasoning.text","text":"t"}]}`, `{"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\":\"\\ud99c\"}"},"x":"\ud83d"}]}`, "finish tool_calls", "[DONE]"))
	f.Add(`{"choices":[{"message":{"content":[{"type":"text","text":"a"}],"tool_calls":[{"function":{"arguments":{"a":1}}}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`)
	f.Add(`[{"error":"x"}]`)
	f.Fuzz(func(t *testing.T, answer string) {
		got, err := openaichat.ReadAnswer(llmtest.Question("q"), strings.NewReader(answer))
		if err != nil {
			return
		}
		assertClean(t, got)
	})
}

// assertClean checks what every response promises, however odd the server.
func assertClean(t *testing.T, got llm.Response) {
	t.Helper()
	req := llmtest.Question("q")
	req.Messages = append(req.Messages, got.Message)
	seen := map[string]bool{}
	for _, c := range got.Message.Calls {
		if c.ID == "" || seen[c.ID] {
			t.Errorf("id %q is empty or repeated", c.ID)
		}
		seen[c.ID] = true
		req.Messages = append(req.Messages, llm.Message{Role: llm.Tool, CallID: c.ID, Text: "x"})
	}
	body := openaichat.Encode(req)
	if problems := llmtest.Problems(body); len(problems) > 0 {
		t.Errorf("the next request is not clean: %v\n%s", problems, body)
	}
}
