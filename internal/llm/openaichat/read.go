package openaichat

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// grace is how long the server may take to send usage and end mark after the finish reason.
const grace = 5 * time.Second

// read fills t from an answer, which may be a stream or, where the server ignores that one was
// asked for, one whole object.
func (c *Client) read(ctx context.Context, reply *wire.Reply, t *turn, stream func(llm.Delta)) error {
	body := bufio.NewReader(reply.Body)
	for {
		first, err := body.Peek(1)
		if errors.Is(err, io.EOF) {
			return c.endpoint.Malformed("the answer is empty")
		}
		if err != nil {
			return c.endpoint.Broken(ctx, err)
		}
		switch first[0] {
		case ' ', '\t', '\r', '\n':
			_, _ = body.Discard(1)
			continue
		case '{', '[', '<', '"':
			return c.readWhole(ctx, body, t, stream)
		}
		return c.readStream(ctx, reply, wire.NewEventReader(body), t, stream)
	}
}

func (c *Client) readWhole(ctx context.Context, body io.Reader, t *turn, stream func(llm.Delta)) error {
	raw, err := io.ReadAll(body)
	if err != nil {
		return c.endpoint.Broken(ctx, err)
	}
	if raw[0] != '{' {
		return c.endpoint.InBody(raw)
	}
	var p piece
	if err := json.Unmarshal(raw, &p); err != nil {
		return c.endpoint.Malformed(fmt.Sprintf("the answer is not a chat completion: %v: %s", err, raw[:min(len(raw), 200)]))
	}
	t.add(p, stream)
	if said(p.Error) || !t.started && len(p.Choices) == 0 {
		return c.endpoint.InBody(raw)
	}
	return nil
}

// said reports whether an error field holds anything.
func said(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && string(raw) != "null" && string(raw) != "{}" && string(raw) != `""`
}

func (c *Client) readStream(ctx context.Context, reply *wire.Reply, events *wire.EventReader, t *turn, stream func(llm.Delta)) error {
	for {
		event, err := events.Next()
		if err != nil {
			return c.end(ctx, t, false, err)
		}
		data := bytes.TrimSpace(event.Data)
		if len(data) == 0 {
			continue
		}
		if string(data) == "[DONE]" {
			return c.end(ctx, t, true, io.EOF)
		}
		var p piece
		if err := json.Unmarshal(data, &p); err != nil {
			if t.finish != "" {
				return nil
			}
			return c.endpoint.Malformed(fmt.Sprintf("an event is not a chunk of a chat completion: %v: %s", err, data[:min(len(data), 200)]))
		}
		t.add(p, stream)
		if said(p.Error) || event.Name == "error" || t.finish == "error" {
			return c.endpoint.InBody(data)
		}
		if t.finish != "" {
			reply.Hurry(grace)
		}
	}
}

// end decides whether a stream that gives no more events was whole: it had a finish reason, or at
// least an end mark after some choice.
func (c *Client) end(ctx context.Context, t *turn, marked bool, err error) error {
	switch {
	case ctx.Err() != nil:
		return c.endpoint.Broken(ctx, err)
	case t.finish != "", marked && t.started:
		return nil
	case !errors.Is(err, io.EOF):
		return c.endpoint.Broken(ctx, err)
	case !t.started:
		return c.endpoint.Malformed("the answer has no choice")
	}
	return c.endpoint.Malformed("the answer broke off before its end mark")
}
