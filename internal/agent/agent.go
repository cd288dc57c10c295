// Package agent answers one question with a language model and tools: a loop of turns
// over an append-only history that ends in a final answer, or in another state that
// docs/agent.md names.
//
//	rec, err := agent.Run(ctx, agent.Question{ID: "q1", Text: "…"}, agent.Config{
//		Client: client, Model: "deepseek-chat", Tools: controller.New(r, opts).Tools(),
//		Budget: agent.Budget{Timeout: agent.DefaultTimeout},
//		Emit:   func(e trajectory.Event) { … },
//	})
//
// The package knows tools and a client, and nothing of search. What the model was shown,
// it takes from what the tools report.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"goserini/internal/llm"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// Question is what the agent is asked. ID is the query id and may be empty.
type Question struct {
	ID, Text string
}

// Config says how a question is answered. Client and Model are required; everything
// else has a meaning when it is zero. The client and the tools must return soon after their
// context ends: the agent waits for them.
type Config struct {
	Client llm.Client
	// Model is the provider's own name of the model; Label is what the record calls it,
	// for example provider/model ("": as Model).
	Model, Label string
	// Tools are offered in this order, always.
	Tools  []tool.Tool
	Budget Budget
	// Retry says how often and when a failed model call is tried again.
	Retry Retry

	// Prompt replaces DefaultPrompt. System is empty by default.
	Prompt, System string
	// MaxOutputTokens, Effort and CacheKey are passed on to the client. Without a CacheKey
	// one is derived from the question.
	MaxOutputTokens  int
	Effort, CacheKey string
	// ForbidTools also asks the provider for a response without calls once the research is
	// over. Off by default: some providers lose the prefix cache by it, and the tools are
	// closed in any case.
	ForbidTools bool

	// Window is the model's context window in tokens, 0 where unknown. Shorten says what
	// happens when it fills.
	Window  int
	Shorten Shortening

	// Price is the price in USD of the tokens of a call, nil where it is not known.
	Price func(trajectory.Usage) float64
	// Ledgers are limits shared with the other questions of a run.
	Ledgers []*Ledger

	// Exists reports whether the collection has a document, nil where nobody can tell. It is
	// asked about ids that an answer cites and no tool has shown.
	Exists func(docid string) bool

	// Companion stands beside the question, nil for nobody.
	Companion Companion

	// Emit receives every event as it happens, in order, on one goroutine. Stream receives
	// the pieces of responses, those of tries that fail included.
	Emit   func(trajectory.Event)
	Stream func(llm.Delta)
	// Rand draws the jitter of retries, nil for a random one.
	Rand *rand.Rand
}

func (c Config) check() error {
	if c.Client == nil {
		return errors.New("agent: no client")
	}
	if c.Model == "" {
		return errors.New("agent: no model")
	}
	seen := map[string]bool{}
	for _, t := range c.Tools {
		switch {
		case t.Name == "" || t.Begin == nil:
			return fmt.Errorf("agent: tool %q has no name or no function", t.Name)
		case seen[t.Name]:
			return fmt.Errorf("agent: two tools are called %q", t.Name)
		case !json.Valid(t.Schema):
			return fmt.Errorf("agent: schema of tool %s is not JSON", t.Name)
		}
		seen[t.Name] = true
	}
	if c.Price == nil {
		if c.Budget.MaxCostUSD > 0 {
			return fmt.Errorf("agent: a limit of cost needs a price, and %s is unpriced: give its price or limit tokens instead", c.label())
		}
		for _, l := range c.Ledgers {
			if l.unit == USD {
				return fmt.Errorf("agent: the run's limit of cost needs a price, and %s is unpriced: give its price or limit tokens instead", c.label())
			}
		}
	}
	if err := c.Shorten.check(c.Window); err != nil {
		return err
	}
	return c.Budget.check()
}

func (c Config) label() string {
	if c.Label != "" {
		return c.Label
	}
	return c.Model
}

// Run answers one question. The record always says how the question ended, and the last
// event is its end, whatever happened. The error is not nil when an operator has to look:
// the configuration is wrong (then there is no record and no event), a model call or a tool
// failed for good, or ctx ended. What the model did wrong is in the record alone.
func Run(ctx context.Context, q Question, cfg Config) (trajectory.Record, error) {
	if err := cfg.check(); err != nil {
		return trajectory.Record{}, err
	}
	s, err := newSession(q, cfg)
	if err != nil {
		return trajectory.Record{}, err
	}
	end := s.run(ctx)
	s.finish(end)
	return s.tally.Record(), end.err
}
