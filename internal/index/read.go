package index

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

func (ix *Index) check(ord Ordinal) error {
	if int64(ord) >= ix.stats.Documents {
		return fmt.Errorf("ordinal %d is out of range: the index holds %d documents", ord, ix.stats.Documents)
	}
	return nil
}

// Lookup returns the document with that docid. An index that is corrupt where the docid
// should stand does not hold it; Verify tells why.
func (ix *Index) Lookup(docid string) (Ordinal, bool) {
	ord, ok, err := ix.documents.lookup(docid)
	return ord, ok && err == nil
}

// DocID returns the docid of a document, "" if there is no such ordinal.
func (ix *Index) DocID(ord Ordinal) string {
	if ix.check(ord) != nil {
		return ""
	}
	id, err := ix.documents.docid(ord)
	if err != nil {
		return ""
	}
	return string(id)
}

// Title returns the title and the URL of a document, more cheaply than Meta.
func (ix *Index) Title(ord Ordinal) (title, url string, err error) {
	if err := ix.check(ord); err != nil {
		return "", "", err
	}
	p, err := ix.documents.parsed(ord)
	return string(p.title), string(p.url), err
}

// Meta describes a document.
func (ix *Index) Meta(ord Ordinal) (Meta, error) {
	if err := ix.check(ord); err != nil {
		return Meta{}, err
	}
	p, err := ix.documents.parsed(ord)
	if err != nil {
		return Meta{}, err
	}
	return Meta{DocID: string(p.docid), Title: string(p.title), URL: string(p.url), Date: string(p.date),
		Lines: int(p.extent.newlines) + 1, Bytes: p.extent.bytes, Tokens: int(p.extent.tokens)}, nil
}

// Contents returns the whole text of a document.
func (ix *Index) Contents(ord Ordinal) (string, error) {
	e, err := ix.extent(ord)
	if err != nil {
		return "", err
	}
	return ix.text.read(e.start, e.start+e.bytes)
}

// Lines returns up to limit lines of a document, without their line ends, beginning
// with the 1-based line offset; none if offset is past the end. Joined by "\n", all
// lines of a document are its contents.
func (ix *Index) Lines(ord Ordinal, offset, limit int) ([]string, error) {
	lines, _, err := ix.LinesWithin(ord, offset, limit, math.MaxInt64)
	return lines, err
}

// LinesWithin is Lines for at most so many bytes, at least 1: it returns as many lines as
// fit. Where not even the first does, it returns the beginning of that line, which ends with
// a character, and cut.
func (ix *Index) LinesWithin(ord Ordinal, offset, limit int, most int64) (lines []string, cut bool, err error) {
	if offset < 1 || limit < 1 || most < 1 {
		return nil, false, fmt.Errorf("offset=%d limit=%d bytes=%d is out of range: each must be at least 1", offset, limit, most)
	}
	e, err := ix.extent(ord)
	if err != nil || int64(offset) > e.newlines+1 {
		return nil, false, err
	}
	last := e.newlines + 1
	if int64(limit) < last-int64(offset)+1 {
		last = int64(offset) + int64(limit) - 1
	}
	from, err := ix.lineStart(e, int64(offset))
	if err != nil {
		return nil, false, err
	}
	to, err := ix.lineEnd(e, last)
	if err != nil {
		return nil, false, err
	}
	if to-from > most {
		text, err := ix.text.read(from, from+most+1) // a line end may follow
		if err != nil {
			return nil, false, err
		}
		if end := strings.LastIndexByte(text, '\n'); end >= 0 {
			return strings.Split(text[:end], "\n"), false, nil
		}
		return []string{wholeCharacters(text[:most])}, true, nil
	}
	text, err := ix.text.read(from, to)
	if err != nil {
		return nil, false, err
	}
	lines = strings.Split(text, "\n")
	if int64(len(lines)) != last-int64(offset)+1 {
		return nil, false, ix.text.table.corrupt(fmt.Sprintf("lines %d to %d of document %d are %d lines", offset, last, ord, len(lines)))
	}
	return lines, false, nil
}

// wholeCharacters cuts the beginning of a character off the end of text that goes on, unless
// that is all there is.
func wholeCharacters(text string) string {
	for n := 1; n < min(utf8.UTFMax, len(text)); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// LineBytes returns up to limit bytes of a line, beginning with byte from, and the
// length of the whole line; it decodes only what it returns. It is for lines that are
// too long to be read whole.
func (ix *Index) LineBytes(ord Ordinal, line int, from, limit int64) (text string, length int64, err error) {
	if from < 0 || limit < 0 {
		return "", 0, fmt.Errorf("from=%d limit=%d is out of range: neither may be negative", from, limit)
	}
	e, err := ix.extent(ord)
	if err != nil {
		return "", 0, err
	}
	if line < 1 || int64(line) > e.newlines+1 {
		return "", 0, fmt.Errorf("line %d is out of range: document %d has %d lines", line, ord, e.newlines+1)
	}
	start, err := ix.lineStart(e, int64(line))
	if err != nil {
		return "", 0, err
	}
	end, err := ix.lineEnd(e, int64(line))
	if err != nil {
		return "", 0, err
	}
	length = end - start
	from = min(from, length)
	text, err = ix.text.read(start+from, start+from+min(limit, length-from))
	return text, length, err
}

// extent returns where the text of a document is, which lies within the text of all.
func (ix *Index) extent(ord Ordinal) (extent, error) {
	if err := ix.check(ord); err != nil {
		return extent{}, err
	}
	e, err := ix.documents.extent(ord)
	if err == nil && (e.start < 0 || e.startNewlines < 0 || e.start+e.bytes < e.start || e.start+e.bytes > ix.text.total) {
		err = ix.documents.records.corrupt(fmt.Sprintf("document %d ends behind the text", ord))
	}
	return e, err
}

// lineStart returns the position of the first byte of a line that exists.
func (ix *Index) lineStart(e extent, line int64) (int64, error) {
	if line == 1 {
		return e.start, nil
	}
	return ix.within(e, e.startNewlines+line-2, 0)
}

// lineEnd returns the position after the last byte of a line that exists.
func (ix *Index) lineEnd(e extent, line int64) (int64, error) {
	if line == e.newlines+1 {
		return e.start + e.bytes, nil
	}
	return ix.within(e, e.startNewlines+line-1, 1)
}

// within returns the position back bytes before the end of the line end that has n line
// ends before it.
func (ix *Index) within(e extent, n, back int64) (int64, error) {
	at, err := ix.text.newline(n, e.start+e.bytes)
	if err != nil {
		return 0, err
	}
	if at -= back; at < e.start || at > e.start+e.bytes {
		return 0, ix.text.table.corrupt(fmt.Sprintf("line end %d lies outside its document", n))
	}
	return at, nil
}
