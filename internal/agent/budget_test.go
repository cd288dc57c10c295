package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"goserini/internal/llm"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

func timeout(d time.Duration) func(*Config) {
	return func(c *Config) { c.Budget.Timeout = d }
}

func TestTheSteerComesAtSevenTenthsOfTheBudget(t *testing.T) {
	for budget, want := range map[time.Duration]time.Duration{
		300 * time.Second:       210 * time.Second,
		10 * time.Millisecond:   7 * time.Millisecond,
		11 * time.Millisecond:   7 * time.Millisecond,
		time.Nanosecond:         time.Millisecond,
		0:                       0,
		1<<63 - 1:               6456360425797 * time.Millisecond,
		3333 * time.Millisecond: 2333 * time.Millisecond,
	} {
		if got := (Budget{Timeout: budget}).SteerAfter(); got != want {
			t.Errorf("T = %v: got %v, want %v", budget, got, want)
		}
	}
}

func TestAModelThatOnlyCallsToolsIsSteeredAt210sAndEndsAt300s(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := ask(t, script(t, after(7*time.Second, search)), timeout(300*time.Second))
		got.want(t, trajectory.Timeout, ReasonTime)
		if got.err != nil || got.ElapsedSeconds != 300 {
			t.Errorf("took %v s, error %v; want 300 s and none", got.ElapsedSeconds, got.err)
		}
		steers := got.find(trajectory.TypeSteer)
		if len(steers) != 1 || steers[0].ElapsedMS != 210_000 || steers[0].Steer.Reason != steerTime {
			t.Fatalf("steers %s, want one at 210000 ms", encode(t, steers))
		}
		for _, e := range got.find(trajectory.TypeObservation) {
			if want := e.ElapsedMS >= 210_000; e.Observation.Blocked != want || e.Observation.IsError != want {
				t.Errorf("at %d ms: blocked %v, error %v; want %v", e.ElapsedMS, e.Observation.Blocked, e.Observation.IsError, want)
			}
			if e.Observation.Blocked && !strings.Contains(e.Observation.Text, "Exact Answer:") {
				t.Errorf("the refusal does not say what to do: %q", e.Observation.Text)
			}
		}
		// 30 turns of 7 s until 210, then 12 until 294.
		if got.ExecutedCalls != 29 && got.ExecutedCalls != 30 || got.BlockedCalls < 12 || !got.Steered {
			t.Errorf("%d calls run, %d blocked, steered %v", got.ExecutedCalls, got.BlockedCalls, got.Steered)
		}
	})
}

func TestTheSteerReachesACallInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := ask(t, script(t, search, never, after(5*time.Second, says(final))), timeout(300*time.Second))
		got.want(t, trajectory.Completed, "")
		if got.ElapsedSeconds != 215 || got.Answer.Exact != "Lake Orrin" {
			t.Errorf("answer %q after %v s", got.Answer.Exact, got.ElapsedSeconds)
		}
		if m := got.last(3); m.Role != llm.User || !strings.Contains(m.Text, "Submit your best answer") {
			t.Errorf("the call was not sent again with the steer: %+v", m)
		}
		attempts := got.find(trajectory.TypeAttempt)
		if len(attempts) != 1 || !attempts[0].Attempt.Interrupted || !attempts[0].Attempt.WillRetry || attempts[0].ElapsedMS != 210_000 {
			t.Errorf("attempts %s", encode(t, attempts))
		}
		if got.Tries != 3 || got.Turns != 2 || got.UncountedCalls != 1 {
			t.Errorf("%d tries, %d turns, %d uncounted; want 3, 2, 1", got.Tries, got.Turns, got.UncountedCalls)
		}
	})
}

func TestWhatAnInterruptedCallHadSentIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := script(t, nil)
		client := clientFunc(func(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
			if len(req.Messages) > 1 {
				return says(final)(ctx, req)
			}
			stream(llm.Delta{Reasoning: "12345"})
			<-ctx.Done()
			return llm.Response{}, &llm.Error{Message: "ended", Err: ctx.Err(), Usage: trajectory.Usage{Input: 7}}
		})
		got := ask(t, m, func(c *Config) { c.Client, c.Budget.Timeout = client, 10*time.Second })
		got.want(t, trajectory.Completed, "")
		a := got.find(trajectory.TypeAttempt)[0].Attempt
		if a.StreamedBytes != 5 || a.Usage.Input != 7 || got.Usage.Input != 107 || got.UncountedCalls != 0 {
			t.Errorf("attempt %+v, usage %+v, uncounted %d", a, got.Usage, got.UncountedCalls)
		}
	})
}

func TestAModelThatNeverRespondsEndsAtT(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := ask(t, script(t, never), timeout(300*time.Second))
		got.want(t, trajectory.Timeout, ReasonTime)
		attempts := got.find(trajectory.TypeAttempt)
		if got.ElapsedSeconds != 300 || len(attempts) != 2 || attempts[1].Attempt.WillRetry || !attempts[1].Attempt.Interrupted {
			t.Errorf("took %v s, attempts %s", got.ElapsedSeconds, encode(t, attempts))
		}
	})
}

func TestAToolInFlightAtTheSteerIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := searchTool()
		slow.Begin = func(json.RawMessage) func(context.Context) (tool.Result, error) {
			return func(ctx context.Context) (tool.Result, error) {
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			}
		}
		got := ask(t, script(t, search, says(final)), func(c *Config) { c.Budget.Timeout, c.Tools = 100*time.Second, []tool.Tool{slow} })
		got.want(t, trajectory.Completed, "")
		o := got.observations()[0]
		if got.ElapsedSeconds != 70 || !o.Blocked || !strings.HasPrefix(o.Text, "Research is over") {
			t.Errorf("took %v s, observation %+v", got.ElapsedSeconds, o)
		}
	})
}

func TestAToolThatOutlastsTheQuestionIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := readTool()
		deaf.Begin = func(json.RawMessage) func(context.Context) (tool.Result, error) {
			return func(context.Context) (tool.Result, error) {
				time.Sleep(150 * time.Second)
				return tool.Result{}, errors.New("too late")
			}
		}
		got := ask(t, script(t, calls("read_document", `{}`)), func(c *Config) { c.Budget.Timeout, c.Tools = 100*time.Second, []tool.Tool{deaf} })
		got.want(t, trajectory.Timeout, ReasonTime)
		if o := got.observations(); len(o) != 1 || o[0].Text != unfinishedText {
			t.Errorf("observations %s", encode(t, o))
		}
	})
}

func TestTheClockDoesNotStartAgainAfterARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := fails(llm.Error{Status: 429, Retryable: true, RetryAfter: 40 * time.Second})
		got := ask(t, script(t, busy, busy, after(time.Second, says(final))), timeout(100*time.Second))
		got.want(t, trajectory.Completed, "")
		if got.ElapsedSeconds != 81 {
			t.Errorf("took %v s, want 81", got.ElapsedSeconds)
		}
		steers := got.find(trajectory.TypeSteer)
		if len(steers) != 1 || steers[0].ElapsedMS != 70_000 {
			t.Errorf("steers %s, want one at 70000 ms, in the middle of a wait", encode(t, steers))
		}
	})
}

func TestAnAnswerThatComesTooLateIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deaf := func(ctx context.Context, req llm.Request) (llm.Response, error) {
			time.Sleep(101 * time.Second)
			return says(final)(ctx, req)
		}
		got := ask(t, script(t, deaf), timeout(100*time.Second))
		got.want(t, trajectory.Timeout, ReasonTime)
		if got.Turns != 1 || got.Usage != usage || got.Answer.Text != "" {
			t.Errorf("%d turns, usage %+v, answer %q", got.Turns, got.Usage, got.Answer.Text)
		}
	})
}

func TestTheSteerStaysWhenTurnsAreFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := script(t, after(time.Second, reads))
		m.shortens = true
		got := ask(t, m, func(c *Config) {
			shortening(ShortenCompact, 4_000)(c)
			c.Budget.Timeout = 60 * time.Second
		})
		got.want(t, trajectory.Timeout, ReasonTime)
		folds := 0
		for _, e := range got.find(trajectory.TypeShorten) {
			if e.ElapsedMS > 42_000 {
				folds++
			}
		}
		if folds == 0 {
			t.Fatal("nothing was folded after the steer")
		}
		for i, req := range m.requests {
			told := 0
			for _, msg := range req.Messages {
				if msg.Role == llm.User && msg.Text == steerText(steerTime) {
					told++
				}
			}
			if want := min(1, i/42); told != want {
				t.Errorf("request %d has the steer %d times, want %d", i+1, told, want)
			}
		}
	})
}

func TestAnAnswerWithinTheBudgetEndsTheQuestionAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := ask(t, script(t, search, after(3*time.Second, says(final))), timeout(300*time.Second))
		got.want(t, trajectory.Completed, "")
		if got.ElapsedSeconds != 3 || got.Steered {
			t.Errorf("took %v s, steered %v", got.ElapsedSeconds, got.Steered)
		}
	})
}

// clientFunc is a client that is a function.
type clientFunc func(context.Context, llm.Request, func(llm.Delta)) (llm.Response, error)

func (f clientFunc) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	return f(ctx, req, stream)
}
