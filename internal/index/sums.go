package index

import (
	"math"
	"unsafe"
)

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
