package bm25

import (
	"fmt"
	"strings"
	"testing"
)

func TestSettingsOfTheRampGoFromAnserinisToTheLongDocuments(t *testing.T) {
	var got []string
	for _, p := range Settings() {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
		got = append(got, fmt.Sprintf("%g,%g", p.K1, p.B))
	}
	want := "0.9,0.4 1.2,0.45 1.5,0.5 2,0.55 2.5,0.6 3.3,0.65 4.2,0.7 5.5,0.75 7.1,0.8 9.2,0.85 12,0.9 15,0.95 20,1"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("settings are\n%s, want\n%s", s, want)
	}
}

func TestRampChoosesByMeanTermFrequency(t *testing.T) {
	r := Ramp{From: 1, To: 3}
	for _, test := range []struct {
		tf   float64
		want Params
	}{{1, Anserini}, {1.05, Anserini}, {2, Params{4.2, 0.7}}, {2.95, Params{HighK1, HighB}}, {3, Params{HighK1, HighB}}, {40, Params{HighK1, HighB}}} {
		if got := r.Params(test.tf); got != test.want {
			t.Errorf("for a mean tf of %g the ramp chooses %v, want %v", test.tf, got, test.want)
		}
	}
}

func TestChooseSaysWhy(t *testing.T) {
	for _, test := range []struct {
		tokens, postings int64
		want             Params
		why              string
	}{
		{0, 0, Anserini, "1.00 times on average, not above 1.3"},
		{110, 100, Anserini, "1.10 times on average, not above 1.3"},
		{300, 100, Params{HighK1, HighB}, "3.00 times on average, at least 2.45"},
		{188, 100, Params{4.2, 0.7}, "1.88 times on average, between 1.3 and 2.45"},
	} {
		got, why := Choose(test.tokens, test.postings)
		if got != test.want || !strings.Contains(why, test.why) {
			t.Errorf("Choose(%d, %d) is %v, %q, want %v, … %q", test.tokens, test.postings, got, why, test.want, test.why)
		}
	}
}
