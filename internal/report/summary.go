package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"goserini/internal/eval"
	"goserini/internal/trajectory"
)

// tile is one of the figures at the head of a report of one run.
type tile struct{ label, value, note string }

// tiles are what a reader wants to know first.
func (rd *runData) tiles() []tile {
	s := rd.Scores
	var out []tile
	add := func(label string, c cell, note string) {
		if c.text == none {
			return
		}
		if c.sub != "" {
			note = strings.TrimSuffix(c.sub+", "+note, ", ")
		}
		out = append(out, tile{label, c.text, note})
	}
	if a := s.Accuracy; a != nil {
		add("accuracy", mean(a.All, percent), "judge "+a.Judge)
	}
	if e := s.Evidence; e != nil {
		add("evidence retrieved", mean(e.Surfaced.Macro, percent), "")
		add("evidence opened or cited", mean(e.Behavior.Macro, percent), "")
	}
	add("tool calls a question", mean(s.Effort.ToolCalls, plainNumber), "")
	if values := rd.elapsed(); len(values) > 0 {
		q := sorted(values)
		add("time a question", plain(seconds(quantile(q, 0.5))), "median; 90 % are within "+seconds(quantile(q, 0.9)))
	}
	if c := s.Effort.Cost; c != nil && c.Unpriced == 0 {
		note := ""
		if c.PerCorrectUSD != nil {
			note = dollars(c.PerCorrectUSD.Value) + " a correct answer"
		}
		if n := s.Effort.UncountedCalls; n > 0 {
			note = "a lower bound: " + plural(n, "model call") + " without a count of tokens"
		}
		add("cost", plain(dollars(c.TotalUSD)), note)
	}
	return out
}

// elapsed are the seconds of the questions that were run.
func (rd *runData) elapsed() []float64 {
	var out []float64
	for _, it := range rd.items {
		if it.record != nil {
			out = append(out, it.scores.ElapsedSeconds)
		}
	}
	return out
}

// line is a figure of the summary and how it is read from scores.
type line struct {
	label string
	value func(*runData) (cell, string)
}

// averaged is a line for a mean.
func averaged(label string, format func(float64) string, of func(eval.Scores) *eval.Mean) line {
	return line{label, func(rd *runData) (cell, string) {
		m := of(rd.Scores)
		if m == nil {
			return plain(none), ""
		}
		return mean(m, format), count(m.N)
	}}
}

// stated is a line for a value without an interval.
func stated(label string, of func(eval.Scores) string) line {
	return line{label, func(rd *runData) (cell, string) { return plain(of(rd.Scores)), "" }}
}

// group is a heading with its lines.
type group struct {
	label string
	lines []line
}

func (d *data) summary() section {
	s := section{id: "summary", title: "Summary"}
	s.lead = "Every question of the set is in every denominator, whatever became of it, unless a line says otherwise. " +
		"Intervals are 95 % bootstrap intervals over the questions: they say how far a figure depends on having asked these questions and not others like them."
	if len(d.runs) == 1 {
		d.groupTables(&s)
	} else {
		s.tabulate(d.groupsInOne())
	}
	s.tabulate(d.statuses())
	return s
}

// groupTables has a table for each group, for one run.
func (d *data) groupTables(s *section) {
	for _, g := range d.groups() {
		t := table{caption: g.label, beside: true, stacked: true, csv: fileName(g.label), head: append(texts(""), numbers("", "95 % interval", "over")...)}
		for _, l := range g.lines {
			if cells, defined := d.cells(l, true); defined {
				t.row(cells...)
			}
		}
		if len(t.rows) > 0 {
			s.tabulate(t.withoutEmptyColumns())
		}
	}
}

// groupsInOne sets runs side by side in one table.
func (d *data) groupsInOne() table {
	t := table{csv: "summary.csv", head: append(texts(""), numbers(d.names()...)...)}
	for _, g := range d.groups() {
		first := true
		for _, l := range g.lines {
			cells, defined := d.cells(l, false)
			if !defined {
				continue
			}
			if first {
				t.section(g.label)
				first = false
			}
			t.row(cells...)
		}
	}
	return t
}

// fileName makes a name for a CSV file from a caption.
func fileName(caption string) string {
	return strings.ReplaceAll(plainText(caption), " ", "-") + ".csv"
}

// cells are a line's cells for all runs; false where no run has the figure.
func (d *data) cells(l line, single bool) ([]cell, bool) {
	out := []cell{plain(l.label)}
	defined := false
	for _, rd := range d.runs {
		c, over := l.value(rd)
		defined = defined || c.text != none && c.text != ""
		if single {
			out = append(out, cell{text: c.text}, plain(c.sub), plain(over))
		} else {
			out = append(out, c)
		}
	}
	return out, defined
}

func (d *data) names() []string {
	out := make([]string, len(d.runs))
	for i, rd := range d.runs {
		out[i] = rd.Name
	}
	return out
}

func (d *data) groups() []group {
	return []group{
		{"Answers", answerLines()},
		{"Calibration error", calibrationLines()},
		{"Recall of evidence, mean over questions", recallLines(func(s eval.Scores) *eval.Coverage { return s.Evidence })},
		{"Recall of gold documents, mean over questions", recallLines(func(s eval.Scores) *eval.Coverage { return s.Gold })},
		{"Citations", citationLines()},
		{"Notebooks and answer checks", noteLines()},
		{"Effort a question", d.effortLines()},
		{"Tokens", tokenLines()},
		{"Cost", costLines()},
	}
}

func answerLines() []line {
	of := func(f func(*eval.Accuracy) *eval.Mean) func(eval.Scores) *eval.Mean {
		return func(s eval.Scores) *eval.Mean {
			if s.Accuracy == nil {
				return nil
			}
			return f(s.Accuracy)
		}
	}
	counted := func(f func(*eval.Accuracy) string) func(eval.Scores) string {
		return func(s eval.Scores) string {
			if s.Accuracy == nil {
				return none
			}
			return f(s.Accuracy)
		}
	}
	return []line{
		stated("judge", counted(func(a *eval.Accuracy) string { return a.Judge })),
		averaged("accuracy, all questions", percent, of(func(a *eval.Accuracy) *eval.Mean { return a.All })),
		averaged("accuracy, completed ones", percent, of(func(a *eval.Accuracy) *eval.Mean { return a.Completed })),
		averaged("accuracy, without failed ones", percent, of(func(a *eval.Accuracy) *eval.Mean { return a.ExcludingFailed })),
		stated("correct", counted(func(a *eval.Accuracy) string { return count(a.Correct) })),
		stated("undecided, counted as not correct", counted(func(a *eval.Accuracy) string { return count(a.Undecided) })),
		stated("no verdict, counted as not correct", counted(func(a *eval.Accuracy) string { return count(a.NoVerdict) })),
		stated("unanswerable and rightly declined", counted(func(a *eval.Accuracy) string {
			if a.Unanswerable == 0 {
				return none
			}
			return fmt.Sprintf("%d of %d", a.UnanswerableCorrect, a.Unanswerable)
		})),
	}
}

func calibrationLines() []line {
	of := func(f func(*eval.Calibration) *float64) func(eval.Scores) string {
		return func(s eval.Scores) string {
			if s.Calibration == nil || f(s.Calibration) == nil {
				return none
			}
			return percent(*f(s.Calibration))
		}
	}
	return []line{
		stated("official: without the most confident bin", func(s eval.Scores) string {
			text := of(func(c *eval.Calibration) *float64 { return c.Official })(s)
			if text == none && s.Calibration != nil && s.Calibration.Strict != nil {
				return "too few"
			}
			return text
		}),
		stated("strict: every bin", of(func(c *eval.Calibration) *float64 { return c.Strict })),
		stated("official, stated confidences only", of(func(c *eval.Calibration) *float64 { return c.OfficialStated })),
		stated("strict, stated confidences only", of(func(c *eval.Calibration) *float64 { return c.StrictStated })),
		stated("answers, of them without a confidence", func(s eval.Scores) string {
			if s.Calibration == nil {
				return none
			}
			return fmt.Sprintf("%s, %s", count(s.Calibration.N), count(s.Calibration.Defaulted))
		}),
	}
}

// coverageSets are the document sets of a run, in the order in which evidence passes through them.
var coverageSets = []struct {
	name string
	of   func(*eval.Coverage) eval.SetRecall
}{
	{"surfaced: in a ranking", func(c *eval.Coverage) eval.SetRecall { return c.Surfaced }},
	{"previewed: an excerpt was shown", func(c *eval.Coverage) eval.SetRecall { return c.Previewed }},
	{"opened: its text was read", func(c *eval.Coverage) eval.SetRecall { return c.Opened }},
	{"cited: the answer cites it", func(c *eval.Coverage) eval.SetRecall { return c.Cited }},
	{"behavior: opened or cited", func(c *eval.Coverage) eval.SetRecall { return c.Behavior }},
}

func recallLines(of func(eval.Scores) *eval.Coverage) []line {
	var out []line
	for _, set := range coverageSets {
		out = append(out, averaged(set.name, percent, func(s eval.Scores) *eval.Mean {
			if of(s) == nil {
				return nil
			}
			return set.of(of(s)).Macro
		}))
	}
	return out
}

func citationLines() []line {
	of := func(f func(eval.Citations) *eval.Mean) func(eval.Scores) *eval.Mean {
		return func(s eval.Scores) *eval.Mean { return f(s.Citations) }
	}
	counted := func(f func(eval.Citations) int) func(eval.Scores) string {
		return func(s eval.Scores) string { return count(f(s.Citations)) }
	}
	return []line{
		averaged("answers that cite something", percent, of(func(c eval.Citations) *eval.Mean { return c.Coverage })),
		averaged("precision, all questions", percent, of(func(c eval.Citations) *eval.Mean { return c.Precision })),
		averaged("recall, all questions", percent, of(func(c eval.Citations) *eval.Mean { return c.Recall })),
		averaged("precision, answers that cite", percent, of(func(c eval.Citations) *eval.Mean { return c.PrecisionCiting })),
		averaged("recall, answers that cite", percent, of(func(c eval.Citations) *eval.Mean { return c.RecallCiting })),
		stated("documents cited", counted(func(c eval.Citations) int { return c.Cited })),
		stated("cited and never opened", counted(func(c eval.Citations) int { return c.NeverOpened })),
		stated("cited and never shown", counted(func(c eval.Citations) int { return c.NeverShown })),
		stated("cited and in no ranking", counted(func(c eval.Citations) int { return c.NeverReturned })),
	}
}

// effortLines has a line for every tool that any run called.
func (d *data) effortLines() []line {
	tools := map[string]bool{}
	for _, rd := range d.runs {
		for name := range rd.Scores.Effort.ByTool {
			tools[name] = true
		}
	}
	lines := []line{averaged("tool calls", plainNumber, func(s eval.Scores) *eval.Mean { return s.Effort.ToolCalls })}
	for _, name := range slices.Sorted(maps.Keys(tools)) {
		lines = append(lines, averaged("calls of "+clip(clean(name), 40), plainNumber, func(s eval.Scores) *eval.Mean {
			if m, called := s.Effort.ByTool[name]; called {
				return m
			}
			return &eval.Mean{N: s.Queries}
		}))
	}
	return append(lines,
		averaged("calls refused, research was over", plainNumber, func(s eval.Scores) *eval.Mean { return s.Effort.BlockedCalls }),
		averaged("calls that gave an error", plainNumber, func(s eval.Scores) *eval.Mean { return s.Effort.ToolErrors }),
		averaged("turns", plainNumber, func(s eval.Scores) *eval.Mean { return s.Effort.Turns }),
		averaged("time", seconds, func(s eval.Scores) *eval.Mean { return s.Effort.ElapsedSeconds }),
		averaged("told to hurry", percent, func(s eval.Scores) *eval.Mean { return s.Effort.Steered }),
		averaged("timed out", percent, func(s eval.Scores) *eval.Mean { return s.Effort.Timeouts }),
	)
}

func tokenLines() []line {
	counted := func(f func(trajectory.Usage) int64) func(eval.Scores) string {
		return func(s eval.Scores) string {
			if s.Effort.Usage == (trajectory.Usage{}) {
				return none
			}
			return count(f(s.Effort.Usage))
		}
	}
	return []line{
		averaged("tokens a question", plainNumber, func(s eval.Scores) *eval.Mean {
			if s.Effort.Usage == (trajectory.Usage{}) {
				return nil
			}
			return s.Effort.Tokens
		}),
		averaged("input read from a cache, share", percent, func(s eval.Scores) *eval.Mean { return s.Effort.CachedShare }),
		stated("input, uncached", counted(func(u trajectory.Usage) int64 { return u.Input })),
		stated("input read from a cache", counted(func(u trajectory.Usage) int64 { return u.CacheRead })),
		stated("input written to a cache", counted(func(u trajectory.Usage) int64 { return u.CacheWrite })),
		stated("output", counted(func(u trajectory.Usage) int64 { return u.Output })),
		stated("of this, reasoning", counted(func(u trajectory.Usage) int64 { return u.Reasoning })),
		stated("model calls not counted above", func(s eval.Scores) string {
			if s.Effort.UncountedCalls == 0 {
				return none
			}
			return count(s.Effort.UncountedCalls)
		}),
	}
}

func costLines() []line {
	of := func(f func(*eval.Cost) *eval.Mean) func(eval.Scores) *eval.Mean {
		return func(s eval.Scores) *eval.Mean {
			if s.Effort.Cost == nil {
				return nil
			}
			return f(s.Effort.Cost)
		}
	}
	return []line{
		stated("all questions", func(s eval.Scores) string {
			switch c := s.Effort.Cost; {
			case c == nil:
				return none
			case c.Unpriced > 0:
				return fmt.Sprintf("at least %s: %d answers are of a model without a known price", dollars(c.TotalUSD), c.Unpriced)
			default:
				return dollars(c.TotalUSD)
			}
		}),
		averaged("a question", dollars, of(func(c *eval.Cost) *eval.Mean { return c.PerQueryUSD })),
		averaged("a correct answer", dollars, of(func(c *eval.Cost) *eval.Mean { return c.PerCorrectUSD })),
	}
}

// statuses says how questions ended.
func (d *data) statuses() table {
	t := table{caption: "How questions ended", head: append(texts("ended as"), numbers("questions", "told to hurry", "correct", "undecided")...), csv: "statuses.csv"}
	for _, rd := range d.runs {
		if len(d.runs) > 1 {
			t.section(rd.Name)
		}
		for _, s := range rd.Scores.Statuses {
			t.row(plain(strings.ReplaceAll(s.Status, "_", " ")), plain(count(s.Queries)), plain(count(s.Steered)), plain(count(s.Correct)), plain(count(s.Undecided)))
		}
	}
	return t
}
