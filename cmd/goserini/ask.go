package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/analysis"
	"goserini/internal/experiment"
	"goserini/internal/index"
	"goserini/internal/trajectory"
)

type askOptions struct {
	researchFlags
	dir      string
	analyzer string
	out      string
	json     bool
	quiet    bool
}

func newAsk(term *terminal) *cobra.Command {
	var o askOptions
	cmd := &cobra.Command{
		Use:   "ask [FOLDER] QUESTION",
		Short: "Answer a question from an index or a folder of documents",
		Long: `Answer a question: the agent searches, browses, reads and answers, and every step is
recorded. The answer goes to standard output, the steps to standard error.

Give an index with --index, or a folder (or file) of documents, which is indexed on first use
and again when its content changes. Without --model, the policy builtin/lexical answers, which is no
language model.`,
		Example: `  goserini ask ./handbook "Who may approve a refund above 500 euros?"
  goserini ask --index my.index "When was the survey made?" --model deepseek/deepseek-chat`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, question := "", args[len(args)-1]
			if len(args) == 2 {
				folder = args[0]
			}
			if err := o.retriever.resolve(cmd, &o.dir); err != nil {
				return err
			}
			if (folder == "") == (o.dir+o.retriever.spec == "") {
				return usagef(cmd, "say over what to ask: either --index DIR, or a folder before the question, or --retriever SPEC")
			}
			if strings.TrimSpace(question) == "" {
				return usagef(cmd, "QUESTION is empty")
			}
			return runAsk(cmd.Context(), term, cmd, folder, question, o)
		},
	}
	o.register(cmd)
	o.tools.register(cmd, "navigator")
	f := cmd.Flags()
	f.StringVar(&o.dir, "index", "", "the folder of an index")
	f.StringVar(&o.analyzer, "analyzer", analysis.Default, "for a folder: the analyzer to index it with")
	f.StringVar(&o.out, "out", "", "the run directory for the record (default: one in the data directory)")
	f.BoolVar(&o.json, "json", false, "print the record as JSON")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "do not show the steps")
	return cmd
}

func (o askOptions) open(ctx context.Context, term *terminal, folder string) (*index.Index, string, error) {
	if o.retriever.spec != "" {
		return nil, "", nil
	}
	if folder == "" {
		ix, err := openIndex(o.dir)
		return ix, o.dir, err
	}
	if _, err := os.Stat(folder); err != nil {
		return nil, "", fmt.Errorf("open folder: %w", err)
	}
	return folderIndex(ctx, term, folder, o.analyzer)
}

func runAsk(ctx context.Context, term *terminal, cmd *cobra.Command, folder, question string, o askOptions) error {
	ix, indexDir, err := o.open(ctx, term, folder)
	if err != nil {
		return err
	}
	if ix != nil {
		defer ix.Close()
	}
	if o.model.name == "" {
		if err := sayWhatIsThere(ctx, term, &o.model); err != nil {
			return err
		}
	}
	r, err := o.researcher(cmd, term, ix, anseriniDefault)
	if err != nil {
		return err
	}
	defer r.close()
	r.describe(term)
	if o.out == "" {
		if o.out, err = newRunDir("ask"); err != nil {
			return err
		}
	}
	plan, err := r.plan(filepath.Base(o.out), []experiment.Question{{ID: "ask", Text: question}})
	if err != nil {
		return err
	}
	var rec trajectory.Record
	view := newLiveView(term)
	start := time.Now()
	summary, err := experiment.Run(ctx, o.out, plan, experiment.Options{Concurrency: 1, Command: "goserini ask",
		Observe: func(n experiment.Notice) {
			if n.Event != nil && !o.quiet {
				view.event(*n.Event)
			}
			if n.Record != nil {
				rec = *n.Record
			}
		}})
	if err != nil {
		return withHint(err, "what was done is recorded in %s; ask again with --out %s to keep both in one place", o.out, shellQuote(o.out))
	}
	if summary.Ran == 0 {
		if rec, err = onlyRecord(o.out); err != nil {
			return err
		}
	}
	if o.json {
		if err := term.json(rec); err != nil {
			return err
		}
	} else {
		showAnswer(term, rec)
	}
	r.closing(term, rec, time.Since(start), indexDir, o.out)
	if rec.Status != trajectory.Completed {
		return &failedQueriesError{fmt.Sprintf("the question ended as %s%s", rec.Status, because(rec))}
	}
	return nil
}

func because(rec trajectory.Record) string {
	switch {
	case rec.Error != "":
		return ": " + rec.Error
	case rec.Reason != "":
		return ": " + rec.Reason
	}
	return ""
}

func onlyRecord(dir string) (trajectory.Record, error) {
	records, err := experiment.ReadResults(dir)
	if err != nil {
		return trajectory.Record{}, err
	}
	if len(records) != 1 {
		return trajectory.Record{}, fmt.Errorf("%s holds %d results, want 1", dir, len(records))
	}
	return records[0], nil
}

// closing says in one line what the answer took, and in another how to look at its sources.
func (r *researcher) closing(term *terminal, rec trajectory.Record, took time.Duration, indexDir, out string) {
	u := rec.Usage
	term.say("%s in %s: %d turns, %d tool calls, %s tokens in (%s cached), %s out, %s", rec.Status, duration(took), rec.Turns, rec.ExecutedCalls,
		count(u.Input+u.CacheRead+u.CacheWrite), count(u.CacheRead), count(u.Output), r.cost(rec))
	if n := rec.UncountedCalls; n > 0 {
		term.say("the server counted no tokens for %d of the model calls: tokens and cost are lower bounds", n)
	}
	term.hint("record: %s", out)
	if c := rec.Answer.Citations; len(c) > 0 && indexDir != "" {
		term.hint("source: goserini read --index %s %s", shellQuote(indexDir), shellQuote(c[0].DocID))
	}
}

func (r *researcher) cost(rec trajectory.Record) string {
	if !r.model.isLanguageModel {
		return "no cost"
	}
	if r.model.price == nil {
		return "unpriced"
	}
	return fmt.Sprintf("$%.4f", r.model.price(rec.Usage))
}
