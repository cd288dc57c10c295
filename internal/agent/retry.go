package agent

import (
	"errors"
	"math/rand/v2"
	"time"

	"goserini/internal/llm"
)

// Retry is the one policy for model calls that fail; clients do not retry. A call is
// tried again when the same request may succeed later: statuses 408, 409, 425, 429 and
// 5xx, faults of the connection, answers that broke off. Clients mark such failures as
// retryable.
type Retry struct {
	// Tries is the largest number of tries for one turn, the first included (0: 6).
	Tries int
	// Base is the wait after the first failure; it doubles with each (0: 500 ms), up to
	// Max (0: 30 s). Half of every wait is drawn at random, so that many questions do not
	// come back at once. A server's own retry-after is honoured where it is longer.
	Base, Max time.Duration
}

func (r Retry) resolved() Retry {
	if r.Tries <= 0 {
		r.Tries = 6
	}
	if r.Base <= 0 {
		r.Base = 500 * time.Millisecond
	}
	if r.Max <= 0 {
		r.Max = 30 * time.Second
	}
	return r
}

// wait returns how long to wait after the given number of failures for a turn, and
// whether another try may help at all.
func (r Retry) wait(err error, failures int, draw *rand.Rand) (time.Duration, bool) {
	var e *llm.Error
	if !errors.As(err, &e) || !e.Retryable || failures >= r.Tries {
		return 0, false
	}
	d := r.Max
	if failures < 30 {
		d = min(r.Max, r.Base<<(failures-1))
	}
	d = d/2 + time.Duration(draw.Int64N(int64(d/2)+1))
	return max(d, e.RetryAfter), true
}
