package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"goserini/internal/eval"
	"goserini/internal/trec"
)

type evalOptions struct {
	qrels    string
	measures []string
	complete bool
	perQuery bool
	noMean   bool
	level    int
	depth    int
	format   string
	json     bool
	judge    string
	prices   []string
	// check is an experiment file with expected values, condition the one of it that is meant.
	check, condition string
}

func newEval(term *terminal) *cobra.Command {
	var o evalOptions
	cmd := &cobra.Command{
		Use:   "eval RUN_DIR | eval --qrels FILE RUN_FILE",
		Short: "Measure a run directory, or score a TREC run",
		Long: `Measure a run directory: recall of the document sets, accuracy, calls, tokens; or score a
TREC run file against qrels, as trec_eval does. Every mean comes with a 95 % bootstrap interval over
the queries.

Measures of rankings, by the names of ir_measures or trec_eval:

` + eval.Definitions(),
		Example: `  goserini eval runs/demo
  goserini eval --qrels qrels.txt run.txt -m nDCG@10 -m R@1000 -c
  goserini eval runs/demo --check experiments/demo.toml`,
		Args: exactly("RUN_DIR or RUN_FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			info, err := os.Stat(args[0])
			if err != nil {
				return fmt.Errorf("open run: %w", err)
			}
			if o.condition != "" && o.check == "" {
				return usagef(cmd, "--condition %q is a condition of an experiment file: --check FILE is missing", o.condition)
			}
			if info.IsDir() {
				return runEvalDir(cmd, term, args[0], o)
			}
			if o.check != "" {
				return usagef(cmd, "--check compares a run directory, and %s is a file", args[0])
			}
			if o.qrels == "" {
				return usagef(cmd, "%s is a file, taken as a TREC run: --qrels FILE is missing", args[0])
			}
			return runEvalFile(cmd, term, args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.qrels, "qrels", "", "judgments: TREC (four columns) or BEIR (three)")
	f.StringArrayVarP(&o.measures, "measure", "m", nil, "a measure, repeatable (default: a usual set)")
	f.BoolVarP(&o.complete, "complete", "c", false, "average over all judged queries; those absent from the run count 0")
	f.BoolVarP(&o.perQuery, "per-query", "q", false, "also print every query")
	f.BoolVarP(&o.noMean, "no-summary", "n", false, "do not print the means")
	f.IntVarP(&o.level, "level", "l", 1, "the least grade that counts as relevant")
	f.IntVarP(&o.depth, "max-depth", "M", 0, "look at so many results of a query (0 is all)")
	f.StringVar(&o.format, "format", "table", "table, trec_eval or json")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	f.StringArrayVar(&o.prices, "prices", nil, "for a run directory: a price table that overrides the built-in one (repeatable)")
	f.StringVar(&o.judge, "judge", "", "for a run directory: whose verdicts count (default: the only one there)")
	f.StringVar(&o.check, "check", "", "for a run directory: an experiment file with expected values; any difference is an error")
	f.StringVar(&o.condition, "condition", "", "with --check: the condition of the file (default: the one called as the run's folder, or the only one)")
	return cmd
}

func runEvalFile(cmd *cobra.Command, term *terminal, path string, o evalOptions) error {
	measures := eval.DefaultMeasures()
	if len(o.measures) > 0 {
		var err error
		if measures, err = eval.ParseMeasureList(o.measures); err != nil {
			return usagef(cmd, "%w", err)
		}
	}
	if o.level < 1 || o.depth < 0 {
		return usagef(cmd, "-l %d -M %d: want a level of at least 1 and a depth of at least 0", o.level, o.depth)
	}
	qrels, err := trec.ReadQrels(o.qrels)
	if err != nil {
		return err
	}
	run, err := trec.ReadRun(path)
	if err != nil {
		return err
	}
	scores, err := eval.EvaluateRun(qrels, run, measures, eval.RunOptions{Complete: o.complete, Level: o.level, Depth: o.depth})
	if err != nil {
		return err
	}
	for _, note := range scores.Notes() {
		term.warn("%s", note)
	}
	format := o.format
	if o.json {
		format = "json"
	}
	var buf bytes.Buffer
	view := eval.View{PerQuery: o.perQuery, NoSummary: o.noMean}
	switch format {
	case "table":
		err = eval.WriteTable(&buf, scores, view)
	case "trec_eval":
		err = eval.WriteTrecEval(&buf, scores, view)
	case "json":
		err = eval.WriteJSON(&buf, scores, view)
	default:
		return usagef(cmd, "--format %q: want table, trec_eval or json", format)
	}
	if err != nil {
		return err
	}
	term.print("%s", buf.String())
	return nil
}
