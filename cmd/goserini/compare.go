package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"goserini/internal/eval"
	"goserini/internal/experiment"
	"goserini/internal/trec"
)

type compareOptions struct {
	qrels    string
	measures []string
	judge    string
	query    string
	json     bool
	lists    bool
}

func newCompare(term *terminal) *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare BASE OTHER...",
		Short: "Compare runs, with intervals and tests",
		Long: `Compare run directories (or TREC runs, with --qrels) against the first one: settings that differ, how
far the relevant documents came in each run, then every figure both have with a paired 95 % bootstrap
interval of the difference, and for those that are better when higher the p-value of a paired
randomisation test, corrected (Holm) for everything tested here.

With --query, compare what the runs did for one query, step by step, up to the first step at which they
part. A step is a tool call (its tool and arguments, the reason aside) or the end of the question.`,
		Example: `  goserini compare runs/a runs/b
  goserini compare runs/a runs/b --query d03
  goserini compare --qrels qrels.txt a.txt b.txt -m nDCG@10`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("at least two runs are needed")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.qrels != "" && o.query != "":
				return usagef(cmd, "--query compares trajectories, and TREC runs (--qrels) have none")
			case o.qrels != "":
				return o.runFiles(cmd, term, args)
			}
			return o.runDirs(cmd, term, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.qrels, "qrels", "", "judgments, for TREC runs")
	f.StringArrayVarP(&o.measures, "measure", "m", nil, "for TREC runs: a measure, repeatable")
	f.StringVar(&o.judge, "judge", "", "for run directories: whose verdicts count")
	f.StringVar(&o.query, "query", "", "for run directories: where the trajectories of this query part")
	f.BoolVar(&o.lists, "queries", false, "list the queries won, lost and tied")
	f.BoolVar(&o.json, "json", false, "print as JSON")
	return cmd
}

// comparisonReport is the JSON form of what comparing came to.
type comparisonReport struct {
	Settings    []settingsDifference `json:"settings,omitempty"`
	Funnels     []runFunnel          `json:"funnels,omitempty"`
	Comparisons []eval.Comparison    `json:"comparisons"`
}

// settingsDifference says how the settings of a run differ from the base's.
type settingsDifference struct {
	Base   string                  `json:"base"`
	Other  string                  `json:"other"`
	Fields []experiment.Difference `json:"fields"`
}

func (o compareOptions) runFiles(cmd *cobra.Command, term *terminal, paths []string) error {
	comparisons, err := o.compareFiles(cmd, term, paths)
	if err != nil {
		return err
	}
	if o.json {
		return term.json(comparisonReport{Comparisons: comparisons})
	}
	for _, c := range comparisons {
		o.show(term, c)
	}
	return nil
}

func (o compareOptions) runDirs(cmd *cobra.Command, term *terminal, dirs []string) error {
	runs, err := o.openRuns(cmd, term, dirs)
	if err != nil {
		return err
	}
	differing, err := differences(runs)
	if err != nil {
		return err
	}
	if o.query != "" {
		return o.runQuery(term, runs, differing)
	}
	named := make([]eval.Named, len(runs))
	for i, r := range runs {
		named[i] = eval.Named{Name: r.dir, Scores: r.scores}
	}
	comparisons, err := eval.Compare(named[0], named[1:], eval.DefaultBootstrap)
	if err != nil {
		return err
	}
	funnels, err := funnelsOf(runs)
	if err != nil {
		return err
	}
	if o.json {
		return term.json(comparisonReport{differing, funnels, comparisons})
	}
	showSettings(term, differing)
	showFunnels(term, funnels)
	for _, c := range comparisons {
		o.show(term, c)
	}
	return nil
}

// comparedRun is a run directory with what it is compared by.
type comparedRun struct {
	// dir is the path as given, name the shortest that tells the runs apart.
	dir, name string
	manifest  experiment.Manifest
	in        eval.Input
	scores    eval.Scores
}

func (o compareOptions) openRuns(cmd *cobra.Command, term *terminal, dirs []string) ([]comparedRun, error) {
	var runs []comparedRun
	names := runNames(dirs)
	for i, dir := range dirs {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			return nil, usagef(cmd, "%s is a file, taken as a TREC run: --qrels FILE is missing", dir)
		}
		r := comparedRun{dir: dir, name: names[i]}
		var err error
		if r.manifest, err = experiment.ReadManifest(dir); err != nil {
			return nil, err
		}
		if r.in, err = evalInput(term, dir, r.manifest, o.judge, nil); err != nil {
			return nil, err
		}
		if r.scores, err = eval.Evaluate(r.in); err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	return runs, nil
}

// differences sets the settings of each run against those of the first.
func differences(runs []comparedRun) ([]settingsDifference, error) {
	var out []settingsDifference
	for _, r := range runs[1:] {
		fields, err := experiment.Differences(runs[0].manifest.Spec, r.manifest.Spec)
		if err != nil {
			return nil, err
		}
		out = append(out, settingsDifference{runs[0].dir, r.dir, fields})
	}
	return out, nil
}

func (o compareOptions) compareFiles(cmd *cobra.Command, term *terminal, paths []string) ([]eval.Comparison, error) {
	measures := eval.DefaultMeasures()
	if len(o.measures) > 0 {
		var err error
		if measures, err = eval.ParseMeasureList(o.measures); err != nil {
			return nil, usagef(cmd, "%w", err)
		}
	}
	qrels, err := trec.ReadQrels(o.qrels)
	if err != nil {
		return nil, err
	}
	var named []eval.NamedRun
	for _, path := range paths {
		run, err := trec.ReadRun(path)
		if err != nil {
			return nil, err
		}
		scores, err := eval.EvaluateRun(qrels, run, measures, eval.RunOptions{Complete: true})
		if err != nil {
			return nil, err
		}
		if n := len(scores.Missing); n > 0 {
			term.warn("%s lacks %d judged queries: they count as 0", path, n)
		}
		named = append(named, eval.NamedRun{Name: path, Scores: scores})
	}
	return eval.CompareRuns(named[0], named[1:], eval.DefaultBootstrap)
}

func showSettings(term *terminal, differing []settingsDifference) {
	for _, d := range differing {
		if len(d.Fields) == 0 {
			term.print("%s and %s have the same settings\n", d.Base, d.Other)
			continue
		}
		term.print("%s and %s differ in\n", d.Base, d.Other)
		for _, f := range d.Fields {
			term.print("  %-34s %s -> %s\n", f.Field, printable(f.Have), printable(f.Want))
		}
	}
}

func (o compareOptions) show(term *terminal, c eval.Comparison) {
	term.print("\n%s -> %s, %d common queries\n", c.Base, c.Other, c.Queries)
	for _, note := range c.Notes {
		term.warn("%s", note)
	}
	if n := len(c.OnlyBase) + len(c.OnlyOther); n > 0 {
		term.warn("%d queries are in one run only and left out", n)
	}
	term.print("%-28s %10s %10s %28s %8s %8s  %s\n", "", "base", "other", "difference [95 %]", "p", "p Holm", "won/lost/tied")
	for _, d := range c.Differences {
		term.print("%-28s %10.4g %10.4g %28s %8s %8s  %s\n", d.Measure, d.Base, d.Other, interval(&d.Delta), probability(d.P), probability(d.PHolm), wonLost(d))
		if o.lists && d.P != nil {
			for _, list := range []struct {
				name string
				ids  []string
			}{{"won", d.Wins}, {"lost", d.Losses}, {"tied", d.Ties}} {
				term.print("    %-5s %s\n", list.name+":", printable(strings.Join(list.ids, " ")))
			}
		}
	}
	term.print("%d tests\n", c.Tests)
}

func wonLost(d eval.Difference) string {
	if d.P == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d/%d", len(d.Wins), len(d.Losses), len(d.Ties))
}

func probability(p *float64) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%.4f", *p)
}
