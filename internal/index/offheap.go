package index

import (
	"fmt"
	"unsafe"
)

// array is a growing array of values without pointers outside the garbage collector's
// heap. The zero value is empty.
type array[T any] struct {
	s   []T
	raw []byte
}

// grow makes the array hold at least n values; new ones are zero. Slices taken before
// are no longer valid.
func (a *array[T]) grow(n int) error {
	if n <= len(a.s) {
		return nil
	}
	n = max(n, 2*len(a.s), 1024)
	var zero T
	raw, err := offheap(n * int(unsafe.Sizeof(zero)))
	if err != nil {
		return fmt.Errorf("build index: %w", err)
	}
	s := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), n)
	copy(s, a.s)
	old := a.raw
	a.s, a.raw = s, raw
	return release(old)
}

// free gives the memory back.
func (a *array[T]) free() error {
	raw := a.raw
	*a = array[T]{}
	return release(raw)
}

// bytes is the memory that the array takes.
func (a *array[T]) bytes() int64 { return int64(len(a.raw)) }

func release(raw []byte) error {
	if raw == nil {
		return nil
	}
	return freeOffheap(raw)
}
