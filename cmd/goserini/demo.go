package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/benchmark"
	"goserini/internal/eval"
	"goserini/internal/experiment"
	"goserini/internal/index"
	"goserini/internal/judge"
	"goserini/internal/trajectory"
)

func newDemo(term *terminal) *cobra.Command {
	o := runOptions{benchmark: "demo", concurrency: 1}
	var quiet bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "The whole pipeline on an embedded collection: offline, no key",
		Long: `Build an index from a collection of invented articles that is part of this program,
research its twelve questions through the real agent loop and the real tools with the policy
builtin/lexical, which is no language model, and show what became of the evidence.

With --model a language model answers instead.`,
		Example: "  goserini demo\n  goserini demo --model deepseek/deepseek-chat",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.out == "" {
				dir, err := newRunDir("demo")
				if err != nil {
					return err
				}
				o.out = dir
			}
			return runDemo(cmd.Context(), term, cmd, o, quiet)
		},
	}
	o.register(cmd)
	o.tools.register(cmd, "paper")
	cmd.Flags().StringVar(&o.out, "out", "", "the run directory (default: a new one in the data directory)")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "do not show the steps")
	return cmd
}

func runDemo(ctx context.Context, term *terminal, cmd *cobra.Command, o runOptions, quiet bool) error {
	p, err := o.prepare(ctx, term, cmd)
	if err != nil {
		return err
	}
	defer p.index.Close()
	p.researcher.describe(term)
	start := time.Now()
	summary, err := p.run(ctx, term, o.out, experiment.Options{Concurrency: 1, Command: "goserini demo", Observe: p.demoView(term, quiet)})
	if err != nil {
		return withHint(err, "%d of %d questions have a result; go on with: goserini demo --out %s", summary.Total-summary.Unfinished, summary.Total, shellQuote(o.out))
	}
	if _, err := judgeRun(ctx, term, o.out, p.questions, judge.Exact{}, 1); err != nil {
		return err
	}
	scores, err := scoreRun(term, o.out, judge.Exact{}.Name(), o.model.prices)
	if err != nil {
		return err
	}
	if err := p.showOutcome(ctx, term, o.out, scores); err != nil {
		return err
	}
	term.print("\n%d questions in %s. The run lies in %s\n", summary.Total, duration(time.Since(start)), o.out)
	if !p.researcher.model.isLanguageModel {
		term.print("This used no language model. To use one: goserini demo --model PROVIDER/MODEL\n")
	}
	term.hint("next: goserini report %s", shellQuote(o.out))
	term.hint("      goserini show trajectory %s", shellQuote(filepath.Join(o.out, "trajectories", "d01.jsonl")))
	term.hint("      goserini search --index %s \"lighthouse keeper\"", shellQuote(p.indexDir))
	return nil
}

// demoView shows each question and its steps as they happen.
func (p *benchmarkRun) demoView(term *terminal, quiet bool) func(experiment.Notice) {
	if quiet {
		return func(experiment.Notice) {}
	}
	var mu sync.Mutex
	view := newLiveView(term)
	return func(n experiment.Notice) {
		mu.Lock()
		defer mu.Unlock()
		if n.Event != nil && n.Event.Header != nil {
			term.say("\n%s %s", term.paint(bold, n.QueryID), printable(n.Event.Header.Question))
		}
		if n.Event != nil {
			view.event(*n.Event)
		}
		if r := n.Record; r != nil {
			term.say("  %s %s (%s)", term.paint(bold, "answer:"), printable(oneLine(r.Answer.Exact)), confidence(r.Answer.Confidence))
		}
	}
}

// showOutcome prints a line a question and the funnel of the evidence.
func (p *benchmarkRun) showOutcome(ctx context.Context, term *terminal, dir string, scores eval.Scores) error {
	records, err := experiment.ReadResults(dir)
	if err != nil {
		return err
	}
	right := make(map[string]eval.QueryScores, len(scores.PerQuery))
	for _, q := range scores.PerQuery {
		right[q.QueryID] = q
	}
	term.print("\n%-4s %-7s %-30s %-30s %-10s %s\n", "", "", "answer", "known answer", "confidence", "cited")
	for i, rec := range records {
		term.print("%-4s %s %s %s %-10s %s\n", rec.QueryID, term.verdict(right[rec.QueryID]), column(rec.Answer.Exact, 30),
			column(knownAnswer(p.questions[i]), 30), confidence(rec.Answer.Confidence), printable(strings.Join(rec.Cited, " ")))
	}
	if a := scores.Accuracy; a != nil {
		term.print("\n%d of %d right, by %s; %d of %d unanswerable questions rightly declined\n", a.Correct, scores.Queries, a.Judge, a.UnanswerableCorrect, a.Unanswerable)
	}
	funnel, err := p.funnel(ctx, records)
	if err != nil {
		return err
	}
	term.print("\n%s\n", funnelTable(funnel))
	return nil
}

func knownAnswer(q benchmark.Question) string {
	if q.Answer == nil || q.Answer.Unanswerable {
		return "(not in the collection)"
	}
	return q.Answer.Text
}

// column fits a text into a column of n characters.
func column(s string, n int) string { return fmt.Sprintf("%-*s", n, clip(printable(oneLine(s)), n)) }

func (t *terminal) verdict(q eval.QueryScores) string {
	switch {
	case q.Correct == nil:
		return t.paint(yellow, "unclear")
	case *q.Correct:
		return t.paint(green, "right  ")
	}
	return t.paint(red, "wrong  ")
}

// funnelStage counts the evidence and gold documents that reached a stage.
type funnelStage struct {
	Name           string
	Evidence, Gold int
}

// funnel follows the relevant documents of all questions: judged, in the ranking of the
// question itself, surfaced, previewed, opened, cited.
func (p *benchmarkRun) funnel(ctx context.Context, records []trajectory.Record) ([]funnelStage, error) {
	evidence, gold := p.benchmark.Qrels()
	stages := []funnelStage{{Name: "judged"}, {Name: "in ranking"}, {Name: "surfaced"}, {Name: "previewed"}, {Name: "opened"}, {Name: "cited"}}
	for _, rec := range records {
		ranked, err := p.ranked(ctx, rec.Question)
		if err != nil {
			return nil, err
		}
		e, g := eval.Relevant(evidence[rec.QueryID], 1), eval.Relevant(gold[rec.QueryID], 1)
		stages[0].Evidence += len(e)
		stages[0].Gold += len(g)
		for i, set := range [][]string{ranked, rec.Surfaced, rec.Previewed, rec.Opened, rec.Cited} {
			stages[i+1].Evidence += eval.Hits(set, e)
			stages[i+1].Gold += eval.Hits(set, g)
		}
	}
	return stages, nil
}

// ranked is the ranking of a question taken as the query, to the depth of the run.
func (p *benchmarkRun) ranked(ctx context.Context, question string) ([]string, error) {
	r, err := p.index.Search(ctx, index.Query{Text: question, Params: p.researcher.params, Depth: p.researcher.tools.Depth})
	if err != nil {
		return nil, err
	}
	docids := make([]string, len(r.Hits))
	for i, h := range r.Hits {
		docids[i] = h.DocID
	}
	return docids, nil
}

// funnelTable draws the funnel as text, with bars.
func funnelTable(stages []funnelStage) string {
	const width = 24
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %-*s %-*s", "evidence", width+14, "needed to answer", width, "gold: holds the answer")
	for _, s := range stages {
		fmt.Fprintf(&b, "\n%-12s %s  %s", s.Name, bar(s.Evidence, stages[0].Evidence, width), bar(s.Gold, stages[0].Gold, width))
	}
	return strings.TrimRight(b.String(), " ")
}

func bar(n, total, width int) string {
	if total == 0 {
		return strings.Repeat(" ", width) + "    none   "
	}
	full := (n*width + total/2) / total
	return strings.Repeat("█", full) + strings.Repeat("·", width-full) + fmt.Sprintf(" %3d  %3.0f %%", n, 100*float64(n)/float64(total))
}
