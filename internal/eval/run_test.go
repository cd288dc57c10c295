package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"goserini/internal/sharedtest"
	"goserini/internal/trec"
)

func TestMeasuresAgreeWithIRMeasures(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "irmeasures.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string]map[string]map[string]float64
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 10 {
		t.Fatalf("only %d cases", len(cases))
	}
	compared := 0
	for name, queries := range cases {
		dir := filepath.Join("testdata", "treceval", name)
		qrels, err := trec.ReadQrels(filepath.Join(dir, "qrels"))
		if err != nil {
			t.Fatal(err)
		}
		run, err := trec.ReadRun(filepath.Join(dir, "run"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range run { // as the script does, to have no ties
			run[i].Score = -float64(i)
		}
		for query, values := range queries {
			for measure, want := range values {
				got := valueOf(t, qrels, run, query, measure)
				tolerance := 1e-9
				if strings.Contains(measure, "exp") {
					tolerance = 6e-6
				}
				if math.Abs(got-want) > tolerance {
					t.Errorf("%s, query %s: %s = %v, ir_measures says %v", name, query, measure, got, want)
				}
				compared++
			}
		}
	}
	if compared < 500 {
		t.Errorf("only %d values compared", compared)
	}
}

// valueOf is a measure of one query.
func valueOf(t *testing.T, qrels trec.Qrels, run trec.Run, query, measure string) float64 {
	t.Helper()
	measures, err := ParseMeasures(measure)
	if err != nil {
		t.Fatal(err)
	}
	s, err := EvaluateRun(qrels, run, measures, RunOptions{Complete: true, Bootstrap: Bootstrap{Resamples: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range s.Queries {
		if id == query {
			return s.Measures[0].PerQuery[i]
		}
	}
	t.Fatalf("query %s was not scored", query)
	return 0
}

func TestExponentialGainMatchesTheReferenceGolden(t *testing.T) {
	// The golden of the reference's own retrieval evaluation, its de-duplication done by hand.
	// Averaged over two queries, the second without anything.
	qrels := trec.Qrels{"1": {"a": 3, "b": 2, "c": 1}, "2": {"z": 0}}
	run := rankedRun("1", "b", "x", "a", "c")
	for measure, want := range map[string]float64{
		"nDCG(dcg='exp-log2')@3":  0.3460101,
		"nDCG(dcg='exp-log2')@10": 0.3689360,
		"nDCG@3":                  0.3675035,
		"nDCG@10":                 0.4127249,
		"R@1":                     0.166667,
		"R@3":                     0.333333,
		"R@1000":                  0.5,
		"R(rel=2)@1":              0.25,
		"R(rel=2)@3":              0.5,
		"RR@10":                   0.5,
		"AP":                      0.4027778,
	} {
		measures, err := ParseMeasures(measure)
		if err != nil {
			t.Fatal(err)
		}
		s, err := EvaluateRun(qrels, run, measures, RunOptions{Complete: true, Bootstrap: Bootstrap{Resamples: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Measures[0].Total; math.Abs(got-want) > 1e-6 {
			t.Errorf("%s = %.7f, want %.7f", measure, got, want)
		}
	}
}

// rankedRun ranks documents in the order given.
func rankedRun(query string, docids ...string) trec.Run {
	var run trec.Run
	for i, id := range docids {
		run = append(run, trec.RunLine{QueryID: query, DocID: id, Rank: i + 1, Score: float64(len(docids) - i), Tag: "t"})
	}
	return run
}

func TestCasesWithValuesOfTrecEval(t *testing.T) {
	for _, name := range []string{"TRV-03", "TRV-04", "TRV-06", "TRV-08", "TRV-14", "TRV-18"} {
		t.Run(name, func(t *testing.T) {
			var c struct {
				Expect struct {
					Reference struct{ Values map[string]float64 }
				}
			}
			data, err := os.ReadFile(sharedtest.Path(t, "cases", name, "case.json"))
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(data, &c); err != nil {
				t.Fatal(err)
			}
			if len(c.Expect.Reference.Values) == 0 {
				t.Fatal("the case expects nothing")
			}
			for measure, want := range c.Expect.Reference.Values {
				s := scoreCase(t, name, "qrels.txt", "run.txt", RunOptions{}, measure)
				if got := s.Measures[0].Total; math.Abs(got-want) > 5e-5 {
					t.Errorf("%s = %.4f, want %.4f", measure, got, want)
				}
			}
		})
	}
}

// scoreCase evaluates files of a case.
func scoreCase(t *testing.T, name, qrelsFile, runFile string, opts RunOptions, specs ...string) RunScores {
	t.Helper()
	s, err := tryCase(t, name, qrelsFile, runFile, opts, specs...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tryCase(t *testing.T, name, qrelsFile, runFile string, opts RunOptions, specs ...string) (RunScores, error) {
	t.Helper()
	qrels, err := trec.ReadQrels(sharedtest.Path(t, "cases", name, qrelsFile))
	if err != nil {
		return RunScores{}, err
	}
	run, err := trec.ReadRun(sharedtest.Path(t, "cases", name, runFile))
	if err != nil {
		return RunScores{}, err
	}
	measures, err := ParseMeasureList(specs)
	if err != nil {
		t.Fatal(err)
	}
	return EvaluateRun(qrels, run, measures, opts)
}

func TestCaseRunQueryWithoutJudgmentsIsNamed(t *testing.T) {
	s := scoreCase(t, "TRV-08", "qrels.txt", "run.txt", RunOptions{}, "map")
	if got := fmt.Sprint(s.Unjudged); got != "[q9]" {
		t.Errorf("left out: %s, want [q9]", got)
	}
	if notes := strings.Join(s.Notes(), "\n"); !strings.Contains(notes, "q9") {
		t.Errorf("notes do not name q9:\n%s", notes)
	}
}

func TestCaseDuplicateDocumentIsRefused(t *testing.T) {
	if _, err := tryCase(t, "TRV-09", "qrels.txt", "run.txt", RunOptions{}, "map"); err == nil || !strings.Contains(err.Error(), "q1") {
		t.Errorf("got %v, want an error naming the query", err)
	}
	// Also where the lines did not come from a file.
	_, err := EvaluateRun(trec.Qrels{"q": {"a": 1}}, rankedRun("q", "a", "a"), DefaultMeasures(), RunOptions{})
	if err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("got %v, want an error", err)
	}
}

func TestCaseQueryIDsAreText(t *testing.T) {
	if s := scoreCase(t, "TRV-13", "qrels.txt", "run.txt", RunOptions{}, "map"); s.Measures[0].Total != 1 || len(s.Queries) != 2 {
		t.Errorf("map = %v over %v, want 1 over 7 and 007", s.Measures[0].Total, s.Queries)
	}
	for _, complete := range []bool{false, true} {
		_, err := tryCase(t, "TRV-13", "qrels.txt", "run-disjoint.txt", RunOptions{Complete: complete}, "map")
		if err == nil || !strings.Contains(err.Error(), "query-7") || !strings.Contains(err.Error(), "007") {
			t.Errorf("complete %v: got %v, want an error with ids of both sides", complete, err)
		}
	}
}

func TestCaseEvaluatingTwiceGivesTheSame(t *testing.T) {
	var got []float64
	for _, run := range []string{"runA.txt", "runA.txt", "runB.txt"} {
		got = append(got, scoreCase(t, "TRV-22", "qrels.txt", run, RunOptions{}, "map").Measures[0].Total)
	}
	if fmt.Sprint(got) != "[1 1 0]" {
		t.Errorf("map = %v, want [1 1 0]", got)
	}
}

func TestCaseEmptyRunCountsZeroOrFailsNeverNaN(t *testing.T) {
	if _, err := tryCase(t, "TRV-23", "good-qrels.txt", "empty.txt", RunOptions{}, "map"); !errors.Is(err, trec.ErrEmpty) {
		t.Errorf("got %v, want trec.ErrEmpty", err)
	}
	qrels := trec.Qrels{"q1": {"a": 1}, "q2": {"b": 1}}
	s, err := EvaluateRun(qrels, nil, DefaultMeasures(), RunOptions{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range s.Measures {
		if m.Total != 0 || len(m.PerQuery) != 2 {
			t.Errorf("%s = %v over %d queries, want 0 over 2", m.Measure, m.Total, len(m.PerQuery))
		}
	}
	if _, err := EvaluateRun(qrels, nil, DefaultMeasures(), RunOptions{}); err == nil {
		t.Error("an empty run without -c was scored")
	}
}

// Case TRV-24. Through the command line: cmd/goserini/testdata/shared/depth.txtar.
func TestCaseNamesShowTheirDepth(t *testing.T) {
	qrels := trec.Qrels{"q": {"a": 1}}
	measures, err := ParseMeasureList([]string{"MAP", "MRR", "Rprec", "P@5"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := EvaluateRun(qrels, rankedRun("q", "a", "b", "c", "d", "e"), measures, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(s.Notes(), "\n")
	if !strings.Contains(notes, "at most 5 deep") || !strings.Contains(notes, "AP") || strings.Contains(notes, "P@5") {
		t.Errorf("notes do not warn about AP, RR and Rprec alone:\n%s", notes)
	}
}

func TestInfiniteScoresHaveAPlace(t *testing.T) {
	run := trec.Run{
		{QueryID: "q", DocID: "low", Score: math.Inf(-1)}, {QueryID: "q", DocID: "high", Score: math.Inf(1)}, {QueryID: "q", DocID: "mid", Score: 1},
	}
	if got := valueOf(t, trec.Qrels{"q": {"high": 1}}, run, "q", "RR"); got != 1 {
		t.Errorf("RR = %v, want 1", got)
	}
	run[2].Score = math.NaN()
	if _, err := EvaluateRun(trec.Qrels{"q": {"high": 1}}, run, DefaultMeasures(), RunOptions{}); err == nil {
		t.Error("a score that is not a number was accepted")
	}
}
