package llmtest

import (
	"context"
	"sync"

	"goserini/internal/llm"
)

// ClientFunc is a client that is a function.
type ClientFunc func(ctx context.Context, req llm.Request) (llm.Response, error)

// Complete calls the function; the text of its response is streamed in one piece.
func (f ClientFunc) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	resp, err := f(ctx, req)
	if err == nil && stream != nil {
		stream(llm.Delta{Text: resp.Message.Text, Reasoning: resp.Message.Reasoning})
	}
	return resp, err
}

// Recorder keeps the requests that pass through it.
type Recorder struct {
	Client llm.Client

	mu       sync.Mutex
	requests []llm.Request
}

// Complete notes the request and asks the client behind.
func (r *Recorder) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	req.Messages = append([]llm.Message(nil), req.Messages...)
	r.mu.Lock()
	r.requests = append(r.requests, req)
	r.mu.Unlock()
	return r.Client.Complete(ctx, req, stream)
}

// Requests are those seen so far.
func (r *Recorder) Requests() []llm.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]llm.Request(nil), r.requests...)
}
