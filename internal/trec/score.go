package trec

import (
	"math"
	"strconv"
)

// AdjustScores turns raw scores, best first, into the ones Anserini displays, in
// place: each is rounded to four decimals, and scores that come within 1e-4 of the
// one before are set apart by steps of 1e-6 (ScoreTiesAdjusterReranker). The order of
// the list stays. All steps are in float32, as there, with conversions that keep a
// compiler from fusing them: above 16 a step may be lost to rounding, which [RunWriter]
// takes care of.
func AdjustScores(scores []float32) {
	ties := 0
	for i, s := range scores {
		s = roundScore(s)
		if i == 0 || scores[i-1]-s > 1e-4 {
			ties = 0
		} else {
			ties++
			s -= float32(float32(1e-6) * float32(ties))
		}
		scores[i] = s
	}
}

// roundScore rounds to four decimals, halves upwards, over a 64-bit integer.
func roundScore(s float32) float32 {
	scaled := math.Floor(float64(float64(s)*1e4) + 0.5)
	switch {
	case math.IsNaN(scaled):
		return 0
	case scaled >= math.MaxInt64:
		scaled = math.MaxInt64
	case scaled <= math.MinInt64:
		scaled = math.MinInt64
	}
	return float32(scaled / 1e4)
}

// separate lowers scores, best first, just so far that each, printed with six
// decimals and read back as a float32 (as trec_eval does), is below the one before.
// Scores that are so already stay.
func separate(scores []float32) {
	for i := 1; i < len(scores); i++ {
		for printed(scores[i]) >= printed(scores[i-1]) {
			scores[i] = lower(min(scores[i], scores[i-1]))
		}
	}
}

// lower returns the next score below s that differs in six decimals.
func lower(s float32) float32 {
	below := float32(float64(s) - 1e-6)
	if below == s {
		below = math.Nextafter32(s, float32(math.Inf(-1)))
	}
	return below
}

// printed is the score a reader of the run gets back.
func printed(s float32) float32 {
	back, err := strconv.ParseFloat(formatScore(s), 32)
	if err != nil {
		return s
	}
	return float32(back)
}

func formatScore(s float32) string { return strconv.FormatFloat(float64(s), 'f', 6, 32) }
