package index

import (
	"encoding/binary"
	"io"

	"github.com/zeebo/xxh3"
)

// fileWriter writes an index file from its beginning to its end, and makes the checksums
// of the mapped part.
type fileWriter struct {
	w    io.Writer
	buf  []byte
	size int64
	// mapped is where the mapped part begins, -1 before it does.
	mapped   int64
	sums     []byte
	sections []sectionSpan
}

func newFileWriter(w io.Writer) *fileWriter {
	return &fileWriter{w: w, buf: make([]byte, 0, checkPage), mapped: -1}
}

// Write appends to the file.
func (f *fileWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), checkPage-len(f.buf))
		f.buf = append(f.buf, p[:k]...)
		p = p[k:]
		if len(f.buf) == checkPage {
			if err := f.flush(); err != nil {
				return 0, err
			}
		}
	}
	f.size += int64(n)
	return n, nil
}

// flush writes the buffer, which in the mapped part is a page or the last part of one.
func (f *fileWriter) flush() error {
	if f.mapped >= 0 && len(f.buf) > 0 {
		f.sums = binary.LittleEndian.AppendUint64(f.sums, xxh3.Hash(f.buf))
	}
	_, err := f.w.Write(f.buf)
	f.buf = f.buf[:0]
	return err
}

// end ends the section that the bytes since the last end belong to.
func (f *fileWriter) end(id sectionID) error {
	from := int64(headerBytes)
	if n := len(f.sections); n > 0 {
		from = f.sections[n-1].Offset + f.sections[n-1].Length
	}
	f.sections = append(f.sections, sectionSpan{sectionNames[id], from, f.size - from})
	if id == textSection {
		if err := f.flush(); err != nil {
			return err
		}
		f.mapped = f.size
	}
	return nil
}

// finish writes the checksums, the footer and the tail.
func (f *fileWriter) finish(foot footer) error {
	if err := f.flush(); err != nil {
		return err
	}
	f.mapped = -1
	foot.Checks = checksum(xxh3.Hash(f.sums))
	if _, err := f.Write(f.sums); err != nil {
		return err
	}
	if err := f.end(checksSection); err != nil {
		return err
	}
	foot.Sections = f.sections
	end, err := appendEnd(nil, f.size, foot)
	if err != nil {
		return err
	}
	if _, err := f.Write(end); err != nil {
		return err
	}
	return f.flush()
}
