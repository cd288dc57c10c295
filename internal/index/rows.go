package index

// Rows of numbers are computed and compared by rowLanes at a time where the processor can
// (amd64 with AVX2, if built with the tag simd), else one by one. Either way the same
// operations are done in the same order, so that all bits are the same.

// rowLanes is the number of lanes; the length of rows is a multiple of it.
const rowLanes = 8

// addRowScalar adds to each sum the score of a term that a document holds tf times.
func addRowScalar(sums []float64, inverse []float32, weight, tf float32) {
	inverse = inverse[:len(sums)]
	for i := range sums {
		score := float32(weight - float32(weight/float32(1+float32(tf*inverse[i]))))
		sums[i] += float64(max(score, barely))
	}
}

// takeRowsScalar writes the numbers of the rows of sums that are somewhere at least least,
// and returns how many there are. All other rows become zero.
func takeRowsScalar(numbers []uint16, sums, least []float64) int {
	n := 0
	for doc := 0; len(sums) >= len(least); doc++ {
		row := sums[:len(least)]
		if reaches(row, least) {
			numbers[n] = uint16(doc)
			n++
		} else {
			clear(row)
		}
		sums = sums[len(least):]
	}
	return n
}

func reaches(row, least []float64) bool {
	for s, bound := range least {
		if row[s] >= bound {
			return true
		}
	}
	return false
}

// takeSumsScalar moves the sums that are at least least to taken, and their places to
// numbers, and returns how many there are. All sums become zero.
func takeSumsScalar(numbers []uint16, taken, sums []float64, least float64) int {
	n := 0
	for i, sum := range sums {
		if sum >= least {
			numbers[n], taken[n] = uint16(i), sum
			n++
		}
	}
	clear(sums)
	return n
}
