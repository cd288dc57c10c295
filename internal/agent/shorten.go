package agent

import (
	"fmt"
	"strings"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// keepTurns is how many of the latest turns a shortening leaves alone.
const keepTurns = 1

// makeRoom shortens the history where the next request would leave too little of the
// window for the response, and reports whether there is room.
func (s *session) makeRoom() bool {
	if s.cfg.Window == 0 {
		return true
	}
	free := min(freeDefault, s.cfg.Window/freeShare)
	if limit := s.cfg.MaxOutputTokens; limit > 0 {
		free = min(limit, s.cfg.Window/2)
	}
	room := int64(s.cfg.Window - free)
	before := s.nextTokens()
	if before <= room {
		return true
	}
	target := room * keepPercent / 100
	s.shortenTo(s.cfg.Shorten, target)
	if s.cfg.Shorten == ShortenMask && s.nextTokens() > room {
		s.shortenTo(ShortenCompact, target)
	}
	return s.nextTokens() <= room
}

// shortenBy shortens the history to a share of its size, in percent, after a server
// refused it, and reports whether it became shorter.
func (s *session) shortenBy(percent int64) bool {
	before := s.nextTokens()
	s.shortenTo(s.cfg.Shorten, before*percent/100)
	return s.nextTokens() < before
}

// shortenTo shortens by a policy until the estimate is at most target, or as far as it
// goes. It replaces s.messages and leaves the old slice alone.
func (s *session) shortenTo(policy Shortening, target int64) {
	event := trajectory.Shorten{Policy: string(policy), TokensBefore: s.nextTokens()}
	switch policy {
	case ShortenMask:
		event.Calls = s.mask(target)
	case ShortenCompact:
		event.Calls, event.Text = s.fold(target)
	}
	if len(event.Calls) == 0 {
		return
	}
	event.TokensAfter = s.nextTokens()
	s.emit(trajectory.Event{Type: trajectory.TypeShorten, Shorten: &event})
}

// turnStarts are the positions of the assistant messages that have calls.
func turnStarts(messages []llm.Message) []int {
	var starts []int
	for i, m := range messages {
		if m.Role == llm.Assistant && len(m.Calls) > 0 {
			starts = append(starts, i)
		}
	}
	return starts
}

// maskMark begins a masked result; a result is masked once.
const maskMark = "[result removed to save room]"

// mask replaces the oldest results by a note until the estimate is at most target. The
// results of the latest turn stay.
func (s *session) mask(target int64) []string {
	starts := turnStarts(s.messages)
	if len(starts) <= keepTurns {
		return nil
	}
	last := starts[len(starts)-keepTurns]
	messages := append([]llm.Message(nil), s.messages...)
	bytes := s.bytes()
	calls := map[string]llm.Call{}
	var masked []string
	for i := 0; i < last && s.gauge.tokens(bytes) > target; i++ {
		m := &messages[i]
		for _, c := range m.Calls {
			calls[c.ID] = c
		}
		if m.Role != llm.Tool || strings.HasPrefix(m.Text, maskMark) {
			continue
		}
		note := maskNote(calls[m.CallID], m.Text)
		if len(note) >= len(m.Text) {
			continue
		}
		bytes -= len(m.Text) - len(note)
		m.Text = note
		masked = append(masked, m.CallID)
	}
	if len(masked) > 0 {
		s.messages = messages
	}
	return masked
}

// maskNote stands for a result. Its first line stays: it often holds a handle that still works.
func maskNote(c llm.Call, text string) string {
	return fmt.Sprintf("%s%s\nTo see it again, call %s with the same arguments: %s", maskMark+maskBegan, shown(firstLine(text)), c.Name, shown(c.Arguments))
}

const maskBegan = " It began: "

// firstLine is the first line of a result, masked or not.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(text, "\r\n"), "\n")
	return strings.TrimPrefix(line, maskMark+maskBegan)
}

// foldedTurn is what remains of a turn that was folded.
type foldedTurn struct {
	lines []string
}

// fold replaces the oldest turns by one note behind the question that lists what was
// called and how each result began: as few turns as bring the estimate down to target.
// The latest turn and every message of ours that ended the research stay.
func (s *session) fold(target int64) ([]string, string) {
	starts := turnStarts(s.messages)
	var messages []llm.Message
	var turns []foldedTurn
	var calls []string
	memory := s.memory()
	for n := 0; n+keepTurns < len(starts); n++ {
		turn, ids := foldTurn(s.messages[starts[n]:])
		turns, calls = append(turns, turn), append(calls, ids...)
		messages = s.folding(append(s.folded[:len(s.folded):len(s.folded)], turns...), starts[n+1], memory, target)
		if s.gauge.tokens(s.prefix.fixed+sizeOf(messages)) <= target {
			break
		}
	}
	if len(calls) == 0 {
		return nil, ""
	}
	s.messages, s.folded = messages, append(s.folded, turns...)
	return calls, messages[1].Text
}

// folding is the history with a note in place of everything between the question and
// the turn at start. The note may take a fourth of the target; what the companion keeps
// stands at its end in full.
func (s *session) folding(turns []foldedTurn, start int, memory string, target int64) []llm.Message {
	note := foldNote(turns, max(minNote, s.gauge.bytes(target/4)-len(memory)))
	if memory != "" {
		note += "\n\n" + memory
	}
	messages := []llm.Message{s.messages[0], {Role: llm.User, Text: note}}
	if s.over != "" {
		messages = append(messages, steers(s.messages[1:start])...)
	}
	return append(messages, s.messages[start:]...)
}

// minNote is the least a note of folded turns may take, in bytes.
const minNote = 600

// foldTurn reduces a turn to lines: what the model said, and each call with how its
// result began.
func foldTurn(messages []llm.Message) (foldedTurn, []string) {
	var t foldedTurn
	var ids []string
	if text := strings.TrimSpace(messages[0].Text); text != "" {
		t.lines = append(t.lines, "you said: "+shown(text))
	}
	results := map[string]string{}
	for _, m := range messages[1:] {
		if m.Role != llm.Tool {
			break
		}
		results[m.CallID] = firstLine(m.Text)
	}
	for _, c := range messages[0].Calls {
		t.lines = append(t.lines, fmt.Sprintf("%s %s → %s", c.Name, shown(c.Arguments), shown(results[c.ID])))
		ids = append(ids, c.ID)
	}
	return t, ids
}

// foldHead begins the note.
const foldHead = "Earlier turns of this conversation were folded to save room. This is what you did in them, oldest first, and how each result began. To see a result again, repeat its call."

// foldNote lists folded turns within a number of bytes, the latest ones in full.
func foldNote(turns []foldedTurn, room int) string {
	lines, left, bytes := []string(nil), 0, len(foldHead)
	for i := len(turns) - 1; i >= 0; i-- {
		for j := len(turns[i].lines) - 1; j >= 0; j-- {
			line := "\n- " + turns[i].lines[j]
			if left > 0 || bytes+len(line) > room {
				left++
				continue
			}
			bytes += len(line)
			lines = append(lines, line)
		}
	}
	var b strings.Builder
	b.WriteString(foldHead)
	if left > 0 {
		fmt.Fprintf(&b, "\n- (%d older lines are left out)", left)
	}
	for i := len(lines) - 1; i >= 0; i-- {
		b.WriteString(lines[i])
	}
	return b.String()
}

// steers are the messages of ours among others, without a note of folded turns.
func steers(messages []llm.Message) []llm.Message {
	var out []llm.Message
	for _, m := range messages {
		if m.Role == llm.User && !strings.HasPrefix(m.Text, foldHead) {
			out = append(out, m)
		}
	}
	return out
}
