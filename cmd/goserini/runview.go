package main

import (
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"goserini/internal/experiment"
	"goserini/internal/trajectory"
)

// runView shows how a run stands while it goes on: some lines that are redrawn on a terminal, and
// one line now and then in a log.
type runView struct {
	term  *terminal
	watch *experiment.Watch
	start time.Time
	// private says that messages must not repeat what a question says.
	private bool

	mu     sync.Mutex
	logged time.Time

	stop chan struct{}
	done sync.WaitGroup
}

func newRunView(term *terminal, watch *experiment.Watch, private bool) *runView {
	v := &runView{term: term, watch: watch, start: time.Now(), private: private, stop: make(chan struct{})}
	v.logged = v.start
	if term.live {
		v.done.Go(v.redraw)
	}
	return v
}

func (v *runView) redraw() {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-v.stop:
			return
		case now := <-tick.C:
			v.term.panel(standingLines(v.term, v.watch.Standing(now)))
		}
	}
}

// observe takes what the run reports.
func (v *runView) observe(n experiment.Notice) {
	v.watch.Observe(n)
	if e := n.Event; e != nil && e.Attempt != nil && !e.Attempt.WillRetry && !e.Attempt.Interrupted {
		v.term.warn("query %s: model call failed: %s", n.QueryID, v.cause(e.Attempt.Error))
	}
	if n.Record == nil {
		return
	}
	if n.Record.Status == trajectory.Failed && n.Record.Error != "" {
		v.term.warn("query %s failed (%s): %s", n.QueryID, n.Record.Reason, v.cause(n.Record.Error))
	}
	if !v.term.live {
		v.log(time.Now())
	}
}

// cause is an error for the log. Servers repeat in their errors what they were asked, so that of a
// private benchmark stays in the run directory.
func (v *runView) cause(text string) string {
	if v.private {
		return "see its record"
	}
	return clip(oneLine(text), 300)
}

// log writes a line every ten seconds at first, and ever more seldom: about a hundred lines for a
// run, however long it takes.
func (v *runView) log(now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now.Sub(v.logged) < max(10*time.Second, now.Sub(v.start)/50) {
		return
	}
	v.logged = now
	v.term.say("%s", strings.Join(standingLines(v.term, v.watch.Standing(now)), "; "))
}

// end removes what was drawn.
func (v *runView) end() {
	close(v.stop)
	v.done.Wait()
	v.term.endProgress()
}

// standingLines say how a run stands in at most five lines.
func standingLines(term *terminal, s experiment.Standing) []string {
	lines := []string{progressLine(term, s)}
	if s.Answerable > 0 {
		line := fmt.Sprintf("right: %d of %d (%.1f %%) by builtin/exact", s.Correct, s.Answerable, 100*float64(s.Correct)/float64(s.Answerable))
		if s.Undecided > 0 {
			line += fmt.Sprintf(", %d more that only a reader could tell", s.Undecided)
		}
		lines = append(lines, line)
	}
	if s.Judged > 0 {
		line := fmt.Sprintf("evidence recall: surfaced %.3f, previewed %.3f, opened %.3f, cited %.3f", s.Surfaced, s.Previewed, s.Opened, s.Cited)
		if s.Judged < s.Done {
			line += fmt.Sprintf(", over the %d with judged evidence", s.Judged)
		}
		lines = append(lines, line)
	}
	if s.Done > 0 {
		lines = append(lines, usageLine(s))
	}
	if s.TimedOut+s.Failed > 0 {
		lines = append(lines, troubleLine(s))
	}
	return lines
}

func progressLine(term *terminal, s experiment.Standing) string {
	const width = 20
	line := fmt.Sprintf("%d of %d questions", s.Done, s.Questions)
	if term.live && s.Questions > 0 {
		full := s.Done * width / s.Questions
		line = term.paint(green, strings.Repeat("█", full)) + strings.Repeat("·", width-full) + " " + line
	}
	if s.Running > 0 {
		line += fmt.Sprintf(", %d under way", s.Running)
	}
	if s.PerMinute > 0 {
		line += fmt.Sprintf(", %.3g a minute", s.PerMinute)
	}
	if s.LeftSeconds != nil && s.Done < s.Questions {
		line += ", about " + duration(time.Duration(*s.LeftSeconds*float64(time.Second))) + " left"
	}
	return line
}

func usageLine(s experiment.Standing) string {
	u := s.Usage
	line := fmt.Sprintf("tool calls: %.1f a question", float64(s.ToolCalls)/float64(s.Done))
	if tokens := u.Input + u.CacheRead + u.CacheWrite + u.Output; tokens > 0 {
		line += fmt.Sprintf("; tokens: %s, %.0f %% of the input cached", count(tokens), 100*s.CachedShare())
	}
	if s.CostUSD != nil {
		least := ""
		if s.AtLeast {
			least = "at least "
		}
		line += fmt.Sprintf("; cost: %s$%.2f", least, *s.CostUSD)
	}
	return line
}

func troubleLine(s experiment.Standing) string {
	reasons := make([]string, 0, len(s.Reasons))
	for reason := range s.Reasons {
		reasons = append(reasons, reason)
	}
	sort.Slice(reasons, func(i, j int) bool {
		a, b := reasons[i], reasons[j]
		return s.Reasons[a] > s.Reasons[b] || s.Reasons[a] == s.Reasons[b] && a < b
	})
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%s %d", reason, s.Reasons[reason])
	}
	return fmt.Sprintf("without an answer: %d timed out, %d failed (%s)", s.TimedOut, s.Failed, strings.Join(reasons, ", "))
}

// panel draws lines at the bottom of a terminal, over those drawn before.
func (t *terminal) panel(lines []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	for i, line := range lines {
		if i > 0 {
			fmt.Fprintln(t.err)
		}
		fmt.Fprint(t.err, clipPainted(line, t.width-1))
	}
	t.drawn = len(lines)
}

// clipPainted is clip for a line that may begin with colour.
func clipPainted(line string, width int) string {
	if !strings.Contains(line, "\x1b") {
		return clip(line, width)
	}
	const sequences = 9 // "\x1b[32m" and "\x1b[0m"
	return clip(line, width+sequences)
}
