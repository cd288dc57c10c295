package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"goserini/internal/eval"
	"goserini/internal/experiment"
	"goserini/internal/trajectory"
)

// queryComparison is the JSON form of what runs did for one query.
type queryComparison struct {
	Settings    []settingsDifference `json:"settings"`
	QueryID     string               `json:"query_id"`
	Question    string               `json:"question"`
	Runs        []queryOfRun         `json:"runs"`
	Divergences []eval.Divergence    `json:"divergences"`
}

// queryOfRun is what one run came to.
type queryOfRun struct {
	Run    string            `json:"run"`
	Answer trajectory.Answer `json:"answer"`
	Scores eval.QueryScores  `json:"scores"`

	events []trajectory.Event
}

func (o compareOptions) runQuery(term *terminal, runs []comparedRun, differing []settingsDifference) error {
	c := queryComparison{Settings: differing, QueryID: o.query}
	for _, r := range runs {
		q, rec, err := r.query(term, o.query)
		if err != nil {
			return err
		}
		if c.Question != "" && c.Question != rec.Question {
			term.warn("the runs asked different questions under the id %s", o.query)
		}
		c.Question = rec.Question
		c.Runs = append(c.Runs, q)
	}
	for _, other := range c.Runs[1:] {
		d := eval.Diverge(c.Runs[0].events, other.events)
		d.Base, d.Other = c.Runs[0].Run, other.Run
		c.Divergences = append(c.Divergences, d)
	}
	if o.json {
		return term.json(c)
	}
	showSettings(term, differing)
	c.show(term)
	return nil
}

// query finds one query of a run with its trajectory.
func (r comparedRun) query(term *terminal, id string) (queryOfRun, trajectory.Record, error) {
	q := queryOfRun{Run: r.name}
	for _, s := range r.scores.PerQuery {
		if s.QueryID == id {
			q.Scores = s
		}
	}
	for _, rec := range r.in.Records {
		if rec.QueryID != id {
			continue
		}
		root, err := os.OpenRoot(r.dir)
		if err != nil {
			return q, rec, err
		}
		defer root.Close()
		file, err := experiment.ReadTrajectory(root, rec)
		if err != nil {
			return q, rec, fmt.Errorf("query %s of %s: %w", id, r.dir, err)
		}
		if !file.Whole {
			term.warn("%s: the trajectory of %s has no end", r.dir, id)
		}
		q.Answer, q.events = rec.Answer, file.Events
		return q, rec, nil
	}
	return q, trajectory.Record{}, withHint(fmt.Errorf("%s has no result for query %q", r.dir, id), "its queries are listed by: goserini show run %s", shellQuote(r.dir))
}

func (c queryComparison) show(term *terminal) {
	term.print("\n%s %s\n", term.paint(bold, c.QueryID), printable(oneLine(c.Question)))
	for _, q := range c.Runs {
		term.print("  %s\n", q.line())
	}
	for _, d := range c.Divergences {
		showDivergence(term, d)
	}
}

// line is what a run came to, in one line.
func (q queryOfRun) line() string {
	s := q.Scores
	outcome := s.Status
	if s.Correct != nil {
		outcome += map[bool]string{true: ", right", false: ", wrong"}[*s.Correct]
	}
	answer := "no answer"
	if q.Answer.Exact != "" {
		answer = fmt.Sprintf("%s (%s)", clip(printable(oneLine(q.Answer.Exact)), 60), confidence(q.Answer.Confidence))
	}
	parts := []string{printable(q.Run) + ": " + outcome + ": " + answer}
	for _, r := range []struct {
		name string
		*eval.QueryRecall
	}{{"evidence", s.Evidence}, {"gold", s.Gold}} {
		if r.QueryRecall != nil && r.Relevant > 0 {
			parts = append(parts, fmt.Sprintf("of %d %s: surfaced %d, previewed %d, opened %d, cited %d", r.Relevant, r.name, r.Surfaced, r.Previewed, r.Opened, r.Cited))
		}
	}
	return strings.Join(parts, "; ")
}

func showDivergence(term *terminal, d eval.Divergence) {
	base, other := printable(d.Base), printable(d.Other)
	switch {
	case d.BaseNext == nil && d.OtherNext == nil:
		term.print("\n%s and %s took the same %d steps\n", base, other, d.BaseSteps)
	case len(d.Agreed) == 0:
		term.print("\n%s (%d steps) and %s (%d steps) part at the first step\n", base, d.BaseSteps, other, d.OtherSteps)
	default:
		term.print("\n%s (%d steps) and %s (%d steps) agree on the first %d and part at step %d\n", base, d.BaseSteps, other, d.OtherSteps, len(d.Agreed), len(d.Agreed)+1)
	}
	for _, s := range d.Agreed {
		note := ""
		switch {
		case slices.Contains(d.OtherDocuments, s.Number):
			note = "  " + term.paint(yellow, "≠ documents in "+other)
		case slices.Contains(d.OtherTexts, s.Number):
			note = "  " + term.paint(dim, "≠ text in "+other)
		}
		term.print("  %4d  %s%s\n", s.Number, stepLine(term, s), note)
	}
	if d.BaseNext == nil && d.OtherNext == nil {
		return
	}
	for _, next := range []struct {
		run  string
		step *eval.Step
	}{{base, d.BaseNext}, {other, d.OtherNext}} {
		text := "nothing more is recorded"
		if next.step != nil {
			text = stepLine(term, *next.step)
		}
		term.print("  then  %s: %s\n", next.run, text)
	}
}

// stepLine is a step on one line.
func stepLine(term *terminal, s eval.Step) string {
	if e := s.End; e != nil {
		if e.Status != trajectory.Completed {
			return printable(strings.TrimSpace(string(e.Status) + " " + e.Reason))
		}
		return fmt.Sprintf("%s %s (%s), cites %s", term.paint(bold, "answer:"), clip(printable(oneLine(e.Exact)), 60), confidence(e.Confidence), printable(strings.Join(e.Cited, " ")))
	}
	asked, came := clip(printable(oneLine(s.RawArguments)), 60), "no result"
	if s.RawArguments == "" {
		asked = printable(arguments(s.Arguments))
	}
	if s.Observation != nil {
		came = cameOf(term, s.Observation)
	}
	return fmt.Sprintf("%-19s %s  %s", term.paint(cyan, printable(s.Tool)), asked, came)
}
