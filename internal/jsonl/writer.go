package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Sync says when written lines are forced to disk. Each line reaches the
// operating system at once under either policy: a killed process loses nothing.
type Sync int

const (
	// SyncClose forces them in Close and Sync only: lines may be lost when the
	// machine stops.
	SyncClose Sync = iota
	// SyncLines forces every line before Append returns.
	SyncLines
)

// Writer appends lines to a file. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	f      *os.File
	policy Sync
	offset int64
	buf    bytes.Buffer
	// err is why the file can no longer be trusted to end with a whole line.
	err error
}

// Create makes a new file; one that exists is an error.
func Create(path string, policy Sync) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &Writer{f: f, policy: policy}, nil
}

// OpenAt opens a file, made if absent, to go on at offset, which is that of a
// [Tail] or 0. What stands behind the offset is cut off; a line end missing before
// it is added.
func OpenAt(path string, offset int64, policy Sync) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, policy: policy, offset: offset}
	if err := w.cut(); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("append to %s at byte %d: %w", path, offset, err)
	}
	return w, nil
}

// cut makes the file end at w.offset, with a whole line.
func (w *Writer) cut() error {
	info, err := w.f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < w.offset {
		return fmt.Errorf("the file has only %d bytes", info.Size())
	}
	if err := w.f.Truncate(w.offset); err != nil {
		return err
	}
	if _, err := w.f.Seek(w.offset, io.SeekStart); err != nil {
		return err
	}
	if w.offset == 0 {
		return nil
	}
	var last [1]byte
	if _, err := w.f.ReadAt(last[:], w.offset-1); err != nil {
		return err
	}
	if last[0] == '\n' {
		return nil
	}
	return w.write([]byte("\n"))
}

// Append writes v as one line. Characters such as < and & stay as they are. When it
// fails the file is cut back to its last whole line; if that fails too, every
// later call returns the error.
func (w *Writer) Append(v any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	w.buf.Reset()
	enc := json.NewEncoder(&w.buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("append to %s: %w", w.f.Name(), err)
	}
	if err := w.write(w.buf.Bytes()); err != nil {
		return fmt.Errorf("append to %s: %w", w.f.Name(), err)
	}
	return nil
}

// write puts a whole line at the end of the file, or leaves the file as it was.
func (w *Writer) write(line []byte) error {
	_, err := w.f.Write(line)
	if err == nil && w.policy == SyncLines {
		err = w.f.Sync()
	}
	if err == nil {
		w.offset += int64(len(line))
		return nil
	}
	if undo := w.undo(); undo != nil {
		w.err = errors.Join(err, fmt.Errorf("cut the unfinished line off: %w", undo))
		return w.err
	}
	return err
}

func (w *Writer) undo() error {
	if err := w.f.Truncate(w.offset); err != nil {
		return err
	}
	_, err := w.f.Seek(w.offset, io.SeekStart)
	return err
}

// Close forces all lines to disk and closes the file.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.f.Sync(), w.f.Close())
}
