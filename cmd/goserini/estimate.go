package main

import (
	"fmt"
	"math"

	"goserini/internal/experiment"
	"goserini/internal/trajectory"
)

// estimate is what a run is expected to take, before it is made.
type estimate struct {
	// Questions are those that would be run.
	Questions int `json:"questions_to_run"`
	// Basis says where the numbers come from.
	Basis     string `json:"basis"`
	CallsLow  int    `json:"tool_calls_low"`
	CallsHigh int    `json:"tool_calls_high"`
	// The cost is nil where no price is known.
	CostLowUSD  *float64 `json:"cost_low_usd"`
	CostHighUSD *float64 `json:"cost_high_usd"`
	// Limits say what bounds the estimate.
	Limits []string `json:"limits,omitempty"`
}

// What is published for agents of this design over BrowseComp-Plus (arXiv 2605.10848): table 2 has
// 9.0 to 41.3 tool calls a question, and table 3 a median of 271,140 tokens, 227,968 of them cached, at
// 23.1 calls. How much of the rest is output follows from the cost of that row at the model's list price:
// about 4,000 tokens.
const (
	publishedCallsLow, publishedCallsHigh, publishedCalls = 9.0, 41.3, 23.1
	publishedCached, publishedInput, publishedOutput      = 227_968, 39_000, 4_000
)

func (p *benchmarkRun) estimate(out string) (estimate, error) {
	done, usage, calls := map[string]bool{}, trajectory.Usage{}, 0
	err := experiment.EachResult(out, func(rec trajectory.Record) error {
		done[rec.QueryID] = true
		usage = usage.Add(rec.Usage)
		calls += rec.ExecutedCalls
		return nil
	})
	if err != nil {
		return estimate{}, err
	}
	e := estimate{}
	for _, q := range p.plan.Questions {
		if !done[q.ID] {
			e.Questions++
		}
	}
	switch {
	case len(done) > 0:
		e.fromResults(len(done), calls, usage, p.researcher.model.price)
	case !p.researcher.model.isLanguageModel:
		e.Basis = "no language model: no cost; the number of calls is not known before"
		e.CostLowUSD, e.CostHighUSD = new(float64), new(float64)
	default:
		e.fromPaper(p.researcher.model.price)
	}
	e.bound(p)
	return e, nil
}

func (e *estimate) fromResults(n, calls int, usage trajectory.Usage, price func(trajectory.Usage) float64) {
	e.Basis = fmt.Sprintf("the %d results in the run directory, give or take half", n)
	per := float64(e.Questions) / float64(n)
	e.CallsLow, e.CallsHigh = int(per*float64(calls)/2), int(math.Ceil(per*float64(calls)*1.5))
	if price != nil {
		mean := price(usage) * per
		low, high := mean/2, mean*1.5
		e.CostLowUSD, e.CostHighUSD = &low, &high
	}
}

func (e *estimate) fromPaper(price func(trajectory.Usage) float64) {
	e.Basis = "agents of this design over BrowseComp-Plus (arXiv 2605.10848, tables 2 and 3); other collections differ"
	n := float64(e.Questions)
	e.CallsLow, e.CallsHigh = int(n*publishedCallsLow), int(math.Ceil(n*publishedCallsHigh))
	if price == nil {
		return
	}
	at := func(calls float64) *float64 {
		f := calls / publishedCalls
		usd := n * price(trajectory.Usage{Input: int64(publishedInput * f), CacheRead: int64(publishedCached * f), Output: int64(publishedOutput * f)})
		return &usd
	}
	e.CostLowUSD, e.CostHighUSD = at(publishedCallsLow), at(publishedCallsHigh)
}

// bound lowers the upper ends to the limits of the run.
func (e *estimate) bound(p *benchmarkRun) {
	limit := func(high *float64, most float64, name string) {
		if most > 0 && high != nil && *high > most {
			*high = most
			e.Limits = append(e.Limits, name)
		}
	}
	b := p.researcher.budget
	if most := b.MaxCalls * e.Questions; b.MaxCalls > 0 && e.CallsHigh > most {
		e.CallsHigh = most
		e.Limits = append(e.Limits, "--max-calls")
	}
	e.CallsLow = min(e.CallsLow, e.CallsHigh)
	limit(e.CostHighUSD, b.MaxCostUSD*float64(e.Questions), "--max-cost")
	limit(e.CostHighUSD, p.runMaxCost, "--run-max-cost")
	if e.CostLowUSD != nil && e.CostHighUSD != nil {
		*e.CostLowUSD = min(*e.CostLowUSD, *e.CostHighUSD)
	}
}

func (e estimate) show(term *terminal) {
	term.say("to run: %d questions", e.Questions)
	if e.CallsHigh > 0 {
		term.say("expected tool calls: %s to %s", count(e.CallsLow), count(e.CallsHigh))
	}
	if e.CostHighUSD != nil {
		term.say("expected cost: $%.2f to $%.2f", *e.CostLowUSD, *e.CostHighUSD)
	} else {
		term.say("expected cost: not known, because the model has no known price (give one with --prices)")
	}
	term.say("from: %s", e.Basis)
}
