package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// framer finds the records of one file. Its errors are io.EOF at the end, a
// *RecordError for a record that can be passed over, and anything else for a stream
// that cannot be read on.
type framer interface {
	next() (Record, error)
}

// newJSONFramer looks at the beginning of a file: one object a line, objects over
// several lines, or an array.
func newJSONFramer(c *cutter, name string, n *notes) (framer, error) {
	if !c.passSpace() {
		return nil, c.failure()
	}
	switch head := c.head(); {
	case head[0] == '[':
		c.pass(1)
		return &jsonValues{c: c, name: name, array: true}, nil
	case head[0] != '{':
		return nil, &RecordError{Location: Location{File: name, Line: c.line}, Column: 1, lost: true,
			Problem: "not JSON: begins with " + shorten(head[:min(len(head), 20)]), Fix: "expected one JSON object a line"}
	case overLines(head):
		return &jsonValues{c: c, name: name}, nil
	}
	return &jsonLines{c: c, name: name, notes: n}, nil
}

// overLines tells whether a file that begins with head has its objects spread over
// lines: the first line ends inside an object, but not inside a string, and the next
// goes on as an object does.
func overLines(head []byte) bool {
	first, rest, ok := bytes.Cut(head, []byte{'\n'})
	if !ok {
		return false
	}
	var b balance
	if b.scan(first) >= 0 || b.inString {
		return false
	}
	first = bytes.TrimRight(first, " \t\r")
	rest = rest[spaceLen(rest):]
	if last := first[len(first)-1]; last != '{' && last != ',' || len(rest) == 0 {
		return true
	}
	return b.depth > 1 || rest[0] == '"' || rest[0] == '}'
}

// jsonLines yields the non-blank lines of a file.
type jsonLines struct {
	c     *cutter
	name  string
	notes *notes
}

func (l *jsonLines) next() (Record, error) {
	for {
		line, number, err := l.c.nextLine()
		rec := Record{loc: Location{File: l.name, Line: number}}
		if errors.Is(err, errTooLong) {
			return rec, tooLong(rec.loc, l.c.max)
		}
		if err != nil {
			return rec, err
		}
		if bytes.HasPrefix(line, bom) {
			line = line[len(bom):]
			if number > 1 {
				l.notes.add(noteBOM, &rec)
			}
		}
		if spaceLen(line) < len(line) {
			rec.data = line
			return rec, nil
		}
	}
}

func tooLong(loc Location, max int) *RecordError {
	return &RecordError{Location: loc, Problem: fmt.Sprintf("the record is longer than %d bytes", max), Fix: "split it, or raise the bound"}
}

// jsonValues yields objects that stand one after the other, or in one array, with
// line breaks anywhere.
type jsonValues struct {
	c     *cutter
	name  string
	array bool
	// count is how many objects of the array have been found, closed that it has ended.
	count  int
	closed bool
}

func (v *jsonValues) next() (Record, error) {
	if !v.c.passSpace() {
		return v.end()
	}
	if v.array && !v.closed {
		if more, err := v.element(); !more {
			return Record{}, err
		}
	}
	loc := Location{File: v.name, Line: v.c.line}
	if v.closed || v.c.buf[0] != '{' {
		return Record{}, &RecordError{Location: loc, lost: true, Problem: shorten(v.c.buf[:1]) + " where an object is expected",
			Fix: "the file is to hold JSON objects and nothing else"}
	}
	return v.object(loc)
}

// end is what the end of the stream means.
func (v *jsonValues) end() (Record, error) {
	if err := v.c.failure(); err != nil {
		return Record{}, err
	}
	if v.array && !v.closed {
		return Record{}, &RecordError{Location: Location{File: v.name, Line: v.c.line}, lost: true,
			Problem: "the array has no end", Fix: "is the file cut off?"}
	}
	return Record{}, io.EOF
}

// element passes over the comma before an element; more is false where the array has
// ended or the comma is missing.
func (v *jsonValues) element() (more bool, err error) {
	if v.c.buf[0] == ']' {
		v.c.pass(1)
		v.closed = true
		if v.c.passSpace() {
			return true, nil
		}
		_, err := v.end()
		return false, err
	}
	v.count++
	if v.count == 1 {
		return true, nil
	}
	if v.c.buf[0] == ',' {
		v.c.pass(1)
		if v.c.passSpace() {
			return true, nil
		}
		_, err := v.end()
		return false, err
	}
	return false, &RecordError{Location: Location{File: v.name, Line: v.c.line}, lost: true,
		Problem: shorten(v.c.buf[:1]) + " where a comma or the array's end is expected"}
}

// object cuts out one object.
func (v *jsonValues) object(loc Location) (Record, error) {
	var b balance
	for searched := 0; ; {
		if n := b.scan(v.c.buf[searched:]); n >= 0 {
			rec := Record{loc: loc, data: v.c.counted(searched + n)}
			if len(rec.data) > v.c.max {
				return rec, tooLong(loc, v.c.max)
			}
			return rec, nil
		}
		if searched = len(v.c.buf); searched > v.c.max {
			err := tooLong(loc, v.c.max)
			err.lost = true
			return Record{}, err
		}
		if !v.c.more() {
			if err := v.c.failure(); err != nil {
				return Record{}, err
			}
			return Record{}, &RecordError{Location: loc, lost: true, Problem: "the object that begins here has no end",
				Fix: "is the file cut off, or a quote or brace missing?"}
		}
	}
}

// balance counts open brackets outside strings.
type balance struct {
	depth             int
	inString, escaped bool
}

// scan goes on over b and returns how many bytes of it end the value, -1 if it does not
// end there.
func (a *balance) scan(b []byte) int {
	for i, c := range b {
		switch {
		case a.escaped:
			a.escaped = false
		case a.inString:
			a.escaped = c == '\\'
			a.inString = c != '"'
		case c == '"':
			a.inString = true
		case c == '{' || c == '[':
			a.depth++
		case c == '}' || c == ']':
			if a.depth--; a.depth <= 0 {
				return i + 1
			}
		}
	}
	return -1
}
