// Package report writes what finished runs came to as Markdown, or as one HTML file that
// needs nothing else: no server, no network, and no script to be read.
//
//	doc, err := report.HTML([]report.Run{run}, report.Options{})
//	os.WriteFile("report.html", doc.Bytes, 0o644)
//
// Everything a report shows of documents, questions and models is foreign text and treated as
// hostile: html/template escapes it, and a content security policy in the page forbids whatever
// could load or run. Equal runs give equal bytes: no clock is read. See docs/report.md.
package report

import (
	"errors"
	"fmt"

	"goserini/internal/benchmark"
	"goserini/internal/eval"
	"goserini/internal/experiment"
	"goserini/internal/judge"
	"goserini/internal/trajectory"
)

// Run is a run directory with its scores.
type Run struct {
	// Name is what the run is called in the report; names of one report differ.
	Name string
	// Dir holds the trajectories the records name. They may be missing: the report says so.
	Dir      string
	Manifest experiment.Manifest
	Scores   eval.Scores
	Records  []trajectory.Record
	// Questions have the known answers, in the order they are shown; nil where nothing is known.
	Questions []benchmark.Question
	// Verdicts are those of one judge, the one of the scores.
	Verdicts []judge.Verdict
	// Redact leaves out what a benchmark wants kept out of public texts: questions, answers, and
	// all a model or a tool wrote. Numbers, docids and the kinds of steps stay.
	Redact bool
}

// Options say what a report holds.
type Options struct {
	// Paper shows the paper's figures beside those of the runs.
	Paper bool
	// MaxBytes is the size an HTML report keeps to by shortening what tools returned, for each
	// run; 0 is DefaultMaxBytes.
	MaxBytes int
}

// DefaultMaxBytes is what a mail server or a code host takes without a question.
const DefaultMaxBytes = 2_000_000

// Document is a finished report.
type Document struct {
	Bytes []byte
	// Notes say what the report does not show, for the operator.
	Notes []string
}

// ErrNoRuns is returned where there is nothing to report on.
var ErrNoRuns = errors.New("a report needs at least one run")

// data is everything the sections are made from.
type data struct {
	runs  []*runData
	paper *Paper
	notes []string
}

// runData is a run with its trajectories.
type runData struct {
	Run
	// index is the run's place in the report, from 0.
	index int
	items []*item
}

// item is one question of a run with all that is known about it.
type item struct {
	id      string
	scores  eval.QueryScores
	record  *trajectory.Record
	asked   string
	known   *benchmark.Answer
	verdict *judge.Verdict
	story   story
	// anchor is the id of its card in the page.
	anchor string
}

func load(runs []Run, o Options) (*data, error) {
	if len(runs) == 0 {
		return nil, ErrNoRuns
	}
	d := &data{}
	if o.Paper {
		p, err := ReadPaper()
		if err != nil {
			return nil, err
		}
		d.paper = &p
	}
	names := map[string]bool{}
	for i, r := range runs {
		if names[r.Name] {
			return nil, fmt.Errorf("two runs of the report are called %q: give each a name of its own", r.Name)
		}
		names[r.Name] = true
		rd := newRunData(r, i)
		d.notes = append(d.notes, rd.readStories(o.maxBytes())...)
		if r.Redact {
			for _, it := range rd.items {
				it.redact()
			}
		}
		d.runs = append(d.runs, rd)
	}
	return d, nil
}

func (o Options) maxBytes() int {
	if o.MaxBytes <= 0 {
		return DefaultMaxBytes
	}
	return o.MaxBytes
}

// newRunData joins scores, records, questions and verdicts. The order of the questions is that of the
// benchmark, then that of the records, then that of the scores.
func newRunData(r Run, index int) *runData {
	r.Name = clean(r.Name)
	rd := &runData{Run: r, index: index}
	scored := make(map[string]eval.QueryScores, len(r.Scores.PerQuery))
	for _, q := range r.Scores.PerQuery {
		scored[q.QueryID] = q
	}
	byID := map[string]*item{}
	add := func(id string) *item {
		it := byID[id]
		if it != nil {
			return it
		}
		q, ok := scored[id]
		if !ok {
			return nil // not in the query set: in no figure, so in no list
		}
		it = &item{id: id, scores: q, anchor: anchorOf(index, len(rd.items))}
		byID[id] = it
		rd.items = append(rd.items, it)
		return it
	}
	for _, q := range r.Questions {
		if it := add(q.ID); it != nil {
			it.asked, it.known = q.Text, q.Answer
		}
	}
	for i := range r.Records {
		rec := &r.Records[i]
		if it := add(rec.QueryID); it != nil {
			it.record, it.asked = rec, rec.Question
		}
	}
	for _, q := range r.Scores.PerQuery {
		add(q.QueryID)
	}
	for i := range r.Verdicts {
		if it := byID[r.Verdicts[i].QueryID]; it != nil {
			it.verdict = &r.Verdicts[i]
		}
	}
	return rd
}

func anchorOf(run, question int) string {
	if run == 0 {
		return fmt.Sprintf("q%d", question+1)
	}
	return fmt.Sprintf("r%dq%d", run+1, question+1)
}

// outcome is how a question counts.
type outcome string

// The outcomes, in the order of lists.
const (
	right     outcome = "right"
	wrong     outcome = "wrong"
	undecided outcome = "undecided"
	unjudged  outcome = "not judged"
	timedOut  outcome = "timed out"
	failed    outcome = "failed"
	notRun    outcome = "not run"
)

// outcomes lists them in order.
var outcomes = []outcome{right, wrong, undecided, unjudged, timedOut, failed, notRun}

func (it *item) outcome() outcome {
	switch it.scores.Status {
	case eval.StatusNoRecord:
		return notRun
	case string(trajectory.Timeout):
		return timedOut
	case string(trajectory.Failed):
		return failed
	}
	switch {
	case it.scores.Correct != nil && *it.scores.Correct:
		return right
	case it.scores.Correct != nil:
		return wrong
	case it.verdict != nil:
		return undecided
	}
	return unjudged
}
