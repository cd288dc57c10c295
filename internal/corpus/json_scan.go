package corpus

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds how deep values may nest, as encoding/json does.
const maxDepth = 10000

// scanner reads one JSON object. It accepts what encoding/json accepts and control
// characters inside strings besides; a test compares the two. Texts are long and seldom
// escaped, so strings are passed over eight bytes at a time.
type scanner struct {
	data []byte
	pos  int
}

// value is where a value stands in the scanner's data, without the quotes if it is a
// string.
type value struct {
	start, end int
	kind       valueKind
	// escaped says that the string holds a backslash, control that it holds raw control
	// characters.
	escaped, control bool
}

type valueKind byte

const (
	absent valueKind = iota
	jsonString
	jsonNumber
	jsonBool
	jsonNull
	jsonObject
	jsonArray
)

// String names the kind as messages do.
func (k valueKind) String() string {
	return [...]string{"nothing", "a string", "a number", "true or false", "null", "an object", "an array"}[k]
}

// syntaxError is what is wrong at a byte offset of the data.
type syntaxError struct {
	offset       int
	problem, fix string
}

func (e *syntaxError) Error() string { return e.problem }

func (s *scanner) fail(offset int, format string, args ...any) error {
	return &syntaxError{offset: offset, problem: fmt.Sprintf(format, args...)}
}

// unexpected says what stands at the position instead of what was expected.
func (s *scanner) unexpected(expected string) error {
	if s.pos >= len(s.data) {
		return &syntaxError{offset: s.pos, problem: "the object ends early, expected " + expected,
			fix: "is the file cut off, or the object spread over lines?"}
	}
	r, size := utf8.DecodeRune(s.data[s.pos:])
	if r == utf8.RuneError && size == 1 {
		return s.fail(s.pos, "byte 0x%02x, expected %s", s.data[s.pos], expected)
	}
	return s.fail(s.pos, "%q, expected %s", r, expected)
}

// space passes over white space.
func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek is the next byte, 0 at the end.
func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// expect passes over one byte.
func (s *scanner) expect(c byte, name string) error {
	if s.peek() != c {
		return s.unexpected(name)
	}
	s.pos++
	return nil
}

// key reads a key, the colon behind it and the white space around both.
func (s *scanner) key() (value, error) {
	s.space()
	if s.peek() != '"' {
		return value{}, s.unexpected("a key in quotes")
	}
	k, err := s.str()
	if err != nil {
		return value{}, err
	}
	s.space()
	if err := s.expect(':', "a colon after the key"); err != nil {
		return value{}, err
	}
	s.space()
	return k, nil
}

// value reads any value, checking its syntax.
func (s *scanner) value() (value, error) {
	start := s.pos
	switch s.peek() {
	case '"':
		return s.str()
	case '{':
		err := s.nested()
		return value{start: start, end: s.pos, kind: jsonObject}, err
	case '[':
		err := s.nested()
		return value{start: start, end: s.pos, kind: jsonArray}, err
	}
	return s.scalar()
}

// scalar reads a number, true, false or null.
func (s *scanner) scalar() (value, error) {
	start := s.pos
	switch c := s.peek(); {
	case c == 't':
		return s.literal("true", jsonBool)
	case c == 'f':
		return s.literal("false", jsonBool)
	case c == 'n':
		return s.literal("null", jsonNull)
	case c == '-' || isDigit(c):
		err := s.number()
		return value{start: start, end: s.pos, kind: jsonNumber}, err
	}
	return value{}, s.unexpected("a value")
}

func (s *scanner) literal(word string, kind valueKind) (value, error) {
	start := s.pos
	for i := range len(word) {
		if s.peek() != word[i] {
			return value{}, s.unexpected("the word " + word)
		}
		s.pos++
	}
	return value{start: start, end: s.pos, kind: kind}, nil
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number passes over a number of the JSON grammar.
func (s *scanner) number() error {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.peek() == '.' {
		s.pos++
		if err := s.digits(); err != nil {
			return err
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.pos++
		if c := s.peek(); c == '+' || c == '-' {
			s.pos++
		}
		return s.digits()
	}
	return nil
}

func (s *scanner) digits() error {
	if !isDigit(s.peek()) {
		return s.unexpected("a digit")
	}
	for isDigit(s.peek()) {
		s.pos++
	}
	return nil
}

// nested passes over an object or array, without recursion: how deep foreign data
// nests must not decide how much stack is used.
func (s *scanner) nested() error {
	open := make([]byte, 0, 64)
	for {
		if c := s.peek(); c == '{' || c == '[' {
			if len(open) == maxDepth {
				return s.fail(s.pos, "values nest deeper than %d", maxDepth)
			}
			open = append(open, c)
			s.pos++
			s.space()
			if s.peek() != c+2 {
				if err := s.member(c); err != nil {
					return err
				}
				continue
			}
		} else if _, err := s.value(); err != nil {
			return err
		}
		done, err := s.close(&open)
		if done || err != nil {
			return err
		}
	}
}

// member reads what stands before a value inside an object or array.
func (s *scanner) member(open byte) error {
	if open == '{' {
		_, err := s.key()
		return err
	}
	s.space()
	return nil
}

// close passes over the closing brackets behind a value and the comma before the
// next one; done when the outermost is closed. ('{'+2 is '}', '['+2 is ']'.)
func (s *scanner) close(open *[]byte) (done bool, err error) {
	for {
		last := len(*open) - 1
		if last < 0 {
			return true, nil
		}
		s.space()
		switch c := s.peek(); c {
		case (*open)[last] + 2:
			s.pos++
			*open = (*open)[:last]
		case ',':
			s.pos++
			return false, s.member((*open)[last])
		default:
			return false, s.unexpected("a comma or a closing bracket")
		}
	}
}

// Masks over eight bytes at once.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the first byte of w that is a quote, a backslash or a control
// character. Bytes behind the first may be marked wrongly.
func special(w uint64) uint64 {
	control := w - ones*0x20
	quote := (w ^ ones*'"') - ones
	slash := (w ^ ones*'\\') - ones
	return (control | quote | slash) & ^w & highs
}

// str reads a string from its opening quote to its closing one.
func (s *scanner) str() (value, error) {
	data, i := s.data, s.pos+1
	v := value{start: i, kind: jsonString}
	for {
		for i+8 <= len(data) {
			if m := special(binary.LittleEndian.Uint64(data[i:])); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i >= len(data) {
			return v, &syntaxError{offset: v.start - 1, problem: "the string that begins here has no end", fix: "is the file cut off?"}
		}
		switch c := data[i]; {
		case c == '"':
			v.end, s.pos = i, i+1
			return v, nil
		case c == '\\':
			n, err := s.escape(i)
			if err != nil {
				return v, err
			}
			v.escaped = true
			i += n
		case c == '\n':
			return v, s.fail(i, "line break inside a string: written \\n in JSON")
		case c < 0x20:
			v.control = true
			i++
		default:
			i++
		}
	}
}

// escape checks the escape at offset i and returns its length.
func (s *scanner) escape(i int) (int, error) {
	if i+1 >= len(s.data) {
		return 0, s.fail(i, "the string ends inside an escape")
	}
	switch c := s.data[i+1]; c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
		if i+6 > len(s.data) || hex4(s.data[i+2:]) < 0 {
			return 0, s.fail(i, "\\u without four hexadecimal digits")
		}
		return 6, nil
	}
	r, _ := utf8.DecodeRune(s.data[i+1:])
	return 0, &syntaxError{offset: i, problem: fmt.Sprintf("\\%c is no escape", r), fix: `write a backslash as \\`}
}

// hex4 reads four hexadecimal digits, -1 if they are none.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case isDigit(c):
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// unquote returns the text of a string value that str has accepted and whether half
// a surrogate pair had to be replaced by U+FFFD.
func (s *scanner) unquote(v value) (text string, halfSurrogate bool) {
	raw := s.data[v.start:v.end]
	if !v.escaped {
		return string(raw), false
	}
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); {
		j := nextSlash(raw, i)
		b.Write(raw[i:j])
		if j == len(raw) {
			break
		}
		r, n := unescape(raw[j:])
		if r == utf8.RuneError && n < 0 {
			halfSurrogate, n = true, -n
		}
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
		} else {
			b.WriteRune(r)
		}
		i = j + n
	}
	return b.String(), halfSurrogate
}

// nextSlash is the offset of the next backslash at or behind i, len(raw) if none.
func nextSlash(raw []byte, i int) int {
	for ; i+8 <= len(raw); i += 8 {
		x := binary.LittleEndian.Uint64(raw[i:]) ^ ones*'\\'
		if m := (x - ones) & ^x & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(raw); i++ {
		if raw[i] == '\\' {
			return i
		}
	}
	return i
}

// unescape reads a valid escape: its character and its length, which is negative for
// half a surrogate pair.
func unescape(b []byte) (rune, int) {
	switch c := b[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r := hex4(b[2:])
		if !utf16.IsSurrogate(r) {
			return r, 6
		}
		if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if pair := utf16.DecodeRune(r, hex4(b[8:])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, -6
	default:
		return rune(c), 2
	}
}
