package index

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
)

// spool holds bytes that are written now and read once later, in memory as long as they
// are few and else in a temporary file.
type spool struct {
	dir  string
	size int64
	mem  []byte
	file *os.File
	w    *bufio.Writer
}

// spoolMemory is what a spool keeps in memory.
const spoolMemory = 1 << 20

func newSpool(dir string) *spool { return &spool{dir: dir} }

func (s *spool) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	if s.w != nil {
		return s.w.Write(p)
	}
	s.mem = append(s.mem, p...)
	if len(s.mem) < spoolMemory {
		return len(p), nil
	}
	f, err := temporary(s.dir)
	if err != nil {
		return 0, err
	}
	s.file, s.w = f, bufio.NewWriterSize(f, 1<<18)
	_, err = s.w.Write(s.mem)
	s.mem = nil
	return len(p), err
}

// reader returns what was written. Nothing may be written afterwards.
func (s *spool) reader() (*bufio.Reader, error) {
	if s.file == nil {
		return bufio.NewReader(bytes.NewReader(s.mem)), nil
	}
	if err := s.w.Flush(); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	return bufio.NewReaderSize(io.NewSectionReader(s.file, 0, s.size), 1<<18), nil
}

// close gives the memory and the file back.
func (s *spool) close() {
	s.mem = nil
	if s.file != nil {
		closeTemporary(s.file)
		s.file = nil
	}
}
