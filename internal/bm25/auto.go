package bm25

import (
	"fmt"
	"math"
)

// Collection has the statistics that k1 and b are chosen by.
type Collection struct {
	// Tokens counts all tokens, Postings the pairs of a term and a document that holds it.
	Tokens, Postings int64
	// Length90 is the 90th percentile of the documents' lengths in tokens.
	Length90 int64
}

// MeanTF is the mean number of times a document holds a term that it holds at all: how much
// the documents repeat their words. It is at least 1.
func (c Collection) MeanTF() float64 {
	if c.Postings == 0 {
		return 1
	}
	return float64(c.Tokens) / float64(c.Postings)
}

// The settings that are chosen from lead from Anserini's to (HighK1, HighB) in twelve steps. The
// paper finds k1=16 b=1 best for long documents and uses k1=25 b=1: 20 is the geometric mean.
const (
	HighK1 = 20
	HighB  = 1
	steps  = 12
)

// Step returns the setting at a share of the way from Anserini's to (HighK1, HighB), by the
// nearest of the steps: every step adds the same to b and multiplies k1 by the same.
func Step(share float64) Params {
	share = math.Round(steps*share) / steps
	k1 := float64(Anserini.K1) * math.Pow(HighK1/float64(Anserini.K1), share)
	b := float64(Anserini.B) + float64((HighB-float64(Anserini.B))*share)
	return Params{K1: twoDigits(k1), B: twoDigits(b)}
}

// Steps are all settings that Step returns, in order.
func Steps() []Params {
	all := make([]Params, steps+1)
	for i := range all {
		all[i] = Step(float64(i) / steps)
	}
	return all
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

// Ramp turns a statistic into a share: 0 up to From, 1 from To on, and between them in
// proportion to its logarithm. Both are above 0.
type Ramp struct{ From, To float64 }

// Share is between 0 and 1.
func (r Ramp) Share(v float64) float64 {
	return min(max(math.Log(v/r.From)/math.Log(r.To/r.From), 0), 1)
}

// Repetition is the ramp over the mean term frequency. Where documents hold a word once, a second
// occurrence says little more; where they repeat their words, only many occurrences tell
// what a document is about, in proportion to its length. Derived and judged in
// docs/bm25-parameters.md.
var Repetition = Ramp{From: 1.38, To: 2.37}

// Long is the ramp over the 90th percentile of lengths. It keeps a few books among many notes
// from deciding for the notes: the longest documents hold most of the tokens and make the mean.
// It is no result of fitting and binds on none of the collections the other was fitted to.
var Long = Ramp{From: 100, To: 400}

// Choose picks the setting for a collection, and says why.
func Choose(c Collection) (Params, string) {
	repetition, long := Repetition.Share(c.MeanTF()), Long.Share(max(float64(c.Length90), 1))
	p := Step(min(repetition, long))
	why := fmt.Sprintf("a document holds each of its terms %.2f times on average", c.MeanTF())
	if Step(repetition) != p {
		why += fmt.Sprintf(", but nine of ten have no more than %d tokens", c.Length90)
	}
	return p, why
}
