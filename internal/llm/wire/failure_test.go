package wire

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEveryFormOfAnErrorIsRead(t *testing.T) {
	for _, tc := range []struct {
		name, body string
		want       Detail
	}{
		{"object", `{"error":{"message":"m","type":"t","code":"c","param":"p"}}`, Detail{"m", "c", "t", "p"}},
		{"plain string", `{"error":"m"}`, Detail{Message: "m"}},
		{"numeric code", `{"error":{"message":"m","code":502}}`, Detail{Message: "m", Code: "502"}},
		{"at the top", `{"object":"error","message":"m","type":"BadRequestError","code":400,"param":null}`, Detail{Message: "m", Code: "400", Type: "BadRequestError"}},
		{"list", `[{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}]`, Detail{Message: "m", Code: "400", Type: "INVALID_ARGUMENT"}},
		{"validator", `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, Detail{Message: "Extra inputs are not permitted", Type: "extra_forbidden", Param: "stream_options"}},
		{"detail string", `{"detail":"m"}`, Detail{Message: "m"}},
		{"Messages form", `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`, Detail{Message: "m", Type: "overloaded_error"}},
		{"web page", "<html><style>b{}</style><body>\n<h1>Bad  Gateway</h1></body></html>", Detail{Message: "a web page: Bad Gateway"}},
		{"JSON string", `"m"`, Detail{Message: "m"}},
		{"text", "upstream\nfailed", Detail{Message: "upstream failed"}},
		{"empty", "", Detail{Message: "no explanation"}},
		{"only a code", `{"error":{"code":"busy"}}`, Detail{Message: "busy", Code: "busy"}},
		{"deep nest", strings.Repeat(`{"error":`, 50) + `"m"` + strings.Repeat("}", 50), Detail{Message: strings.Repeat(`{"error":`, 50) + `"m"` + strings.Repeat("}", 50)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ParseDetail([]byte(tc.body))); diff != "" {
				t.Errorf("detail (-want +got):\n%s", diff)
			}
		})
	}
}

func TestALongPageIsCutWhereItIsShown(t *testing.T) {
	d := ParseDetail([]byte(strings.Repeat("灯", 4000) + " maximum context length"))
	for _, got := range []string{d.Error(), Classify("p", 400, d).Message} {
		if len(got) > maxShown+40 || !strings.HasSuffix(got, "… (12023 bytes)") {
			t.Errorf("got %d bytes ending in %q", len(got), got[len(got)-20:])
		}
	}
	if !Classify("p", 400, d).ContextOverflow {
		t.Error("words behind the cut were not seen")
	}
}

func TestWhatAFailureMeans(t *testing.T) {
	for _, tc := range []struct {
		name                string
		status              int
		detail              Detail
		retryable, overflow bool
	}{
		{"time-out", 408, Detail{}, true, false},
		{"conflict", 409, Detail{}, true, false},
		{"rate limit", 429, Detail{Message: "tokens per minute of context length class"}, true, false},
		{"quota used up", 429, Detail{Code: "insufficient_quota"}, false, false},
		{"server", 500, Detail{}, true, false},
		{"gateway", 502, Detail{}, true, false},
		{"overloaded", 529, Detail{}, true, false},
		{"not implemented", 501, Detail{}, false, false},
		{"bad request", 400, Detail{Message: "no"}, false, false},
		{"payment", 402, Detail{Message: "Insufficient Balance"}, false, false},
		{"forbidden", 403, Detail{}, false, false},
		{"unprocessable", 422, Detail{}, false, false},
		{"body too large", 413, Detail{}, false, true},
		{"inside an answer, unknown", 0, Detail{Message: "upstream"}, true, false},
		{"inside an answer, our mistake", 0, Detail{Type: "invalid_request_error"}, false, false},
		{"OpenAI overflow", 400, Detail{Code: "context_length_exceeded", Message: "This model's maximum context length is 128000 tokens."}, false, true},
		{"vLLM overflow", 400, Detail{Type: "BadRequestError", Message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"}, false, true},
		{"llama.cpp overflow", 400, Detail{Type: "exceed_context_size_error", Message: "the request exceeds the available context size, try increasing it"}, false, true},
		{"llama.cpp overflow inside an answer", 0, Detail{Code: "400", Type: "exceed_context_size_error"}, false, true},
		{"Ollama overflow", 400, Detail{Message: "the input length exceeds the context length"}, false, true},
		{"Anthropic overflow", 400, Detail{Type: "invalid_request_error", Message: "prompt is too long: 210000 tokens > 200000 maximum"}, false, true},
		{"Gemini overflow", 400, Detail{Message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}, false, true},
		{"Groq overflow", 400, Detail{Message: "Please reduce the length of the messages or completion."}, false, true},
		{"SGLang overflow", 400, Detail{Message: "The input (9000 tokens) is longer than the model's context length (8192 tokens)."}, false, true},
		{"LM Studio overflow", 400, Detail{Message: "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := Classify("p", tc.status, tc.detail)
			if e.Retryable != tc.retryable || e.ContextOverflow != tc.overflow {
				t.Errorf("got retryable %v, overflow %v; want %v, %v", e.Retryable, e.ContextOverflow, tc.retryable, tc.overflow)
			}
		})
	}
}

func TestTheWishToWait(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name   string
		header map[string]string
		want   time.Duration
	}{
		{"none", nil, 0},
		{"seconds", map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{"part of a second", map[string]string{"Retry-After": "0.25"}, 250 * time.Millisecond},
		{"milliseconds go first", map[string]string{"Retry-After": "7", "Retry-After-Ms": "1200"}, 1200 * time.Millisecond},
		{"date", map[string]string{"Retry-After": "Sun, 01 Nov 2026 12:00:30 GMT"}, 30 * time.Second},
		{"date by the server's clock", map[string]string{"Retry-After": "Sun, 01 Nov 2026 13:00:30 GMT", "Date": "Sun, 01 Nov 2026 13:00:00 GMT"}, 30 * time.Second},
		{"date in the past", map[string]string{"Retry-After": "Sun, 01 Nov 2026 11:00:00 GMT"}, 0},
		{"negative", map[string]string{"Retry-After": "-5"}, 0},
		{"not a number", map[string]string{"Retry-After": "NaN"}, 0},
		{"absurd", map[string]string{"Retry-After": "1e300"}, 24 * time.Hour},
		{"a word", map[string]string{"Retry-After": "soon"}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := http.Header{}
			for k, v := range tc.header {
				h.Set(k, v)
			}
			if got := RetryAfter(h, now); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestSecretsAreCutOut(t *testing.T) {
	list := Secrets{"sk-0123456789", "none", ""}
	got := list.Redact("Incorrect API key sk-0123456789; none of it works")
	if want := "Incorrect API key [key]; none of it works"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBaseURLs(t *testing.T) {
	got, err := CheckURL(" https://api.example.com/v1/ ")
	if err != nil || got != "https://api.example.com/v1" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, bad := range []string{"", "localhost:8080", "ftp://x", "http://", "https://user:pass@h/v1", "https://h/v1?key=secret"} {
		_, err := CheckURL(bad)
		if err == nil {
			t.Errorf("%q is accepted", bad)
			continue
		}
		if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "pass@") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

func FuzzParseDetail(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"m","code":1}}`))
	f.Add([]byte(`[[[["x"]]]]`))
	f.Add([]byte("<html>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		d := ParseDetail(body)
		if d.Message == "" && len(body) == 0 {
			t.Error("an empty body has no message")
		}
		if len(d.Error()) > maxShown+64 {
			t.Errorf("the message is %d bytes long", len(d.Error()))
		}
		if len(Classify("p", 400, d).Error()) > 1000 {
			t.Error("the error is too long")
		}
	})
}

func TestCountsAreReadLeniently(t *testing.T) {
	for in, want := range map[string]Count{`5`: 5, `5.0`: 5, `"7"`: 7, `null`: 0, `-3`: 0, `1e300`: maxCount, `{}`: 0, `true`: 0} {
		var c Count
		if err := json.Unmarshal([]byte(in), &c); err != nil || c != want {
			t.Errorf("%s: got %d, %v; want %d", in, c, err, want)
		}
	}
}
