package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"goserini/internal/lazyregexp"
	"goserini/internal/llm"
)

// maxShown bounds, in bytes, how much of a server's words an error shows.
const maxShown = 300

// maxKept bounds, in bytes, how much of a server's words is searched.
const maxKept = 64 << 10

// Detail is what a server says about a failure, whatever form it chose. It is the cause
// that an *llm.Error of this package wraps.
type Detail struct {
	// Message is on one line, whole up to maxKept bytes, so that whoever looks for words in it misses none.
	Message string
	// Code and Type are the server's own words, Param the field it objects to.
	Code, Type, Param string
}

func (d Detail) Error() string { return Shorten(d.Message) }

// ParseDetail reads an error body: an object or a plain string under "error", the fields
// at the top, a list of such objects, the list of a validator under "detail", a page of
// HTML, or anything else.
func ParseDetail(body []byte) Detail {
	body = bytes.TrimSpace(body)
	if d, ok := jsonDetail(body, 0); ok {
		return d
	}
	text := string(body)
	if strings.HasPrefix(text, "<") {
		text = "a web page: " + tags.ReplaceAllString(text, " ")
	}
	if text == "" {
		text = "no explanation"
	}
	return Detail{Message: oneLine(text)}
}

var tags = lazyregexp.New(`(?is)<style.*?</style>|<script.*?</script>|<[^>]*>`)

func jsonDetail(body []byte, depth int) (Detail, bool) {
	if len(body) == 0 || depth > 3 {
		return Detail{}, false
	}
	switch body[0] {
	case '"':
		var s string
		if json.Unmarshal(body, &s) != nil {
			return Detail{}, false
		}
		return Detail{Message: oneLine(s)}, s != ""
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			return Detail{}, false
		}
		return jsonDetail(list[0], depth+1)
	case '{':
		return objectDetail(body, depth)
	}
	return Detail{}, false
}

func objectDetail(body []byte, depth int) (Detail, bool) {
	var o struct {
		Error   json.RawMessage `json:"error"`
		Errors  json.RawMessage `json:"errors"`
		Detail  json.RawMessage `json:"detail"`
		Message json.RawMessage `json:"message"`
		Msg     json.RawMessage `json:"msg"`
		Code    json.RawMessage `json:"code"`
		Type    json.RawMessage `json:"type"`
		Status  json.RawMessage `json:"status"`
		Param   json.RawMessage `json:"param"`
		Loc     []any           `json:"loc"`
	}
	if json.Unmarshal(body, &o) != nil {
		return Detail{}, false
	}
	d := Detail{Code: Scalar(o.Code), Type: Scalar(o.Type), Param: Scalar(o.Param)}
	if d.Type == "" {
		d.Type = Scalar(o.Status)
	}
	if len(o.Loc) > 0 {
		d.Param, _ = o.Loc[len(o.Loc)-1].(string)
	}
	for _, own := range []json.RawMessage{o.Message, o.Msg} {
		if s := Scalar(own); s != "" {
			d.Message = oneLine(s)
			return d, true
		}
	}
	for _, inner := range []json.RawMessage{o.Error, o.Errors, o.Detail, o.Message} {
		if in, ok := jsonDetail(bytes.TrimSpace(inner), depth+1); ok {
			in.Code, in.Type = first(in.Code, d.Code), first(in.Type, d.Type)
			in.Param = first(in.Param, d.Param)
			return in, true
		}
	}
	if d.Code != "" || d.Type != "" {
		d.Message = oneLine(strings.TrimSpace(d.Type + " " + d.Code))
		return d, true
	}
	return Detail{}, false
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Scalar returns a JSON string or number as text, and "" for anything else.
func Scalar(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	switch c := raw[0]; {
	case c == '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return ""
		}
		return s
	case c == '-' || c >= '0' && c <= '9':
		return string(raw)
	}
	return ""
}

// oneLine puts text on one line, as far as it is kept.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s[:min(len(s), maxKept)], "\uFFFD")), " ")
}

// Shorten puts text on one line and cuts it at maxShown bytes, saying so.
func Shorten(s string) string {
	s = oneLine(s)
	if len(s) <= maxShown {
		return s
	}
	cut := maxShown
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "… (" + strconv.Itoa(len(s)) + " bytes)"
}

// Classify decides what a failure means: whether the same request may succeed later and
// whether the conversation is too long. status is that of HTTP, or the one a server put
// inside an answer, or 0.
func Classify(provider string, status int, d Detail) *llm.Error {
	e := &llm.Error{Provider: provider, Status: status, Code: Shorten(first(d.Code, d.Type)), Message: Shorten(d.Message), Err: d}
	e.ContextOverflow = status == http.StatusRequestEntityTooLarge || status != http.StatusTooManyRequests && Overflow(d)
	e.Retryable = !e.ContextOverflow && retryable(status, d)
	return e
}

func retryable(status int, d Detail) bool {
	said := strings.ToLower(d.Code + " " + d.Type)
	if strings.Contains(said, "insufficient_quota") || strings.Contains(said, "billing") {
		return false
	}
	switch status {
	case 0:
		return !containsAny(said, permanent)
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500
}

// permanent are parts of the error types with which servers report, without a status, what no retry mends.
var permanent = []string{"invalid_request", "invalid_argument", "authentication", "permission", "not_found", "badrequest", "unsupported", "invalid_prompt"}

// overflow are the words, lower case, with which servers say that a conversation is too long.
var overflow = []string{
	"context_length_exceeded", "exceed_context_size", "model_context_window_exceeded",
	"maximum context length", "maximum prompt length", "context window", "context length",
	"available context size", "prompt is too long", "input is too long", "prompt too long",
	"exceeds the maximum number of tokens", "reduce the length of the messages", "context size has been exceeded",
	"too large for model with", "request_too_large",
}

// Overflow reports whether the failure says that the conversation exceeds the model's window.
func Overflow(d Detail) bool {
	return containsAny(strings.ToLower(d.Code+" "+d.Type+" "+d.Message), overflow)
}

func containsAny(s string, parts []string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// InBody translates an error that a server put inside an answer with status 200. A
// three-digit code is taken for the status it stands for.
func (e *Endpoint) InBody(raw []byte) *llm.Error {
	detail := ParseDetail([]byte(e.Secrets.Redact(string(raw))))
	status, err := strconv.Atoi(detail.Code)
	if err != nil || status < 400 || status > 599 {
		status = 0
	}
	return Classify(e.Provider, status, detail)
}

// Malformed says that an answer does not follow the protocol; the same request may do better.
func (e *Endpoint) Malformed(what string) *llm.Error {
	return &llm.Error{Provider: e.Provider, Message: Shorten(e.Secrets.Redact(what)), Retryable: true}
}

// RetryAfter is the wish of the server: retry-after-ms, retry-after in seconds or as a
// date, the latter relative to the server's own clock where it sent one.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil {
		return wait(ms, time.Millisecond)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return wait(s, time.Second)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if server, err := http.ParseTime(h.Get("Date")); err == nil {
		now = server
	}
	return max(0, at.Sub(now))
}

// wait bounds a hostile number to a day.
func wait(n float64, unit time.Duration) time.Duration {
	if !(n > 0) {
		return 0
	}
	return time.Duration(min(n, float64(24*time.Hour/unit)) * float64(unit))
}
