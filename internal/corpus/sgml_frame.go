package corpus

import (
	"bytes"
	"fmt"
	"io"
)

var (
	docOpen  = []byte("<DOC")
	docClose = []byte("</DOC>")
)

// sgmlFramer yields what stands between <DOC> and </DOC>, the opening tag included.
type sgmlFramer struct {
	c     *cutter
	name  string
	notes *notes
}

func (f *sgmlFramer) next() (Record, error) {
	if found, err := f.findOpen(); !found {
		return Record{}, err
	}
	rec := Record{loc: Location{File: f.name, Line: f.c.line}}
	for searched := 0; ; {
		end := indexFold(f.c.buf[searched:], docClose)
		if end >= 0 {
			return f.document(rec, searched+end)
		}
		// The closing tag may lie across the end of what has been read.
		searched = max(0, len(f.c.buf)-len(docClose)+1)
		if searched > f.c.max {
			err := tooLong(rec.loc, f.c.max)
			err.lost = true
			return rec, err
		}
		if !f.c.more() {
			if err := f.c.failure(); err != nil {
				return rec, err
			}
			return rec, &RecordError{Location: rec.loc, lost: true, Problem: "<DOC> without </DOC>", Fix: "is the file cut off?"}
		}
	}
}

// findOpen passes over everything before the next opening tag; found is false at the
// end of the file.
func (f *sgmlFramer) findOpen() (found bool, err error) {
	for {
		i := indexOpen(f.c.buf)
		n := i
		if i < 0 {
			n = max(0, len(f.c.buf)-len(docOpen))
		}
		f.outside(n)
		if i >= 0 {
			return true, nil
		}
		if !f.c.more() {
			f.outside(len(f.c.buf))
			if err := f.c.failure(); err != nil {
				return false, err
			}
			return false, io.EOF
		}
	}
}

// outside passes over text between documents.
func (f *sgmlFramer) outside(n int) {
	loc := Location{File: f.name, Line: f.c.line}
	if data := f.c.counted(n); len(bytes.TrimSpace(bytes.TrimPrefix(data, bom))) > 0 {
		f.notes.add(noteOutside, &Record{loc: loc})
	}
}

// document takes a document whose closing tag stands at end. One that holds another
// opening tag lost its own closing tag: it is bad, and reading goes on at the other.
func (f *sgmlFramer) document(rec Record, end int) (Record, error) {
	if inner := indexOpen(f.c.buf[1:end]); inner >= 0 {
		f.c.pass(1 + inner)
		return rec, &RecordError{Location: rec.loc, Problem: fmt.Sprintf("<DOC> without </DOC> before the next <DOC> on line %d", f.c.line),
			Fix: "close the document"}
	}
	rec.data = f.c.counted(end)
	f.c.pass(len(docClose))
	if len(rec.data) > f.c.max {
		return rec, tooLong(rec.loc, f.c.max)
	}
	return rec, nil
}

// indexOpen finds <DOC> or <DOC with attributes, but not <DOCNO>; -1 if absent.
func indexOpen(b []byte) int {
	for at := 0; ; {
		i := indexFold(b[at:], docOpen)
		if i < 0 {
			return -1
		}
		at += i
		if next := at + len(docOpen); next < len(b) && (b[next] == '>' || spaceLen(b[next:next+1]) == 1) {
			return at
		}
		at++
	}
}

// indexFold finds a tag whatever the case of its letters.
func indexFold(b, tag []byte) int {
	for at := 0; ; at++ {
		i := bytes.IndexByte(b[at:], tag[0])
		if i < 0 {
			return -1
		}
		at += i
		if len(b)-at < len(tag) {
			return -1
		}
		if bytes.EqualFold(b[at:at+len(tag)], tag) {
			return at
		}
	}
}
