package eval

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"goserini/internal/sharedtest"
	"goserini/internal/trajectory"
	"goserini/internal/trec"
)

func confidence(percent float64) *float64 { return &percent }

// exampleInput is the worked example of docs/evaluation.md.
func exampleInput() Input {
	return Input{
		Judge:    "builtin/exact",
		QuerySet: []string{"q1", "q2", "q3", "q4"},
		Evidence: trec.Qrels{
			"q1": {"a": 1, "b": 1, "c": 1, "d": 1, "x": 0},
			"q2": {"e": 1},
			"q3": {"f": 1},
			"q4": {"g": 1, "h": 1},
		},
		Gold: trec.Qrels{"q1": {"a": 1}, "q2": {"e": 1}, "q3": {"f": 1}, "q4": {"g": 1}},
		Records: []trajectory.Record{
			{
				QueryID: "q1", Status: trajectory.Completed, Model: "m", Turns: 4, ElapsedSeconds: 10, Steered: true,
				Answer: trajectory.Answer{Exact: "Orrin", Text: "Orrin [a] [z]", Confidence: confidence(90)},
				Sets: trajectory.Sets{
					Surfaced: []string{"x", "a", "b", "c"}, Previewed: []string{"x", "a", "b"}, Opened: []string{"a"}, Cited: []string{"a", "z"},
				},
				BestRank:       map[string]int{"x": 1, "a": 2, "b": 3, "c": 40},
				ToolCallCounts: map[string]int{"search": 2, "read_document": 1},
				Usage:          trajectory.Usage{Input: 100, CacheRead: 300, Output: 50},
			},
			{
				QueryID: "q2", Status: trajectory.Completed, Model: "m", Turns: 2, ElapsedSeconds: 5,
				Answer:         trajectory.Answer{Exact: "Selm", Text: "Selm"},
				Sets:           trajectory.Sets{Surfaced: []string{"e"}, Previewed: []string{"e"}, Opened: []string{"e"}},
				BestRank:       map[string]int{"e": 1},
				ToolCallCounts: map[string]int{"search": 1},
				Usage:          trajectory.Usage{Input: 100, Output: 10},
			},
			{
				QueryID: "q3", Status: trajectory.Timeout, Model: "m", Turns: 9, ElapsedSeconds: 300, Steered: true,
				ToolCallCounts: map[string]int{"search": 8},
				Usage:          trajectory.Usage{Input: 500},
			},
		},
		Outcomes: map[string]Outcome{
			"q1": {Decided: true, Judged: true, Correct: true},
			"q2": {Judged: true}, // undecided
			"q3": {},             // nothing to judge
		},
		Price: func(_ string, u trajectory.Usage) (float64, bool) { return float64(u.Input) / 100, true },
	}
}

func TestRecordsOfTheWorkedExample(t *testing.T) {
	s, err := Evaluate(exampleInput())
	if err != nil {
		t.Fatal(err)
	}
	mean := func(name string, got *Mean, want float64, n int) {
		t.Helper()
		if got == nil {
			t.Errorf("%s is not defined, want %v", name, want)
			return
		}
		if !near(got.Value, want) || got.N != n {
			t.Errorf("%s = %v over %d, want %v over %d", name, got.Value, got.N, want, n)
		}
		if got.Low > got.Value || got.Value > got.High {
			t.Errorf("%s: [%v, %v] does not enclose %v", name, got.Low, got.High, got.Value)
		}
	}
	mean("accuracy", s.Accuracy.All, 1.0/4, 4)
	mean("accuracy_completed", s.Accuracy.Completed, 1.0/2, 2)
	mean("accuracy_excluding_failed", s.Accuracy.ExcludingFailed, 1.0/3, 3)
	mean("surfaced", s.Evidence.Surfaced.Macro, (3.0/4+1)/4, 4)
	mean("surfaced micro", s.Evidence.Surfaced.Micro, 4.0/8, 4)
	mean("previewed", s.Evidence.Previewed.Macro, (2.0/4+1)/4, 4)
	mean("opened", s.Evidence.Opened.Macro, (1.0/4+1)/4, 4)
	mean("cited", s.Evidence.Cited.Macro, (1.0/4)/4, 4)
	mean("behavior", s.Evidence.Behavior.Macro, (1.0/4+1)/4, 4)
	mean("gold surfaced", s.Gold.Surfaced.Micro, 2.0/4, 4)
	mean("citation precision", s.Citations.Precision, (1.0/2)/4, 4)
	mean("citation precision of citing answers", s.Citations.PrecisionCiting, 1.0/2, 1)
	mean("citation recall", s.Citations.Recall, (1.0/4)/4, 4)
	mean("tool calls", s.Effort.ToolCalls, (3.0+1+8)/4, 4)
	mean("search calls", s.Effort.ByTool["search"], (2.0+1+8)/4, 4)
	mean("cached share", s.Effort.CachedShare, 300.0/1000, 3)
	mean("tokens", s.Effort.Tokens, (450.0+110+500)/4, 4)
	mean("steered", s.Effort.Steered, 2.0/4, 4)
	mean("timeouts", s.Effort.Timeouts, 1.0/4, 4)
	mean("cost per query", s.Effort.Cost.PerQueryUSD, 7.0/4, 4)
	mean("cost per correct answer", s.Effort.Cost.PerCorrectUSD, 7, 1)

	if got := fmt.Sprint(s.NoRecord); got != "[q4]" {
		t.Errorf("without record: %s, want [q4]", got)
	}
	if a := s.Accuracy; a.Judge != "builtin/exact" || a.Correct != 1 || a.Undecided != 1 || a.NoVerdict != 0 {
		t.Errorf("got %+v, want 1 correct and 1 undecided of builtin/exact", a)
	}
	if c := s.Calibration; c.N != 1 || c.Defaulted != 0 || c.Official != nil || !near(*c.Strict, 0.1) {
		t.Errorf("calibration: got %+v, want strict 0.1 over 1", c)
	}
	want := Funnel{Relevant: 8, NoRecord: 2, NeverRetrieved: 2, NeverShown: 1, NotOpened: 1, NotCited: 1, Used: 1}
	if s.Evidence.Funnel != want {
		t.Errorf("funnel: got %+v, want %+v", s.Evidence.Funnel, want)
	}
	if c := s.Citations.QueryCitations; c.Cited != 2 || c.NeverOpened != 1 || c.NeverReturned != 1 {
		t.Errorf("citations: got %+v", c)
	}
}

func TestWhyEvidenceWasLostIsSaidPerDocument(t *testing.T) {
	s, err := Evaluate(exampleInput())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range s.PerQuery {
		for _, f := range q.Fates {
			got = append(got, fmt.Sprintf("%s/%s %s %d gold=%v", q.QueryID, f.DocID, f.Stage, f.BestRank, f.Gold))
		}
	}
	want := []string{
		"q1/a cited 2 gold=true", "q1/b not_opened 3 gold=false", "q1/c never_shown 40 gold=false", "q1/d never_retrieved 0 gold=false",
		"q2/e not_cited 1 gold=true", "q3/f never_retrieved 0 gold=true", "q4/g no_record 0 gold=true", "q4/h no_record 0 gold=false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, p := range s.Evidence.ByDepth {
		wantMicro := map[int]float64{1: 1.0 / 8, 5: 3.0 / 8, 50: 4.0 / 8, 1000: 4.0 / 8}
		if w, ok := wantMicro[p.Depth]; ok && !near(p.Micro, w) {
			t.Errorf("recall at depth %d = %v, want %v", p.Depth, p.Micro, w)
		}
	}
}

func TestStatusTableAddsUp(t *testing.T) {
	s, err := Evaluate(exampleInput())
	if err != nil {
		t.Fatal(err)
	}
	want := []StatusCount{
		{Status: "completed", Queries: 2, Steered: 1, Correct: 1, Undecided: 1},
		{Status: "no_record", Queries: 1},
		{Status: "timeout", Queries: 1, Steered: 1},
	}
	if !slices.Equal(s.Statuses, want) {
		t.Errorf("got %+v, want %+v", s.Statuses, want)
	}
}

func TestScoresDoNotDependOnTheOrderOfRecords(t *testing.T) {
	in := exampleInput()
	first, err := Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(in.Records)
	slices.Reverse(in.QuerySet)
	second, err := Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(first)
	b, _ := json.Marshal(second)
	if string(a) != string(b) || len(a) < 1000 {
		t.Errorf("scores differ:\n%s\n%s", a, b)
	}
}

func TestRecordsOutsideTheSetAreNamedAndLeftOut(t *testing.T) {
	in := exampleInput()
	in.QuerySet = []string{"q2", "q4"}
	s, err := Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.NotInSet); got != "[q1 q3]" || s.Queries != 2 {
		t.Errorf("left out %s of %d queries, want [q1 q3] of 2", got, s.Queries)
	}
}

func TestBadInputIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Input){
		"two records for one query": func(in *Input) { in.Records = append(in.Records, in.Records[0]) },
		"a query twice in the set":  func(in *Input) { in.QuerySet = append(in.QuerySet, "q1") },
		"no queries at all":         func(in *Input) { in.QuerySet, in.Records = nil, nil },
	} {
		in := exampleInput()
		change(&in)
		if _, err := Evaluate(in); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestUnjudgedRunHasNoAccuracyAndUnpricedNoMeanCost(t *testing.T) {
	in := exampleInput()
	in.Outcomes = nil
	in.Evidence, in.Gold = nil, nil
	in.Price = func(string, trajectory.Usage) (float64, bool) { return 0, false }
	s, err := Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	if s.Accuracy != nil || s.Calibration != nil || s.Evidence != nil || s.Citations.Precision != nil {
		t.Errorf("figures out of nothing: %+v", s)
	}
	if c := s.Effort.Cost; c.Unpriced != 3 || c.PerQueryUSD != nil || c.PerCorrectUSD != nil {
		t.Errorf("cost: got %+v, want 3 unpriced and no means", c)
	}
}

func TestUnanswerableQuestionsAreCountedApart(t *testing.T) {
	in := exampleInput()
	in.Outcomes["q2"] = Outcome{Decided: true, Judged: true, Correct: true, Unanswerable: true}
	s, err := Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	if a := s.Accuracy; a.Unanswerable != 1 || a.UnanswerableCorrect != 1 || !near(a.All.Value, 0.5) {
		t.Errorf("got %+v, want one unanswerable, answered correctly", a)
	}
}

func TestCompletedWithoutVerdictIsCounted(t *testing.T) {
	in := exampleInput()
	delete(in.Outcomes, "q1")
	s, err := Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	if s.Accuracy.NoVerdict != 1 || s.Accuracy.All.Value != 0 {
		t.Errorf("got %+v, want one without verdict", s.Accuracy)
	}
}

func TestCaseCitationsOfDocumentsNeverReturned(t *testing.T) {
	var seen []string
	mustJSON(t, sharedtest.Path(t, "cases", "ANS-09", "seen.json"), &seen)
	qrels, err := trec.ReadQrels(sharedtest.Path(t, "cases", "ANS-09", "qrels.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Evaluate(Input{
		Evidence: qrels,
		Exists:   func(id string) bool { return id != "999999" },
		Records: []trajectory.Record{{QueryID: "q", Status: trajectory.Completed, Sets: trajectory.Sets{
			Surfaced: seen, Previewed: seen, Cited: []string{"d2", "999999", "d7"},
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Citations
	if !near(c.Precision.Value, 1.0/3) || !near(c.Recall.Value, 1.0/2) {
		t.Errorf("precision %v, recall %v, want 1/3 and 1/2", c.Precision.Value, c.Recall.Value)
	}
	want := QueryCitations{Cited: 3, Relevant: 1, NeverOpened: 3, NeverShown: 2, NeverReturned: 2, Unknown: 1}
	if c.QueryCitations != want {
		t.Errorf("got %+v, want %+v", c.QueryCitations, want)
	}
}

func mustJSON(t *testing.T, path string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(read(t, path)), v); err != nil {
		t.Fatal(err)
	}
}

// bigInput is a made-up run of n queries, six evidence documents each.
func bigInput(n int) Input {
	g := rand.New(rand.NewPCG(1, 2))
	in := Input{Evidence: trec.Qrels{}, Gold: trec.Qrels{}, Outcomes: map[string]Outcome{}, Judge: "m"}
	for i := range n {
		id := fmt.Sprintf("q%04d", i)
		rec := trajectory.Record{
			QueryID: id, Status: trajectory.Completed, ToolCallCounts: map[string]int{"search": g.IntN(30), "read_document": g.IntN(9)},
			BestRank: map[string]int{}, Usage: trajectory.Usage{Input: g.Int64N(1e6), CacheRead: g.Int64N(1e6), Output: g.Int64N(1e4)},
			Answer: trajectory.Answer{Confidence: confidence(float64(g.IntN(101)))},
		}
		in.Evidence[id], in.Gold[id] = map[string]int{}, map[string]int{}
		for d := range 3000 {
			doc := fmt.Sprintf("d%d", g.IntN(100_000))
			rec.Surfaced = append(rec.Surfaced, doc)
			rec.BestRank[doc] = d%1000 + 1
			if d < 60 {
				rec.Previewed = append(rec.Previewed, doc)
			}
			if d < 8 {
				rec.Opened = append(rec.Opened, doc)
			}
			if d < 3 {
				rec.Cited = append(rec.Cited, doc)
			}
			if d%600 == 2 {
				in.Evidence[id][doc] = 1
			}
			if d == 602 {
				in.Gold[id][doc] = 1
			}
		}
		in.Outcomes[id] = Outcome{Decided: true, Judged: true, Correct: g.IntN(3) > 0}
		in.Records = append(in.Records, rec)
	}
	return in
}

func BenchmarkEvaluate830Queries(b *testing.B) {
	in := bigInput(830)
	b.ResetTimer()
	for b.Loop() {
		if _, err := Evaluate(in); err != nil {
			b.Fatal(err)
		}
	}
}
