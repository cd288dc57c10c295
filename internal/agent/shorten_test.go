package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"goserini/internal/llm"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// longTool gives results of about a thousand bytes behind a telling first line.
func longTool() tool.Tool {
	t := readTool()
	n := 0
	t.Begin = func(args json.RawMessage) func(context.Context) (tool.Result, error) {
		n++
		text := fmt.Sprintf("s%d: 12 documents\n", n) + strings.Repeat("a line of the document\n", 45)
		return func(context.Context) (tool.Result, error) { return tool.Result{Text: text}, nil }
	}
	return t
}

// reads calls twice with arguments that tell the turn.
func reads(_ context.Context, req llm.Request) (llm.Response, error) {
	n := len(req.Messages)
	r, err := calls("read_document", fmt.Sprintf(`{"docid":"a%d"}`, n), "read_document", fmt.Sprintf(`{"docid":"b%d"}`, n))(context.Background(), req)
	id := fmt.Sprintf("%d", len(fmt.Sprint(req.Messages)))
	for i := range r.Message.Calls {
		r.Message.Calls[i].ID = fmt.Sprintf("%s_%d_%s", id, i, r.Message.Calls[i].ID)
	}
	r.UsageKnown, r.Usage = false, trajectory.Usage{}
	return r, err
}

// turns takes n turns of two calls, then answers.
func turns(n int) []step {
	var steps []step
	for range n {
		steps = append(steps, reads)
	}
	return append(steps, says(final))
}

func shortening(policy Shortening, window int) func(*Config) {
	return func(c *Config) { c.Window, c.Shorten, c.Tools = window, policy, []tool.Tool{longTool()} }
}

func TestAHistoryIsShortenedOnlyUnderPressure(t *testing.T) {
	for _, policy := range []Shortening{ShortenOff, ShortenMask, ShortenCompact} {
		got := ask(t, script(t, turns(5)...), shortening(policy, 100_000)) // fails where the history changes
		got.want(t, trajectory.Completed, "")
		if len(got.find(trajectory.TypeShorten)) != 0 {
			t.Errorf("%q: shortened without pressure", policy)
		}
	}
}

func TestSixtyCallsFitIntoASmallWindow(t *testing.T) {
	for _, c := range []struct {
		policy Shortening
		window int
		folds  bool
	}{{ShortenMask, 12_000, false}, {ShortenMask, 4_000, true}, {ShortenCompact, 4_000, true}} {
		policy, window := c.policy, c.window
		t.Run(fmt.Sprint(policy, window), func(t *testing.T) {
			m := script(t, turns(30)...)
			m.shortens = true
			got := ask(t, m, shortening(policy, window))
			got.want(t, trajectory.Completed, "")
			if got.ExecutedCalls != 60 || got.Steered {
				t.Fatalf("%d calls run, steered %v", got.ExecutedCalls, got.Steered)
			}
			events := got.find(trajectory.TypeShorten)
			if len(events) == 0 || len(events) > 25 {
				t.Errorf("shortened %d times", len(events))
			}
			folded := false
			for _, e := range events {
				folded = folded || e.Shorten.Policy == string(ShortenCompact)
				if e.Shorten.TokensAfter >= e.Shorten.TokensBefore || len(e.Shorten.Calls) == 0 {
					t.Errorf("shortened %+v", e.Shorten)
				}
			}
			if folded != c.folds {
				t.Errorf("folded %v, want %v", folded, c.folds)
			}
			for i, req := range m.requests {
				requireWindow(t, req, window)
				last := req.Messages[len(req.Messages)-1]
				if i > 0 && (last.Role != llm.Tool || !strings.HasSuffix(last.Text, "a line of the document\n")) {
					t.Errorf("request %d: the latest result is not whole: %q", i+1, last.Text)
				}
				if req.Messages[0].Text != m.requests[0].Messages[0].Text {
					t.Errorf("request %d: the question is gone", i+1)
				}
			}
		})
	}
}

func requireWindow(t *testing.T, req llm.Request, window int) {
	t.Helper()
	bytes := 0
	for _, m := range req.Messages {
		bytes += size(m)
	}
	if bytes/4 > window {
		t.Errorf("a request of %d tokens in a window of %d", bytes/4, window)
	}
}

func TestAMaskedResultSaysHowToGetItBack(t *testing.T) {
	m := script(t, turns(12)...)
	m.shortens = true
	got := ask(t, m, shortening(ShortenMask, 6_000))
	got.want(t, trajectory.Completed, "")
	masked := m.requests[len(m.requests)-1].Messages[2]
	for _, words := range []string{maskMark, "s1: 12 documents", `call read_document with the same arguments: {"docid":"a1"}`} {
		if !strings.Contains(masked.Text, words) {
			t.Errorf("%q is not in %q", words, masked.Text)
		}
	}
}

func TestANoteOfFoldedTurnsListsThem(t *testing.T) {
	talking := func(ctx context.Context, req llm.Request) (llm.Response, error) {
		r, err := reads(ctx, req)
		r.Message.Text = "The survey may name it."
		return r, err
	}
	m := script(t, talking, reads, reads, reads, reads, reads, says(final))
	m.shortens = true
	got := ask(t, m, shortening(ShortenCompact, 4_000))
	got.want(t, trajectory.Completed, "")
	note := m.requests[len(m.requests)-1].Messages[1]
	if note.Role != llm.User {
		t.Fatalf("the second message is %+v", note)
	}
	for _, words := range []string{foldHead, "you said: The survey may name it.", `read_document {"docid":"a1"} → s1: 12 documents`, `{"docid":"b1"} → s2`} {
		if !strings.Contains(note.Text, words) {
			t.Errorf("%q is not in\n%s", words, note.Text)
		}
	}
	recorded := got.find(trajectory.TypeShorten)
	if last := recorded[len(recorded)-1].Shorten; last.Text != note.Text {
		t.Errorf("recorded %q", last.Text)
	}
}

func TestANoteKeepsTheLatestTurnsAndCountsTheRest(t *testing.T) {
	var folded []foldedTurn
	for i := range 100 {
		folded = append(folded, foldedTurn{lines: []string{fmt.Sprintf("read_document %d → x", i)}})
	}
	note := foldNote(folded, 1000)
	if len(note) > 1100 || !strings.Contains(note, "older lines are left out") || !strings.HasSuffix(note, "read_document 99 → x") || strings.Contains(note, "document 0 ") {
		t.Errorf("%d bytes: %s", len(note), note)
	}
}

func TestAFullWindowThatCannotBeShortenedEndsTheResearch(t *testing.T) {
	for _, policy := range []Shortening{ShortenOff, ShortenMask} {
		m := script(t, reads, says(final))
		m.shortens = true
		got := ask(t, m, func(c *Config) {
			shortening(policy, 1300)(c)
		})
		got.want(t, trajectory.Completed, "")
		if s := got.find(trajectory.TypeSteer); len(s) != 1 || s[0].Steer.Reason != steerContext {
			t.Errorf("%q: steers %s", policy, encode(t, s))
		}
	}
}

func TestAServerThatSaysTheConversationIsTooLong(t *testing.T) {
	overflow := fails(llm.Error{Status: 400, Message: "maximum context length", ContextOverflow: true})
	steps := append(turns(5)[:5], overflow, says(final))
	m := script(t, steps...)
	m.shortens = true
	shortened := ask(t, m, shortening(ShortenMask, 100_000))
	shortened.want(t, trajectory.Completed, "")
	if len(shortened.find(trajectory.TypeShorten)) != 1 || shortened.Tries != 7 {
		t.Errorf("%d shortenings, %d tries", len(shortened.find(trajectory.TypeShorten)), shortened.Tries)
	}
	got := ask(t, script(t, steps...), shortening(ShortenOff, 0))
	got.want(t, trajectory.Failed, ReasonContextFull)
	if got.err == nil || !strings.Contains(got.Error, "give the size of its window") {
		t.Errorf("error %v", got.err)
	}
	m = script(t, append(turns(5)[:5], overflow)...)
	m.shortens = true
	ask(t, m, shortening(ShortenCompact, 100_000)).want(t, trajectory.Failed, ReasonContextFull)
}

func TestUsageCorrectsTheEstimate(t *testing.T) {
	var g gauge
	if got := g.tokens(4000); got != 1000 {
		t.Errorf("%d tokens at first, want 1000", got)
	}
	for _, c := range []struct {
		input int64
		want  int64
	}{{2000, 2000}, {800, 800}, {120, 666}, {9000, 4000}, {0, 4000}} {
		g.correct(4000, trajectory.Usage{Input: c.input / 2, CacheRead: c.input - c.input/2})
		if got := g.tokens(4000); got != c.want {
			t.Errorf("after the server counted %d for 4000 bytes: %d, want %d", c.input, got, c.want)
		}
	}
}

func TestAPrefixCacheCouldServeNearlyEverything(t *testing.T) {
	steps := []step{}
	for range 19 {
		steps = append(steps, search)
	}
	got := ask(t, script(t, append(steps, says(final))...), nil)
	got.want(t, trajectory.Completed, "")
	if got.Turns != 20 || got.PrefixShare < 0.95 || got.PrefixShare >= 1 {
		t.Errorf("share %v over %d turns, want at least 0.95", got.PrefixShare, got.Turns)
	}
}

func TestTheShareOfThePrefixFallsWhenTheHistoryChanges(t *testing.T) {
	p := prefixMeter{fixed: 1000}
	messages := []llm.Message{{Role: llm.User, Text: strings.Repeat("x", 976)}, {Role: llm.Assistant, Text: strings.Repeat("y", 976)}}
	p.add(messages[:1])
	if p.share() != 0 {
		t.Errorf("share %v after one request", p.share())
	}
	p.add(messages)
	if got := p.share(); got != 2.0/3 {
		t.Errorf("share %v, want 2/3", got)
	}
	changed := append([]llm.Message{{Role: llm.User, Text: strings.Repeat("z", 976)}}, messages[1:]...)
	p.add(changed)
	if got := p.share(); got != 3.0/6 {
		t.Errorf("share %v, want 3/6", got)
	}
}
