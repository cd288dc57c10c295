// Package record keeps model calls in a folder and gives them back, so that a run can be
// repeated without a network: for tests, for debugging, for showing what happened.
//
//	client, err = record.New("deepseek", client, dir)  // goserini run --record DIR
//	client, err = record.Open("deepseek", dir)         // goserini run --replay DIR
//
// A recording is found by its canonical request: provider, model, instructions, tools,
// history and settings, without the cache key, which differs from run to run. One file holds
// the answers that one request got, in order: a request that failed and was made again has
// several. Keys are no part of a request and stay out.
package record

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"goserini/internal/atomicfile"
	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// Version is the version of the recording format, see docs/models.md.
//
//	1: first version
const Version = 1

// file is one recording.
type file struct {
	Version int     `json:"version"`
	Request request `json:"request"`
	// Answers are what the request got, in order.
	Answers []answer `json:"answers"`
}

// request is the canonical request.
type request struct {
	Provider        string         `json:"provider"`
	Model           string         `json:"model"`
	System          string         `json:"system,omitempty"`
	Tools           []llm.ToolSpec `json:"tools,omitempty"`
	MaxOutputTokens int            `json:"max_output_tokens,omitempty"`
	Effort          string         `json:"effort,omitempty"`
	ForbidTools     bool           `json:"forbid_tools,omitempty"`
	Messages        []llm.Message  `json:"messages"`
}

// answer is one of: a response, a failure, or an interruption by the caller.
type answer struct {
	Response    *response `json:"response,omitempty"`
	Failure     *failure  `json:"failure,omitempty"`
	Interrupted bool      `json:"interrupted,omitempty"`
	ElapsedMS   int64     `json:"elapsed_ms"`
}

type response struct {
	Message    llm.Message      `json:"message"`
	StopReason llm.StopReason   `json:"stop_reason"`
	Usage      trajectory.Usage `json:"usage"`
	UsageKnown bool             `json:"usage_known"`
	Model      string           `json:"model,omitempty"`
}

type failure struct {
	Provider        string           `json:"provider"`
	Status          int              `json:"status,omitempty"`
	Code            string           `json:"code,omitempty"`
	Message         string           `json:"message"`
	Retryable       bool             `json:"retryable,omitempty"`
	RetryAfterMS    int64            `json:"retry_after_ms,omitempty"`
	ContextOverflow bool             `json:"context_overflow,omitempty"`
	Usage           trajectory.Usage `json:"usage,omitzero"`
}

func canonical(provider string, r llm.Request) request {
	return request{
		Provider: provider, Model: r.Model, System: r.System, Tools: r.Tools, MaxOutputTokens: r.MaxOutputTokens,
		Effort: r.Effort, ForbidTools: r.ForbidTools, Messages: r.Messages,
	}
}

// hash names the recording of a request.
func (r request) hash() (string, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return "", fmt.Errorf("record request: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16]), nil
}

// Recorder is a client that records what passes through it. It is safe for concurrent use.
type Recorder struct {
	provider string
	client   llm.Client
	dir      string

	mu    sync.Mutex
	files map[string]*file
}

// New records the calls of client in the folder dir, which is made if it is missing. A request that
// was recorded there by an earlier process is recorded anew.
func New(provider string, client llm.Client, dir string) (*Recorder, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("record model calls: %w", err)
	}
	return &Recorder{provider: provider, client: client, dir: dir, files: map[string]*file{}}, nil
}

// Complete makes the call and records what came of it before it returns. What cannot be
// recorded is an error: a recording with holes is of no use.
func (r *Recorder) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	start := time.Now()
	resp, err := r.client.Complete(ctx, req, stream)
	a := answer{ElapsedMS: time.Since(start).Milliseconds()}
	var e *llm.Error
	switch {
	case err == nil:
		a.Response = &response{resp.Message, resp.StopReason, resp.Usage, resp.UsageKnown, resp.Model}
	case errors.As(err, &e):
		a.Failure = &failure{e.Provider, e.Status, e.Code, e.Message, e.Retryable, e.RetryAfter.Milliseconds(), e.ContextOverflow, e.Usage}
		if a.Failure.Message == "" {
			a.Failure.Message = e.Error()
		}
	case ctx.Err() != nil:
		a.Interrupted = true
	default:
		return resp, err // the call could not be made at all
	}
	if kept := r.keep(canonical(r.provider, req), a); kept != nil {
		return llm.Response{}, kept
	}
	return resp, err
}

func (r *Recorder) keep(req request, a answer) error {
	name, err := req.hash()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.files[name]
	if f == nil {
		f = &file{Version: Version, Request: req}
		r.files[name] = f
	}
	f.Answers = append(f.Answers, a)
	raw, err := f.encode()
	if err != nil {
		return fmt.Errorf("record model call: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(r.dir, name+".json"), raw, 0o644); err != nil {
		return fmt.Errorf("record model call: %w", err)
	}
	return nil
}

// encode writes the request on one line and each answer on one. Raw messages inside keep
// their characters: the encoder neither indents them nor escapes what JSON does not require.
func (f *file) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	fmt.Fprintf(&b, "{\"version\":%d,\n\"request\":", f.Version)
	if err := e.Encode(f.Request); err != nil {
		return nil, err
	}
	b.WriteString(",\"answers\":[\n")
	for i, a := range f.Answers {
		if i > 0 {
			b.WriteString(",")
		}
		if err := e.Encode(a); err != nil {
			return nil, err
		}
	}
	b.WriteString("]}\n")
	return b.Bytes(), nil
}
