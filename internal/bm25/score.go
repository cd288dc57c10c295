package bm25

import (
	"math"
	"math/bits"
)

// Norms is the number of distinct quantised lengths.
const Norms = 256

// IDF is Lucene's inverse document frequency of a term that df of n documents hold:
// ln(1 + (n − df + 0.5)/(df + 0.5)), computed in float64 and rounded once.
func IDF(n, df int64) float32 {
	return float32(math.Log(float64(1 + float64(float64(n-df)+0.5)/float64(float64(df)+0.5))))
}

// AverageLength is the mean number of tokens of the documents that have any.
func AverageLength(tokens, documents int64) float32 {
	return float32(float64(tokens) / float64(documents))
}

// Weight is the weight of a term that a query holds count times.
func Weight(count int, idf float32) float32 { return float32(float32(count) * idf) }

// Quantise returns the byte that stands for a length: 0 to 39 are kept exactly,
// longer ones are rounded down to four significant bits.
func Quantise(length int) byte {
	const exact = 24
	if length < exact {
		return byte(max(length, 0))
	}
	x := uint32(min(int64(length), math.MaxInt32) - exact)
	if x < 8 {
		return byte(exact + x)
	}
	shift := uint32(bits.Len32(x)) - 4
	return byte(exact + ((x>>shift)&7 | (shift+1)<<3))
}

// Length returns the length that a byte of [Quantise] stands for.
func Length(norm byte) int {
	const exact = 24
	if norm < exact {
		return int(norm)
	}
	c := uint32(norm) - exact
	if c < 8 {
		return exact + int(c)
	}
	return exact + int(c&7|8)<<(c>>3-1)
}

// InverseNorms returns, for every quantised length, the factor of tf in the formula:
// 1 / (k1 · ((1 − b) + b·length/avgdl)), each operation rounded to float32.
//
// Every intermediate is converted explicitly because a compiler may otherwise fuse a
// multiplication with an addition, which rounds once instead of twice.
func InverseNorms(p Params, avgdl float32) *[Norms]float32 {
	var inv [Norms]float32
	for n := range inv {
		length := float32(Length(byte(n)))
		ratio := float32(float32(p.B*length) / avgdl)
		norm := float32(p.K1 * float32(float32(1-p.B)+ratio))
		inv[n] = float32(1 / norm)
	}
	return &inv
}

// TermScore is one term's part of a document's score: w − w/(1 + tf·inv). Sum the
// parts in float64 and round the sum to float32.
func TermScore(weight float32, tf uint32, inv float32) float32 {
	return float32(weight - float32(weight/float32(1+float32(float32(tf)*inv))))
}
