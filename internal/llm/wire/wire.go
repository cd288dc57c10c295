// Package wire is what the clients of the model families share below their
// protocols: one HTTP exchange with bounded bodies and a limit on silence, event
// streams, and the translation of failures into llm.Error.
//
//	ep := wire.Endpoint{Provider: "deepseek", URL: "https://api.deepseek.com", Client: wire.NewHTTPClient(0)}
//	reply, err := ep.Post(ctx, "/chat/completions", body) // err is *llm.Error for a status of 400 and above
//	defer reply.Close()
//	events := wire.NewEventReader(reply.Body)
package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"goserini/internal/lazyregexp"
	"goserini/internal/llm"
)

// MaxErrorBytes bounds how much of an error page is read; a few hundred bytes of it are shown.
const MaxErrorBytes = 64 << 10

// Endpoint is one HTTP service of a provider. It is safe for concurrent use and must not
// be changed after the first call.
type Endpoint struct {
	// Provider names the service in errors.
	Provider string
	// URL is the base, without a slash at its end.
	URL string
	// Header is sent with every request.
	Header http.Header
	// Secrets are removed from everything that is shown.
	Secrets Secrets
	// KeyName is the variable the key comes from; a refusal of the key names it.
	KeyName string
	// Client comes from NewHTTPClient.
	Client *http.Client
}

// Reply is an answer with a status below 400. Close must be called.
type Reply struct {
	Header http.Header
	Body   io.ReadCloser
}

// Post sends a JSON body and returns the answer. Failures are *llm.Error, except that an
// ended context gives an error that wraps the context's.
func (e *Endpoint) Post(ctx context.Context, path string, body []byte) (*Reply, error) {
	return e.do(ctx, http.MethodPost, path, body)
}

// Get fetches a small JSON document of at most MaxErrorBytes·16.
func (e *Endpoint) Get(ctx context.Context, path string) ([]byte, error) {
	reply, err := e.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	defer reply.Close()
	raw, err := io.ReadAll(io.LimitReader(reply.Body, 16*MaxErrorBytes))
	if err != nil {
		return nil, e.Broken(ctx, err)
	}
	return raw, nil
}

func (e *Endpoint) do(ctx context.Context, method, path string, body []byte) (*Reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, e.URL+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: build request: %s", e.Provider, e.Secrets.Redact(err.Error()))
	}
	for name, values := range e.Header {
		req.Header[name] = values
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := e.Client.Do(req)
	if err != nil {
		return nil, e.Broken(ctx, err)
	}
	if resp.StatusCode < 300 {
		return &Reply{Header: resp.Header, Body: resp.Body}, nil
	}
	defer resp.Body.Close()
	page, _ := io.ReadAll(io.LimitReader(resp.Body, MaxErrorBytes))
	return nil, e.Refused(resp.StatusCode, resp.Header, page)
}

// Close lets the connection be used again where little is left to read, and drops it otherwise.
func (r *Reply) Close() { _ = r.Body.Close() }

// Hurry lowers the limit on silence for the rest of the answer: what matters has arrived.
func (r *Reply) Hurry(idle time.Duration) {
	if b, ok := r.Body.(*watchedBody); ok {
		b.hurry(idle)
	}
}

// Refused translates an answer with an error status.
func (e *Endpoint) Refused(status int, header http.Header, page []byte) *llm.Error {
	detail := ParseDetail([]byte(e.Secrets.Redact(string(page))))
	out := Classify(e.Provider, status, detail)
	out.RetryAfter = RetryAfter(header, time.Now())
	if m := retryDelay.FindSubmatch(page); m != nil && out.RetryAfter == 0 {
		out.RetryAfter = RetryAfter(http.Header{"Retry-After": {string(m[1])}}, time.Now())
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		if e.KeyName != "" {
			out.Message += " (the key came from " + e.KeyName + ")"
		}
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		out.Message = "the server redirects to " + e.Secrets.Redact(header.Get("Location")) + ": set the base URL to the final address"
	}
	return out
}

// retryDelay is how Google says in the body how long to wait.
var retryDelay = lazyregexp.New(`"retryDelay"\s*:\s*"([0-9.]+)s"`)

// Broken translates a failure of the connection or of a body that ended too early.
func (e *Endpoint) Broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: call interrupted: %w", e.Provider, ctx.Err())
	}
	var already *llm.Error
	if errors.As(err, &already) {
		return err
	}
	out := &llm.Error{Provider: e.Provider, Retryable: true, Err: err}
	var at *url.Error
	switch {
	case errors.Is(err, ErrSilent), errors.Is(err, ErrTooLarge):
		out.Message = e.Secrets.Redact(cause(err).Error())
	case errors.Is(err, syscall.ECONNREFUSED):
		out.Message = "no server answers at " + e.Secrets.Redact(e.shown()) + ": start it or set another base URL"
	case errors.As(err, &at):
		out.Message = e.Secrets.Redact("reach " + e.shown() + ": " + at.Err.Error())
		out.Retryable = !certificate(at.Err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		out.Message = "the answer broke off"
	default:
		out.Message = e.Secrets.Redact("read the answer: " + err.Error())
	}
	return out
}

// shown is the base URL without user information and query.
func (e *Endpoint) shown() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return e.Provider
	}
	return u.Scheme + "://" + u.Host + u.Path
}

func cause(err error) error {
	if errors.Is(err, ErrSilent) {
		return ErrSilent
	}
	return ErrTooLarge
}

func certificate(err error) bool {
	s := err.Error()
	return strings.Contains(s, "x509:") || strings.Contains(s, "tls: failed to verify")
}

// CheckURL returns the base URL in the form Endpoint wants.
func CheckURL(base string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "", fmt.Errorf("base URL %q: want http://HOST[:PORT][/PATH] or https://…", base)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("base URL of host %s: user, query and fragment are not supported; give the key by its variable", u.Host)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// Events lets an answer through that is a stream of events, and turns every other one into
// an error, with the body read and closed. It stands between an SDK and its connection, so
// that no error of the SDK's making, which would hold the request and its key, comes into being.
func (e *Endpoint) Events(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode < 300 && kind == "text/event-stream" {
		return resp, nil
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(io.LimitReader(resp.Body, MaxErrorBytes))
	switch {
	case resp.StatusCode >= 300:
		return nil, e.Refused(resp.StatusCode, resp.Header, page)
	case err != nil:
		return nil, err
	case len(page) == 0:
		return nil, e.Malformed("the answer is empty")
	}
	return nil, e.InBody(page)
}
