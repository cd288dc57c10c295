package tune

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
	"goserini/internal/eval"
	"goserini/internal/index"
	"goserini/internal/trec"
)

// fakeRanker puts the one judged document of each query at the rank that rank says.
type fakeRanker struct {
	rank func(query string, p bm25.Params) int
}

func (f fakeRanker) Lookup(docid string) (index.Ordinal, bool) { return 7, docid == "relevant" }

func (f fakeRanker) GridRanks(_ context.Context, text string, settings []bm25.Params, documents []index.Ordinal, _ int) ([][]int, error) {
	if len(documents) != 1 || documents[0] != 7 {
		return nil, fmt.Errorf("asked for documents %v", documents)
	}
	var all [][]int
	for _, p := range settings {
		all = append(all, []int{f.rank(text, p)})
	}
	return all, nil
}

func queries(n int) []Query {
	var all []Query
	for i := range n {
		text := fmt.Sprint(i)
		all = append(all, Query{ID: "q" + text, Text: text, Grades: map[string]int{"relevant": 1, "not indexed": 0}})
	}
	return all
}

func measure(t *testing.T, name string) eval.Measure {
	t.Helper()
	m, err := eval.ParseMeasures(name)
	if err != nil {
		t.Fatal(err)
	}
	return m[0]
}

var named = []NamedSetting{{"anserini", bm25.Anserini}, {"paper", bm25.Paper}}

func TestASettingThatIsBetterForAllQueriesIsARealGain(t *testing.T) {
	better := bm25.Params{K1: 4, B: 0.75}
	ranker := fakeRanker{func(query string, p bm25.Params) int {
		if p == better {
			return 1
		}
		return 2 + len(query) // one digit or two
	}}
	r, err := Run(t.Context(), ranker, queries(20), Options{Grid: NewGrid(DefaultK1, DefaultB), Measure: measure(t, "RR@10"), Named: named})
	if err != nil {
		t.Fatal(err)
	}
	if r.Best.Params != better || r.Best.Mean.Value != 1 {
		t.Errorf("best is %+v", r.Best)
	}
	want := 1 - (1/3.0+1/4.0)/2
	for i, g := range r.CrossValidated.Gains {
		if math.Abs(g.Gain.Value-want) > 1e-9 || !g.Real() || g.Over != named[i].Name {
			t.Errorf("gain on unseen queries is %+v, want %.3f over %s, above zero", g, want, named[i].Name)
		}
	}
	if c := r.CrossValidated.Chosen; len(c) != 1 || c[0].Params != better || c[0].Halves != 2*Splits {
		t.Errorf("chosen are %+v, want one setting %d times", c, 2*Splits)
	}
	if len(r.Cells) != len(DefaultK1)*len(DefaultB) {
		t.Errorf("%d cells", len(r.Cells))
	}
}

func TestFittingToNoiseIsNoRealGain(t *testing.T) {
	// Every setting suits a few queries at random and none is better than another.
	ranker := fakeRanker{func(query string, p bm25.Params) int {
		h := fnv.New64a()
		fmt.Fprint(h, query, p)
		return 1 + rand.New(rand.NewPCG(h.Sum64(), 0)).IntN(10)
	}}
	r, err := Run(t.Context(), ranker, queries(40), Options{Grid: NewGrid(DefaultK1, DefaultB), Measure: measure(t, "RR@10"), Named: named})
	if err != nil {
		t.Fatal(err)
	}
	if g := r.Gains[0]; g.Gain.Value < 0.05 {
		t.Errorf("the gain in the sample is only %+v: the test shows nothing", g.Gain)
	}
	if g := r.CrossValidated.Gains[0]; g.Real() {
		t.Errorf("noise is called a real gain: %+v", g.Gain)
	}
}

func TestOfEqualSettingsTheLowestIsBest(t *testing.T) {
	same := fakeRanker{func(string, bm25.Params) int { return 3 }}
	r, err := Run(t.Context(), same, queries(3), Options{Grid: NewGrid([]float32{25, 0.9, 4}, []float32{1, 0.4}), Measure: measure(t, "RR@10"), Named: named})
	if err != nil {
		t.Fatal(err)
	}
	if want := bm25.Anserini; r.Best.Params != want {
		t.Errorf("best of equals is %v, want %v", r.Best.Params, want)
	}
}

func TestNamedSettingsNeedNotBeInTheGrid(t *testing.T) {
	ranker := fakeRanker{func(_ string, p bm25.Params) int { return 1 + int(p.K1) }}
	r, err := Run(t.Context(), ranker, queries(3), Options{Grid: NewGrid([]float32{2}, []float32{0.5}), Measure: measure(t, "RR@100"), Named: named})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cells) != 1 || r.Named[0].Mean.Value != 1 || math.Abs(r.Named[1].Mean.Value-1/26.0) > 1e-12 || r.Best.Params.K1 != 2 {
		t.Errorf("cells %v, named %+v, best %+v", r.Cells, r.Named, r.Best)
	}
}

func TestOneQueryCannotBeCrossValidated(t *testing.T) {
	r, err := Run(t.Context(), fakeRanker{func(string, bm25.Params) int { return 1 }}, queries(1), Options{Grid: NewGrid(DefaultK1, DefaultB), Measure: measure(t, "AP")})
	if err != nil || r.CrossValidated != nil {
		t.Errorf("result %+v, %v", r, err)
	}
}

func TestWhatCannotBeTunedIsRefused(t *testing.T) {
	ok := fakeRanker{func(string, bm25.Params) int { return 1 }}
	grid := NewGrid(DefaultK1, DefaultB)
	for name, test := range map[string]struct {
		queries []Query
		options Options
	}{
		"no queries":                     {nil, Options{Grid: grid, Measure: measure(t, "AP")}},
		"no measure":                     {queries(2), Options{Grid: grid}},
		"a measure of the whole ranking": {queries(2), Options{Grid: grid, Measure: measure(t, "Judged@10")}},
		"an empty grid":                  {queries(2), Options{Measure: measure(t, "AP")}},
		"b above 1":                      {queries(2), Options{Grid: NewGrid([]float32{1}, []float32{2}), Measure: measure(t, "AP")}},
	} {
		if _, err := Run(t.Context(), ok, test.queries, test.options); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	broken := fakeRanker{}
	_, err := Evaluate(t.Context(), failing{broken, errors.New("disk on fire")}, queries(2), grid.Settings(), []eval.Measure{measure(t, "AP")}, nil)
	if err == nil || !strings.Contains(err.Error(), `query "q`) || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("error is %v, want the query and the cause", err)
	}
}

type failing struct {
	fakeRanker
	err error
}

func (f failing) GridRanks(context.Context, string, []bm25.Params, []index.Ordinal, int) ([][]int, error) {
	return nil, f.err
}

func TestParseValues(t *testing.T) {
	for _, test := range []struct {
		in   string
		want []float32
	}{
		{"0.9", []float32{0.9}},
		{"0.9, 4,25", []float32{0.9, 4, 25}},
		{"0:1:0.25", []float32{0, 0.25, 0.5, 0.75, 1}},
		{"0.1:0.7:0.2", []float32{0.1, 0.3, 0.5, 0.7}},
		{"1:10:4", []float32{1, 5, 9}},
		{"2:2:1", []float32{2}},
	} {
		got, err := ParseValues(test.in)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("ParseValues(%q) is %v, %v, want %v", test.in, got, err, test.want)
		}
	}
	for _, bad := range []string{"", "a", "1,", "1:2", "1:2:3:4", "2:1:1", "1:2:0", "1:2:-1", "0:1:1e-9", "NaN", "Inf", "0:Inf:1"} {
		if got, err := ParseValues(bad); err == nil {
			t.Errorf("ParseValues(%q) is %v, want an error", bad, got)
		}
	}
}

func FuzzParseValues(f *testing.F) {
	for _, s := range []string{"0.9,4", "0:1:0.25", "1:1e9:1e-9", "::", "-1:1:.5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		values, err := ParseValues(s)
		if (err == nil) != (len(values) > 0) || len(values) > maxSettings && strings.Contains(s, ":") {
			t.Errorf("%q: %d values, error %v", s, len(values), err)
		}
	})
}

// testIndex builds an index of a few documents and returns it with judged queries.
func testIndex(t *testing.T) (*index.Index, []Query) {
	t.Helper()
	var docs []corpus.Document
	for i := range 40 {
		text := strings.Repeat("filler words about ships and harbours ", i%7+1) + strings.Repeat("lighthouse ", i%5) + strings.Repeat("keeper ", i%3)
		docs = append(docs, corpus.Document{DocID: fmt.Sprintf("d%02d", i), Text: text})
	}
	dir := t.TempDir() + "/index"
	if _, err := index.Build(t.Context(), dir, corpus.FromDocuments(docs), index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	return ix, []Query{
		{ID: "1", Text: "lighthouse keeper", Grades: map[string]int{"d14": 2, "d29": 1, "d05": 0, "gone": 1}},
		{ID: "2", Text: "ships", Grades: map[string]int{"d01": 1, "d38": 1}},
	}
}

func TestValuesEqualThoseOfTheWrittenRun(t *testing.T) {
	ix, queries := testIndex(t)
	settings := []bm25.Params{bm25.Anserini, {K1: 2, B: 0.75}, bm25.Paper}
	measures := []eval.Measure{measure(t, "nDCG@10"), measure(t, "AP"), measure(t, "R@1000")}
	values, err := Evaluate(t.Context(), ix, queries, settings, measures, nil)
	if err != nil {
		t.Fatal(err)
	}
	slow, err := Evaluate(t.Context(), Searches(ix), queries, settings, measures, nil)
	if err != nil || fmt.Sprint(slow) != fmt.Sprint(values) {
		t.Errorf("values by searches are %v, %v, by the grid %v", slow, err, values)
	}
	qrels := trec.Qrels{}
	for _, q := range queries {
		qrels[q.ID] = q.Grades
	}
	for s, params := range settings {
		var run trec.Run
		for _, q := range queries {
			ranking, err := ix.Search(t.Context(), index.Query{Text: q.Text, Params: params, Depth: Depth})
			if err != nil {
				t.Fatal(err)
			}
			for i, hit := range ranking.Hits {
				run = append(run, trec.RunLine{QueryID: q.ID, DocID: hit.DocID, Rank: i + 1, Score: float64(-i)})
			}
		}
		scores, err := eval.EvaluateRun(qrels, run, measures, eval.RunOptions{Complete: true})
		if err != nil {
			t.Fatal(err)
		}
		for m := range measures {
			if got, want := values[m][s], scores.Measures[m].PerQuery; !slices.Equal(got, want) {
				t.Errorf("%v: %s is %v, of the run %v", params, measures[m], got, want)
			}
		}
	}
}
