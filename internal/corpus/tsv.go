package corpus

import (
	"bytes"
	"errors"
	"fmt"
)

// tsvFramer yields the non-blank lines of a file; its first line decides the columns.
type tsvFramer struct {
	c    *cutter
	name string
}

// tsvDecoder splits a line at tabs. Quotes and backslashes are ordinary characters.
type tsvDecoder struct {
	// columns says which field each column holds, -1 for one that is not used.
	columns []field
	names   []string
}

// newTSV recognises the columns of a file and passes over its header.
func newTSV(c *cutter, name string, fields *fieldTable) (framer, decoder, error) {
	first := tsvFirstLine(c)
	if first == nil {
		return nil, nil, c.failure()
	}
	cells := bytes.Split(first, []byte{'\t'})
	loc := Location{File: name, Line: c.line}
	if d, ok := tsvHeader(cells, fields); ok {
		_, _, err := c.nextLine()
		return &tsvFramer{c, name}, d, err
	}
	switch len(cells) {
	case 2:
		return &tsvFramer{c, name}, tsvDecoder{columns: []field{fieldDocID, fieldText}}, nil
	case 3:
		return &tsvFramer{c, name}, tsvDecoder{columns: []field{fieldDocID, fieldTitle, fieldText}}, nil
	}
	return nil, nil, &RecordError{Location: loc, lost: true, Problem: fmt.Sprintf("%d columns in the first line", len(cells)),
		Fix: "expected docid, tab, text; or docid, tab, title, tab, text; or a header that names the columns"}
}

// tsvFirstLine passes over blank lines and looks at the first other one, or at as much
// of it as has been read; nil if there is none.
func tsvFirstLine(c *cutter) []byte {
	for {
		head := c.head()
		line, _, ended := bytes.Cut(head, []byte{'\n'})
		text := trimCR(bytes.TrimPrefix(line, bom))
		switch {
		case spaceLen(text) < len(text):
			c.take(len(line) - len(bytes.TrimPrefix(line, bom)))
			return text
		case !ended && !c.more():
			return nil
		case ended:
			c.pass(len(line) + 1)
		}
	}
}

// tsvHeader reads a first line of column names: it must name a docid and a text, and the
// docid first.
func tsvHeader(cells [][]byte, fields *fieldTable) (tsvDecoder, bool) {
	d := tsvDecoder{}
	var has [fieldCount]bool
	for i, cell := range cells {
		k, ok := fields.keys[string(cell)]
		if !ok || has[k.field] {
			if i == 0 {
				return d, false
			}
			d.columns = append(d.columns, -1)
		} else {
			has[k.field] = true
			d.columns = append(d.columns, k.field)
		}
		d.names = append(d.names, string(cell))
	}
	return d, has[fieldText] && d.columns[0] == fieldDocID
}

func (f *tsvFramer) next() (Record, error) {
	for {
		line, number, err := f.c.nextLine()
		rec := Record{loc: Location{File: f.name, Line: number}, data: line}
		if errors.Is(err, errTooLong) {
			return rec, tooLong(rec.loc, f.c.max)
		}
		if err != nil {
			return rec, err
		}
		if spaceLen(line) < len(line) {
			return rec, nil
		}
	}
}

// decode splits the line; the last column keeps its inner tabs.
func (d tsvDecoder) decode(rec *Record) (Document, error) {
	cells := bytes.SplitN(bytes.TrimPrefix(rec.data, bom), []byte{'\t'}, len(d.columns))
	if len(cells) < len(d.columns) {
		return Document{}, &RecordError{Location: rec.loc, Problem: fmt.Sprintf("%d columns, expected %d as in the first line", len(cells), len(d.columns)),
			Fix: "columns are separated by single tabs"}
	}
	var doc Document
	texts := [...]*string{fieldDocID: &doc.DocID, fieldTitle: &doc.Title, fieldText: &doc.Text, fieldURL: &doc.URL, fieldDate: &doc.Date}
	for i, f := range d.columns {
		if f < 0 {
			rec.src.notes.notUsed([]byte(d.names[i]), rec)
			continue
		}
		*texts[f] = string(cells[i])
	}
	return doc, nil
}
