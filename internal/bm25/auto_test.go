package bm25

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestStepsLeadFromAnserinisSettingToThatOfLongDocuments(t *testing.T) {
	var got []string
	for _, p := range Steps() {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
		got = append(got, fmt.Sprintf("%g,%g", p.K1, p.B))
	}
	want := "0.9,0.4 1.2,0.45 1.5,0.5 2,0.55 2.5,0.6 3.3,0.65 4.2,0.7 5.5,0.75 7.1,0.8 9.2,0.85 12,0.9 15,0.95 20,1"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("steps are\n%s, want\n%s", s, want)
	}
	if Step(0) != Anserini || Step(0.04) != Anserini || Step(0.05) == Anserini {
		t.Errorf("shares of 0, .04 and .05 give %v, %v, %v", Step(0), Step(0.04), Step(0.05))
	}
}

func TestRampIsLogarithmic(t *testing.T) {
	r := Ramp{From: 1, To: 4}
	for v, want := range map[float64]float64{0.5: 0, 1: 0, 2: 0.5, 4: 1, 100: 1} {
		if got := r.Share(v); math.Abs(got-want) > 1e-12 {
			t.Errorf("the share of %g is %g, want %g", v, got, want)
		}
	}
}

func TestChooseNeedsRepetitionAndLengthForTheUpperEnd(t *testing.T) {
	high := Params{HighK1, HighB}
	for _, test := range []struct {
		name string
		c    Collection
		want Params
		why  string
	}{
		{"nothing indexed", Collection{}, Anserini, "1.00 times on average"},
		{"notes", Collection{110, 100, 60}, Anserini, "1.10 times on average"},
		{"long and repetitive", Collection{300, 100, 5000}, high, "3.00 times on average"},
		{"between", Collection{182, 100, 300}, Params{4.2, 0.7}, "1.82 times on average"},
		{"a book among notes", Collection{300, 100, 90}, Anserini, "but nine of ten have no more than 90 tokens"},
	} {
		got, why := Choose(test.c)
		if got != test.want || !strings.Contains(why, test.why) {
			t.Errorf("%s: %v, %q, want %v, … %q", test.name, got, why, test.want, test.why)
		}
	}
}
