package limit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"goserini/internal/llm"
	"goserini/internal/llm/llmtest"
	"goserini/internal/trajectory"
)

// clock is a client that notes when each call began and takes a while.
type clock struct {
	takes time.Duration
	usage trajectory.Usage
	fails error

	mu      sync.Mutex
	start   time.Time
	began   []time.Duration
	running int
	most    int
}

func (c *clock) Complete(ctx context.Context, _ llm.Request, _ func(llm.Delta)) (llm.Response, error) {
	c.mu.Lock()
	c.began = append(c.began, time.Since(c.start))
	c.running++
	c.most = max(c.most, c.running)
	c.mu.Unlock()
	time.Sleep(c.takes)
	c.mu.Lock()
	c.running--
	c.mu.Unlock()
	return llm.Response{Usage: c.usage, UsageKnown: true}, c.fails
}

// run makes n calls at once through a limiter and returns when each began.
func run(t *testing.T, rates Rates, c *clock, n int) []time.Duration {
	t.Helper()
	l, err := New(rates)
	if err != nil {
		t.Fatal(err)
	}
	c.start = time.Now()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			_, err := l.Client(c).Complete(t.Context(), llmtest.Question("q"), nil)
			if err != c.fails {
				t.Errorf("got %v", err)
			}
		})
	}
	all.Wait()
	return c.began
}

func TestRequestsFlowAtTheirRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := run(t, Rates{RequestsPerMinute: 6}, &clock{}, 9)
		for i, at := range began {
			want := max(0, time.Duration(i-5)*10*time.Second)
			if d := at - want; d < 0 || d > time.Millisecond {
				t.Errorf("call %d began at %v, want %v", i+1, at, want)
			}
		}
	})
}

func TestTokensAreCorrectedByWhatWasUsed(t *testing.T) {
	size := Estimate(llmtest.Question("q"))
	for _, tc := range []struct {
		name string
		used int
		want time.Duration
	}{{"as estimated", size, 60 * time.Second}, {"less", size / 2, 30 * time.Second}, {"more", 2 * size, 120 * time.Second}} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, err := New(Rates{TokensPerMinute: size})
				if err != nil {
					t.Fatal(err)
				}
				c := &clock{start: time.Now(), usage: trajectory.Usage{Input: int64(tc.used - 3), CacheRead: 1, CacheWrite: 1, Output: 1}}
				for range 2 {
					if _, err := l.Client(c).Complete(t.Context(), llmtest.Question("q"), nil); err != nil {
						t.Fatal(err)
					}
				}
				if got := c.began[1].Round(time.Second); got < tc.want-time.Second || got > tc.want+time.Second {
					t.Errorf("the second call began at %v, want %v", got, tc.want)
				}
			})
		})
	}
}

func TestOnlySoManyCallsRunAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clock{takes: time.Second}
		run(t, Rates{Concurrent: 3}, c, 10)
		if c.most != 3 {
			t.Errorf("got %d calls at a time, want 3", c.most)
		}
	})
}

func TestAnAskedForPauseHoldsEverybody(t *testing.T) {
	for _, tc := range []struct{ wish, want time.Duration }{{20 * time.Second, 20 * time.Second}, {time.Hour, time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			l, err := New(Rates{})
			if err != nil {
				t.Fatal(err)
			}
			c := &clock{start: time.Now(), fails: &llm.Error{Status: 429, Retryable: true, RetryAfter: tc.wish}}
			for range 2 {
				_, _ = l.Client(c).Complete(t.Context(), llmtest.Question("q"), nil)
			}
			if c.began[1] != tc.want {
				t.Errorf("after a wish for %v the next call began at %v, want %v", tc.wish, c.began[1], tc.want)
			}
		})
	}
}

func TestWhoeverGivesUpTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := New(Rates{RequestsPerMinute: 1})
		if err != nil {
			t.Fatal(err)
		}
		c := &clock{start: time.Now()}
		if _, err := l.Client(c).Complete(t.Context(), llmtest.Question("q"), nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = l.Client(c).Complete(ctx, llmtest.Question("q"), nil)
		var e *llm.Error
		if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &e) || !strings.Contains(err.Error(), "rate limit") {
			t.Errorf("got %v", err)
		}
		if _, err := l.Client(c).Complete(t.Context(), llmtest.Question("q"), nil); err != nil {
			t.Fatal(err)
		}
		if got := c.began[1].Round(time.Second); got != time.Minute {
			t.Errorf("the next call began at %v, want one minute", got)
		}
	})
}

func TestACallLargerThanAMinutesWorthIsMadeAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := run(t, Rates{TokensPerMinute: 10}, &clock{usage: trajectory.Usage{Input: 10}}, 1)
		if len(began) != 1 || began[0] != 0 {
			t.Errorf("got %v", began)
		}
	})
}

func TestNegativeRatesAreRefused(t *testing.T) {
	if _, err := New(Rates{RequestsPerMinute: -1}); err == nil {
		t.Error("a negative rate is accepted")
	}
}
