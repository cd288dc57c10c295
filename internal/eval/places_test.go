package eval

import (
	"fmt"
	"testing"

	"goserini/internal/trec"
)

func TestMeasuresOfPlacesEqualThoseOfTheRanking(t *testing.T) {
	qrels := trec.Qrels{"q": {"a": 3, "b": 0, "c": 1, "d": 2, "absent": 1, "bad": -1}}
	order := []string{"x", "c", "y", "bad", "a", "b", "z", "d"}
	var run trec.Run
	var places []Placed
	for i, docid := range order {
		run = append(run, trec.RunLine{QueryID: "q", DocID: docid, Rank: i + 1, Score: float64(100 - i)})
		if grade, ok := qrels["q"][docid]; ok {
			places = append(places, Placed{Rank: i + 1, Grade: grade})
		}
	}
	places = append(places, Placed{Grade: 1})
	measures, err := ParseMeasureList([]string{"nDCG@10", "nDCG@3", "nDCG(dcg='exp-log2')@10", "AP", "AP(rel=2)", "RR@10", "RR(rel=3)@10", "R@2", "R@1000", "P@5", "Success@1", "Rprec"})
	if err != nil {
		t.Fatal(err)
	}
	scores, err := EvaluateRun(qrels, run, measures, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range measures {
		got, err := m.OfPlaces(places)
		if want := scores.Measures[i].PerQuery[0]; err != nil || got != want {
			t.Errorf("%s of places is %v, %v, of the ranking %v", m, got, err, want)
		}
	}
}

func TestMeasuresThatNeedTheWholeRankingAreRefused(t *testing.T) {
	for _, name := range []string{"Judged@10", "num_ret"} {
		measures, err := ParseMeasures(name)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := measures[0].OfPlaces([]Placed{{1, 1}}); err == nil {
			t.Errorf("%s of places is %v, want an error", name, v)
		}
	}
	if _, err := (Measure{}).OfPlaces(nil); err == nil {
		t.Error("no measure of places is no error")
	}
}

func TestMeanOfHasTheIntervalOfTheBootstrap(t *testing.T) {
	if got := MeanOf(nil, Bootstrap{}); got != nil {
		t.Errorf("mean of nothing is %v", got)
	}
	got := MeanOf([]float64{0, 1, 0, 1, 0, 1, 0, 1}, Bootstrap{})
	if s := fmt.Sprintf("%.2f %.2f %.2f", got.Low, got.Value, got.High); s != "0.12 0.50 0.88" {
		t.Errorf("mean with interval is %s", s)
	}
}
