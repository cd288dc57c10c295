package eval

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestSetRecallCountsEveryQuery(t *testing.T) {
	// q1: 2 of 4, q2: 1 of 1, q3: nothing relevant, q4: not run, 3 relevant.
	m := &means{n: 4}
	got := m.setRecall([]int{2, 1, 0, 0}, newRelevantCounts([]int{4, 1, 0, 3}))
	m.intervals(Bootstrap{Resamples: 200, Seed: 1})
	if want := (0.5 + 1) / 4; !near(got.Macro.Value, want) || got.Macro.N != 4 {
		t.Errorf("macro = %v over %d, want %v over 4", got.Macro.Value, got.Macro.N, want)
	}
	if want := (0.5 + 1) / 3; !near(got.MacroOverJudged.Value, want) || got.MacroOverJudged.N != 3 {
		t.Errorf("macro over judged = %v over %d, want %v over 3", got.MacroOverJudged.Value, got.MacroOverJudged.N, want)
	}
	if want := 3.0 / 8; !near(got.Micro.Value, want) || got.Hits != 3 {
		t.Errorf("micro = %v with %d hits, want %v with 3", got.Micro.Value, got.Hits, want)
	}
	for _, v := range []*Mean{got.Macro, got.MacroOverJudged, got.Micro} {
		if !(v.Low <= v.Value && v.Value <= v.High) || v.Low == v.High {
			t.Errorf("interval [%v, %v] does not enclose %v", v.Low, v.High, v.Value)
		}
	}
}

func TestSetRecallOfNothingIsUndefined(t *testing.T) {
	m := &means{n: 2}
	got := m.setRecall([]int{0, 0}, newRelevantCounts([]int{0, 0}))
	m.intervals(Bootstrap{})
	if got.Macro.Value != 0 || got.MacroOverJudged != nil || got.Micro != nil {
		t.Errorf("got %+v, want macro 0 and no other figure", got)
	}
}

func TestHitsCountDistinctRelevantDocuments(t *testing.T) {
	relevant := Relevant(map[string]int{"a": 1, "b": 0, "c": 3, "d": -1}, 1)
	if got := Hits([]string{"a", "a", "b", "c", "d", "x"}, relevant); got != 2 {
		t.Errorf("got %d hits, want 2 (a and c)", got)
	}
	if got := Hits([]string{"a", "c"}, Relevant(map[string]int{"a": 1, "c": 3}, 2)); got != 1 {
		t.Errorf("got %d hits at level 2, want 1 (c)", got)
	}
}
