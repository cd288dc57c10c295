package eval

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"goserini/internal/trec"
)

func TestRandomisationTestCountsSignAssignments(t *testing.T) {
	// Five wins of equal size: only the two unanimous of 32 assignments are as extreme.
	if got := RandomisationTest([]float64{1, 1, 1, 1, 1, 0, 0}, Bootstrap{}); got != 2.0/32 {
		t.Errorf("p = %v, want 1/16", got)
	}
	// 2 and -1 and 1: sums of magnitude at least 2 among ±2±1±1 are 4, 2, 2, -2, -2, -4 and not 0, 0.
	if got := RandomisationTest([]float64{2, -1, 1}, Bootstrap{}); got != 6.0/8 {
		t.Errorf("p = %v, want 6/8", got)
	}
	if got := RandomisationTest([]float64{0, 0}, Bootstrap{}); got != 1 {
		t.Errorf("p = %v without any difference, want 1", got)
	}
	// Tenths do not add up exactly: equal sums must still count as equal.
	if got := RandomisationTest([]float64{0.1, 0.2, -0.3}, Bootstrap{}); got != 1 {
		t.Errorf("p = %v, want 1: no sum is less extreme than 0", got)
	}
}

func TestSampledRandomisationTestIsNearTheExactOne(t *testing.T) {
	deltas := []float64{3, -1, 4, 1, -5, 9, 2, -6, 5, 3, 5, 8} // 4,096 assignments
	exact := RandomisationTest(deltas, Bootstrap{Resamples: 4096, Seed: 1})
	sampled := RandomisationTest(deltas, Bootstrap{Resamples: 4095, Seed: 1})
	if exact == sampled || math.Abs(exact-sampled) > 0.03 {
		t.Errorf("exact %v, sampled %v", exact, sampled)
	}
	if again := RandomisationTest(deltas, Bootstrap{Resamples: 4095, Seed: 1}); again != sampled {
		t.Errorf("the same seed gave %v and %v", sampled, again)
	}
}

func TestHolmCorrection(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	want := []float64{0.03, 0.06, 0.06, 0.02}
	for i := range want {
		if !near(got[i], want[i]) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	if got := Holm([]float64{0.9, 0.8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("got %v, want no value above 1", got)
	}
}

func TestComparingRunsOfTheAgent(t *testing.T) {
	base, err := Evaluate(exampleInput())
	if err != nil {
		t.Fatal(err)
	}
	in := exampleInput()
	in.Outcomes["q2"] = Outcome{Decided: true, Judged: true, Correct: true}
	in.Outcomes["q1"] = Outcome{Decided: true, Judged: true}
	in.Records[1].Cited = []string{"e"}
	in.QuerySet = []string{"q1", "q2", "q3", "q9"}
	other, err := Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Compare(Named{"A", base}, []Named{{"B", other}}, Bootstrap{})
	if err != nil {
		t.Fatal(err)
	}
	c := got[0]
	if c.Queries != 3 || fmt.Sprint(c.OnlyBase, c.OnlyOther) != "[q4] [q9]" {
		t.Errorf("%d common queries, only in A %v, only in B %v; want 3, [q4], [q9]", c.Queries, c.OnlyBase, c.OnlyOther)
	}
	accuracy := c.Differences[0]
	if accuracy.Measure != "accuracy" || fmt.Sprint(accuracy.Wins, accuracy.Losses, accuracy.Ties) != "[q2] [q1] [q3]" {
		t.Errorf("got %+v, want a win on q2, a loss on q1, a tie on q3", accuracy)
	}
	if accuracy.Delta.Value != 0 || *accuracy.P != 1 {
		t.Errorf("delta %v with p %v, want 0 with 1", accuracy.Delta.Value, *accuracy.P)
	}
	cited := differenceIn(t, c, "evidence_cited_recall")
	if !near(cited.Delta.Value, 1.0/3) || cited.Delta.Low > cited.Delta.Value || cited.Delta.High < cited.Delta.Value {
		t.Errorf("cited recall: got %+v, want +1/3", cited.Delta)
	}
	calls := differenceIn(t, c, "tool_calls")
	if calls.P != nil || calls.Wins != nil {
		t.Errorf("effort was tested: %+v", calls)
	}
	for _, d := range c.Differences {
		if d.P != nil && *d.PHolm < *d.P {
			t.Errorf("%s: corrected p %v is below %v", d.Measure, *d.PHolm, *d.P)
		}
	}
	if c.Tests != 12 {
		t.Errorf("%d tests, want accuracy, ten recalls and citation precision", c.Tests)
	}
}

func differenceIn(t *testing.T, c Comparison, measure string) Difference {
	t.Helper()
	i := slices.IndexFunc(c.Differences, func(d Difference) bool { return d.Measure == measure })
	if i < 0 {
		t.Fatalf("no difference in %s", measure)
	}
	return c.Differences[i]
}

func TestOtherJudgesAreNoted(t *testing.T) {
	a, err := Evaluate(exampleInput())
	if err != nil {
		t.Fatal(err)
	}
	in := exampleInput()
	in.Judge = "another"
	b, err := Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Compare(Named{"A", a}, []Named{{"B", b}}, Bootstrap{Resamples: 50})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(got[0].Notes, " "); !strings.Contains(notes, "builtin/exact") || !strings.Contains(notes, "another") {
		t.Errorf("notes do not name the judges: %q", notes)
	}
}

func TestComparingAfterReadingScoresFromAFileGivesTheSame(t *testing.T) {
	a, err := Evaluate(exampleInput())
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var read Scores
	if err := json.Unmarshal(b, &read); err != nil {
		t.Fatal(err)
	}
	x, err := Compare(Named{"A", a}, []Named{{"B", a}}, Bootstrap{Resamples: 50})
	if err != nil {
		t.Fatal(err)
	}
	y, err := Compare(Named{"A", read}, []Named{{"B", read}}, Bootstrap{Resamples: 50})
	if err != nil {
		t.Fatal(err)
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	if string(p) != string(q) {
		t.Errorf("got\n%s\nand\n%s", p, q)
	}
}

func TestComparingTrecRuns(t *testing.T) {
	qrels := trec.Qrels{"q1": {"a": 1}, "q2": {"b": 1}}
	score := func(run trec.Run) RunScores {
		t.Helper()
		s, err := EvaluateRun(qrels, run, DefaultMeasures(), RunOptions{Complete: true, Bootstrap: Bootstrap{Resamples: 50}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	base := score(rankedRun("q1", "x", "a"))
	other := score(append(rankedRun("q1", "a", "x"), rankedRun("q2", "y", "b")...))
	got, err := CompareRuns(NamedRun{"A", base}, []NamedRun{{"B", other}}, Bootstrap{Resamples: 50})
	if err != nil {
		t.Fatal(err)
	}
	d := differenceIn(t, got[0], "RR@10")
	if d.Base != 0.25 || d.Other != 0.75 || fmt.Sprint(d.Wins) != "[q1 q2]" {
		t.Errorf("got %+v, want 0.25 against 0.75 with two wins", d)
	}
	if _, err := CompareRuns(NamedRun{"A", base}, []NamedRun{{"C", RunScores{Queries: []string{"z"}}}}, Bootstrap{}); err == nil {
		t.Error("runs without a common query were compared")
	}
}
