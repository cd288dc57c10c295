//go:build !amd64 || !simd

package index

// fastRows says that computing a row takes less time than looking for it in a memo.
func fastRows() bool { return false }

func addRow(sums []float64, inverse []float32, weight, tf float32) {
	addRowScalar(sums, inverse, weight, tf)
}

func takeRows(numbers []uint16, sums, least []float64) int {
	return takeRowsScalar(numbers, sums, least)
}

func takeSums(numbers []uint16, taken, sums []float64, least float64) int {
	return takeSumsScalar(numbers, taken, sums, least)
}
