package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"goserini/internal/llm"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// session is one question while it runs. Everything in it belongs to one goroutine.
type session struct {
	q     Question
	cfg   Config
	retry Retry
	tools map[string]tool.Tool
	specs []llm.ToolSpec
	clock clock
	tally trajectory.Tally
	seq   int

	// messages only grows, except where shorten replaces it as a whole.
	messages []llm.Message
	ids      map[string]bool
	folded   []foldedTurn

	// turn counts responses, calls those tool calls that were not blocked.
	turn, calls int
	// over is why the research is over, "" while it goes on; sinceOver counts the
	// responses since.
	over      string
	sinceOver int
	// missteps counts responses in a row that held neither an answer nor a usable call,
	// rejected turns in a row of which no call could be run.
	missteps, rejected int
	// spare is a text without labels that stands as the answer if the model does not
	// say it again with labels; asked says that it was asked to.
	spare *trajectory.Answer
	asked bool
	// standing is the answer that was held back to be checked; reopened says that a tool
	// was called since.
	standing *trajectory.Answer
	reopened bool

	accounts      []*account
	gauge         gauge
	prefix        prefixMeter
	last          trajectory.Usage
	largestOutput int64
}

func newSession(q Question, cfg Config) (*session, error) {
	if cfg.Prompt == "" {
		cfg.Prompt = DefaultPrompt
	}
	prompt, err := fillPrompt(cfg.Prompt, q.Text)
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	if cfg.CacheKey == "" {
		sum := sha256.Sum256([]byte(q.ID + "\x00" + q.Text))
		cfg.CacheKey = "goserini-" + hex.EncodeToString(sum[:8])
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	if cfg.Shorten == "off" {
		cfg.Shorten = ShortenOff
	}
	s := &session{q: q, cfg: cfg, retry: cfg.Retry.resolved(), tools: map[string]tool.Tool{}, ids: map[string]bool{}}
	fixed := len(cfg.System)
	for _, t := range cfg.Tools {
		s.tools[t.Name] = t
		s.specs = append(s.specs, llm.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Schema})
		fixed += len(t.Name) + len(t.Description) + len(t.Schema) + messageOverhead
	}
	s.prefix.fixed = fixed
	s.messages = []llm.Message{{Role: llm.User, Text: prompt}}
	for _, limit := range []struct {
		unit Unit
		max  float64
	}{{USD, cfg.Budget.MaxCostUSD}, {Tokens, float64(cfg.Budget.MaxTokens)}} {
		if limit.max > 0 {
			s.accounts = append(s.accounts, &account{Ledger: NewLedger(limit.unit, limit.max)})
		}
	}
	return s, nil
}

// ending is how a question ended.
type ending struct {
	status trajectory.Status
	reason string
	answer trajectory.Answer
	// err is for the operator.
	err error
}

// run answers the question. The clock starts when the run's ledgers have let it start.
func (s *session) run(ctx context.Context) ending {
	err := s.openLedgers(ctx)
	s.clock = newClock(s.cfg.Budget)
	s.emitHeader()
	defer s.closeAccounts()
	if err != nil {
		return s.failure(ctx, err)
	}
	ctx, cancel := s.clock.untilEnd(ctx)
	defer cancel()
	return s.loop(ctx)
}

func (s *session) emitHeader() {
	tools, err := json.Marshal(s.specs)
	if err != nil {
		tools = nil // schemas were checked: it marshals
	}
	b := s.cfg.Budget
	shortening := string(s.cfg.Shorten)
	if shortening == "" && s.cfg.Window > 0 {
		shortening = "off"
	}
	s.emit(trajectory.Event{Type: trajectory.TypeHeader, Header: &trajectory.Header{
		Version: trajectory.Version, QueryID: s.q.ID, Question: s.q.Text, Model: s.cfg.label(),
		System: s.cfg.System, Prompt: s.messages[0].Text, PromptHash: PromptHash(s.cfg.Prompt), Tools: tools,
		TimeoutSeconds: b.Timeout.Seconds(), MaxTurns: b.MaxTurns, MaxCalls: b.MaxCalls,
		MaxTokens: b.MaxTokens, MaxCostUSD: b.MaxCostUSD,
		Window: s.cfg.Window, Shortening: shortening,
	}})
}

// emit numbers and stamps an event, counts it, and passes it on.
func (s *session) emit(e trajectory.Event) {
	s.seq++
	e.Seq, e.Time, e.ElapsedMS = s.seq, time.Now().UTC(), s.clock.elapsed().Milliseconds()
	s.tally.Add(e)
	if s.cfg.Emit != nil {
		s.cfg.Emit(e)
	}
}

// finish closes the trajectory.
func (s *session) finish(end ending) {
	rec := s.tally.Record()
	for _, c := range end.answer.Citations {
		rec.Cited = append(rec.Cited, c.DocID)
	}
	e := &trajectory.End{
		Status: end.status, Reason: end.reason, Answer: end.answer, Sets: rec.Sets, Usage: rec.Usage,
		UncountedCalls: rec.UncountedCalls, PrefixShare: s.prefix.share(),
	}
	if s.cfg.Companion != nil {
		e.Notebook, e.Verification = s.cfg.Companion.Record()
	}
	if end.err != nil {
		e.Error = end.err.Error()
	}
	s.emit(trajectory.Event{Type: trajectory.TypeEnd, End: e})
}

// say adds a message of ours to the conversation, which ends the research for most reasons.
func (s *session) say(reason, text string) {
	steer := trajectory.Steer{Reason: reason, Text: text}
	if steer.EndsResearch() {
		s.over = reason
	}
	s.messages = append(s.messages, llm.Message{Role: llm.User, Text: text})
	s.emit(trajectory.Event{Type: trajectory.TypeSteer, Steer: &steer})
}

// endResearch tells the model to answer, with what the companion keeps before it, unless the
// window has no room for that.
func (s *session) endResearch(reason string) {
	text := steerText(reason)
	if memory := s.memory(); memory != "" && reason != steerContext {
		text = memory + "\n\n" + text
	}
	s.say(reason, text)
}
