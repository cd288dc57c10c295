package index

import (
	"encoding/binary"
	"math"

	"goserini/internal/bm25"
)

// The loops that most of the time of a search goes into. They work on one chunk of
// documents, so that every index into an array is bounded by a mask and needs no check.

// scoreTable has the score of a term for each frequency that fits a word, less one, and each
// norm.
type scoreTable [wordTF << 8]float32

// unseen is the sum of a document that no term has touched. Sums of touched documents are
// greater than zero: where a score rounds to zero, barely stands for it.
const unseen = 0.0

// barely is the smallest float32 above zero. Added to any real score it is lost in
// rounding; sums made only of it are below scoredZero.
const barely = math.SmallestNonzeroFloat32

// scoredZero separates sums that stand for zero from real ones. The smallest score above
// zero is a term's weight times 2⁻²⁴, and no weight is below 10⁻¹⁰.
const scoredZero = 0x1p-120

// termScore is one term's part of the score of a document that holds it.
func termScore(weight float32, tf uint32, inv float32) float32 {
	if s := bm25.TermScore(weight, tf, inv); s > 0 {
		return s
	}
	return barely
}

// fill computes the rows of the frequencies up to most and the columns of the norms from
// low to high.
func (t *scoreTable) fill(weight float32, inv *[bm25.Norms]float32, most uint32, low, high byte) {
	for tf := uint32(1); tf <= min(most, wordTF); tf++ {
		row := t[(tf-1)<<8 : tf<<8]
		for n := int(low); n <= int(high); n++ {
			row[n] = termScore(weight, tf, inv[n])
		}
	}
}

// addTabled adds the scores of a chunk's words to the documents' sums.
//
// Four words at a time are loaded before any sum is stored: otherwise each load waits to
// learn whether it reads what was just written.
func addTabled(sums *[chunkDocs]float64, norms *[chunkDocs]byte, table *scoreTable, words []byte) {
	for len(words) >= 8 {
		v := binary.LittleEndian.Uint64(words)
		d0, d1, d2, d3 := v>>4&(chunkDocs-1), v>>20&(chunkDocs-1), v>>36&(chunkDocs-1), v>>52
		s0 := table[v&15<<8|uint64(norms[d0])]
		s1 := table[v>>16&15<<8|uint64(norms[d1])]
		s2 := table[v>>32&15<<8|uint64(norms[d2])]
		s3 := table[v>>48&15<<8|uint64(norms[d3])]
		sums[d0] += float64(s0)
		sums[d1] += float64(s1)
		sums[d2] += float64(s2)
		sums[d3] += float64(s3)
		words = words[8:]
	}
	for ; len(words) >= 2; words = words[2:] {
		v := binary.LittleEndian.Uint16(words)
		d := v >> 4
		sums[d] += float64(table[uint(v)&15<<8|uint(norms[d])])
	}
}

// addComputed does the same without a table, for terms too rare to be worth one.
func addComputed(sums *[chunkDocs]float64, norms *[chunkDocs]byte, weight float32, inv *[bm25.Norms]float32, words []byte) {
	for ; len(words) >= 2; words = words[2:] {
		v := binary.LittleEndian.Uint16(words)
		d := v >> 4
		sums[d] += float64(termScore(weight, uint32(v&15)+1, inv[norms[d]]))
	}
}

// addWide does the same with wide words; tfs are the frequencies behind them.
func addWide(sums *[chunkDocs]float64, norms *[chunkDocs]byte, weight float32, inv *[bm25.Norms]float32, wide, tfs []byte) {
	for len(wide) >= 8 {
		v := binary.LittleEndian.Uint64(wide)
		d0, d1 := v>>wideTFBits&(chunkDocs-1), v>>(32+wideTFBits)
		tf0, tf1 := uint32(v&wideTFMask), uint32(v>>32&wideTFMask)
		if tf0 == wideTFMask || tf1 == wideTFMask {
			break
		}
		s0 := termScore(weight, tf0, inv[norms[d0]])
		s1 := termScore(weight, tf1, inv[norms[d1]])
		sums[d0] += float64(s0)
		sums[d1] += float64(s1)
		wide = wide[8:]
	}
	for ; len(wide) >= 4; wide = wide[4:] {
		v := binary.LittleEndian.Uint32(wide)
		d, tf := v>>wideTFBits, v&wideTFMask
		if tf == wideTFMask && len(tfs) >= 4 {
			tf, tfs = binary.LittleEndian.Uint32(tfs), tfs[4:]
		}
		sums[d] += float64(termScore(weight, tf, inv[norms[d]]))
	}
}

// sweep appends the keys of the documents of a chunk's words whose sum is at least least,
// which is above zero, and makes their sums unseen. The first document of the chunk is base.
func sweep(keys []uint64, sums *[chunkDocs]float64, words []byte, base uint32, least float64) []uint64 {
	for ; len(words) >= 2; words = words[2:] {
		d := binary.LittleEndian.Uint16(words) >> 4
		if sums[d] >= least {
			keys = append(keys, keyOf(sums[d], base+uint32(d)))
		}
		sums[d] = unseen
	}
	return keys
}

// sweepWide does the same for wide words.
func sweepWide(keys []uint64, sums *[chunkDocs]float64, wide []byte, base uint32, least float64) []uint64 {
	for ; len(wide) >= 4; wide = wide[4:] {
		d := binary.LittleEndian.Uint32(wide) >> wideTFBits
		if sums[d] >= least {
			keys = append(keys, keyOf(sums[d], base+d))
		}
		sums[d] = unseen
	}
	return keys
}

// keyOf makes one number of a sum and a document that sorts by score.
func keyOf(sum float64, doc uint32) uint64 {
	return uint64(math.Float32bits(scoreOf(sum)))<<32 | uint64(doc)
}

// scoreOf rounds a sum; all sums that stand for zero become barely.
func scoreOf(sum float64) float32 {
	if score := float32(sum); score >= scoredZero {
		return score
	}
	return barely
}

// keyScore is the score in a key.
func keyScore(key uint64) float32 {
	if s := math.Float32frombits(uint32(key >> 32)); s >= scoredZero {
		return s
	}
	return 0
}

// atLeast is 1 if a ≥ b, else 0, for numbers that are not negative: they compare as their
// bits do. It has no branch.
func atLeast(a, b float64) int {
	return int((math.Float64bits(b) - 1 - math.Float64bits(a)) >> 63)
}
