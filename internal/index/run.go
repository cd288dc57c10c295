package index

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// A run is a file of entries sorted by term: the term and its postings in order of the
// slots, each a number of bytes and the bytes.

func writeRunEntry(w *bufio.Writer, term, postings []byte) error {
	var head [binary.MaxVarintLen64]byte
	for _, part := range [][]byte{term, postings} {
		if _, err := w.Write(binary.AppendUvarint(head[:0], uint64(len(part)))); err != nil {
			return err
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// runReader reads the entries of a run.
type runReader struct {
	r    *bufio.Reader
	term []byte
	// left is the length of the postings of term, which have not been read yet.
	left int
	done bool
}

func newRunReader(f *os.File, buffer int) *runReader {
	return &runReader{r: bufio.NewReaderSize(io.NewSectionReader(f, 0, math.MaxInt64), buffer)}
}

// next goes to the next term; the postings of the one before must have been read.
func (r *runReader) next() error {
	n, err := binary.ReadUvarint(r.r)
	if errors.Is(err, io.EOF) {
		r.done = true
		return nil
	}
	if err != nil || n > maxTermBytes {
		return fmt.Errorf("read run: bad term of %d bytes: %w", n, err)
	}
	r.term = append(r.term[:0], make([]byte, n)...)
	if _, err := io.ReadFull(r.r, r.term); err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	n, err = binary.ReadUvarint(r.r)
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	r.left = int(n)
	return nil
}

// postings appends the postings of the term.
func (r *runReader) postings(b []byte) ([]byte, error) {
	from := len(b)
	b = append(b, make([]byte, r.left)...)
	if _, err := io.ReadFull(r.r, b[from:]); err != nil {
		return b, fmt.Errorf("read run: %w", err)
	}
	return b, nil
}

// decodeRun appends the postings of one entry to l; norms are by slot. Postings that are not
// placed have no places whatever the norm.
func decodeRun(b []byte, l *list, norms []byte, placed bool) error {
	slot := uint32(0)
	r := numbers{b: b}
	for len(r.b) > 0 {
		v := r.next()
		tf := uint64(1)
		if v&1 == 0 {
			tf = r.next()
		}
		slot += uint32(v >> 1)
		if r.bad || int(slot) >= len(norms) {
			return fmt.Errorf("read run: bad posting")
		}
		places := byte(0)
		if placed && hasPlaces(norms[slot]) {
			if len(r.b) == 0 {
				return fmt.Errorf("read run: places are missing")
			}
			places, r.b = r.b[0], r.b[1:]
		}
		l.append(slot, uint32(tf), places)
	}
	return nil
}
