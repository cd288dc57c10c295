//go:build !unix

package index

import (
	"io"
	"os"
)

// mapping is a part of a file in memory: on this system, read.
type mapping struct{ data []byte }

func mapFile(f *os.File, offset, n int64) (mapping, error) {
	data := make([]byte, n)
	_, err := io.ReadFull(io.NewSectionReader(f, offset, n), data)
	return mapping{data}, err
}

func (m *mapping) unmap() error {
	*m = mapping{}
	return nil
}

func offheap(n int) ([]byte, error) { return make([]byte, n), nil }

func freeOffheap([]byte) error { return nil }
