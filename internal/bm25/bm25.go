// Package bm25 holds the scoring formula: pure functions in Lucene's float
// arithmetic, so that scores equal Lucene's to the last bit.
package bm25

import (
	"fmt"
	"math"
)

// Variant names the formula in every output: Lucene's BM25 has no (k1+1)
// factor and quantises document lengths to one byte.
const Variant = "lucene"

// Params are the two free parameters of BM25.
type Params struct {
	// K1 controls term-frequency saturation; finite and at least 0.
	K1 float32 `json:"k1"`
	// B controls length normalisation; between 0 and 1.
	B float32 `json:"b"`
}

// The two fixed settings users know by name.
var (
	// Anserini is Anserini's default.
	Anserini = Params{K1: 0.9, B: 0.4}
	// Paper is the setting of arXiv 2605.10848 for long documents.
	Paper = Params{K1: 25, B: 1}
)

// Validate reports the first parameter that is out of range.
func (p Params) Validate() error {
	if !(p.K1 >= 0) || math.IsInf(float64(p.K1), 0) {
		return fmt.Errorf("k1=%v is out of range: it must be a finite number of at least 0", p.K1)
	}
	if !(p.B >= 0 && p.B <= 1) {
		return fmt.Errorf("b=%v is out of range: it must be between 0 and 1", p.B)
	}
	return nil
}

func (p Params) String() string { return fmt.Sprintf("k1=%g b=%g", p.K1, p.B) }
