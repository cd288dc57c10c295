package corpus

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Record is one document still in its source's form.
type Record struct {
	data []byte
	loc  Location
	// seq numbers the records of a reader.
	seq int64
	// docid is the path of a document that is a file.
	docid string
	// doc is the document itself where it was made elsewhere.
	doc *Document
	src *source
}

// source is what the records of one file share.
type source struct {
	decoder decoder
	opts    *Options
	notes   *notes
}

// decoder turns a record of its format into a document whose strings may still hold
// invalid UTF-8, NUL characters and foreign line ends. Its errors are *RecordError.
// It is safe for concurrent use.
type decoder interface {
	decode(rec *Record) (Document, error)
}

// Location says where the record stands.
func (rec Record) Location() Location { return rec.loc }

// Size is the number of bytes of the record in its source, decompressed.
func (rec Record) Size() int {
	if rec.doc != nil {
		return len(rec.doc.Title) + len(rec.doc.Text)
	}
	return len(rec.data)
}

// Document decodes the record. It is safe to call from any goroutine, and meant to be
// called once: the [Report] counts what it finds. An error names file, line, field and
// fix; under SkipBad it wraps ErrSkipped.
func (rec Record) Document() (Document, error) {
	doc, err := rec.src.decoder.decode(&rec)
	if err == nil {
		err = rec.finish(&doc)
	}
	if err == nil {
		return doc, nil
	}
	if rec.src.opts.OnBad == SkipBad {
		rec.src.notes.skip(rec.seq, err)
		return Document{}, fmt.Errorf("%w: %w", ErrSkipped, err)
	}
	return Document{}, err
}

// finish checks the docid and makes the other strings what Document promises.
func (rec *Record) finish(doc *Document) error {
	if err := rec.checkDocID(doc.DocID); err != nil {
		return err
	}
	for _, s := range [...]*string{&doc.Title, &doc.Text, &doc.URL, &doc.Date} {
		if err := rec.repair(s); err != nil {
			return err
		}
	}
	for _, s := range [...]*string{&doc.Title, &doc.URL, &doc.Date} {
		*s = strings.ReplaceAll(*s, "\n", " ")
	}
	if strings.TrimSpace(doc.Text) == "" && strings.TrimSpace(doc.Title) == "" {
		rec.src.notes.add(noteEmpty, rec)
	}
	return nil
}

// checkDocID refuses what cannot be an identifier: it is never altered.
func (rec *Record) checkDocID(id string) error {
	switch {
	case id == "":
		return &RecordError{Location: rec.loc, Field: "docid", Problem: "the id is empty", Fix: "give every document an id"}
	case !utf8.ValidString(id):
		return &RecordError{Location: rec.loc, Field: "docid", Problem: "the id " + shorten(id) + " is not valid UTF-8",
			Fix: "ids are kept byte for byte: convert the source to UTF-8"}
	case strings.IndexByte(id, 0) >= 0:
		return &RecordError{Location: rec.loc, Field: "docid", Problem: "the id " + shorten(id) + " holds a NUL character",
			Fix: "ids are kept byte for byte: remove it from the source"}
	}
	return nil
}

// repair makes a string valid UTF-8 without NUL, its line ends "\n".
func (rec *Record) repair(s *string) error {
	if !utf8.ValidString(*s) {
		if rec.src.opts.RefuseInvalidUTF8 {
			return rec.invalidUTF8()
		}
		rec.src.notes.add(noteInvalidUTF8, rec)
		*s = replaceInvalid(*s)
	}
	if strings.IndexByte(*s, 0) >= 0 {
		rec.src.notes.add(noteNUL, rec)
		*s = strings.ReplaceAll(*s, "\x00", " ")
	}
	if strings.IndexByte(*s, '\r') >= 0 {
		*s = lineEnds.Replace(*s)
	}
	return nil
}

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// invalidUTF8 is the refusal, with the place of the first invalid byte.
func (rec *Record) invalidUTF8() error {
	err := &RecordError{Location: rec.loc, Problem: "invalid UTF-8", Fix: "convert the source to UTF-8, or let invalid bytes be replaced"}
	for at := 0; at < len(rec.data); {
		r, size := utf8.DecodeRune(rec.data[at:])
		if r == utf8.RuneError && size == 1 {
			err.Problem = fmt.Sprintf("invalid UTF-8: byte 0x%02x", rec.data[at])
			rec.place(err, at)
			break
		}
		at += size
	}
	return err
}

// place enters line and column of the byte at offset into err.
func (rec *Record) place(err *RecordError, offset int) {
	before := rec.data[:min(offset, len(rec.data))]
	if n := bytes.Count(before, []byte{'\n'}); n > 0 {
		err.Line += n
		before = before[bytes.LastIndexByte(before, '\n')+1:]
	}
	if err.Line == 0 {
		err.Line = 1
	}
	err.Column = len(before) + 1
}

// replaceInvalid puts one U+FFFD for each byte that is no part of a valid sequence.
func replaceInvalid(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	for s != "" {
		valid := validPrefix(s)
		b.WriteString(s[:valid])
		if s = s[valid:]; s != "" {
			b.WriteRune(utf8.RuneError)
			s = s[1:]
		}
	}
	return b.String()
}

// validPrefix is the length of the longest prefix that is valid UTF-8.
func validPrefix(s string) int {
	at := 0
	for at < len(s) {
		if s[at] < utf8.RuneSelf {
			at++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}
