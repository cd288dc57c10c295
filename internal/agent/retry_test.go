package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

func TestWaitsGrowAndAreDrawnWithinBounds(t *testing.T) {
	busy := &llm.Error{Status: 503, Retryable: true}
	r := Retry{Tries: 100}.resolved()
	draw := rand.New(rand.NewPCG(1, 2))
	seen := map[time.Duration]bool{}
	for failures := 1; failures < 50; failures++ {
		full := 30 * time.Second
		if failures < 7 {
			full = 500 * time.Millisecond << (failures - 1)
		}
		for range 100 {
			d, again := r.wait(busy, failures, draw)
			if !again || d < full/2 || d > full {
				t.Fatalf("after %d failures: %v, again %v; want %v to %v", failures, d, again, full/2, full)
			}
			seen[d] = true
		}
	}
	if len(seen) < 1000 {
		t.Errorf("only %d different waits in 4900", len(seen))
	}
}

func TestTheServersOwnWishIsHonoured(t *testing.T) {
	r := Retry{}.resolved()
	d, again := r.wait(&llm.Error{Status: 429, Retryable: true, RetryAfter: 17 * time.Second}, 1, rand.New(rand.NewPCG(1, 2)))
	if !again || d != 17*time.Second {
		t.Errorf("got %v, %v", d, again)
	}
}

func TestWhatIsTriedAgain(t *testing.T) {
	retryable := llm.Error{Status: 503, Message: "overloaded", Retryable: true}
	for name, c := range map[string]struct {
		steps  []step
		status trajectory.Status
		tries  int
	}{
		"three failures, then an answer": {[]step{fails(retryable), fails(retryable), fails(retryable), says(final)}, trajectory.Completed, 4},
		"failures without end":           {[]step{fails(retryable)}, trajectory.Failed, 6},
		"what no retry mends":            {[]step{fails(llm.Error{Status: 401, Message: "no such key"}), says(final)}, trajectory.Failed, 1},
		"an error of no server": {[]step{func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{}, errors.New("request does not encode")
		}, says(final)}, trajectory.Failed, 1},
		"five failures in each turn": {slices.Concat(slices.Repeat([]step{fails(retryable)}, 5), []step{search},
			slices.Repeat([]step{fails(retryable)}, 5), []step{says(final)}), trajectory.Completed, 12},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := ask(t, script(t, c.steps...), timeout(time.Hour))
				if got.Status != c.status || got.Tries != c.tries {
					t.Fatalf("%s after %d tries (%v), want %s after %d", got.Status, got.Tries, got.err, c.status, c.tries)
				}
				if c.status == trajectory.Failed {
					got.want(t, trajectory.Failed, ReasonModel)
					var e *llm.Error
					if got.err == nil || c.tries == 6 && !errors.As(got.err, &e) || !strings.Contains(got.Error, "question q1: model test-model: ") {
						t.Errorf("error %v, recorded %q", got.err, got.Error)
					}
				}
				last := ""
				for _, e := range got.find(trajectory.TypeAttempt) {
					if e.Attempt.Error == "" || e.Attempt.WillRetry == (e.Attempt.RetryMS == 0) {
						t.Errorf("attempt %+v", e.Attempt)
					}
					last = e.Attempt.Error
				}
				if c.status == trajectory.Failed && last == "" {
					t.Error("the failed try is not in the trajectory")
				}
			})
		})
	}
}

func TestATryThatWouldComeTooLateIsNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := ask(t, script(t, fails(llm.Error{Status: 429, Retryable: true, RetryAfter: time.Hour})), timeout(300*time.Second))
		got.want(t, trajectory.Failed, ReasonModel)
		if got.ElapsedSeconds != 0 || !strings.Contains(got.Error, "after 1h0m0s, would come after the end of the time budget") {
			t.Errorf("after %v s: %s", got.ElapsedSeconds, got.Error)
		}
	})
}

func TestUsageOfFailedTriesIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spent := llm.Error{Retryable: true, Message: "broke off", Usage: trajectory.Usage{Input: 50, Output: 5, Reasoning: 2}}
		got := ask(t, script(t, fails(spent), search, fails(spent), says(final)), nil)
		got.want(t, trajectory.Completed, "")
		if want := (trajectory.Usage{Input: 300, Output: 30, Reasoning: 4}); got.Usage != want {
			t.Errorf("usage %+v, want %+v", got.Usage, want)
		}
	})
}

func TestUsageThatNobodyCountedIsSaid(t *testing.T) {
	got := ask(t, script(t, then(search, func(r *llm.Response) { r.Usage, r.UsageKnown = trajectory.Usage{}, false }), says(final)), nil)
	if got.UncountedCalls != 1 || got.Usage != usage {
		t.Errorf("%d uncounted, usage %+v", got.UncountedCalls, got.Usage)
	}
}
