package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// complete asks the model for the next response and tries again where that may help.
// When the time for research ends while a call is in flight, the call is ended and sent
// again with the steer at its end: a long thought cannot use up the time for the answer.
func (s *session) complete(ctx context.Context) (llm.Response, error) {
	var spent trajectory.Usage
	var uncounted int64
	failures, shortened := 0, false
	for try := 1; ; try++ {
		resp, streamed, err := s.call(ctx)
		if err == nil {
			s.learn(resp)
			s.settle(spent.Add(resp.Usage), uncounted+s.guess(resp, streamed), true)
			return resp, nil
		}
		a := s.failedAttempt(try, streamed, err)
		spent = spent.Add(a.Usage)
		var wait time.Duration
		switch {
		case ctx.Err() != nil:
			a.Interrupted = true
			err = context.Cause(ctx)
		case s.over == "" && s.clock.steerDue():
			a.Interrupted, a.WillRetry = true, !s.checking()
			if !a.WillRetry {
				err, a.Error = errSteer, errSteer.Error()+", and an answer stands: "+a.Error
				break
			}
			a.Error = errSteer.Error() + "; sent again with the steer: " + a.Error
		case overflow(err) && !shortened && s.shortenBy(keepPercent):
			shortened, a.WillRetry = true, true
		default:
			failures++
			wait, a.WillRetry = s.retry.wait(err, failures, s.cfg.Rand)
			if a.WillRetry && wait >= s.clock.left() {
				a.WillRetry = false
				err = fmt.Errorf("%w (the next try, after %v, would come after the end of the time budget)", err, wait.Round(time.Millisecond))
				a.Error = err.Error()
			}
		}
		if a.WillRetry {
			a.RetryMS = wait.Milliseconds()
		}
		if a.Uncounted() {
			uncounted += s.nextTokens() + s.gauge.tokens(streamed)
		}
		s.emit(trajectory.Event{Type: trajectory.TypeAttempt, Attempt: &a})
		if !a.WillRetry {
			s.settle(spent, uncounted, false)
			return llm.Response{}, err
		}
		if err := s.pause(ctx, wait); err != nil {
			s.settle(spent, uncounted, false)
			return llm.Response{}, err
		}
	}
}

// call makes one try. The context of the client ends when the research or the question
// does.
func (s *session) call(ctx context.Context) (resp llm.Response, streamed int, err error) {
	if s.over == "" {
		var cancel context.CancelFunc
		ctx, cancel = s.clock.untilSteer(ctx)
		defer cancel()
	}
	s.prefix.add(s.messages)
	resp, err = s.cfg.Client.Complete(ctx, s.request(), func(d llm.Delta) {
		streamed += len(d.Text) + len(d.Reasoning)
		if s.cfg.Stream != nil {
			s.cfg.Stream(d)
		}
	})
	return resp, streamed, err
}

func (s *session) request() llm.Request {
	return llm.Request{
		Model: s.cfg.Model, System: s.cfg.System, Tools: s.specs, Messages: slices.Clip(s.messages),
		MaxOutputTokens: s.cfg.MaxOutputTokens, Effort: s.cfg.Effort, CacheKey: s.cfg.CacheKey,
		ForbidTools: s.cfg.ForbidTools && s.over != "",
	}
}

func (s *session) failedAttempt(try, streamed int, err error) trajectory.Attempt {
	a := trajectory.Attempt{Turn: s.turn + 1, Try: try, Error: err.Error(), StreamedBytes: streamed}
	var e *llm.Error
	if errors.As(err, &e) {
		a.Usage = e.Usage
	}
	return a
}

func overflow(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.ContextOverflow
}

// pause waits before the next try. Where the research ends meanwhile, the steer is said
// at once, and goes out with that try.
func (s *session) pause(ctx context.Context, wait time.Duration) error {
	until := time.Now().Add(wait)
	if s.over == "" && !s.clock.steer.IsZero() {
		if err := sleep(ctx, min(wait, time.Until(s.clock.steer))); err != nil {
			return err
		}
		if s.clock.steerDue() {
			s.endResearch(steerTime)
		}
	}
	return sleep(ctx, time.Until(until))
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// learn takes from a response what helps to foresee the next.
func (s *session) learn(resp llm.Response) {
	if !resp.UsageKnown {
		return
	}
	s.gauge.correct(s.bytes(), resp.Usage)
	s.last = resp.Usage
	s.largestOutput = max(s.largestOutput, resp.Usage.Output)
}

// guess is what a response may have spent whose usage the server did not tell.
func (s *session) guess(resp llm.Response, streamed int) int64 {
	if resp.UsageKnown {
		return 0
	}
	return s.nextTokens() + s.gauge.tokens(max(streamed, size(resp.Message)))
}

// bytes and nextTokens estimate the next request.
func (s *session) bytes() int { return s.prefix.fixed + sizeOf(s.messages) }

func (s *session) nextTokens() int64 { return s.gauge.tokens(s.bytes()) }

// outputGuess is what a response is expected to come to, in tokens, before one was seen.
const outputGuess = 2000

// foresee estimates the usage of the next call, and of the last one, which what the companion
// keeps comes before. A prefix cache that served the last call is expected to serve the next.
func (s *session) foresee() trajectory.Usage {
	bytes := s.bytes()
	if s.over == "" {
		bytes += len(s.memory())
	}
	u := trajectory.Usage{Input: s.gauge.tokens(bytes), Output: max(outputGuess, s.largestOutput)}
	if limit := int64(s.cfg.MaxOutputTokens); limit > 0 {
		u.Output = min(u.Output, limit)
	}
	if s.last.CacheRead > 0 {
		u.CacheRead = min(u.Input, s.last.Input+s.last.CacheRead+s.last.CacheWrite)
		u.Input -= u.CacheRead
	}
	return u
}

// openLedgers waits until the run's ledgers let the question start.
func (s *session) openLedgers(ctx context.Context) error {
	for _, l := range s.cfg.Ledgers {
		a := &account{Ledger: l}
		if err := a.start(ctx, s.amount(l.unit, s.foresee())); err != nil {
			return err
		}
		s.accounts = append(s.accounts, a)
	}
	return nil
}

func (s *session) closeAccounts() {
	for _, a := range s.accounts {
		a.close()
	}
}

// takeCall sets aside what the next call may come to in every account, and names the limit
// that does not allow it.
func (s *session) takeCall() string {
	for _, a := range s.accounts {
		estimate := s.amount(a.unit, s.foresee())
		switch {
		case s.over == "":
			if !a.take(estimate) {
				return a.unit.steer()
			}
		case s.sinceOver == 0:
			a.takeLast()
		case !a.takeMore(estimate):
			return a.unit.steer()
		}
	}
	return ""
}

// takeLast lets the last response use what was kept for it.
func (s *session) takeLast() {
	for _, a := range s.accounts {
		a.takeLast()
	}
}

// settle enters what a turn came to, with an estimate for what nobody counted.
func (s *session) settle(counted trajectory.Usage, uncounted int64, responded bool) {
	for _, a := range s.accounts {
		u := counted
		u.Input += uncounted
		a.settle(s.amount(a.unit, u), responded)
	}
}
