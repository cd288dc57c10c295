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
	term [maxTokenBytes + 8]byte
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
			if n, ok := t.asciiWord(pos); ok {
				t.pos = pos + n
				t.kind = word
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

// token returns the token that was matched at start, lower-cased.
func (t *standardTokenizer) token(start int, m match) Token {
	t.pos, t.kind = m.end, m.kind
	raw := t.text[start:m.end]
	if m.kind.uncased() {
		return Token{t.term[:copy(t.term[:], raw)], start, m.end}
	}
	term := t.term[:0]
	for _, r := range raw {
		term = utf8.AppendRune(term, unicode.ToLower(r))
	}
	return Token{term, start, m.end}
}

// asciiRole says what an ASCII byte can be to a token; other bytes join.
var asciiRole = func() (role [256]byteRole) {
	for c := range role {
		switch {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z':
			role[c] = alphanumeric
		case c >= utf8.RuneSelf, classBlocks[c] != 0:
			role[c] = joins
		}
	}
	return role
}()

type byteRole uint8

const (
	separates    byteRole = iota // never part of a token that has no other bytes than ASCII
	joins                        // part of a token in some surroundings
	alphanumeric                 // always part of a token
)

// asciiWord copies the letters and digits at start to term, lower-cased, and returns
// how many they are. It is not ok if they may not be all of the token.
func (t *standardTokenizer) asciiWord(start int) (n int, ok bool) {
	text := t.text[start:]
	for n+8 <= len(text) && n <= maxTokenUnits {
		lower, letters := lowerASCII(load8(text[n:]))
		binary.LittleEndian.PutUint64(t.term[n:], lower)
		n += letters
		if letters < 8 {
			return n, n <= maxTokenUnits && endsWord(text[n:])
		}
	}
	for n < len(text) && n <= maxTokenUnits && asciiRole[text[n]] == alphanumeric {
		c := text[n]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		t.term[n] = c
		n++
	}
	return n, n <= maxTokenUnits && endsWord(text[n:])
}

// endsWord reports whether a word surely ends before rest, whatever the word is.
// Points, commas and quotes join a word only to a letter or digit behind them.
func endsWord(rest string) bool {
	if len(rest) == 0 || asciiRole[rest[0]] == separates {
		return true
	}
	return rest[0] < utf8.RuneSelf && rest[0] != '_' && (len(rest) == 1 || asciiRole[rest[1]] == separates)
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
