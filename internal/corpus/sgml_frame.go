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
	for searched := len(docOpen); ; {
		at, opens := indexDoc(f.c.buf[searched:])
		if at >= 0 {
			return f.document(rec, searched+at, opens)
		}
		// A tag may lie across the end of what has been read.
		searched = max(searched, len(f.c.buf)-len(docClose)+1)
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

// document takes a document whose closing tag stands at end. If that is another opening
// tag, the document lost its own closing tag: it is bad, and reading goes on there.
func (f *sgmlFramer) document(rec Record, end int, opens bool) (Record, error) {
	rec.data = f.c.counted(end)
	if opens {
		return rec, &RecordError{Location: rec.loc, Problem: fmt.Sprintf("<DOC> without </DOC> before the next <DOC> on line %d", f.c.line),
			Fix: "close the document"}
	}
	f.c.pass(len(docClose))
	if len(rec.data) > f.c.max {
		return rec, tooLong(rec.loc, f.c.max)
	}
	return rec, nil
}

// indexDoc finds the next tag that opens or closes a document; -1 if there is none.
func indexDoc(b []byte) (at int, opens bool) {
	for at := 0; at < len(b); at++ {
		i := bytes.IndexByte(b[at:], '<')
		if i < 0 {
			break
		}
		at += i
		if isOpen(b[at:]) {
			return at, true
		}
		if len(b)-at >= len(docClose) && bytes.EqualFold(b[at:at+len(docClose)], docClose) {
			return at, false
		}
	}
	return -1, false
}

// isOpen tells whether b begins with <DOC> or <DOC with attributes, but not <DOCNO>.
func isOpen(b []byte) bool {
	n := len(docOpen)
	return len(b) > n && bytes.EqualFold(b[:n], docOpen) && (b[n] == '>' || spaceLen(b[n:n+1]) == 1)
}

// indexOpen finds the next tag that opens a document; -1 if there is none.
func indexOpen(b []byte) int {
	for at := 0; at < len(b); at++ {
		i := bytes.IndexByte(b[at:], '<')
		if i < 0 {
			break
		}
		if at += i; isOpen(b[at:]) {
			return at
		}
	}
	return -1
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
