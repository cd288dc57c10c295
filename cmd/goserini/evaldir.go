package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/atomicfile"
	"goserini/internal/benchmark"
	"goserini/internal/eval"
	"goserini/internal/expectation"
	"goserini/internal/experiment"
	"goserini/internal/judge"
	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

func runEvalDir(cmd *cobra.Command, term *terminal, dir string, o evalOptions) error {
	format := o.format
	if o.json {
		format = "json"
	}
	if format != "table" && format != "json" {
		return usagef(cmd, "--format %q: a run directory prints as table or json", format)
	}
	var expected expectation.File
	if o.check != "" {
		var err error
		if expected, err = expectation.Read(o.check); err != nil {
			return err
		}
	}
	scores, err := scoreRun(term, dir, o.judge, o.prices)
	if err != nil {
		return err
	}
	if format == "table" {
		showScores(term, scores)
	} else if err := term.json(scores); err != nil {
		return err
	}
	if o.check == "" {
		return nil
	}
	return checkRun(term, dir, expected, o.condition)
}

// scoreRun computes the scores of a run directory and writes them into it.
func scoreRun(term *terminal, dir, judgeName string, prices []string) (eval.Scores, error) {
	m, err := experiment.ReadManifest(dir)
	if err != nil {
		return eval.Scores{}, err
	}
	in, err := evalInput(term, dir, m, judgeName, prices)
	if err != nil {
		return eval.Scores{}, err
	}
	scores, err := eval.Evaluate(in)
	if err != nil {
		return eval.Scores{}, err
	}
	b, err := json.MarshalIndent(scores, "", "  ")
	if err != nil {
		return scores, fmt.Errorf("encode scores: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(dir, experiment.ScoresFile), append(b, '\n'), 0o644); err != nil {
		return scores, fmt.Errorf("write scores: %w", err)
	}
	return scores, nil
}

func evalInput(term *terminal, dir string, m experiment.Manifest, judgeName string, priceFiles []string) (eval.Input, error) {
	prices, err := llm.LoadPrices(priceFiles...)
	if err != nil {
		return eval.Input{}, err
	}
	in := eval.Input{Price: costAt(prices, m)}
	if in.Records, err = experiment.ReadResults(dir); err != nil {
		return in, err
	}
	if m.Spec.Benchmark != "" {
		b, questions, err := runQuestions(m)
		if err != nil {
			return in, err
		}
		for _, q := range questions {
			in.QuerySet = append(in.QuerySet, q.ID)
		}
		in.Evidence, in.Gold = b.Qrels()
	}
	verdicts, err := judge.ReadVerdicts(filepath.Join(dir, experiment.VerdictsFile))
	if err != nil {
		return in, err
	}
	if in.Judge, err = chooseJudge(dir, judgeName, verdicts); err != nil {
		return in, err
	}
	if in.Judge == "" {
		term.warn("the run is not judged, so there is no accuracy; judge it with: goserini judge %s", shellQuote(dir))
		return in, nil
	}
	in.Outcomes = judge.Outcomes(verdicts, in.Judge)
	return in, nil
}

// costAt prices a model's usage at the time the run began.
func costAt(prices *llm.Prices, m experiment.Manifest) func(model string, u trajectory.Usage) (float64, bool) {
	at := time.Now()
	if len(m.Sessions) > 0 {
		at = m.Sessions[0].StartedAt
	}
	return func(model string, u trajectory.Usage) (float64, bool) {
		price, ok := prices.For(model, at)
		if !ok {
			return 0, false
		}
		return price.Cost(u), true
	}
}

// runQuestions returns the benchmark of a run and the questions the run asked.
func runQuestions(m experiment.Manifest) (*benchmark.Benchmark, []benchmark.Question, error) {
	b, err := benchmark.Load(m.Spec.Benchmark)
	if err != nil {
		return nil, nil, err
	}
	questions, err := b.Questions(m.Spec.QuerySet)
	if err != nil {
		return nil, nil, err
	}
	if n := m.Spec.Questions; n < len(questions) {
		questions = questions[:n]
	}
	asked := make([]experiment.Question, len(questions))
	for i, q := range questions {
		asked[i] = experiment.Question{ID: q.ID, Text: q.Text}
	}
	hash, err := experiment.HashQuestions(asked)
	if err != nil {
		return nil, nil, err
	}
	if hash != m.Spec.QuestionsHash {
		return nil, nil, fmt.Errorf("the questions of benchmark %s have changed since the run was made: scores would mix two sets", m.Spec.Benchmark)
	}
	return b, experiment.Select(m.Spec.Shard, questions), nil
}

func showScores(term *terminal, s eval.Scores) {
	term.print("queries               %d", s.Queries)
	for _, st := range s.Statuses {
		term.print("  %s %d", st.Status, st.Queries)
	}
	term.print("\n")
	if a := s.Accuracy; a != nil {
		term.print("accuracy              %s  (judge %s; %d correct, %d undecided, %d without verdict)\n", interval(a.All), a.Judge, a.Correct, a.Undecided, a.NoVerdict)
		term.print("accuracy, completed   %s\n", interval(a.Completed))
		if a.Unanswerable > 0 {
			term.print("unanswerable          %d, %d of them rightly declined\n", a.Unanswerable, a.UnanswerableCorrect)
		}
	}
	if c := s.Calibration; c != nil {
		showCalibration(term, c)
	}
	showCoverage(term, "evidence", s.Evidence)
	showCoverage(term, "gold", s.Gold)
	showCitations(term, s.Citations)
	e := s.Effort
	term.print("tool calls            %s", interval(e.ToolCalls))
	for _, name := range sortedKeys(e.ByTool) {
		term.print("  %s %.1f", name, e.ByTool[name].Value)
	}
	term.print("\nturns                 %s\n", interval(e.Turns))
	term.print("seconds               %s\n", interval(e.ElapsedSeconds))
	term.print("tokens                %s  cached share %s\n", interval(e.Tokens), interval(e.CachedShare))
	if n := e.UncountedCalls; n > 0 {
		term.print("                      lower bounds, as the cost is: no server counted the tokens of %d model calls\n", n)
	}
	term.print("steered               %s  timeouts %s\n", interval(e.Steered), interval(e.Timeouts))
	showCost(term, e.Cost)
}

func showCitations(term *terminal, c eval.Citations) {
	term.print("citations             %d docids; precision %s, recall %s, over answers that cite: %s, %s\n", c.Cited,
		interval(c.Precision), interval(c.Recall), interval(c.PrecisionCiting), interval(c.RecallCiting))
	if c.NeverOpened > 0 {
		term.print("                      %d cited and never opened, %d of them never shown, %d of those in no ranking\n", c.NeverOpened, c.NeverShown, c.NeverReturned)
	}
}

func showCost(term *terminal, c *eval.Cost) {
	switch {
	case c == nil:
	case c.Unpriced > 0:
		term.print("cost                  at least $%.4f: %d answers are of a model without a known price\n", c.TotalUSD, c.Unpriced)
	default:
		term.print("cost                  $%.4f, a question %s, a correct answer %s\n", c.TotalUSD, interval(c.PerQueryUSD), interval(c.PerCorrectUSD))
	}
}

func showCoverage(term *terminal, name string, c *eval.Coverage) {
	if c == nil {
		return
	}
	term.print("%-9s recall      %-24s %-24s %s\n", name, "macro [95 % interval]", "macro, judged queries", "micro")
	for _, row := range recalls(c) {
		term.print("  %-19s %-24s %-24s %s\n", row.set, interval(row.r.Macro), interval(row.r.MacroOverJudged), interval(row.r.Micro))
	}
	f := c.Funnel
	term.print("  lost: never retrieved %d, retrieved and never shown %d, shown and not opened %d, opened and not cited %d; cited %d of %d\n",
		f.NeverRetrieved, f.NeverShown, f.NotOpened, f.NotCited, f.Used, f.Relevant)
}

// namedRecall is the recall of one document set.
type namedRecall struct {
	set string
	r   eval.SetRecall
}

// recalls are those of the sets, in the order in which documents pass through them.
func recalls(c *eval.Coverage) []namedRecall {
	return []namedRecall{{"surfaced", c.Surfaced}, {"previewed", c.Previewed}, {"opened", c.Opened}, {"cited", c.Cited}, {"opened or cited", c.Behavior}}
}

// interval prints a mean with its bounds.
func interval(m *eval.Mean) string {
	if m == nil {
		return "not defined"
	}
	return fmt.Sprintf("%.4g [%.4g, %.4g]", m.Value, m.Low, m.High)
}
