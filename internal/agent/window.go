package agent

import (
	"errors"
	"fmt"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// Shortening says what happens when a conversation is about to fill the model's context
// window. Whatever it is, the question, the format of the answer and every pair of call
// and result stay; and when nothing more can be shortened, the model is told to answer
// while there is room.
type Shortening string

const (
	// ShortenOff leaves the history as it is.
	ShortenOff Shortening = ""
	// ShortenMask replaces old results by a note that says how to get them back. Where that
	// is not enough it folds as well.
	ShortenMask Shortening = "mask"
	// ShortenCompact folds old turns into one note that lists their calls.
	ShortenCompact Shortening = "compact"
)

func (p Shortening) check(window int) error {
	switch p {
	case ShortenOff, ShortenMask, ShortenCompact:
	case "off":
	default:
		return fmt.Errorf("agent: shortening %q: want off, mask or compact", string(p))
	}
	if window < 0 {
		return fmt.Errorf("agent: context window %d is negative; 0 means unknown", window)
	}
	if (p == ShortenMask || p == ShortenCompact) && window == 0 {
		return errors.New("agent: shortening needs the size of the model's context window: give it in tokens")
	}
	return nil
}

// Shares of the window: what is kept free for the response where no output limit is set,
// and how far a shortening goes, so that the next one is not needed at once: each costs
// the prefix cache everything behind the first change.
const (
	freeShare   = 4    // one fourth
	freeDefault = 4096 // tokens, if less than the share
	keepPercent = 60
)

// gauge estimates tokens from bytes: four bytes a token, corrected by what servers count.
type gauge struct {
	tokensPerByte float64
}

// Bounds of the correction. Text in any script lies between; a server that counts
// outside of them does not count what we sent.
const (
	minTokensPerByte = 1.0 / 6
	maxTokensPerByte = 1.0
)

func (g *gauge) rate() float64 {
	if g.tokensPerByte == 0 {
		return 1.0 / 4
	}
	return g.tokensPerByte
}

func (g *gauge) tokens(bytes int) int64 { return int64(float64(bytes) * g.rate()) }
func (g *gauge) bytes(tokens int64) int { return int(float64(tokens) / g.rate()) }

// correct takes what the server counted for a request of so many bytes.
func (g *gauge) correct(bytes int, u trajectory.Usage) {
	input := u.Input + u.CacheRead + u.CacheWrite
	if input <= 0 || bytes <= 0 {
		return
	}
	g.tokensPerByte = min(maxTokensPerByte, max(minTokensPerByte, float64(input)/float64(bytes)))
}

// messageOverhead is about what a message costs beyond its text, in bytes: role, ids, marks.
const messageOverhead = 24

// size estimates the bytes of a message in a request.
func size(m llm.Message) int {
	n := len(m.Text) + len(m.Reasoning) + len(m.CallID)
	for _, c := range m.Calls {
		n += len(c.ID) + len(c.Name) + len(c.Arguments) + messageOverhead
	}
	return max(n, len(m.Raw)) + messageOverhead
}

func sizeOf(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += size(m)
	}
	return n
}

// prefixMeter measures how much of each request repeats the request before it.
type prefixMeter struct {
	last            []llm.Message
	seen            bool
	total, repeated int64
	// fixed is the size of what comes before the messages: tools and system text.
	fixed int
}

// add takes the messages of a request.
func (p *prefixMeter) add(messages []llm.Message) {
	all, same, prefix := int64(p.fixed), int64(p.fixed), true
	for i, m := range messages {
		n := int64(size(m))
		all += n
		prefix = prefix && i < len(p.last) && equal(m, p.last[i])
		if prefix {
			same += n
		}
	}
	if p.seen {
		p.total += all
		p.repeated += same
	}
	p.last, p.seen = messages, true
}

// share is 0 where there was no second request.
func (p *prefixMeter) share() float64 {
	if p.total == 0 {
		return 0
	}
	return float64(p.repeated) / float64(p.total)
}

// equal compares what of a message is sent. Strings that are the same memory compare at once.
func equal(a, b llm.Message) bool {
	if a.Role != b.Role || a.Text != b.Text || a.Reasoning != b.Reasoning || a.CallID != b.CallID ||
		a.ToolName != b.ToolName || a.IsError != b.IsError || string(a.Raw) != string(b.Raw) || len(a.Calls) != len(b.Calls) {
		return false
	}
	for i := range a.Calls {
		if a.Calls[i] != b.Calls[i] {
			return false
		}
	}
	return true
}
