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
	json     bool
	lists    bool
}

func newCompare(term *terminal) *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare BASE OTHER...",
		Short: "Compare runs, with intervals and tests",
		Long: `Compare run directories (or TREC runs, with --qrels) against the first one: settings that differ,
then every figure both have with a paired 95 % bootstrap interval of the difference, and for those that
are better when higher the p-value of a paired randomisation test, corrected (Holm) for
everything tested here.`,
		Example: `  goserini compare runs/a runs/b
  goserini compare --qrels qrels.txt a.txt b.txt -m nDCG@10`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return fmt.Errorf("at least two runs are needed")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			comparisons, differing, err := o.compare(cmd, term, args)
			if err != nil {
				return err
			}
			if o.json {
				return term.json(struct {
					Settings    []settingsDifference `json:"settings"`
					Comparisons []eval.Comparison    `json:"comparisons"`
				}{differing, comparisons})
			}
			showSettings(term, differing)
			for _, c := range comparisons {
				o.show(term, c)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.qrels, "qrels", "", "judgments, for TREC runs")
	f.StringArrayVarP(&o.measures, "measure", "m", nil, "for TREC runs: a measure, repeatable")
	f.StringVar(&o.judge, "judge", "", "for run directories: whose verdicts count")
	f.BoolVar(&o.lists, "queries", false, "list the queries won and lost")
	f.BoolVar(&o.json, "json", false, "print as JSON")
	return cmd
}

// settingsDifference says how the settings of a run differ from the base's.
type settingsDifference struct {
	Base   string                  `json:"base"`
	Other  string                  `json:"other"`
	Fields []experiment.Difference `json:"fields"`
}

func (o compareOptions) compare(cmd *cobra.Command, term *terminal, paths []string) ([]eval.Comparison, []settingsDifference, error) {
	if o.qrels != "" {
		comparisons, err := o.compareFiles(cmd, paths)
		return comparisons, nil, err
	}
	var named []eval.Named
	var manifests []experiment.Manifest
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return nil, nil, usagef(cmd, "%s is a file, taken as a TREC run: --qrels FILE is missing", path)
		}
		m, err := experiment.ReadManifest(path)
		if err != nil {
			return nil, nil, err
		}
		in, err := evalInput(term, path, m, o.judge, nil)
		if err != nil {
			return nil, nil, err
		}
		scores, err := eval.Evaluate(in)
		if err != nil {
			return nil, nil, err
		}
		named, manifests = append(named, eval.Named{Name: path, Scores: scores}), append(manifests, m)
	}
	var differing []settingsDifference
	for i, m := range manifests[1:] {
		fields, err := experiment.Differences(manifests[0].Spec, m.Spec)
		if err != nil {
			return nil, nil, err
		}
		differing = append(differing, settingsDifference{paths[0], paths[i+1], fields})
	}
	comparisons, err := eval.Compare(named[0], named[1:], eval.DefaultBootstrap)
	return comparisons, differing, err
}

func (o compareOptions) compareFiles(cmd *cobra.Command, paths []string) ([]eval.Comparison, error) {
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
			term.print("    won:  %s\n    lost: %s\n", printable(strings.Join(d.Wins, " ")), printable(strings.Join(d.Losses, " ")))
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
