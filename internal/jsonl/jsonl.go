// Package jsonl appends to and reads files of one JSON value a line.
//
// A line is written with one system call, so a killed process leaves at most
// one torn line, the last. The reader tells a torn last line from a damaged
// file: the first is reported in [Tail] with the offset to go on from, the second
// is an error with file and line.
//
//	tail, err := jsonl.Read(path, 0, func(l jsonl.Line) error {
//		var rec Record
//		if err := l.Decode(&rec); err != nil {
//			return err
//		}
//		…
//	})
//	w, err := jsonl.OpenAt(path, tail.Offset, jsonl.SyncLines) // cuts a torn line off
package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// DefaultMaxLine bounds a line, in bytes, where Read is given 0.
const DefaultMaxLine = 256 << 20

// Line is one non-blank line. Data is valid until the callback returns.
type Line struct {
	// File is the path or name given to Read.
	File string
	// Number counts from 1; Offset is that of the line's first byte.
	Number int
	Offset int64
	// Data is without the line end and without a byte-order mark.
	Data []byte
}

// Decode unmarshals the line; its errors name file, line and column.
func (l Line) Decode(v any) error {
	if err := json.Unmarshal(l.Data, v); err != nil {
		return l.errorf("%s%w", column(err), err)
	}
	return nil
}

// column says where in the line a decoding error stands, as "column N: ".
func column(err error) string {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("column %d: ", syntax.Offset)
	}
	var mistype *json.UnmarshalTypeError
	if errors.As(err, &mistype) {
		return fmt.Sprintf("column %d: ", mistype.Offset)
	}
	return ""
}

func (l Line) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", l.File, l.Number, fmt.Errorf(format, args...))
}

// Tail says how a file ends.
type Tail struct {
	// Offset is where the next line belongs: the end of the last whole line.
	Offset int64
	// Lines is the number of whole lines, blank ones included.
	Lines int
	// Torn is the number of bytes behind Offset: an unfinished last line.
	Torn int64
	// Unended says that the last whole line lacks its line end.
	Unended bool
}

// ErrTooLong is wrapped by Read when a line is longer than allowed.
var ErrTooLong = errors.New("line too long")

// Read calls each for every non-blank line of the file. A last line without line
// end that is no complete JSON object or array is taken as torn, reported in Tail and
// not given to each. Any other line that is not JSON is an error. maxLine is the
// longest line allowed, in bytes, 0 for DefaultMaxLine.
func Read(path string, maxLine int, each func(Line) error) (Tail, error) {
	f, err := os.Open(path)
	if err != nil {
		return Tail{}, err
	}
	defer f.Close()
	return ReadFrom(f, path, maxLine, each)
}

// ReadFrom is Read over an open stream that errors call name.
func ReadFrom(r io.Reader, name string, maxLine int, each func(Line) error) (Tail, error) {
	if maxLine <= 0 {
		maxLine = DefaultMaxLine
	}
	lr := lineReader{r: bufio.NewReaderSize(r, 64<<10), max: maxLine}
	var tail Tail
	for {
		raw, err := lr.next()
		if len(raw) == 0 && errors.Is(err, io.EOF) {
			return tail, nil
		}
		line := Line{File: name, Number: tail.Lines + 1, Offset: tail.Offset, Data: clean(raw)}
		ended := err == nil
		switch {
		case errors.Is(err, ErrTooLong):
			return tail, line.errorf("%w: more than %d bytes", err, maxLine)
		case err != nil && !errors.Is(err, io.EOF):
			return tail, line.errorf("%w", err)
		case !ended && !whole(line.Data):
			tail.Torn = int64(len(raw))
			return tail, nil
		}
		if len(line.Data) > 0 {
			if err := check(line); err != nil {
				return tail, err
			}
			if err := each(line); err != nil {
				return tail, err
			}
		}
		tail.Offset += int64(len(raw))
		tail.Lines++
		tail.Unended = !ended
	}
}

// clean strips blanks around the value and a byte-order mark before it.
func clean(raw []byte) []byte {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	return bytes.Trim(raw, " \t\r\n")
}

// whole tells whether an unended last line is complete all the same. Objects and
// arrays show their own end; of a number one cannot know.
func whole(data []byte) bool {
	return len(data) > 0 && (data[0] == '{' || data[0] == '[') && json.Valid(data)
}

func check(l Line) error {
	if json.Valid(l.Data) {
		return nil
	}
	var v json.RawMessage
	return l.Decode(&v)
}

// lineReader reads lines of bounded length with their ends.
type lineReader struct {
	r    *bufio.Reader
	max  int
	long []byte
}

// next returns the line, valid until the next call; at the end io.EOF comes with
// what is left.
func (lr *lineReader) next() ([]byte, error) {
	piece, err := lr.r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		if len(piece) > lr.max {
			return nil, ErrTooLong
		}
		return piece, err
	}
	lr.long = lr.long[:0]
	for {
		if len(lr.long)+len(piece) > lr.max {
			return nil, ErrTooLong
		}
		lr.long = append(lr.long, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return lr.long, err
		}
		piece, err = lr.r.ReadSlice('\n')
	}
}
