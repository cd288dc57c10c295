package corpus

import (
	"bytes"
	"io"
	"strings"
)

// pageKind is how a file that is a document is read.
type pageKind int

const (
	pageText pageKind = iota
	pageMarkdown
	pageHTML
)

// pageFramer yields the whole file as one record.
type pageFramer struct {
	c           *cutter
	name, docid string
	done        bool
}

func (f *pageFramer) next() (Record, error) {
	if f.done {
		return Record{}, io.EOF
	}
	f.done = true
	rec := Record{loc: Location{File: f.name}, docid: f.docid}
	for f.c.more() {
		if len(f.c.buf) > f.c.max {
			return rec, tooLong(rec.loc, f.c.max)
		}
	}
	if err := f.c.failure(); err != nil {
		return rec, err
	}
	rec.data = bytes.TrimPrefix(f.c.take(len(f.c.buf)), bom)
	return rec, nil
}

// pageDecoder turns a file into a document.
type pageDecoder struct{ kind pageKind }

func (d pageDecoder) decode(rec *Record) (Document, error) {
	var doc Document
	switch d.kind {
	case pageHTML:
		data, converted := toUTF8(rec.data)
		if converted {
			rec.src.notes.add(noteCharset, rec)
		}
		doc = htmlPage(data)
	case pageMarkdown:
		doc = markdownPage(string(rec.data))
	default:
		doc = Document{Text: string(rec.data)}
	}
	doc.DocID = rec.docid
	doc.Text = strings.TrimRight(doc.Text, "\r\n")
	return doc, nil
}

// binaryPrefix is how many bytes of a file are looked at to tell text from the rest.
const binaryPrefix = 8 << 10

// isBinary tells whether a file that begins with head is no text: it holds a NUL
// character or begins as a PDF file does.
func isBinary(head []byte) bool {
	head = head[:min(len(head), binaryPrefix)]
	return bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte("%PDF-"))
}
