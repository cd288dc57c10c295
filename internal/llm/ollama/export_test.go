package ollama

import (
	"context"
	"io"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// Assemble reads an answer without a server.
func Assemble(req llm.Request, body io.Reader) (llm.Response, error) {
	t := newTurn(req)
	err := (&Client{}).read(context.Background(), &wire.Reply{Body: io.NopCloser(body)}, t, func(llm.Delta) {})
	if err != nil {
		return llm.Response{}, err
	}
	return t.response(), nil
}

// Encode is a request as it is sent with a window of 4096 tokens.
func Encode(req llm.Request) []byte {
	body, err := (&Client{}).encode(req, 4096)
	if err != nil {
		panic(err)
	}
	return body
}
