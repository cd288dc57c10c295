package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/benchmark"
	"goserini/internal/eval"
	"goserini/internal/experiment"
	"goserini/internal/judge"
	"goserini/internal/trajectory"
)

type judgeOptions struct {
	modelFlags
	judges      []string
	mode        string
	concurrency int
	json        bool
	format      string
	output      string
	plaintext   bool
}

func newJudge(term *terminal) *cobra.Command {
	var o judgeOptions
	cmd := &cobra.Command{
		Use:   "judge RUN_DIR",
		Short: "Decide which answers of a run are right",
		Long: `Decide which answers of a run are right. builtin/exact needs no model: it compares normal
forms, numbers with units, dates and aliases, and says undecided where only a reader could tell. A
model judge reads the answer as fenced data. Verdicts that still hold are reused, so judging twice asks
nothing twice.`,
		Example: `  goserini judge runs/demo
  goserini judge runs/a --judges openai/gpt-4.1,builtin/exact`,
		Args: exactly("RUN_DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.concurrency < 1 {
				return usagef(cmd, "--concurrency %d: want at least 1", o.concurrency)
			}
			if o.format != "" && (o.format != "browsecomp-plus" || o.output == "") {
				return usagef(cmd, "--format %q: want browsecomp-plus, together with --output DIR", o.format)
			}
			return runJudge(cmd.Context(), term, cmd, args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.judges, "judges", []string{judge.Exact{}.Name()}, "who judges: builtin/exact or PROVIDER/MODEL, several with a comma")
	f.StringVar(&o.mode, "mode", string(judge.GoldAnswer), "for a model: gold-answer, or reference-free where no answer is known (default: the benchmark's)")
	o.registerAccess(cmd)
	f.IntVar(&o.concurrency, "concurrency", 4, "answers judged at once")
	f.BoolVar(&o.json, "json", false, "print verdict counts and agreement as JSON")
	f.StringVar(&o.format, "format", "", "also write files in another form: browsecomp-plus (its evaluator's)")
	f.StringVar(&o.output, "output", "", "with --format: the folder for those files")
	f.BoolVar(&o.plaintext, "plaintext", false, "with --format: let the texts of a private benchmark leave the data directory")
	return cmd
}

// openJudge finds the judge for a name.
func openJudge(cmd *cobra.Command, term *terminal, name string, o judgeOptions) (judge.Judge, error) {
	if name == (judge.Exact{}).Name() {
		return judge.Exact{}, nil
	}
	mode := judge.Mode(o.mode)
	if mode != judge.GoldAnswer && mode != judge.ReferenceFree {
		return nil, usagef(cmd, "--mode %q: want %s or %s", o.mode, judge.GoldAnswer, judge.ReferenceFree)
	}
	o.name = name
	m, err := o.open(cmd.Context(), cmd, term)
	if err != nil {
		return nil, err
	}
	return judge.NewModel(m.client, judge.ModelOptions{Name: m.label, Model: m.name, Mode: mode, Effort: m.effort}), nil
}

// judgeReport is the JSON form of what judging came to.
type judgeReport struct {
	Judges    []judgeCounts     `json:"judges"`
	Agreement []judge.Agreement `json:"agreement,omitempty"`
}

type judgeCounts struct {
	Judge string `json:"judge"`
	New   int    `json:"new"`
	judge.Counts
}

func runJudge(ctx context.Context, term *terminal, cmd *cobra.Command, dir string, o judgeOptions) error {
	m, err := experiment.ReadManifest(dir)
	if err != nil {
		return err
	}
	if m.Spec.Benchmark == "" {
		return fmt.Errorf("%s is a run over no benchmark, so no answer is known", dir)
	}
	b, questions, err := runQuestions(m)
	if err != nil {
		return err
	}
	if o.format != "" && (m.Private || b.Private) {
		if err := checkPrivate(m.Spec.Benchmark, o.output, o.plaintext); err != nil {
			return err
		}
	}
	if b.Judge != "" && !cmd.Flags().Changed("mode") {
		o.mode = b.Judge
	}
	var report judgeReport
	for _, name := range o.judges {
		j, err := openJudge(cmd, term, name, o)
		if err != nil {
			return err
		}
		counts, err := judgeRun(ctx, term, dir, questions, j, o.concurrency)
		if err != nil {
			return withHint(err, "verdicts so far are kept; the same command again goes on")
		}
		report.Judges = append(report.Judges, counts)
	}
	verdicts, err := judge.ReadVerdicts(filepath.Join(dir, experiment.VerdictsFile))
	if err != nil {
		return err
	}
	report.Agreement = agreements(verdicts, o.judges)
	if o.format != "" {
		if err := writeOfficial(term, dir, o, m, questions); err != nil {
			return err
		}
	}
	if o.json {
		return term.json(report)
	}
	for _, a := range report.Agreement {
		showAgreement(term, a)
	}
	next := "next: goserini eval " + shellQuote(dir)
	if len(judge.Names(verdicts)) > 1 {
		next += " --judge " + shellQuote(o.judges[0])
	}
	term.hint("%s", next)
	return nil
}

// judgeItems pairs the records of a run with what is known to be right. Questions without a known
// answer are judged only where the judge needs none.
func judgeItems(dir string, questions []benchmark.Question, mode judge.Mode) (items []judge.Item, unknown int, err error) {
	records, err := experiment.ReadResults(dir)
	if err != nil {
		return nil, 0, err
	}
	byID := make(map[string]trajectory.Record, len(records))
	for _, r := range records {
		byID[r.QueryID] = r
	}
	for _, q := range questions {
		rec, ran := byID[q.ID]
		switch {
		case q.Answer == nil && mode == judge.GoldAnswer:
			unknown++
		case ran:
			items = append(items, judge.NewItem(rec, reference(q)))
		}
	}
	return items, unknown, nil
}

// judgeRun judges every record of a run directory and keeps the verdicts in it.
func judgeRun(ctx context.Context, term *terminal, dir string, questions []benchmark.Question, j judge.Judge, workers int) (judgeCounts, error) {
	items, unknown, err := judgeItems(dir, questions, j.Mode())
	if err != nil {
		return judgeCounts{}, err
	}
	verdicts, asked, err := judge.RunFile(ctx, filepath.Join(dir, experiment.VerdictsFile), j, items, judge.Options{
		Workers:  workers,
		Progress: func(done, total int) { term.progress("%s: %d of %d answers judged", j.Name(), done, total) },
	})
	term.endProgress()
	if err != nil {
		return judgeCounts{}, err
	}
	c := judgeCounts{Judge: j.Name(), New: asked, Counts: judge.Count(verdicts)}
	term.say("%s: %d right, %d wrong, %d undecided, %d not judged (no answer), %d without a readable verdict; %d judged now", j.Name(),
		c.Correct, c.Wrong, c.Undecided, c.NotJudged, c.Unparsed+c.WrongEcho+c.Broken, asked)
	if unknown > 0 {
		term.warn("%d questions have no known answer and were not judged", unknown)
	}
	return c, nil
}

func agreements(verdicts []judge.Verdict, judges []string) []judge.Agreement {
	var out []judge.Agreement
	for i, a := range judges {
		for _, b := range judges[i+1:] {
			out = append(out, judge.Agree(verdicts, a, b))
		}
	}
	return out
}

func showAgreement(term *terminal, a judge.Agreement) {
	kappa := "not defined"
	if a.Kappa != nil {
		kappa = fmt.Sprintf("%.4f", *a.Kappa)
	}
	term.print("%s and %s: agree on %d of %d answers, Cohen's kappa %s\n", a.A, a.B, a.Agree, a.Queries, kappa)
	for _, d := range a.Disagreements {
		term.print("  %s: %s says %v, %s says %v\n", d.QueryID, a.A, *d.A.Correct, a.B, *d.B.Correct)
	}
}

func writeOfficial(term *terminal, dir string, o judgeOptions, m experiment.Manifest, questions []benchmark.Question) error {
	name := o.judges[0]
	scores, err := scoreRun(term, dir, name, nil)
	if err != nil {
		return err
	}
	records, err := experiment.ReadResults(dir)
	if err != nil {
		return err
	}
	all, err := judge.ReadVerdicts(filepath.Join(dir, experiment.VerdictsFile))
	if err != nil {
		return err
	}
	var verdicts []judge.Verdict
	for _, v := range all {
		if v.Judge == name {
			verdicts = append(verdicts, v)
		}
	}
	items, _, err := judgeItems(dir, questions, judge.Mode(o.mode))
	if err != nil {
		return err
	}
	return judge.WriteBrowseCompPlus(o.output, judge.Official{
		Records: records, Items: items, Verdicts: verdicts, Scores: scores, Model: m.Spec.Model.Name,
		Retriever: fmt.Sprintf("BM25 (%s) %s", m.Spec.Retrieval.Variant, m.Spec.Retrieval.BM25), Date: time.Now().UTC().Format(time.DateOnly),
	})
}

// chooseJudge returns whose verdicts count, "" if there are none.
func chooseJudge(dir, wanted string, verdicts []judge.Verdict) (string, error) {
	names := judge.Names(verdicts)
	switch {
	case wanted != "":
		for _, name := range names {
			if name == wanted {
				return name, nil
			}
		}
		return "", fmt.Errorf("%s has no verdicts of %q; it has those of: %s", dir, wanted, strings.Join(names, ", "))
	case len(names) > 1:
		return "", fmt.Errorf("%s has verdicts of several judges (%s): choose one with --judge", dir, strings.Join(names, ", "))
	case len(names) == 1:
		return names[0], nil
	}
	return "", nil
}

func showCalibration(term *terminal, c *eval.Calibration) {
	percent := func(v *float64) string {
		if v == nil {
			return "not defined"
		}
		return fmt.Sprintf("%.4g", *v)
	}
	official := percent(c.Official)
	if c.Official == nil && c.N > 0 {
		official += " below 100 answers"
	}
	term.print("calibration error     official form %s, strict form %s  (%d answers, %d without a stated confidence)\n", official, percent(c.Strict), c.N, c.Defaulted)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// reference is what the judge may know of a question.
func reference(q benchmark.Question) judge.Reference {
	if q.Answer == nil {
		return judge.Reference{}
	}
	return judge.Reference{Answer: q.Answer.Text, Aliases: q.Answer.Aliases, Unanswerable: q.Answer.Unanswerable}
}
