// Package remote has what retrievers over other processes share: how long a call may take,
// when it is tried again, and which failures mean that the backend may answer later.
package remote

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"goserini/internal/retrieval"
)

// Policy bounds a call. Its zero value is the default.
type Policy struct {
	// Timeout bounds one try. Default 30 s.
	Timeout time.Duration
	// Tries is how often a call is made before it counts as failed. Default 3.
	Tries int
	// Pause is before the second try; it doubles with each. Default 200 ms.
	Pause time.Duration
	// Ended, if set, is told how a call ended, after the last try: nil or the failure. What
	// its caller broke off is none of the backend's. It is called from many goroutines.
	Ended func(error)
}

// longestPause bounds what a backend can ask a caller to wait between tries.
const longestPause = 10 * time.Second

// Do makes a call until it succeeds, fails for good, or the tries are used up. Only
// failures marked by [Unavailable] are tried again; reads and searches change nothing, so
// a call that may have arrived can be made twice.
func (p Policy) Do(ctx context.Context, call func(context.Context) error) error {
	err := p.do(ctx, call)
	if p.Ended != nil && ctx.Err() == nil {
		p.Ended(err)
	}
	return err
}

func (p Policy) do(ctx context.Context, call func(context.Context) error) error {
	tries, pause, timeout := max(p.Tries, 0), p.Pause, p.Timeout
	if tries == 0 {
		tries = 3
	}
	if pause <= 0 {
		pause = 200 * time.Millisecond
	}
	if timeout <= 0 {
		timeout = 30 * time.Second
	}
	for n := 1; ; n++ {
		err := within(ctx, timeout, call)
		var u *unavailable
		if err == nil || !errors.As(err, &u) || n == tries {
			if u != nil && n > 1 {
				return fmt.Errorf("%w (tried %d times)", err, n)
			}
			return err
		}
		select {
		case <-time.After(min(max(pause, u.after), longestPause)):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause *= 2
	}
}

// within makes one try. The end of the caller's own context is the caller's; that of the
// try means that the backend was too slow.
func within(ctx context.Context, timeout time.Duration, call func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tryCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := call(tryCtx)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case tryCtx.Err() != nil:
		return Unavailable(fmt.Errorf("no answer within %v", timeout))
	}
	return err
}

// unavailable is a failure after which the same call may succeed.
type unavailable struct {
	err   error
	after time.Duration
}

func (u *unavailable) Error() string   { return u.err.Error() }
func (u *unavailable) Unwrap() []error { return []error{retrieval.ErrUnavailable, u.err} }

// Unavailable marks a failure after which the same call may succeed. The result wraps
// [retrieval.ErrUnavailable].
func Unavailable(err error) error { return &unavailable{err: err} }

// UnavailableAfter is [Unavailable] with the time that the backend asks to wait.
func UnavailableAfter(err error, after time.Duration) error {
	return &unavailable{err: err, after: after}
}

// Score is the score of a backend; one that is beyond a float32 is as large as one can be, since
// infinity has no place in JSON.
func Score(s float64) float32 {
	return float32(min(max(s, -math.MaxFloat32), math.MaxFloat32))
}

// excerptLength bounds what an error repeats of foreign text, in characters.
const excerptLength = 300

// Excerpt renders the beginning of foreign text for an error, on one line.
func Excerpt(text []byte) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text[:min(len(text), 4*excerptLength)]), "\uFFFD"))
	clean = strings.TrimSpace(clean)
	if utf8.RuneCountInString(clean) > excerptLength {
		return string([]rune(clean)[:excerptLength]) + "…"
	}
	if clean == "" {
		return "(nothing)"
	}
	return clean
}
