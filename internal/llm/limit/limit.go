// Package limit keeps the calls of all questions that share a key below the rates its
// provider allows: requests a minute, tokens a minute, and calls at a time. A question that
// must wait does so inside its own time budget.
//
//	limiter, err := limit.New(limit.Rates{RequestsPerMinute: 60, TokensPerMinute: 200_000})
//	client = limiter.Client(client) // the same limiter for every client of the key
package limit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// Rates are the limits of one key; 0 means none.
type Rates struct {
	RequestsPerMinute int
	TokensPerMinute   int
	// Concurrent bounds the calls that run at a time.
	Concurrent int
}

// Limiter is shared by all clients of one key. It is safe for concurrent use.
type Limiter struct {
	slots chan struct{}

	mu       sync.Mutex
	requests *bucket
	tokens   *bucket
	// paused is when the server's wish to be left alone ends.
	paused time.Time
}

// New returns a limiter. Nothing is spent yet, so a first minute's worth may go at once.
func New(r Rates) (*Limiter, error) {
	if r.RequestsPerMinute < 0 || r.TokensPerMinute < 0 || r.Concurrent < 0 {
		return nil, fmt.Errorf("rate limits %+v: a limit cannot be negative; 0 means none", r)
	}
	l := &Limiter{requests: newBucket(r.RequestsPerMinute), tokens: newBucket(r.TokensPerMinute)}
	if r.Concurrent > 0 {
		l.slots = make(chan struct{}, r.Concurrent)
	}
	return l, nil
}

// Client returns a client that waits its turn before each call.
func (l *Limiter) Client(c llm.Client) llm.Client { return &client{l, c} }

type client struct {
	limiter *Limiter
	client  llm.Client
}

// Complete waits, calls, and then corrects the tokens it took for the call by what it used.
func (c *client) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	l := c.limiter
	estimate := Estimate(req)
	release, err := l.wait(ctx, estimate)
	if err != nil {
		return llm.Response{}, fmt.Errorf("rate limit: call interrupted: %w", err)
	}
	defer release()
	resp, err := c.client.Complete(ctx, req, stream)
	l.settle(estimate, resp, err)
	return resp, err
}

// bytesPerToken and answerTokens are the guesses behind Estimate; usage corrects them.
const (
	bytesPerToken = 4
	answerTokens  = 500
)

// Estimate is about how many tokens a call takes, before anybody has counted.
func Estimate(req llm.Request) int {
	n := len(req.System)
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range req.Messages {
		n += max(len(m.Raw), len(m.Text)+len(m.Reasoning))
	}
	return n/bytesPerToken + answerTokens
}

// wait takes a slot, a request and tokens, in the order of asking, and waits until they are due.
func (l *Limiter) wait(ctx context.Context, tokens int) (release func(), err error) {
	release = func() {}
	if l.slots != nil {
		select {
		case l.slots <- struct{}{}:
			release = func() { <-l.slots }
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	l.mu.Lock()
	now := time.Now()
	due := max(l.requests.take(now, 1), l.tokens.take(now, tokens), l.paused.Sub(now))
	l.mu.Unlock()
	if due <= 0 {
		return release, nil
	}
	timer := time.NewTimer(due)
	defer timer.Stop()
	select {
	case <-timer.C:
		return release, nil
	case <-ctx.Done():
		l.mu.Lock()
		l.requests.give(1)
		l.tokens.give(tokens)
		l.mu.Unlock()
		release()
		return nil, ctx.Err()
	}
}

// maxPause bounds how long one answer of the server can hold up everybody: after that, one
// call finds out.
const maxPause = time.Minute

// settle corrects the estimate, and holds everybody back when the server asked for that.
func (l *Limiter) settle(estimate int, resp llm.Response, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		if resp.UsageKnown {
			l.tokens.give(estimate - total(resp.Usage))
		}
		return
	}
	var e *llm.Error
	if !errors.As(err, &e) {
		return // it was interrupted: what it took stays taken
	}
	l.tokens.give(estimate - total(e.Usage))
	if e.Status == http.StatusTooManyRequests && e.RetryAfter > 0 {
		until := time.Now().Add(min(e.RetryAfter, maxPause))
		if until.After(l.paused) {
			l.paused = until
		}
	}
}

func total(u trajectory.Usage) int {
	return int(u.Input + u.CacheRead + u.CacheWrite + u.Output)
}

// bucket fills steadily up to one minute's worth and may be overdrawn: whoever takes more
// than it holds waits until that much has flowed in. A nil bucket never runs dry.
type bucket struct {
	perSecond, most, level float64
	at                     time.Time
}

func newBucket(perMinute int) *bucket {
	if perMinute <= 0 {
		return nil
	}
	most := float64(perMinute)
	return &bucket{perSecond: most / 60, most: most, level: most}
}

// take takes n and returns how long to wait until they are due.
func (b *bucket) take(now time.Time, n int) time.Duration {
	if b == nil {
		return 0
	}
	if !b.at.IsZero() {
		b.level = min(b.most, b.level+now.Sub(b.at).Seconds()*b.perSecond)
	}
	b.at = now
	// One call larger than a whole minute's worth could never be due; it takes them all.
	b.level -= min(float64(n), b.most)
	return time.Duration(max(0, -b.level/b.perSecond) * float64(time.Second))
}

// give puts n back, or takes more where n is negative.
func (b *bucket) give(n int) {
	if b != nil {
		b.level = min(b.most, b.level+float64(n))
	}
}
