//go:build !amd64 || !simd

package index

func takeSums(numbers []uint16, taken, sums []float64, least float64) int {
	return takeSumsScalar(numbers, taken, sums, least)
}
