package index

import (
	"math"
	"math/bits"
	"sync"
	"unsafe"

	"goserini/internal/bm25"
)

// Rows of numbers are computed and compared by rowLanes at a time where the processor can
// (amd64 with AVX2, if built with the tag simd), else one by one. Either way the same
// operations are done in the same order, so that all bits are the same.

// rowLanes is the number of lanes; the length of rows is a multiple of it.
const rowLanes = 8

// addRowScalar adds to each sum the score of a term that a document holds tf times.
func addRowScalar(sums []float64, inverse []float32, weight, tf float32) {
	inverse = inverse[:len(sums)]
	for i := range sums {
		sums[i] += float64(rowScore(inverse[i], weight, tf))
	}
}

// rowScore is the score of a term that a document holds tf times. It is never NaN, so a
// comparison does what max does in more instructions.
func rowScore(inverse, weight, tf float32) float32 {
	score := float32(weight - float32(weight/float32(1+float32(tf*inverse))))
	if score < barely {
		return barely
	}
	return score
}

// rowMemo keeps the scores of one term: those under all settings of a document that holds it
// tf times and has a certain norm, as most documents share both with many others.
type rowMemo struct {
	// slots has by norm and class of tf the number of a row in scores, counted from 1.
	slots  []uint16
	scores []float32
	// bounds has for each row the highest of its scores as shares of what matters.
	bounds []float64
}

const (
	// memoTF bounds the frequencies that are a class of their own.
	memoTF = 16
	// tfClasses counts those, a class for each doubling from there on, and one for all others.
	tfClasses = memoTF + 8
)

// tfClass returns the class of a frequency and the highest frequency in it.
func tfClass(tf uint32) (class int, most float32) {
	if tf <= memoTF {
		return int(tf - 1), float32(tf)
	}
	n := bits.Len32(tf - 1)
	if class = memoTF + n - bits.Len32(memoTF); class >= tfClasses-1 {
		return tfClasses - 1, math.MaxUint32
	}
	return class, float32(uint32(1) << n)
}

// rowMemos are empty ones, to be used again.
var rowMemos = sync.Pool{New: func() any { return &rowMemo{slots: make([]uint16, bm25.Norms*tfClasses)} }}

func newRowMemo() *rowMemo { return rowMemos.Get().(*rowMemo) }

// release empties the memo. It must not be used afterwards.
func (m *rowMemo) release() {
	clear(m.slots)
	m.scores, m.bounds = m.scores[:0], m.bounds[:0]
	rowMemos.Put(m)
}

// bound returns at least the highest of the scores of a term as shares of what matters,
// whose inverses are given. No score falls as tf grows, so that the highest frequency of a
// class bounds all.
func (m *rowMemo) bound(inverse []float32, shares []float64, weight float32, tf uint32, norm byte) float64 {
	class, most := tfClass(tf)
	slot := &m.slots[int(norm)*tfClasses+class]
	if *slot == 0 {
		first := len(m.scores)
		for _, inv := range inverse {
			m.scores = append(m.scores, rowScore(inv, weight, most))
		}
		m.bounds = append(m.bounds, highestShare(m.scores[first:], shares))
		*slot = uint16(len(m.bounds))
	}
	return m.bounds[*slot-1]
}

// highestShare is the highest score as a share of what matters.
func highestShare(scores []float32, shares []float64) float64 {
	highest := 0.0
	shares = shares[:len(scores)]
	for s, score := range scores {
		if share := float64(score) * shares[s]; share > highest {
			highest = share
		}
	}
	return highest
}

// share computes all bounds anew.
func (m *rowMemo) share(shares []float64) {
	for i := range m.bounds {
		m.bounds[i] = highestShare(m.scores[i*len(shares):][:len(shares)], shares)
	}
}

// row returns the scores of a term for a frequency of at most memoTF and a norm whose bound
// has been asked for.
func (m *rowMemo) row(length int, tf uint32, norm byte) []float32 {
	return m.scores[(int(m.slots[int(norm)*tfClasses+int(tf-1)])-1)*length:][:length]
}

// addScores adds a row of scores to a row of sums; their length is a multiple of rowLanes.
func addScores(sums []float64, scores []float32) {
	for len(sums) >= rowLanes && len(scores) >= rowLanes {
		a, b := (*[rowLanes]float64)(sums), (*[rowLanes]float32)(scores)
		a[0] += float64(b[0])
		a[1] += float64(b[1])
		a[2] += float64(b[2])
		a[3] += float64(b[3])
		a[4] += float64(b[4])
		a[5] += float64(b[5])
		a[6] += float64(b[6])
		a[7] += float64(b[7])
		sums, scores = sums[rowLanes:], scores[rowLanes:]
	}
}

// takeRowsScalar writes the numbers of the rows of sums that are somewhere at least least,
// and returns how many there are. All other rows become zero.
func takeRowsScalar(numbers []uint16, sums, least []float64) int {
	n := 0
	for doc := 0; len(sums) >= len(least); doc++ {
		row := sums[:len(least)]
		switch {
		case row[0] == unseen: // no term has added anything to any sum
		case reaches(row, least):
			numbers[n] = uint16(doc)
			n++
		default:
			clear(row)
		}
		sums = sums[len(least):]
	}
	return n
}

// reaches tells whether a sum is at least its bound. None of them is negative, so they are
// compared as whole numbers are, and by subtracting, which has no branches.
func reaches(row, least []float64) bool {
	below := int64(-1)
	for len(row) >= rowLanes && len(least) >= rowLanes {
		a, b := bitsOf(row), bitsOf(least)
		below &= (a[0] - b[0]) & (a[1] - b[1]) & (a[2] - b[2]) & (a[3] - b[3]) & (a[4] - b[4]) & (a[5] - b[5]) & (a[6] - b[6]) & (a[7] - b[7])
		row, least = row[rowLanes:], least[rowLanes:]
	}
	for s := range row {
		below &= int64(math.Float64bits(row[s])) - int64(math.Float64bits(least[s]))
	}
	return below >= 0
}

// bitsOf returns the bits of the first sums, which compare as they do. They are read as whole
// numbers: by way of math.Float64bits that takes more than twice the time.
func bitsOf(sums []float64) *[rowLanes]int64 {
	return (*[rowLanes]int64)(unsafe.Pointer((*[rowLanes]float64)(sums)))
}

// takeSumsScalar moves the sums that are at least least to taken, and their places to
// numbers, and returns how many there are. All sums become zero.
func takeSumsScalar(numbers []uint16, taken, sums []float64, least float64) int {
	n, from, bound := 0, 0, int64(math.Float64bits(least))
	for ; from+rowLanes <= len(sums); from += rowLanes {
		// Few sums are high enough: most lanes have none.
		a := bitsOf(sums[from:])
		if (a[0]-bound)&(a[1]-bound)&(a[2]-bound)&(a[3]-bound)&(a[4]-bound)&(a[5]-bound)&(a[6]-bound)&(a[7]-bound) < 0 {
			continue
		}
		for i, sum := range sums[from : from+rowLanes] {
			if sum >= least {
				numbers[n], taken[n] = uint16(from+i), sum
				n++
			}
		}
	}
	for i, sum := range sums[from:] {
		if sum >= least {
			numbers[n], taken[n] = uint16(from+i), sum
			n++
		}
	}
	clear(sums)
	return n
}
