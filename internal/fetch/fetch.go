// Package fetch downloads files over HTTP so that nothing has to be fetched twice: it goes
// on where an interrupted download stopped, waits and tries again where a server asks for it,
// and gives a file its name only when size and checksum are right.
//
//	err := client.File(ctx, fetch.Request{
//		URL: "https://example.org/corpus.tar.gz", Path: "data/corpus.tar.gz",
//		Size: 1057717952, Sum: fetch.Sum{Algorithm: fetch.MD5, Hex: "…"},
//	})
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// Client fetches. Its zero value works; it is safe for concurrent use.
type Client struct {
	// HTTP is http.DefaultClient if nil.
	HTTP *http.Client
	// Tries is how often in a row a request may fail without a byte having come (0: 6).
	Tries int
	// Stall ends a request from which nothing comes for so long (0: a minute).
	Stall time.Duration
	// MaxWait bounds the pause between tries, also what a server asks for (0: 5 minutes).
	MaxWait time.Duration
	// Progress, if set, hears how much of a file is there, at most once for each piece read.
	// total is -1 where unknown.
	Progress func(url string, done, total int64)
	// Waiting, if set, hears of every pause and its reason.
	Waiting func(url string, pause time.Duration, why error)
	// Free tells the free bytes at a path; nil asks the system.
	Free func(dir string) (int64, error)
	// Sleep waits; nil is a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Request says what is to be fetched and where it goes.
type Request struct {
	URL    string
	Header http.Header
	// Path is the file when it is whole and right; Part is where it grows, by default Path
	// with the suffix .incomplete.
	Path, Part string
	// Size is the size to expect, 0 where it is unknown.
	Size int64
	// Sum is the checksum to expect; without an algorithm nothing is compared.
	Sum Sum
}

// StatusError is an answer of a server that is no success.
type StatusError struct {
	URL    string
	Status int
	// Message is what the server said, shortened.
	Message string
	// RetryAfter is the pause it asks for, 0 if it asks for none.
	RetryAfter time.Duration
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s: status %d %s", e.URL, e.Status, http.StatusText(e.Status))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// temporary reports whether the same request may succeed later.
func (e *StatusError) temporary() bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout || e.Status >= 500
}

// SpaceError says that a file would not fit.
type SpaceError struct {
	Dir        string
	Need, Free int64
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("no space in %s: %d bytes are to come and %d are free; make room, and the same command goes on", e.Dir, e.Need, e.Free)
}

// permanent marks an error that trying again does not help.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// retry runs a step until it succeeds, fails for good, or fails too often without having come
// further. The step says whether it came further.
func (c *Client) retry(ctx context.Context, url string, step func(context.Context) (further bool, err error)) error {
	tries := c.Tries
	if tries <= 0 {
		tries = 6
	}
	for failed := 0; ; {
		further, err := step(ctx)
		if err == nil {
			return nil
		}
		if cause := ctx.Err(); cause != nil {
			return fmt.Errorf("fetch %s: %w", url, cause)
		}
		var p permanent
		if errors.As(err, &p) {
			return p.error
		}
		if further {
			failed = 0
		}
		if failed++; failed >= tries {
			return fmt.Errorf("%w (tried %d times; what came is kept, and the same command goes on)", err, tries)
		}
		pause := c.pause(failed, err)
		if c.Waiting != nil {
			c.Waiting(url, pause, err)
		}
		if err := c.sleep(ctx, pause); err != nil {
			return fmt.Errorf("fetch %s: %w", url, err)
		}
	}
}

// pause doubles from a second; a server's own wish counts more.
func (c *Client) pause(failed int, err error) time.Duration {
	longest := c.MaxWait
	if longest <= 0 {
		longest = 5 * time.Minute
	}
	var status *StatusError
	if errors.As(err, &status) && status.RetryAfter > 0 {
		return min(status.RetryAfter, longest)
	}
	return min(time.Second<<min(failed-1, 16), longest)
}

func (c *Client) sleep(ctx context.Context, d time.Duration) error {
	if c.Sleep != nil {
		return c.Sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) client() *http.Client {
	if c.HTTP != nil {
		return c.HTTP
	}
	return http.DefaultClient
}

// get sends one request. The answer's body fails when nothing comes for too long.
func (c *Client) get(ctx context.Context, url string, header http.Header) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		cancel(nil)
		return nil, permanent{fmt.Errorf("fetch %s: %w", url, err)}
	}
	for name, values := range header {
		req.Header[name] = values
	}
	stall := c.Stall
	if stall <= 0 {
		stall = time.Minute
	}
	watch := time.AfterFunc(stall, func() { cancel(fmt.Errorf("nothing came for %v", stall)) })
	resp, err := c.client().Do(req)
	if err != nil {
		watch.Stop()
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		cancel(nil)
		return nil, fmt.Errorf("fetch %s: %w", url, err)
	}
	resp.Body = &body{ReadCloser: resp.Body, ctx: ctx, cancel: cancel, watch: watch, stall: stall}
	return resp, nil
}

// body restarts the watch with every piece that comes.
type body struct {
	io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	watch  *time.Timer
	stall  time.Duration
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.watch.Reset(b.stall)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		if cause := context.Cause(b.ctx); cause != nil {
			err = cause
		}
	}
	return n, err
}

func (b *body) Close() error {
	b.watch.Stop()
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}

// ignore removes a file that may not exist.
func ignore(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
