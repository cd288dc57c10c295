package bm25

import (
	"fmt"
	"math"
)

// Ramp is a rule that chooses k1 and b by how bursty a collection is: by the mean number of
// times a document holds a term that it holds at all. Where words come once, a second
// occurrence says little more and Anserini's setting ranks best; where documents repeat their
// words, it takes many occurrences to tell what a document is about, and its length to put them
// into proportion. Between From and To both parameters move together, in twelve steps: b by
// .05, k1 by the same factor every time.
type Ramp struct{ From, To float64 }

// Auto has the ends that docs/bm25-parameters.md derives and judges.
var Auto = Ramp{From: 1.3, To: 2.45}

// HighK1 and HighB are the upper end of a ramp. The paper finds k1=16 b=1 best and uses
// k1=25 b=1: the geometric mean of the two is 20. The lower end is Anserini's setting.
const (
	HighK1 = 20
	HighB  = 1
)

const rampSteps = 12

// Settings are those a ramp chooses from, in order.
func Settings() []Params {
	all := make([]Params, rampSteps+1)
	for i := range all {
		all[i] = rampSetting(i)
	}
	return all
}

// Params returns the setting for a mean term frequency, which is at least 1.
func (r Ramp) Params(meanTF float64) Params {
	share := (meanTF - r.From) / (r.To - r.From)
	return rampSetting(int(math.Round(rampSteps * min(max(share, 0), 1))))
}

func rampSetting(step int) Params {
	share := float64(step) / rampSteps
	k1 := float64(Anserini.K1) * math.Pow(HighK1/float64(Anserini.K1), share)
	b := float64(Anserini.B) + float64((HighB-float64(Anserini.B))*share)
	return Params{K1: twoDigits(k1), B: twoDigits(b)}
}

// twoDigits rounds a number of at least .1 and below 100 to two significant digits, which is
// what people can read and type.
func twoDigits(v float64) float32 {
	units := 100.0 // of the last digit in 1
	for most := 1.0; v >= most; most *= 10 {
		units /= 10
	}
	return float32(math.Round(v*units) / units)
}

// MeanTF is the mean frequency of a term in a document that holds it.
func MeanTF(tokens, postings int64) float64 {
	if postings == 0 {
		return 1
	}
	return float64(tokens) / float64(postings)
}

// Choose picks the setting for an index by the numbers of its tokens and postings, and says why.
func Choose(tokens, postings int64) (Params, string) {
	tf := MeanTF(tokens, postings)
	p := Auto.Params(tf)
	why := fmt.Sprintf("between %g and %g", Auto.From, Auto.To)
	switch {
	case tf <= Auto.From:
		why = fmt.Sprintf("not above %g", Auto.From)
	case tf >= Auto.To:
		why = fmt.Sprintf("at least %g", Auto.To)
	}
	return p, fmt.Sprintf("chosen by burstiness: a document holds a term %.2f times on average, %s", tf, why)
}
