package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"goserini/internal/llm"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// companion is a scripted one: it holds back as many answers as it has messages.
type companion struct {
	messages []string
	warning  string
	kept     string

	reviewed []string
	observed [][]tool.Exchange
}

func (c *companion) Observe(calls []tool.Exchange) string {
	c.observed = append(c.observed, calls)
	return c.warning
}

func (c *companion) Memory() string { return c.kept }

func (c *companion) Review(a trajectory.Answer) string {
	c.reviewed = append(c.reviewed, a.Exact)
	if len(c.reviewed) > len(c.messages) {
		return ""
	}
	return c.messages[len(c.reviewed)-1]
}

func (c *companion) Record() (*trajectory.Notebook, *trajectory.Verification) {
	return &trajectory.Notebook{Constraints: []trajectory.Constraint{}}, &trajectory.Verification{Outcome: "passed", Checks: len(c.reviewed)}
}

const second = "Explanation: it is in [d1].\nExact Answer: Lake Ferro\nConfidence: 70%"

func accompanied(c *companion, change func(*Config)) func(*Config) {
	return func(cfg *Config) {
		cfg.Companion = c
		if change != nil {
			change(cfg)
		}
	}
}

func TestAnAnswerIsHeldBackUntilTheCompanionAccepts(t *testing.T) {
	for _, tt := range []struct {
		name     string
		messages int
		steps    []step
		want     string
		turns    int
	}{
		{"accepted at once", 0, []step{search, says(final)}, "Lake Orrin", 2},
		{"said again", 1, []step{search, says(final), says(final)}, "Lake Orrin", 3},
		{"another answer after more research", 2, []step{search, says(final), says("Check: a | none | not shown"), search, says(second)}, "Lake Ferro", 5},
		{"text without labels leaves the answer as it was", 1, []step{says(final), says("All is shown.")}, "Lake Orrin", 2},
		{"text without labels after research is asked about once", 1, []step{says(final), search, says("Ferro, perhaps."), says("Ferro.")}, "Lake Orrin", 4},
		{"and may be said with labels then", 1, []step{says(final), search, says("Ferro, perhaps."), says(second)}, "Lake Ferro", 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &companion{messages: slices.Repeat([]string{"Check it."}, tt.messages)}
			got := ask(t, script(t, tt.steps...), accompanied(c, nil))
			got.want(t, trajectory.Completed, "")
			if got.Answer.Exact != tt.want || got.Turns != tt.turns || got.Steered {
				t.Errorf("answer %q after %d turns, steered %v", got.Answer.Exact, got.Turns, got.Steered)
			}
			verify := 0
			for _, e := range got.find(trajectory.TypeSteer) {
				if e.Steer.Reason == trajectory.SteerVerify {
					verify++
				}
			}
			if verify != tt.messages || got.Verification == nil || got.Verification.Checks != len(c.reviewed) || got.Notebook == nil {
				t.Errorf("%d messages, want %d; recorded %+v", verify, tt.messages, got.Verification)
			}
		})
	}
}

// Whatever ends a question whose answer was held back, that answer stands, the record says
// why, and no limit was passed.
func TestAnAnswerHeldBackIsNeverLost(t *testing.T) {
	broken := readTool()
	broken.Begin = func(json.RawMessage) func(context.Context) (tool.Result, error) {
		return func(context.Context) (tool.Result, error) { return tool.Result{}, errors.New("disk gone") }
	}
	long := says(strings.Repeat("word ", 2000) + "\n" + final)
	costly := func(s step) step {
		return then(s, func(r *llm.Response) { r.Usage = trajectory.Usage{Input: 5000, Output: 200} })
	}
	late := func(ctx context.Context, req llm.Request) (llm.Response, error) { // deaf to the end of its context
		time.Sleep(71 * time.Second)
		return says(final)(ctx, req)
	}
	for _, tt := range []struct {
		name   string
		steps  []step
		change func(*Config)
		reason string
		turns  int
	}{
		{"one turn left", []step{search, says(final), says(second)}, func(c *Config) { c.Budget.MaxTurns = 3 }, ReasonMaxTurns, 2},
		{"no call left after more research", []step{search, says(final), search, search}, func(c *Config) { c.Budget.MaxCalls = 2 }, ReasonMaxCalls, 4},
		{"no tokens left", []step{costly(search), costly(says(final)), says(second)}, func(c *Config) { c.Budget.MaxTokens = 18_000 }, ReasonMaxTokens, 2},
		{"no money left", []step{costly(search), costly(says(final)), says(second)}, func(c *Config) { c.Budget.MaxCostUSD, c.Price = 18, dollars }, ReasonMaxCost, 2},
		{"no room left", []step{search, long, says(second)}, func(c *Config) { c.Window = 2500 }, ReasonContextFull, 2},
		{"the time for research ends before the check", []step{search, late}, timeout(100 * time.Second), "", 2},
		{"the time for research ends in the check", []step{search, says(final), never}, timeout(100 * time.Second), ReasonTime, 2},
		{"the time ends after more research", []step{search, says(final), search, never}, timeout(100 * time.Second), ReasonTime, 3},
		{"the model fails", []step{search, says(final), fails(llm.Error{Status: 400, Message: "bad"})}, nil, ReasonModel, 2},
		{"the model refuses", []step{search, says(final), stops(llm.StopRefusal, "no")}, nil, ReasonRefusal, 3},
		{"the model says nothing", []step{search, says(final), says(""), says(""), says("")}, nil, ReasonNoAnswer, 5},
		{"the model cannot call", []step{search, says(final), calls("nothing", `{}`)}, nil, ReasonBadCalls, 8},
		{"a tool breaks", []step{search, says(final), calls("read_document", `{"docid":"d1"}`)}, func(c *Config) { c.Tools = []tool.Tool{searchTool(), broken} }, ReasonTool, 3},
		{"the last response is no answer", []step{search, says(final), search, search}, func(c *Config) { c.Budget.MaxTurns = 4 }, ReasonMaxTurns, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &companion{messages: slices.Repeat([]string{"Check it."}, 9)}
				got := ask(t, script(t, tt.steps...), accompanied(c, tt.change))
				got.want(t, trajectory.Completed, "")
				note := strings.Join(got.Answer.Notes, "; ")
				want := "its verification ended early: " + tt.reason
				if tt.reason == "" {
					want = ""
				}
				if got.Answer.Exact != "Lake Orrin" || !strings.HasPrefix(note, want) || (note == "") != (want == "") || got.Turns != tt.turns {
					t.Errorf("answer %q with note %q after %d turns, want %q after %d", got.Answer.Exact, note, got.Turns, want, tt.turns)
				}
				if total(got.Usage) > 18_000 {
					t.Errorf("spent %+v", got.Usage)
				}
			})
		})
	}
}

func dollars(u trajectory.Usage) float64 { return float64(total(u)) / 1000 }

func TestAReopenedResearchEndsWithALastResponse(t *testing.T) {
	c := &companion{messages: []string{"Check it."}}
	got := ask(t, script(t, search, says(final), search, says(second)), accompanied(c, func(c *Config) { c.Budget.MaxTurns = 4 }))
	got.want(t, trajectory.Completed, "")
	if got.Answer.Exact != "Lake Ferro" || !got.Steered || len(got.Answer.Notes) > 0 || len(c.reviewed) != 1 {
		t.Errorf("answer %q with %q, steered %v, reviewed %q", got.Answer.Exact, got.Answer.Notes, got.Steered, c.reviewed)
	}
}

// An interrupted question is no result and is asked again; its answer is in the record all the same.
func TestAnInterruptedCheckKeepsTheAnswerInTheRecord(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := func(context.Context, llm.Request) (llm.Response, error) {
		cancel(errors.New("stopped"))
		return llm.Response{}, context.Canceled
	}
	got := askContext(t, ctx, script(t, says(final), stop), accompanied(&companion{messages: []string{"Check it."}}, nil))
	got.want(t, trajectory.Failed, ReasonInterrupted)
	if got.Answer.Exact != "Lake Orrin" || got.err == nil {
		t.Errorf("answer %q, error %v", got.Answer.Exact, got.err)
	}
}

func TestAWarningFollowsTheResultsOfItsTurn(t *testing.T) {
	c := &companion{warning: "Wrong branch."}
	got := ask(t, script(t, calls("search", `{"query":"a"}`, "read_document", `{"docid":"d1"}`, "nothing", `{}`), says(final)), accompanied(c, nil))
	got.want(t, trajectory.Completed, "")
	if m := got.last(2); m.Role != llm.User || m.Text != "Wrong branch." || got.Steered {
		t.Errorf("last message %+v, steered %v", m, got.Steered)
	}
	if len(c.observed) != 1 || len(c.observed[0]) != 2 || c.observed[0][1].Call.Tool != "read_document" || len(c.observed[0][1].Result.Access.Opened) != 1 {
		t.Errorf("observed %+v", c.observed)
	}
}

func TestWhatTheCompanionKeepsStandsBeforeTheSteerAndBesideFoldedTurns(t *testing.T) {
	m := script(t, turns(30)...)
	m.shortens = true
	c := &companion{kept: "Your notebook: 1. [met] it."}
	got := ask(t, m, accompanied(c, func(cfg *Config) {
		shortening(ShortenCompact, 4_000)(cfg)
		cfg.Budget.MaxTurns = 20
	}))
	got.want(t, trajectory.Failed, ReasonMaxTurns)
	steers := got.find(trajectory.TypeSteer)
	if len(steers) != 1 || !strings.HasPrefix(steers[0].Steer.Text, c.kept+"\n\n"+steerTexts[steerTurns]) {
		t.Errorf("steers %s", encode(t, steers))
	}
	folds := got.find(trajectory.TypeShorten)
	if len(folds) == 0 {
		t.Fatal("nothing was folded")
	}
	for _, e := range folds {
		if !strings.HasPrefix(e.Shorten.Text, foldHead) || !strings.HasSuffix(e.Shorten.Text, "\n\n"+c.kept) {
			t.Errorf("folded to %q", e.Shorten.Text)
		}
	}
	for i, req := range m.requests[5:] {
		if text := req.Messages[1].Text; len(req.Messages) > 2 && strings.HasPrefix(text, foldHead) && strings.Count(text, c.kept) != 1 {
			t.Errorf("request %d: the notebook stands %d times beside the folded turns", i+6, strings.Count(text, c.kept))
		}
		requireWindow(t, req, 4_000)
	}
}

// counted responds with the usage that a server which takes four bytes for a token would count.
func counted(s step) step {
	return func(ctx context.Context, req llm.Request) (llm.Response, error) {
		r, err := s(ctx, req)
		r.Usage = trajectory.Usage{Input: int64(sizeOf(req.Messages)+1000) / 4, Output: 100}
		return r, err
	}
}

func TestWhatTheCompanionKeepsIsForeseen(t *testing.T) {
	untilTold := func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if strings.Contains(req.Messages[len(req.Messages)-1].Text, "Submit your best answer") {
			return counted(says(final))(ctx, req)
		}
		return counted(search)(ctx, req)
	}
	for limit := int64(9_000); limit < 30_000; limit += 1_000 {
		c := &companion{kept: strings.Repeat("kept ", 1600)} // 2,000 tokens
		got := ask(t, script(t, untilTold), accompanied(c, func(cfg *Config) {
			cfg.Budget.MaxTokens, cfg.MaxOutputTokens = limit, 100
		}))
		got.want(t, trajectory.Completed, "")
		if total(got.Usage) > limit || !got.Steered || got.Turns < 3 {
			t.Errorf("%d of %d tokens are spent in %d turns", total(got.Usage), limit, got.Turns)
		}
	}
}

func TestAFullWindowIsNotFilledWithWhatTheCompanionKeeps(t *testing.T) {
	c := &companion{kept: strings.Repeat("kept ", 100)}
	got := ask(t, script(t, turns(30)...), accompanied(c, shortening(ShortenOff, 4_000)))
	steers := got.find(trajectory.TypeSteer)
	if len(steers) != 1 || steers[0].Steer.Reason != steerContext || strings.Contains(steers[0].Steer.Text, "kept") {
		t.Errorf("steers %s", encode(t, steers))
	}
}
