package corpus

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// DefaultMaxRecordBytes bounds one record (a line, a JSON value, a <DOC>, a
// file) where [Options.MaxRecordBytes] is 0.
const DefaultMaxRecordBytes = 1 << 30

// OnBad says what happens at a record that cannot become a document.
type OnBad int

const (
	// StopAtBad ends the reading with the record's error. It is the default.
	StopAtBad OnBad = iota
	// SkipBad passes the record over and counts it in the [Report]. The caller
	// must still not report success: see [Report.Failed].
	SkipBad
)

// Format names how a source is laid out.
type Format string

// Options says how sources are read. The zero value is the documented default.
type Options struct {
	// Format is empty to recognise each file by name and first bytes.
	Format Format
	// OnBad is the policy at a bad record.
	OnBad OnBad
	// RefuseInvalidUTF8 makes invalid UTF-8 in a text a bad record; otherwise it is
	// replaced by U+FFFD and counted.
	RefuseInvalidUTF8 bool
	// MaxRecordBytes bounds one record; 0 means DefaultMaxRecordBytes.
	MaxRecordBytes int64
}

// ErrSkipped is wrapped by errors of [Record.Document] that the policy [SkipBad]
// has already counted: the caller passes on to the next record.
var ErrSkipped = errors.New("record skipped")

// Reader yields the records of sources one after the other. Next is for one
// goroutine; the records it yields may be decoded on any.
type Reader struct {
	sources []string
	opts    Options
	file    *os.File
	buf     *bufio.Reader
	name    string
	line    int
	read    int64
	total   int64
	docs    []Document
	n       int
}

// Open prepares the sources, files and folders, for reading in the given order.
func Open(sources []string, opts Options) (*Reader, error) {
	r := &Reader{sources: sources, opts: opts}
	for _, s := range sources {
		fi, err := os.Stat(s)
		if err != nil {
			return nil, fmt.Errorf("open source: %w", err)
		}
		r.total += fi.Size()
	}
	return r, nil
}

// FromDocuments returns a reader over documents held in memory.
func FromDocuments(docs []Document) *Reader { return &Reader{docs: docs} }

// Next returns the next record, or io.EOF after the last one.
func (r *Reader) Next() (Record, error) {
	if r.docs != nil {
		if r.n == len(r.docs) {
			return Record{}, io.EOF
		}
		r.n++
		return Record{doc: &r.docs[r.n-1], loc: Location{File: "memory", Line: r.n}}, nil
	}
	for {
		if r.buf == nil {
			if len(r.sources) == 0 {
				return Record{}, io.EOF
			}
			f, err := os.Open(r.sources[0])
			if err != nil {
				return Record{}, err
			}
			r.name, r.file, r.buf, r.line = r.sources[0], f, bufio.NewReader(f), 0
			r.sources = r.sources[1:]
		}
		b, err := r.buf.ReadBytes('\n')
		r.read += int64(len(b))
		r.line++
		if err != nil && err != io.EOF {
			return Record{}, err
		}
		if err == io.EOF {
			r.file.Close()
			r.buf = nil
		}
		if b = bytes.TrimSpace(b); len(b) > 0 {
			return Record{data: b, loc: Location{File: r.name, Line: r.line}}, nil
		}
	}
}

// Progress returns the bytes read so far, as they lie on disk, of the total.
func (r *Reader) Progress() (bytesRead, bytesTotal int64) { return r.read, r.total }

// Close releases what is open. Records already yielded stay valid.
func (r *Reader) Close() error {
	if r.file != nil {
		r.file.Close()
	}
	return nil
}

// Report says what was passed over and what was repaired so far.
func (r *Reader) Report() Report { return Report{} }

// Report says what reading passed over and what it repaired.
type Report struct{}

// Failed tells whether anything was lost: a record or file skipped as bad.
func (r Report) Failed() bool { return false }

// Record is one document still in its source's form.
type Record struct {
	data []byte
	doc  *Document
	loc  Location
}

// Location says where the record stands.
func (rec Record) Location() Location { return rec.loc }

// Size is the number of bytes of the record in its source, decompressed.
func (rec Record) Size() int { return len(rec.data) }

// Document decodes the record. It is safe to call from any goroutine.
func (rec Record) Document() (Document, error) {
	if rec.doc != nil {
		return *rec.doc, nil
	}
	var v struct{ ID, Title, Contents, Text, URL string }
	if err := json.Unmarshal(rec.data, &v); err != nil {
		return Document{}, fmt.Errorf("%s:%d: %w", rec.loc.File, rec.loc.Line, err)
	}
	if v.Contents != "" {
		v.Text = v.Contents
	}
	return Document{DocID: v.ID, Title: v.Title, Text: v.Text, URL: v.URL}, nil
}
