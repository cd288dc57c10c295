package openai

import "goserini/internal/llm"

// Assemble puts events together without a server.
func Assemble(req llm.Request, events ...string) (llm.Response, error) {
	t := newTurn(req)
	for _, e := range events {
		if err := t.add([]byte(e), func(llm.Delta) {}); err != nil {
			return llm.Response{}, err
		}
	}
	return t.response(), nil
}

// Encode is a request as it is sent to a model without quirks.
func Encode(req llm.Request) []byte {
	body, err := encode(req, quirks{})
	if err != nil {
		panic(err)
	}
	return body
}
