package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"goserini/internal/answer"
	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// The reasons with which a question ends that is not completed. docs/agent.md explains
// each.
const (
	ReasonTime        = "time"
	ReasonMaxTurns    = "max_turns"
	ReasonMaxCalls    = "max_calls"
	ReasonMaxTokens   = "max_tokens"
	ReasonMaxCost     = "max_cost"
	ReasonContextFull = "context_full"
	ReasonNoAnswer    = "no_answer"
	ReasonCallAsText  = "call_as_text"
	ReasonOutputLimit = "output_limit"
	ReasonBadCalls    = "bad_calls"
	ReasonRefusal     = "refusal"
	ReasonModel       = "model_failed"
	ReasonTool        = "tool_failed"
	ReasonRunBudget   = "run_budget"
	ReasonInterrupted = trajectory.Interrupted
)

// Reasons are all of them, in the order of the manual.
var Reasons = []string{
	ReasonTime, ReasonMaxTurns, ReasonMaxCalls, ReasonMaxTokens, ReasonMaxCost, ReasonContextFull,
	ReasonNoAnswer, ReasonCallAsText, ReasonOutputLimit, ReasonBadCalls, ReasonRefusal,
	ReasonModel, ReasonTool, ReasonRunBudget, ReasonInterrupted,
}

// The reasons of steers that end the research.
const (
	steerTime    = "time"
	steerTurns   = "turns"
	steerCalls   = "calls"
	steerTokens  = "tokens"
	steerCost    = "cost"
	steerContext = "context"
)

// limitReasons is what a question comes to whose last response was no answer.
var limitReasons = map[string]string{
	steerTurns: ReasonMaxTurns, steerCalls: ReasonMaxCalls, steerTokens: ReasonMaxTokens,
	steerCost: ReasonMaxCost, steerContext: ReasonContextFull,
}

const (
	// maxMissteps is how often in a row the model is told what was wrong with a response
	// before the question ends.
	maxMissteps = 2
	// maxRejected is how many turns in a row may consist of calls that cannot be run.
	maxRejected = 5
)

// What the model is told about a response that is of no use. nudge adds what to do.
const (
	emptyText       = "Your last response was empty: it held neither a tool call nor an answer."
	writtenCallText = "Your last response wrote a tool call as text, so nothing was run. Calls only work through the tool interface, not in the text of a response."
	cutText         = "Your last response was cut off at the output limit before the answer was complete. Think and write less."
	unlabelledText  = "Your last response had neither a tool call nor the three labelled parts of a final answer. If it was your answer, give it again in the format below; if not, go on with your research."
)

// loop takes turns until the question ends.
func (s *session) loop(ctx context.Context) ending {
	for {
		if end, done := s.prepare(); done {
			return end
		}
		resp, err := s.complete(ctx)
		if err != nil {
			return s.failure(ctx, err)
		}
		if end, done := s.take(ctx, resp); done {
			return end
		}
	}
}

// prepare looks at the limits before a turn, and ends the research or the question
// where one is met.
func (s *session) prepare() (ending, bool) {
	if s.over == "" && s.clock.steerDue() {
		if s.checking() {
			return s.giveUp(ReasonTime, nil), true
		}
		s.endResearch(steerTime)
	}
	if s.over != "" && s.over != steerTime && s.sinceOver > 0 {
		return s.giveUp(limitReasons[s.over], nil), true
	}
	met := s.limit()
	switch {
	case met == "":
	case s.checking():
		return s.giveUp(limitReasons[met], nil), true
	case s.over == "":
		s.endResearch(met)
		s.takeLast()
	case s.sinceOver > 0:
		return s.giveUp(limitReasons[met], nil), true
	}
	return ending{}, false
}

// limit names the limit that is met, as the reason of a steer.
func (s *session) limit() string {
	b := s.cfg.Budget
	turnsLeft := b.MaxTurns - s.turn
	switch {
	case b.MaxTurns > 0 && (turnsLeft <= 0 || turnsLeft == 1 && s.over == ""):
		return steerTurns
	case b.MaxCalls > 0 && s.calls >= b.MaxCalls:
		return steerCalls
	case !s.makeRoom():
		return steerContext
	}
	return s.takeCall()
}

// take reacts to a response.
func (s *session) take(ctx context.Context, resp llm.Response) (ending, bool) {
	calls := s.admit(&resp.Message, resp.StopReason == llm.StopLength)
	s.emitTurn(resp, calls)
	if s.over != "" {
		s.sinceOver++
	}
	switch {
	case errors.Is(context.Cause(ctx), errTimeUp): // a response that came too late
		return s.failure(ctx, errTimeUp), true
	case resp.StopReason == llm.StopRefusal:
		return s.giveUp(ReasonRefusal, nil), true
	case len(calls) > 0:
		return s.takeCalls(ctx, resp, calls)
	default:
		return s.takeText(resp)
	}
}

func (s *session) emitTurn(resp llm.Response, calls []plannedCall) {
	s.turn++
	t := &trajectory.Turn{
		Turn: s.turn, Text: resp.Message.Text, Reasoning: resp.Message.Reasoning, Model: resp.Model,
		StopReason: string(resp.StopReason), Usage: resp.Usage, UsageUnknown: !resp.UsageKnown, Raw: resp.Message.Raw,
	}
	for _, c := range calls {
		t.Calls = append(t.Calls, c.record.ID)
	}
	s.emit(trajectory.Event{Type: trajectory.TypeTurn, Turn: t})
}

// takeCalls runs the calls of a turn. Text beside calls is no answer.
func (s *session) takeCalls(ctx context.Context, resp llm.Response, calls []plannedCall) (ending, bool) {
	s.spare = nil
	s.messages = append(s.messages, resp.Message)
	ran, err := s.runCalls(ctx, calls)
	switch {
	case err != nil:
		return s.failure(ctx, err), true
	case ran > 0:
		s.missteps, s.rejected, s.reopened = 0, 0, true
	case s.over != "":
	case resp.StopReason == llm.StopLength:
		if s.missteps++; s.missteps > maxMissteps {
			return s.giveUp(ReasonOutputLimit, nil), true
		}
	default:
		if s.rejected++; s.rejected > maxRejected {
			return s.giveUp(ReasonBadCalls, nil), true
		}
	}
	return ending{}, false
}

// takeText decides whether a response without calls is the answer.
func (s *session) takeText(resp llm.Response) (ending, bool) {
	text := resp.Message.Text
	a := answer.Parse(text, s.docs())
	labelled := !slices.Contains(a.Notes, answer.NoLabel)
	switch {
	case writtenCall(text, s.cfg.Tools):
		return s.nudge(resp, writtenCallText, ReasonCallAsText)
	case slices.Contains(a.Notes, answer.NoAnswer):
		return s.nudge(resp, emptyText, ReasonNoAnswer)
	case resp.StopReason == llm.StopLength && (!labelled || a.Exact == "" || a.Confidence == nil && s.over == ""):
		return s.nudge(resp, cutText, ReasonOutputLimit)
	case !labelled && s.over == "" && !s.asked && !s.checking():
		s.asked, s.spare = true, &a
		return s.nudge(resp, unlabelledText, ReasonNoAnswer)
	}
	if resp.StopReason == llm.StopLength {
		a.Notes = append(a.Notes, "cut at the output limit")
	}
	return s.accept(resp, a, labelled)
}

// nudge tells the model what was wrong with a response and what to do, or ends the
// question when that was said often enough.
func (s *session) nudge(resp llm.Response, what, reason string) (ending, bool) {
	if s.missteps++; s.missteps > maxMissteps {
		return s.giveUp(reason, nil), true
	}
	if strings.TrimSpace(resp.Message.Text) != "" { // some servers refuse a message without content
		s.messages = append(s.messages, resp.Message)
	}
	s.say(trajectory.SteerFormat, what+" "+s.advice()+"\n\n"+answerFormat)
	return ending{}, false
}

// advice says what a useful response is.
func (s *session) advice() string {
	switch {
	case s.over != "":
		return "The tools are closed. Give your final answer now, as plain text in exactly this format:"
	case len(s.specs) == 0:
		return "Give your final answer as plain text in exactly this format:"
	}
	return "Call a tool through the tool interface, or give your final answer as plain text in exactly this format:"
}

// giveUp ends a question that has no accepted answer. One that was held back to be checked
// is accepted now, and so is a text that stood as an answer but for its form.
func (s *session) giveUp(reason string, err error) ending {
	status := trajectory.Failed
	if reason == ReasonTime {
		status = trajectory.Timeout
	}
	why := reason
	if err != nil {
		why += ": " + err.Error()
	}
	for _, kept := range []struct {
		answer *trajectory.Answer
		note   string
	}{{s.standing, "its verification ended early: "}, {s.spare, "asked for labels in vain: "}} {
		if kept.answer != nil {
			a := *kept.answer
			a.Notes = append(a.Notes, kept.note+why)
			return ending{status: trajectory.Completed, answer: a}
		}
	}
	return ending{status: status, reason: reason, err: err}
}

// failure ends a question that cannot go on.
func (s *session) failure(ctx context.Context, err error) ending {
	var broken *toolError
	var overflow *llm.Error
	switch {
	case errors.Is(err, errTimeUp):
		return s.giveUp(ReasonTime, nil)
	case errors.Is(err, ErrRunBudget):
		return s.giveUp(ReasonRunBudget, err)
	case errors.Is(err, errSteer):
		return s.giveUp(ReasonTime, nil)
	case ctx.Err() != nil:
		end := ending{status: trajectory.Failed, reason: ReasonInterrupted, err: fmt.Errorf("%sinterrupted: %w", s.where(), context.Cause(ctx))}
		if s.standing != nil {
			end.answer = *s.standing
		}
		return end
	case errors.As(err, &broken):
		err = fmt.Errorf("%s%w", s.where(), err)
		if s.standing != nil {
			return s.giveUp(ReasonTool, err)
		}
		return ending{status: trajectory.Failed, reason: ReasonTool, err: err}
	case errors.As(err, &overflow) && overflow.ContextOverflow:
		return s.giveUp(ReasonContextFull, fmt.Errorf("%smodel %s: %w; give the size of its window and a policy for shortening, or a model with a larger one", s.where(), s.cfg.label(), err))
	}
	return s.giveUp(ReasonModel, fmt.Errorf("%smodel %s: %w", s.where(), s.cfg.label(), err))
}

// where begins the errors of a question.
func (s *session) where() string {
	if s.q.ID == "" {
		return ""
	}
	return "question " + s.q.ID + ": "
}

// docs is what is known about documents when an answer is read.
func (s *session) docs() answer.Docs {
	return answer.Docs{Sets: s.tally.Sets(), Exists: s.cfg.Exists}
}
