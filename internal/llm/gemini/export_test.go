package gemini

import (
	"context"
	"io"
	"net/http"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// Assemble reads an answer without a server.
func Assemble(req llm.Request, body io.Reader) (llm.Response, error) {
	t := newTurn(req)
	reply := &wire.Reply{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body)}
	if err := (&Client{}).read(context.Background(), reply, t, func(llm.Delta) {}); err != nil {
		return llm.Response{}, err
	}
	return t.response(), nil
}

// Encode is a request as it is sent to a model that takes levels.
func Encode(req llm.Request) []byte {
	body, err := (&Client{}).encode(req, false)
	if err != nil {
		panic(err)
	}
	return body
}
