package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// DefaultIdle is how long a server may send nothing at all before the call is given up.
// Reasoning models that hide their thoughts can be quiet for a minute or more.
const DefaultIdle = 2 * time.Minute

// MaxBody bounds the bytes of one answer. The longest answers models can give are below 1 MB.
const MaxBody = 64 << 20

var (
	// ErrSilent says that the server sent nothing for longer than the limit.
	ErrSilent = errors.New("the server went silent")
	// ErrTooLarge says that an answer or one event of it exceeded its bound.
	ErrTooLarge = errors.New("the answer is larger than any model's")
)

// NewHTTPClient returns a client that gives up after idle without a byte (0 means
// DefaultIdle), reads at most MaxBody bytes an answer, keeps connections for many
// concurrent questions and follows no redirect, so that a conversation never goes to a
// host nobody named. Use one for each provider.
func NewHTTPClient(idle time.Duration) *http.Client {
	if idle <= 0 {
		idle = DefaultIdle
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.MaxIdleConns = 256
	base.MaxIdleConnsPerHost = 64
	base.IdleConnTimeout = 90 * time.Second
	return &http.Client{
		Transport:     &watched{base: base, idle: idle, most: MaxBody},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// watched is a transport that ends an exchange on silence and bounds its body.
type watched struct {
	base http.RoundTripper
	idle time.Duration
	// most bounds a body in bytes.
	most int64
}

func (t *watched) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	silent := fmt.Errorf("%w for %s", ErrSilent, t.idle)
	timer := time.AfterFunc(t.idle, func() { cancel(silent) })
	resp, err := t.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		timer.Stop()
		if errors.Is(context.Cause(ctx), ErrSilent) {
			err = silent
		}
		cancel(nil)
		return nil, err
	}
	timer.Reset(t.idle)
	resp.Body = &watchedBody{body: resp.Body, ctx: ctx, cancel: cancel, timer: timer, idle: t.idle, most: t.most}
	return resp, nil
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the pool.
func (t *watched) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type watchedBody struct {
	body   io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
	most   int64
	read   int64
	ended  bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	if n > 0 {
		b.timer.Reset(b.idle)
	}
	b.ended = err != nil
	b.read += int64(n)
	if b.read > b.most {
		return n, fmt.Errorf("%w: over %d bytes", ErrTooLarge, b.most)
	}
	if err != nil && err != io.EOF && errors.Is(context.Cause(b.ctx), ErrSilent) {
		err = context.Cause(b.ctx)
	}
	return n, err
}

// drainWait is how long Close waits for the last bytes of an answer, so that its
// connection can be used again.
const drainWait = 250 * time.Millisecond

func (b *watchedBody) Close() error {
	if !b.ended && b.ctx.Err() == nil {
		b.hurry(drainWait)
		_, _ = io.CopyN(io.Discard, b.body, 4<<10)
	}
	b.timer.Stop()
	err := b.body.Close()
	b.cancel(nil)
	return err
}

// hurry lowers the limit on silence for what remains.
func (b *watchedBody) hurry(idle time.Duration) {
	b.idle = min(b.idle, idle)
	b.timer.Reset(b.idle)
}
