package navbench

import (
	"testing"

	"goserini/internal/eval"
)

func mean(v float64, n int) *eval.Mean { return &eval.Mean{Value: v, N: n} }

func TestTargetsAreChecked(t *testing.T) {
	report := Report{
		Collection: "cuad", MeanTerms: 5000, Items: 50,
		Variants: []Figures{
			{Variant: "paper", PageTokens: mean(800, 90), Shown: [bands]*eval.Mean{mean(0.1, 90), mean(0.2, 20), mean(0, 12)}},
			{Variant: "navigator", PageTokens: mean(801, 90), Shown: [bands]*eval.Mean{mean(0.25, 90), mean(0.4, 20), mean(0.3, 12)}, Item: &Seeking{ToPaper: mean(0.6, 50)}},
		},
	}
	var got []bool
	for _, target := range Targets(report) {
		got = append(got, target.Met)
	}
	// The page costs one token too much, 2.5 times is met, 2 times is not, the paper shows nothing behind rank 50, and 0.6 of the tokens is more than half.
	want := []bool{false, true, false, true, false}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("target %d: met is %v, want %v", i, got[i], want[i])
		}
	}
	report.Variants[1].Shown[2].N = fewest - 1
	report.Items = fewest - 1
	if n := len(Targets(report)); n != 3 {
		t.Errorf("%d targets where too few questions are left, want 3", n)
	}
}

func TestAMultipleThatIsMetExactlyIsMet(t *testing.T) {
	report := Report{Collection: "musique100", Variants: []Figures{
		{Variant: "paper", Shown: [bands]*eval.Mean{mean(10.0/29, 29), nil, nil}},
		{Variant: "navigator", Shown: [bands]*eval.Mean{mean(13.0/29, 29), nil, nil}},
	}}
	if got := Targets(report); len(got) != 1 || !got[0].Met {
		t.Errorf("got %+v, want 13 of 29 to be 1.3 times 10 of 29", got)
	}
}

func TestAMissedTargetSaysWhetherMoreCouldBeShown(t *testing.T) {
	report := func(holding float64) Report {
		return Report{Collection: "hotpotqa100", Variants: []Figures{
			{Variant: "paper", Shown: [bands]*eval.Mean{mean(0.8, 20), nil, nil}},
			{Variant: "navigator", Shown: [bands]*eval.Mean{mean(0.9, 20), nil, nil}, Holding: [bands]*eval.Mean{mean(holding, 20), nil, nil}},
		}}
	}
	for holding, want := range map[float64]string{0.9: "**missed**, though all that the documents hold is shown", 0.95: "**missed**"} {
		got := Targets(report(holding))
		if len(got) != 1 || outcome(got[0]) != want {
			t.Errorf("documents that hold %v: got %+v, want %s", holding, got, want)
		}
	}
}

func TestAbsoluteTargets(t *testing.T) {
	report := Report{Collection: "wice", Variants: []Figures{
		{Variant: "paper", Shown: [bands]*eval.Mean{mean(0.2, 90), nil, nil}},
		{Variant: "navigator", Shown: [bands]*eval.Mean{mean(0.849, 90), nil, nil}},
	}}
	got := Targets(report)
	if len(got) != 1 || got[0].Met || got[0].Got != "84.9 %" {
		t.Errorf("got %+v, want one target missed with 84.9 %%", got)
	}
}
