package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// DefaultTimeout is the time budget T of the paper's main experiments.
const DefaultTimeout = 300 * time.Second

// steerShare is the part of T after which the model is told to submit: 7/10.
const steerNumerator, steerDenominator = 7, 10

// Budget limits one question. A zero field sets no limit.
//
// Whatever limit is met, the model is told to answer from what it has seen and gets one
// response to do so, with all tools blocked; at the limit of time it may take as many as
// fit until T.
type Budget struct {
	// Timeout is the time budget T. At floor(0.7·T), in milliseconds, the research ends;
	// at T the question does.
	Timeout time.Duration
	// MaxTurns is the largest number of model responses, the answer included.
	MaxTurns int
	// MaxCalls is the largest number of tool calls that are not blocked.
	MaxCalls int
	// MaxTokens bounds input, cached and output tokens together. The last response is kept
	// within it as far as its size can be foreseen.
	MaxTokens int64
	// MaxCostUSD bounds the price of all model calls, likewise. It needs Config.Price.
	MaxCostUSD float64
}

// SteerAfter is the time after which the research ends, 0 where there is no limit of time.
func (b Budget) SteerAfter() time.Duration {
	if b.Timeout <= 0 {
		return 0
	}
	ms := b.Timeout.Milliseconds()
	// Split so that the product cannot overflow.
	ms = ms/steerDenominator*steerNumerator + ms%steerDenominator*steerNumerator/steerDenominator
	return max(1, time.Duration(ms)) * time.Millisecond
}

func (b Budget) check() error {
	switch {
	case b.Timeout < 0:
		return fmt.Errorf("budget: timeout %v is negative", b.Timeout)
	case b.MaxTurns < 0, b.MaxCalls < 0, b.MaxTokens < 0:
		return errors.New("budget: a limit is negative; 0 means no limit")
	case b.MaxCostUSD < 0, math.IsNaN(b.MaxCostUSD), math.IsInf(b.MaxCostUSD, 0):
		return fmt.Errorf("budget: maximum cost %v is not a sum of money; 0 means no limit", b.MaxCostUSD)
	}
	return nil
}

// The causes with which the contexts of a question end.
var (
	errTimeUp = errors.New("the time budget is used up")
	errSteer  = errors.New("the time for research is over")
)

// clock starts once per question and never again.
type clock struct {
	start time.Time
	// steer and end are zero where there is no limit of time.
	steer, end time.Time
}

func newClock(b Budget) clock {
	c := clock{start: time.Now()}
	if b.Timeout > 0 {
		c.steer, c.end = c.start.Add(b.SteerAfter()), c.start.Add(b.Timeout)
	}
	return c
}

func (c clock) elapsed() time.Duration { return time.Since(c.start) }

// steerDue reports whether the time for research is over.
func (c clock) steerDue() bool { return !c.steer.IsZero() && !time.Now().Before(c.steer) }

// untilEnd returns a context that ends with the question.
func (c clock) untilEnd(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.end.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, c.end, errTimeUp)
}

// untilSteer returns a context that ends with the research.
func (c clock) untilSteer(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.steer.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, c.steer, errSteer)
}

// left is the time until the end; without a limit of time it is as long as can be.
func (c clock) left() time.Duration {
	if c.end.IsZero() {
		return math.MaxInt64
	}
	return time.Until(c.end)
}
