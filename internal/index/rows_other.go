//go:build !amd64 || purego

package index

func addRow(sums []float64, inverse []float32, weight, tf float32) {
	addRowScalar(sums, inverse, weight, tf)
}

func takeRows(numbers []uint16, sums, least []float64) int {
	return takeRowsScalar(numbers, sums, least)
}
