package openaichat

import (
	"context"
	"io"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// ReadAnswer reads an answer without a server.
func ReadAnswer(req llm.Request, body io.Reader) (llm.Response, error) {
	c := &Client{}
	t := newTurn(req, ReplayReasoning)
	err := c.read(context.Background(), &wire.Reply{Body: io.NopCloser(body)}, t, func(llm.Delta) {})
	if err != nil {
		return llm.Response{}, err
	}
	return t.response(), nil
}

// Encode is a request as it is sent to a server without quirks.
func Encode(req llm.Request) []byte {
	c := &Client{cfg: Config{LimitName: limitOld}}
	body, err := c.encode(req, quirks{})
	if err != nil {
		panic(err)
	}
	return body
}
