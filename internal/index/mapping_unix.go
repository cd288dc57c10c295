//go:build unix

package index

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapping is a part of a file in memory.
type mapping struct {
	data []byte
	all  []byte
}

// mapFile maps n bytes of f from offset on.
func mapFile(f *os.File, offset, n int64) (mapping, error) {
	if n == 0 {
		return mapping{}, nil
	}
	lead := offset % int64(os.Getpagesize())
	all, err := unix.Mmap(int(f.Fd()), offset-lead, int(n+lead), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return mapping{}, os.NewSyscallError("mmap", err)
	}
	return mapping{data: all[lead:], all: all}, nil
}

func (m *mapping) unmap() error {
	if m.all == nil {
		return nil
	}
	err := unix.Munmap(m.all)
	*m = mapping{}
	return os.NewSyscallError("munmap", err)
}

// offheap returns n zero bytes outside the garbage collector's heap, which would grow to
// twice their size. Memory that is never touched costs nothing.
func offheap(n int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err == nil {
		hugePages(b)
	}
	return b, os.NewSyscallError("mmap", err)
}

func freeOffheap(b []byte) error { return os.NewSyscallError("munmap", unix.Munmap(b)) }
