package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/trec"
)

func exampleRun(t *testing.T) RunScores {
	t.Helper()
	measures, err := ParseMeasureList([]string{"nDCG@10", "map", "num_rel", "Judged@10"})
	if err != nil {
		t.Fatal(err)
	}
	qrels := trec.Qrels{"q1": {"a": 1, "b": 1}, "q2": {"z": 2}, "q3": {"y": 1}}
	run := append(rankedRun("q1", "c", "a", "b"), rankedRun("q2", "z")...)
	s, err := EvaluateRun(qrels, append(run, rankedRun("q9", "a")...), measures, RunOptions{Complete: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFormats(t *testing.T) {
	s := exampleRun(t)
	var trecForm, table bytes.Buffer
	if err := WriteTrecEval(&trecForm, s, View{PerQuery: true}); err != nil {
		t.Fatal(err)
	}
	wantTrec := strings.Join([]string{
		"num_rel               \tq1\t2",
		"map                   \tq1\t0.5833",
		"ndcg_cut_10           \tq1\t0.6934",
		"Judged@10             \tq1\t0.6667",
		"num_rel               \tq2\t1",
		"map                   \tq2\t1.0000",
		"ndcg_cut_10           \tq2\t1.0000",
		"Judged@10             \tq2\t1.0000",
		"num_rel               \tall\t4",
		"map                   \tall\t0.5278",
		"ndcg_cut_10           \tall\t0.5645",
		"Judged@10             \tall\t0.5556",
		"",
	}, "\n")
	if diff := cmp.Diff(wantTrec, trecForm.String()); diff != "" {
		t.Errorf("trec_eval form (-want +got):\n%s", diff)
	}
	if err := WriteTable(&table, s, View{PerQuery: true}); err != nil {
		t.Fatal(err)
	}
	wantTable := `query  nDCG@10  AP      NumRel  Judged@10
q1     0.6934   0.5833  2       0.6667
q2     1.0000   1.0000  1       1.0000
q3     0.0000   0.0000  1       0.0000

measure    value   95 % interval     queries
nDCG@10    0.5645  0.0000 to 1.0000  3
AP         0.5278  0.0000 to 1.0000  3
NumRel     4                         3
Judged@10  0.5556  0.0000 to 1.0000  3
(order as in trec_eval: score as a 32-bit float, then docid, both descending; written ranks play no part)
`
	if diff := cmp.Diff(wantTable, table.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestJSONFormHoldsUnroundedValuesAndDiagnostics(t *testing.T) {
	s := exampleRun(t)
	var b bytes.Buffer
	if err := WriteJSON(&b, s, View{PerQuery: true}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Queries  int
		Complete bool
		Interval struct {
			Confidence float64
			Resamples  int
			Seed       uint64
		}
		Measures []struct {
			Measure          string
			Value, Low, High *float64
		}
		PerQuery []struct {
			QueryID string `json:"query_id"`
			Values  map[string]float64
		} `json:"per_query"`
		Missing  []string `json:"missing_queries"`
		Unjudged []string `json:"unjudged_queries"`
		Notes    []string
		Order    string
	}
	dec := json.NewDecoder(&b)
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got.Queries != 3 || !got.Complete || got.Interval.Resamples != DefaultBootstrap.Resamples || got.Interval.Seed != DefaultBootstrap.Seed {
		t.Errorf("got %+v", got)
	}
	if m := got.Measures[1]; m.Measure != "AP" || !near(*m.Value, (7.0/12+1)/3) || *m.Low > *m.Value || *m.High < *m.Value {
		t.Errorf("AP: got %+v", m)
	}
	if m := got.Measures[2]; m.Low != nil {
		t.Errorf("a count has an interval: %+v", m)
	}
	if q := got.PerQuery[0]; q.QueryID != "q1" || !near(q.Values["AP"], 7.0/12) {
		t.Errorf("q1: got %+v", q)
	}
	if cmp.Diff(got.Missing, []string{"q3"}) != "" || cmp.Diff(got.Unjudged, []string{"q9"}) != "" || len(got.Notes) < 3 || got.Order != TieRule {
		t.Errorf("diagnostics: %v, %v, %v", got.Missing, got.Unjudged, got.Notes)
	}
}

func TestNoSummaryLeavesTheSummaryOut(t *testing.T) {
	s := exampleRun(t)
	for name, writer := range map[string]func(*bytes.Buffer) error{
		"trec_eval": func(b *bytes.Buffer) error { return WriteTrecEval(b, s, View{NoSummary: true}) },
		"table":     func(b *bytes.Buffer) error { return WriteTable(b, s, View{NoSummary: true}) },
	} {
		var b bytes.Buffer
		if err := writer(&b); err != nil || b.Len() != 0 {
			t.Errorf("%s: got %q, %v, want nothing", name, b.String(), err)
		}
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestFormatsReportFailedWrites(t *testing.T) {
	s := exampleRun(t)
	for name, err := range map[string]error{
		"trec_eval": WriteTrecEval(fullDisk{}, s, View{}),
		"json":      WriteJSON(fullDisk{}, s, View{}),
		"table":     WriteTable(fullDisk{}, s, View{}),
	} {
		if err == nil {
			t.Errorf("%s: a failed write was not reported", name)
		}
	}
}
