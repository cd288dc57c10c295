//go:build simd

package index

import "golang.org/x/sys/cpu"

// takeSums is takeSumsScalar, by eight sums at a time where the processor can.
func takeSums(numbers []uint16, taken, sums []float64, least float64) int {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasBMI1 || len(sums)%rowLanes != 0 || len(sums) == 0 || len(numbers) < len(sums) || len(taken) < len(sums) {
		return takeSumsScalar(numbers, taken, sums, least)
	}
	return takeSumsAVX2(&numbers[0], &taken[0], &sums[0], len(sums)/rowLanes, least)
}

//go:noescape
func takeSumsAVX2(numbers *uint16, taken, sums *float64, groups int, least float64) int
