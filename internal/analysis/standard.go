package analysis

import (
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

//go:generate go run ./internal/gen

// maxTokenUnits is the greatest length of a token in UTF-16 units. Longer runs are
// cut: the tokenizer never looks further than this from the start of a token.
const maxTokenUnits = 255

// maxTokenBytes bounds the UTF-8 bytes of a lower-cased token: a UTF-16 unit takes
// three at most.
const maxTokenBytes = 3 * maxTokenUnits

// kind tells what a token is made of; the numbers are those of the generator.
type kind uint8

const (
	_ kind = iota
	emoji
	number
	hangul
	katakana
	word
	southeastAsian
	han
	hiragana
)

// uncased reports whether tokens of this kind have no capital letters.
func (k kind) uncased() bool {
	return k == hangul || k == katakana || k == southeastAsian || k == han || k == hiragana
}

// standardTokenizer cuts words as Lucene's StandardTokenizer does and lower-cases
// every character by itself. Runs of ASCII letters and digits take a fast path; the
// rest is the automaton's, and both give the same tokens.
type standardTokenizer struct {
	text string
	pos  int
	kind kind // of the token returned last
	// lower is nil for the usual lower case of every character by itself.
	lower func(rune) rune
	term  [maxTokenBytes + 8]byte
}

func newStandardTokenizer() Tokenizer { return &standardTokenizer{} }

func (t *standardTokenizer) Reset(text string) { t.text, t.pos = text, 0 }

func (t *standardTokenizer) Next() (Token, bool) {
	text, pos := t.text, t.pos
	for pos < len(text) {
		switch asciiRole[text[pos]] {
		case separates:
			pos++
		case alphanumeric:
			if len(text)-pos > 8 && t.lower == nil {
				// Most words end within the eight bytes that are looked at together.
				lower, n := lowerASCII(load8(text[pos:]))
				if n < 8 && asciiRole[text[pos+n]] == separates {
					binary.LittleEndian.PutUint64(t.term[:], lower)
					t.pos, t.kind = pos+n, word
					return Token{t.term[:n], pos, pos + n}, true
				}
			}
			if n, ok := t.asciiWord(pos); ok && t.lower == nil {
				t.pos, t.kind = pos+n, word
				return Token{t.term[:n], pos, pos + n}, true
			}
			return t.token(pos, longestToken(text, pos)), true
		default:
			if m := longestToken(text, pos); m.kind != 0 {
				return t.token(pos, m), true
			}
			pos += characterSize(text, pos)
		}
	}
	t.pos = pos
	return Token{}, false
}

// The roles of an ASCII byte; other bytes join.
const (
	separates    = iota // never part of a token of ASCII characters alone
	joins               // part of a token in some surroundings
	alphanumeric        // always part of a token
)

// token returns the token that was matched at start, lower-cased.
func (t *standardTokenizer) token(start int, m match) Token {
	t.pos, t.kind = m.end, m.kind
	raw := t.text[start:m.end]
	if m.kind.uncased() {
		return Token{t.term[:copy(t.term[:], raw)], start, m.end}
	}
	return Token{t.appendLower(t.term[:0], raw), start, m.end}
}

// appendLower appends raw to dst, each character lower-cased by itself.
func (t *standardTokenizer) appendLower(dst []byte, raw string) []byte {
	for _, r := range raw {
		if t.lower != nil {
			r = t.lower(r)
		} else {
			r = lowerCase(r)
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// asciiWord copies the word at start to term, lower-cased, and returns its length. It
// begins with an ASCII letter or digit. It is not ok if more than ASCII letters,
// digits and the marks between them decides where it ends.
func (t *standardTokenizer) asciiWord(start int) (n int, ok bool) {
	text := t.text[start:]
	for {
		n = t.lettersAndDigits(text, n)
		if n > maxTokenUnits {
			return n, false
		}
		if n == len(text) || asciiRole[text[n]] == separates {
			return n, true
		}
		if text[n] >= utf8.RuneSelf || text[n] == '_' {
			return n, false
		}
		if n+1 == len(text) {
			return n, true
		}
		if text[n+1] >= utf8.RuneSelf {
			return n, false
		}
		if !joinsASCII(text[n-1], text[n], text[n+1]) {
			return n, true
		}
		t.term[n] = text[n]
		n++
	}
}

// joinsASCII reports whether a mark between two ASCII characters, the first a letter
// or digit, joins them to one word.
func joinsASCII(before, mark, after byte) bool {
	switch mark {
	case '.', '\'':
		return isLetter(before) && isLetter(after) || isDigit(before) && isDigit(after)
	case ':':
		return isLetter(before) && isLetter(after)
	case ',', ';':
		return isDigit(before) && isDigit(after)
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// lettersAndDigits copies ASCII letters and digits from n on to term, lower-cased,
// and returns where they end; it gives up a little beyond maxTokenUnits.
func (t *standardTokenizer) lettersAndDigits(text string, n int) int {
	for n+8 <= len(text) && n <= maxTokenUnits {
		lower, letters := lowerASCII(load8(text[n:]))
		binary.LittleEndian.PutUint64(t.term[n:], lower)
		n += letters
		if letters < 8 {
			return n
		}
	}
	for n < len(text) && n <= maxTokenUnits && asciiRole[text[n]] == alphanumeric {
		c := text[n]
		if isLetter(c) {
			c |= 0x20
		}
		t.term[n] = c
		n++
	}
	return n
}

func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// lowerASCII lower-cases eight bytes at once, the first in the lowest bits, and
// counts how many of them are letters or digits before the first that is neither.
// The bytes from there on are undefined.
func lowerASCII(x uint64) (lower uint64, n int) {
	const each = 0x0101010101010101
	const top = 0x80 * each
	y := x &^ top
	folded := y | 0x20*each
	// A sum has the top bit of a byte set if the byte is at least, or more than, the bound.
	letter := (folded + (0x80-'a')*each) &^ (folded + (0x7F-'z')*each) & top
	digit := (y + (0x80-'0')*each) &^ (y + (0x7F-'9')*each) & top
	stop := ^(letter | digit) & top
	stop |= x & top
	return y | letter>>2, bits.TrailingZeros64(stop) / 8
}

// match is the longest token at some place.
type match struct {
	end  int
	kind kind // 0 if no token begins there
}

// lowerCase is unicode.ToLower, with the commonest letters first.
func lowerCase(r rune) rune {
	switch {
	case r <= 'Z':
		if r >= 'A' {
			r += 'a' - 'A'
		}
	case r < 0xC0, r >= 'а' && r <= 'џ':
	case r >= 'А' && r <= 'Я':
		r += 'а' - 'А'
	default:
		r = unicode.ToLower(r)
	}
	return r
}

// longestToken runs the automaton from start and returns the longest token that it
// finds within maxTokenUnits.
func longestToken(text string, start int) match {
	best := match{end: start}
	state := 1
	units := 0
	for pos := start; pos < len(text); {
		size, class := 1, classBlocks[text[pos]&0x7F]
		units++
		if text[pos] >= utf8.RuneSelf {
			var r rune
			r, size = utf8.DecodeRuneInString(text[pos:])
			class = runeClass(r)
			if r > 0xFFFF {
				units++
			}
		}
		if units > maxTokenUnits {
			break
		}
		state = int(nextState[state*stateStride+int(class)])
		if state == 0 {
			break
		}
		pos += size
		if k := stateKind[state]; k != 0 {
			best = match{pos, kind(k)}
		}
	}
	return best
}

// runeClass returns the tokenizer's class of a character.
func runeClass(r rune) uint8 {
	block := int(r) >> classBlockBits
	if block >= len(classIndex) {
		return 0
	}
	return classBlocks[int(classIndex[block])<<classBlockBits|int(r)&(1<<classBlockBits-1)]
}

// characterSize returns the bytes of the character at pos, 1 if it is malformed.
func characterSize(text string, pos int) int {
	if text[pos] < utf8.RuneSelf {
		return 1
	}
	_, size := utf8.DecodeRuneInString(text[pos:])
	return size
}
