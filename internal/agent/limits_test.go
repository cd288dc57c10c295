package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// perCall prices every call alike.
func perCall(usd float64) func(trajectory.Usage) float64 {
	return func(u trajectory.Usage) float64 {
		if total(u) == 0 {
			return 0
		}
		return usd
	}
}

// Whatever the limit, the model is told once, gets one response without tools, and the
// question ends.
func TestEveryLimitGivesOneChanceToAnswer(t *testing.T) {
	for _, c := range []struct {
		name   string
		limit  func(*Config)
		steer  string
		reason string
		turns  int
	}{
		{"turns", func(c *Config) { c.Budget.MaxTurns = 4 }, steerTurns, ReasonMaxTurns, 4},
		{"one turn", func(c *Config) { c.Budget.MaxTurns = 1 }, steerTurns, ReasonMaxTurns, 1},
		{"calls", func(c *Config) { c.Budget.MaxCalls = 2 }, steerCalls, ReasonMaxCalls, 3},
		{"tokens", func(c *Config) { c.Budget.MaxTokens = 20_000 }, steerTokens, ReasonMaxTokens, 0},
		{"tokens too few for anything", func(c *Config) { c.Budget.MaxTokens = 1 }, steerTokens, ReasonMaxTokens, 1},
		{"cost", func(c *Config) { c.Budget.MaxCostUSD, c.Price = 1, perCall(0.25) }, steerCost, ReasonMaxCost, 4},
		{"a full window", func(c *Config) { c.Window = 1200 }, steerContext, ReasonContextFull, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			stubborn := ask(t, script(t, costly(search)), c.limit)
			stubborn.want(t, trajectory.Failed, c.reason)
			steers := stubborn.find(trajectory.TypeSteer)
			if len(steers) != 1 || steers[0].Steer.Reason != c.steer || !stubborn.Steered || stubborn.err != nil {
				t.Errorf("steers %s, error %v", encode(t, steers), stubborn.err)
			}
			if c.turns != 0 && stubborn.Turns != c.turns {
				t.Errorf("%d turns, want %d", stubborn.Turns, c.turns)
			}
			if stubborn.BlockedCalls != 1 {
				t.Errorf("%d calls blocked, want that of the last response", stubborn.BlockedCalls)
			}
			n := stubborn.Turns
			steps := make([]step, 0, n)
			for range n - 1 {
				steps = append(steps, costly(search))
			}
			obedient := ask(t, script(t, append(steps, says(final))...), c.limit)
			obedient.want(t, trajectory.Completed, "")
			if obedient.Answer.Exact != "Lake Orrin" || !obedient.Steered {
				t.Errorf("answer %q, steered %v", obedient.Answer.Exact, obedient.Steered)
			}
		})
	}
}

// costly reports a usage that grows with the conversation.
func costly(s step) step {
	return func(ctx context.Context, req llm.Request) (llm.Response, error) {
		r, err := s(ctx, req)
		n := 0
		for _, m := range req.Messages {
			n += size(m)
		}
		r.Usage = trajectory.Usage{Input: int64(n / 4), Output: 500}
		return r, err
	}
}

func TestTheLastResponseStaysWithinTheTokens(t *testing.T) {
	got := ask(t, script(t, costly(search)), func(c *Config) { c.Budget.MaxTokens = 30_000 })
	got.want(t, trajectory.Failed, ReasonMaxTokens)
	if n := total(got.Usage); n > 30_000 || n < 20_000 {
		t.Errorf("%d tokens used of 30000", n)
	}
}

func TestCallsBeyondTheLimitInOneTurnAreBlocked(t *testing.T) {
	three := calls("search", `{"query":"a"}`, "search", `{"query":"b"}`, "search", `{"query":"c"}`)
	got := ask(t, script(t, three, says(final)), func(c *Config) { c.Budget.MaxCalls = 2 })
	got.want(t, trajectory.Completed, "")
	if got.ExecutedCalls != 2 || got.BlockedCalls != 1 || !got.observations()[2].Blocked {
		t.Errorf("%d run, %d blocked", got.ExecutedCalls, got.BlockedCalls)
	}
}

func TestALimitMetAfterTheSteerOfTimeEndsTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := ask(t, script(t, after(10*time.Second, search)), func(c *Config) { c.Budget.Timeout, c.Budget.MaxTurns = 100*time.Second, 9 })
		got.want(t, trajectory.Failed, ReasonMaxTurns)
		if got.Turns != 9 || len(got.find(trajectory.TypeSteer)) != 1 {
			t.Errorf("%d turns, %d steers", got.Turns, len(got.find(trajectory.TypeSteer)))
		}
	})
}

func TestToolsAreForbiddenOnlyWhereAskedFor(t *testing.T) {
	for _, forbid := range []bool{false, true} {
		got := ask(t, script(t, search, says(final)), func(c *Config) { c.Budget.MaxTurns, c.ForbidTools = 2, forbid })
		if r := got.model.requests; r[0].ForbidTools || r[1].ForbidTools != forbid {
			t.Errorf("forbidden %v and %v, want false and %v", r[0].ForbidTools, r[1].ForbidTools, forbid)
		}
	}
}

func TestBadConfigurationsAreRefused(t *testing.T) {
	for words, change := range map[string]func(*Config){
		"no client":                             func(c *Config) { c.Client = nil },
		"no model":                              func(c *Config) { c.Model = "" },
		"timeout -1s":                           func(c *Config) { c.Budget.Timeout = -time.Second },
		"a limit is negative":                   func(c *Config) { c.Budget.MaxTurns = -1 },
		"is not a sum":                          func(c *Config) { c.Budget.MaxCostUSD = -1 },
		"test-model is unpriced":                func(c *Config) { c.Budget.MaxCostUSD = 1 },
		"the run's limit of cost needs a price": func(c *Config) { c.Ledgers = []*Ledger{NewLedger(USD, 1)} },
		"two tools are called":                  func(c *Config) { c.Tools = append(c.Tools, searchTool()) },
		"schema of tool":                        func(c *Config) { c.Tools[0].Schema = nil },
		"no function":                           func(c *Config) { c.Tools[0].Begin = nil },
		"{{question}}":                          func(c *Config) { c.Prompt = "Answer." },
		"needs the size":                        func(c *Config) { c.Shorten = ShortenMask },
		"want off, mask or":                     func(c *Config) { c.Shorten = "half" },
		"is negative":                           func(c *Config) { c.Window = -1 },
	} {
		got := ask(t, script(t, says(final)), change)
		if got.err == nil || !strings.Contains(got.err.Error(), words) || len(got.events) != 0 {
			t.Errorf("error %v, want %q in it; %d events", got.err, words, len(got.events))
		}
	}
}

// Ten workers, a budget of 1.00 and calls of 0.30 that take a second.
func TestARunBudgetIsKeptByTenWorkers(t *testing.T) { // RUN-11
	synctest.Test(t, func(t *testing.T) {
		ledger := NewLedger(USD, 1)
		var mu sync.Mutex
		made, refused := 0, 0
		var group sync.WaitGroup
		for i := range 10 {
			group.Go(func() {
				client := clientFunc(func(ctx context.Context, req llm.Request, _ func(llm.Delta)) (llm.Response, error) {
					mu.Lock()
					made++
					mu.Unlock()
					return after(time.Second, search)(ctx, req)
				})
				rec, err := Run(t.Context(), Question{ID: fmt.Sprint(i)}, Config{
					Client: client, Model: "m", Tools: twoTools(), Price: perCall(0.3), Ledgers: []*Ledger{ledger},
				})
				requireOutcome(t, rec)
				mu.Lock()
				defer mu.Unlock()
				if rec.Reason == ReasonRunBudget {
					refused++
					if !errors.Is(err, ErrRunBudget) || rec.Turns != 0 || !strings.Contains(rec.Error, "of 1 USD are spent") {
						t.Errorf("refused with %v after %d turns", err, rec.Turns)
					}
				}
			})
		}
		group.Wait()
		if made != 3 || refused != 9 || ledger.Spent() > 1 {
			t.Errorf("%d calls for %.2f, %d questions refused; want 3 and 9", made, ledger.Spent(), refused)
		}
	})
}

func TestARunBudgetLetsQuestionsFollowOneAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := NewLedger(Turns, 20)
		var group sync.WaitGroup
		var mu sync.Mutex
		completed := 0
		for i := range 6 {
			group.Go(func() {
				rec, _ := Run(t.Context(), Question{ID: fmt.Sprint(i)}, Config{
					Client: clientFunc(func(ctx context.Context, req llm.Request, _ func(llm.Delta)) (llm.Response, error) {
						if len(req.Messages) < 5 {
							return after(time.Second, search)(ctx, req)
						}
						return says(final)(ctx, req)
					}), Model: "m", Tools: twoTools(), Ledgers: []*Ledger{ledger}, Budget: Budget{Timeout: time.Minute},
				})
				mu.Lock()
				defer mu.Unlock()
				if rec.Status == trajectory.Completed {
					completed++
				}
			})
		}
		group.Wait()
		if completed != 6 || ledger.Spent() != 18 {
			t.Errorf("%d completed with %.0f turns, want 6 with 18", completed, ledger.Spent())
		}
	})
}

func TestAFreeModelIsNotHeldUpByARunBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := NewLedger(USD, 1)
		start := time.Now()
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				_, _ = Run(t.Context(), Question{}, Config{
					Client: clientFunc(func(ctx context.Context, req llm.Request, _ func(llm.Delta)) (llm.Response, error) {
						return after(time.Second, says(final))(ctx, req)
					}), Model: "m", Price: perCall(0), Ledgers: []*Ledger{ledger},
				})
			})
		}
		group.Wait()
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("ten questions took %v, want 2 s: the first alone, then the others at once", took)
		}
	})
}

func TestWaitingForARunBudgetEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := NewLedger(Tokens, 1e6)
		go Run(t.Context(), Question{}, Config{Client: script(t, after(time.Hour, says(final))), Model: "m", Ledgers: []*Ledger{ledger}})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got := askContext(t, ctx, script(t, says(final)), func(c *Config) { c.Ledgers = []*Ledger{ledger} })
		got.want(t, trajectory.Failed, ReasonInterrupted)
		time.Sleep(time.Hour)
	})
}

func TestALedgerGivesEverythingBack(t *testing.T) {
	ledger := NewLedger(Tokens, 1e6)
	for _, s := range []step{says(final), fails(llm.Error{Status: 401}), search} {
		ask(t, script(t, s), func(c *Config) { c.Ledgers, c.Budget.MaxTurns = []*Ledger{ledger}, 3 })
	}
	if ledger.reserved != 0 || ledger.open != 0 || ledger.Spent() != 4*110 {
		t.Errorf("%v reserved, %d open, %v spent; want 0, 0, 440", ledger.reserved, ledger.open, ledger.Spent())
	}
}
