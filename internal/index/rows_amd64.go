//go:build simd

package index

import "golang.org/x/sys/cpu"

// fastRows says that computing a row takes less time than looking for it in a memo.
func fastRows() bool { return cpu.X86.HasAVX2 }

// addRow is addRowScalar, by eight settings at a time where the processor can: the same
// operations in the same order, so the same bits.
func addRow(sums []float64, inverse []float32, weight, tf float32) {
	if !cpu.X86.HasAVX2 || len(sums)%rowLanes != 0 || len(sums) == 0 || len(inverse) < len(sums) {
		addRowScalar(sums, inverse, weight, tf)
		return
	}
	addRowAVX2(&sums[0], &inverse[0], len(sums)/rowLanes, weight, tf, barely)
}

// takeRows is takeRowsScalar likewise.
func takeRows(numbers []uint16, sums, least []float64) int {
	if !cpu.X86.HasAVX2 || len(least)%rowLanes != 0 || len(sums) < len(least) || len(least) == 0 || len(numbers)*len(least) < len(sums) {
		return takeRowsScalar(numbers, sums, least)
	}
	return takeRowsAVX2(&numbers[0], &sums[0], &least[0], len(sums)/len(least), len(least)/rowLanes)
}

// takeSums is takeSumsScalar likewise.
func takeSums(numbers []uint16, taken, sums []float64, least float64) int {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasBMI1 || len(sums)%rowLanes != 0 || len(sums) == 0 || len(numbers) < len(sums) || len(taken) < len(sums) {
		return takeSumsScalar(numbers, taken, sums, least)
	}
	return takeSumsAVX2(&numbers[0], &taken[0], &sums[0], len(sums)/rowLanes, least)
}

//go:noescape
func addRowAVX2(sums *float64, inverse *float32, groups int, weight, tf, barely float32)

//go:noescape
func takeRowsAVX2(numbers *uint16, sums, least *float64, rows, groups int) int

//go:noescape
func takeSumsAVX2(numbers *uint16, taken, sums *float64, groups int, least float64) int
