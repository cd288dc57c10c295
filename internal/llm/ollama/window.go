package ollama

import (
	"fmt"

	"goserini/internal/llm"
)

// size is what the newest request of a conversation measured.
type size struct{ bytes, tokens int }

// maxConversations bounds what is remembered.
const maxConversations = 4096

// bytesPerToken is more than any text has in any tokenizer, apart from endless repetition.
const bytesPerToken = 12

// smallPrompt is the size in bytes below which nothing is concluded from the ratio.
const smallPrompt = 8 << 10

// conversation identifies the conversation of a request.
func conversation(req llm.Request) string {
	key := req.Model + "\x00" + req.CacheKey + "\x00"
	if len(req.Messages) > 0 {
		key += req.Messages[0].Text
	}
	return key
}

// foresee refuses a request that will not fit: older servers would cut its front and answer
// all the same. What the conversation measured last time tells how many bytes its tokens have.
func (c *Client) foresee(req llm.Request, sending int, m model) error {
	c.mu.Lock()
	last := c.sizes[conversation(req)]
	c.mu.Unlock()
	if last.tokens == 0 || sending <= last.bytes {
		return nil
	}
	expected := int(float64(sending) * float64(last.tokens) / float64(last.bytes))
	if expected <= m.window {
		return nil
	}
	return &llm.Error{
		Provider: c.cfg.Provider, ContextOverflow: true,
		Message: fmt.Sprintf("the conversation has grown to about %d tokens and the window is %d, of the %d the model allows", expected, m.window, m.largest),
	}
}

// checkWhole finds a prompt of which the server read only a part, since it counts fewer tokens
// than so many bytes can have, or fewer than before although the conversation has grown.
func (c *Client) checkWhole(t *turn, sent int, m model) error {
	read := int(t.prompt)
	if read == 0 { // nothing was counted: the server had it all in its cache
		return nil
	}
	key := conversation(t.req)
	c.mu.Lock()
	defer c.mu.Unlock()
	last := c.sizes[key]
	grown := sent > last.bytes && read < last.tokens
	if sent >= smallPrompt && sent/bytesPerToken > read || grown {
		u, _ := t.usage()
		return &llm.Error{
			Provider: c.cfg.Provider, ContextOverflow: true, Usage: u,
			Message: fmt.Sprintf("the server read %d tokens of a request of %d bytes: it cut the prompt to its window. This client asked for %d tokens; the model allows %d", read, sent, m.window, m.largest),
		}
	}
	if len(c.sizes) >= maxConversations {
		clear(c.sizes)
	}
	c.sizes[key] = size{sent, read}
	return nil
}
