package eval

import (
	"fmt"
	"math"
	"testing"

	"goserini/internal/sharedtest"
	"goserini/internal/trajectory"
)

// claims repeats a confidence with outcomes in turn.
func claims(percent float64, n int, outcomes ...bool) []Claim {
	var out []Claim
	for i := range n {
		out = append(out, Claim{QueryID: fmt.Sprintf("%v-%04d", percent, i), Confidence: confidence(percent), Correct: outcomes[i%len(outcomes)]})
	}
	return out
}

func TestStrictCalibrationMatchesTheGoldens(t *testing.T) {
	tests := []struct {
		name   string
		claims []Claim
		want   float64 // in percent, two published forms round to this
	}{
		{"two bins, the last one partial", append(claims(50, 100, true, false), claims(90, 50, true, false)...), 23.0940},
		{"three claims", append(claims(100, 2, true, false), claims(0, 1, false)...), 33.3333},
		{"sure of everything, right on two thirds", append(claims(100, 100, true), claims(100, 50, false)...), 57.7350},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "sure of everything, right on two thirds" {
				// All confidences are equal: the right ones fill the first bin, in order of query id.
				for i := range tt.claims {
					tt.claims[i].QueryID = fmt.Sprintf("%04d", i)
				}
			}
			got := CalibrationStrict(tt.claims)
			if got == nil || math.Abs(100**got-tt.want) > 5e-5 {
				t.Errorf("got %v, want %v %%", got, tt.want)
			}
		})
	}
}

func TestOfficialCalibrationSkipsTheLastBin(t *testing.T) {
	// 250 answers make the bins 0-99 and 100-249; only the first is summed, over all 250.
	all := append(claims(50, 100, true, true, true, false), claims(90, 150, false)...)
	got := CalibrationOfficial(all)
	want := math.Sqrt(100.0 / 250 * 0.25 * 0.25)
	if got == nil || !near(*got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// 830 answers: the top 130 are never counted.
	all = append(claims(50, 700, true, false), claims(100, 130, false)...)
	if got := CalibrationOfficial(all); got == nil || !near(*got, 0) {
		t.Errorf("got %v, want 0: the overconfident answers are all in the last bin", got)
	}
	if strict := CalibrationStrict(all); strict == nil || !near(*strict, math.Sqrt(130.0/830)) {
		t.Errorf("strict: got %v, want %v", strict, math.Sqrt(130.0/830))
	}
}

func TestOfficialCalibrationNeedsAHundredAnswers(t *testing.T) {
	if got := CalibrationOfficial(claims(50, 99, true)); got != nil {
		t.Errorf("got %v for 99 answers, want none", *got)
	}
	if got := CalibrationOfficial(claims(50, 100, true)); got == nil || *got != 0 {
		t.Errorf("got %v for 100 answers, want 0: the only bin is the last", got)
	}
	if got := CalibrationStrict(nil); got != nil {
		t.Errorf("got %v for nothing, want none", *got)
	}
}

func TestCalibrationDoesNotDependOnTheOrderOfEqualConfidences(t *testing.T) {
	all := append(claims(100, 100, true), claims(100, 100, false)...)
	for i := range all {
		all[i].QueryID = fmt.Sprint(i)
	}
	forwards := *CalibrationStrict(all)
	for i, j := 0, len(all)-1; i < j; i, j = i+1, j-1 {
		all[i], all[j] = all[j], all[i]
	}
	if backwards := *CalibrationStrict(all); forwards != backwards {
		t.Errorf("got %v forwards and %v backwards", forwards, backwards)
	}
}

func TestReliabilityBinsHoldEveryAnswer(t *testing.T) {
	bins := Calibrate(append(claims(100, 3, true), append(claims(0, 2, false), claims(95, 1, false)...)...)).Reliability
	if len(bins) != 10 || bins[9].N != 4 || bins[0].N != 2 {
		t.Fatalf("got %+v", bins)
	}
	if !near(bins[9].Accuracy, 0.75) || !near(bins[9].Confidence, (3+0.95)/4) {
		t.Errorf("last bin: got %+v", bins[9])
	}
}

func TestCaseMissingConfidencesAreCountedAndTakenBothWays(t *testing.T) {
	// The confidences of the answers, as an answer parser reads them: four state none.
	var c struct{ Expect struct{ Missing int } }
	mustJSON(t, sharedtest.Path(t, "cases", "ANS-03", "case.json"), &c)
	stated := map[int]float64{1: 9, 2: 18, 4: 36, 5: 45, 7: 63, 8: 72}
	in := Input{Outcomes: map[string]Outcome{}}
	for i := range 10 {
		id := fmt.Sprintf("c%d", i)
		rec := trajectory.Record{QueryID: id, Status: trajectory.Completed}
		if v, ok := stated[i]; ok {
			rec.Answer.Confidence = &v
		}
		in.Records = append(in.Records, rec)
		in.Outcomes[id] = Outcome{Decided: true, Judged: true, Correct: i%2 == 0}
	}
	s, err := Evaluate(in)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Calibration; got.Defaulted != c.Expect.Missing || got.N != 10 {
		t.Errorf("defaulted %d of %d, want %d of 10", got.Defaulted, got.N, c.Expect.Missing)
	}
	mean := func(n, total float64) float64 { return n / total }
	with := math.Abs(mean(0.09+0.18+0.36+0.45+0.63+0.72+4, 10) - 0.5)
	without := math.Abs(mean(0.09+0.18+0.36+0.45+0.63+0.72, 6) - 0.5) // c2, c4, c8 are right
	if !near(*s.Calibration.Strict, with) || !near(*s.Calibration.StrictStated, without) {
		t.Errorf("strict %v with defaults and %v without, want %v and %v", *s.Calibration.Strict, *s.Calibration.StrictStated, with, without)
	}
}
