package corpus

import (
	"bytes"
	"errors"
	"io"
)

// How much of a stream is read at once: little at first, for a folder may hold many
// small files.
const (
	firstChunk = 64 << 10
	nextChunk  = 1 << 20
)

// errTooLong says that a record exceeds the bound.
var errTooLong = errors.New("record too long")

// cutter cuts a stream into records. The bytes it gives out are never written to
// again, so records may be decoded while it reads on.
type cutter struct {
	r io.Reader
	// buf holds what has been read and not yet given out.
	buf []byte
	// err is why r gives no more, io.EOF at its end.
	err error
	// max bounds a record, in bytes.
	max int
	// line is the 1-based number of the line at buf[0].
	line int
	// started says that the first chunk has been read.
	started bool
}

func newCutter(r io.Reader, max int) *cutter { return &cutter{r: r, max: max, line: 1} }

// more reads on into a new buffer; false if the stream has ended.
func (c *cutter) more() bool {
	if c.err != nil {
		return false
	}
	size := nextChunk
	if !c.started {
		size = firstChunk
		c.started = true
	}
	if size < 2*len(c.buf) {
		// Nothing longer than the bound is ever needed.
		size = min(2*len(c.buf), max(len(c.buf), c.max)+nextChunk)
	}
	buf := make([]byte, size)
	old := copy(buf, c.buf)
	n, err := readFull(c.r, buf[old:])
	if n < size-old && err == nil {
		err = io.EOF
	}
	c.buf, c.err = buf[:old+n:old+n], err
	return n > 0
}

// readFull reads until buf is full or r has ended, which is no error here. (io.ReadFull
// would not let one tell a short file from one that is cut off.)
func readFull(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var got int
		got, err = r.Read(buf[n:])
		n += got
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// head returns the beginning of what is left, up to a chunk of it.
func (c *cutter) head() []byte {
	if len(c.buf) == 0 {
		c.more()
	}
	return c.buf
}

// take gives out the first n bytes.
func (c *cutter) take(n int) []byte {
	data := c.buf[:n:n]
	c.buf = c.buf[n:]
	return data
}

// failure is what ended the stream, nil if it simply ended.
func (c *cutter) failure() error {
	if errors.Is(c.err, io.EOF) {
		return nil
	}
	return c.err
}

// nextLine returns the next line without its end. A line longer than the bound is
// passed over and reported as errTooLong; the stream's end is io.EOF.
func (c *cutter) nextLine() (data []byte, number int, err error) {
	searched := 0
	for {
		if i := bytes.IndexByte(c.buf[searched:], '\n'); i >= 0 {
			number = c.line
			c.line++
			data = c.take(searched + i + 1)
			if len(data)-1 > c.max {
				return nil, number, errTooLong
			}
			return trimCR(data[:len(data)-1]), number, nil
		}
		searched = len(c.buf)
		if searched > c.max {
			return c.passLine()
		}
		if !c.more() {
			return c.lastLine()
		}
	}
}

// lastLine returns what stands behind the last line end.
func (c *cutter) lastLine() ([]byte, int, error) {
	if !errors.Is(c.err, io.EOF) || len(c.buf) == 0 {
		return nil, c.line, c.err
	}
	return trimCR(c.take(len(c.buf))), c.line, nil
}

// passLine drops the rest of a line that is too long without keeping it.
func (c *cutter) passLine() ([]byte, int, error) {
	number := c.line
	for {
		if i := bytes.IndexByte(c.buf, '\n'); i >= 0 {
			c.take(i + 1)
			c.line++
			return nil, number, errTooLong
		}
		c.buf = nil
		if !c.more() {
			if err := c.failure(); err != nil {
				return nil, number, err
			}
			return nil, number, errTooLong
		}
	}
}

func trimCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// pass gives out the first n bytes only to count their lines.
func (c *cutter) pass(n int) { c.counted(n) }

// counted takes n bytes and counts their line ends.
func (c *cutter) counted(n int) []byte {
	data := c.take(n)
	c.line += bytes.Count(data, []byte{'\n'})
	return data
}

// passSpace passes over white space and byte-order marks; false at the stream's end.
func (c *cutter) passSpace() bool {
	for {
		n := spaceLen(c.buf)
		if n < len(c.buf) && !startsBOM(c.buf[n:]) {
			c.pass(n)
			return true
		}
		c.pass(n)
		if bytes.HasPrefix(c.buf, bom) {
			c.take(len(bom))
			continue
		}
		if !c.more() {
			return len(c.buf) > 0
		}
	}
}

var bom = []byte("\xef\xbb\xbf")

// startsBOM tells whether b may begin with a byte-order mark.
func startsBOM(b []byte) bool {
	return len(b) < len(bom) && bytes.HasPrefix(bom, b) || bytes.HasPrefix(b, bom)
}

// spaceLen is the length of the white space that b begins with.
func spaceLen(b []byte) int {
	for i, ch := range b {
		if ch != ' ' && ch != '\t' && ch != '\n' && ch != '\r' {
			return i
		}
	}
	return len(b)
}
