package analysis

import (
	"unicode"
	"unicode/utf8"
)

// standardTokenizer cuts words as Lucene's StandardTokenizer does.
type standardTokenizer struct {
	text string
	pos  int
	term []byte
}

func newStandardTokenizer() Tokenizer { return &standardTokenizer{} }

func (t *standardTokenizer) Reset(text string) { t.text, t.pos = text, 0 }

func (t *standardTokenizer) Next() (Token, bool) {
	t.term = t.term[:0]
	start := t.pos
	for t.pos < len(t.text) {
		r, size := utf8.DecodeRuneInString(t.text[t.pos:])
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			t.term = utf8.AppendRune(t.term, unicode.ToLower(r))
		} else if len(t.term) > 0 {
			break
		} else {
			start = t.pos + size
		}
		t.pos += size
	}
	return Token{t.term, start, t.pos}, len(t.term) > 0
}
