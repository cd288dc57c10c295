package analysis

import "unicode/utf8"

// mixedTokenizer is the tokenizer for text in any mixture of languages. It
// normalises the text to NFKC, cuts it as [standardTokenizer] does, and replaces runs
// of characters in scripts written without spaces, and of Korean, by overlapping
// pairs; a run of one character stays as it is. Offsets are those of the source.
type mixedTokenizer struct {
	text  normalized
	words standardTokenizer
	// rest is what is left of a word in several scripts.
	rest span
	// held is a part that was read too early.
	held   part
	isHeld bool
	// characters are those of the run that is being given out, next the first of the
	// next pair.
	characters []span
	next       int
	// pairs and parts of words are built in term and lower: a part may be held while
	// pairs are given out.
	term, lower []byte
}

// span is a part of the normalised text.
type span struct{ start, end int }

// part is a token, or the piece of one that is in one family of scripts. Only those of
// spaced scripts have a term.
type part struct {
	span
	family scriptFamily
	term   []byte
}

// scriptFamily divides characters by what is done with runs of them.
type scriptFamily uint8

const (
	spaced    scriptFamily = iota // spaces divide words
	eastAsian                     // Chinese, Japanese, Korean
	thaiLike                      // Thai, Lao, Khmer, Myanmar
)

func newMixedTokenizer() Tokenizer { return &mixedTokenizer{} }

func (t *mixedTokenizer) Reset(text string) {
	t.text.reset(text)
	t.words.Reset(t.text.text)
	t.rest, t.isHeld = span{}, false
	t.characters, t.next = t.characters[:0], 0
}

func (t *mixedTokenizer) Next() (Token, bool) {
	if t.next >= len(t.characters)-1 {
		p, ok := t.part()
		if !ok {
			return Token{}, false
		}
		if p.family == spaced {
			return t.token(p.term, p.span), true
		}
		t.readRun(p)
		if len(t.characters) == 1 {
			return t.pair(0, 0), true
		}
	}
	t.next++
	return t.pair(t.next-1, t.next), true
}

// part returns the next part of the text, the one held first.
func (t *mixedTokenizer) part() (part, bool) {
	if t.isHeld {
		t.isHeld = false
		return t.held, true
	}
	for t.rest.start < t.rest.end {
		if p, ok := t.splitRest(); ok {
			return p, true
		}
	}
	token, ok := t.words.Next()
	if !ok {
		return part{}, false
	}
	p := part{span{token.Start, token.End}, familyOf(t.words.kind), token.Term}
	if p.family == spaced && t.hasEastAsian(p.span) {
		t.rest = p.span
		return t.part()
	}
	return p, true
}

// splitRest takes the first characters of one family off the rest, without the
// punctuation around them. There may be none.
func (t *mixedTokenizer) splitRest() (part, bool) {
	p := part{span: span{t.rest.end, t.rest.end}}
	for i, r := range t.text.text[t.rest.start:t.rest.end] {
		k := characterKind(r)
		from := t.rest.start + i
		begun := p.start < t.rest.end
		switch {
		case k == 0 && !(begun && extends(r)):
			continue
		case !begun:
			p.start, p.family = from, familyOf(k)
		case k != 0 && familyOf(k) != p.family:
			t.rest.start = from
			return t.lowered(p), true
		}
		p.end = from + utf8.RuneLen(r)
	}
	begun := p.start < t.rest.end
	t.rest.start = t.rest.end
	return t.lowered(p), begun
}

// lowered gives a part its term.
func (t *mixedTokenizer) lowered(p part) part {
	p.term = t.words.appendLower(t.lower[:0], t.text.text[p.start:p.end])
	t.lower = p.term
	return p
}

func (t *mixedTokenizer) hasEastAsian(s span) bool {
	for _, r := range t.text.text[s.start:s.end] {
		if r >= utf8.RuneSelf && familyOf(characterKind(r)) == eastAsian {
			return true
		}
	}
	return false
}

// readRun collects the characters of first and of the parts of the same family that
// follow without a gap.
func (t *mixedTokenizer) readRun(first part) {
	t.characters, t.next = t.characters[:0], 0
	end := first.start
	for p, ok := first, true; ok; p, ok = t.part() {
		if p.start != end || p.family != first.family {
			t.held, t.isHeld = p, true
			return
		}
		t.addCharacters(p.span)
		end = p.end
	}
}

// addCharacters divides a part into characters, each with the marks on it.
func (t *mixedTokenizer) addCharacters(s span) {
	for i, r := range t.text.text[s.start:s.end] {
		from := s.start + i
		if i == 0 || !extends(r) {
			t.characters = append(t.characters, span{start: from})
		}
		t.characters[len(t.characters)-1].end = from + utf8.RuneLen(r)
	}
}

// extends reports whether a character belongs to the one before it: whether the
// tokenizer would stay where it is after a Chinese character.
func extends(r rune) bool {
	after := nextState[stateStride+int(runeClass('一'))]
	return nextState[int(after)*stateStride+int(runeClass(r))] == after
}

// pair is the token of the characters from first to last of the run.
func (t *mixedTokenizer) pair(first, last int) Token {
	s := span{t.characters[first].start, t.characters[last].end}
	t.term = append(t.term[:0], t.text.text[s.start:s.end]...)
	return t.token(t.term, s)
}

func (t *mixedTokenizer) token(term []byte, s span) Token {
	start, end := t.text.source(s.start, s.end)
	return Token{term, start, end}
}

func familyOf(k kind) scriptFamily {
	switch k {
	case han, hiragana, katakana, hangul:
		return eastAsian
	case southeastAsian:
		return thaiLike
	}
	return spaced
}

// characterKind returns the kind of the token that a character is by itself, 0 if it
// is none.
func characterKind(r rune) kind {
	return kind(stateKind[nextState[stateStride+int(runeClass(r))]])
}

// normalizeMixed is the second stage of the analyzer cjk.
func normalizeMixed(dst, raw []byte) ([]byte, bool) {
	if isASCII(raw) {
		return normalizeEnglish(dst, raw)
	}
	return thenEnglish(dropInvisible(dst, raw), len(dst))
}

// thenEnglish takes the word from byte start of dst on through the English chain.
func thenEnglish(dst []byte, start int) ([]byte, bool) {
	if len(dst) == start {
		return dst, false
	}
	return normalizeEnglish(dst[:start], dst[start:])
}

// dropInvisible appends a word to dst without the characters that leave no mark on
// the page: joiners, soft hyphens, directions, choices of presentation.
func dropInvisible(dst, word []byte) []byte {
	for i := 0; i < len(word); {
		r, size := rune(word[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(word[i:])
		}
		if r < 0xAD || !invisible(r) {
			dst = append(dst, word[i:i+size]...)
		}
		i += size
	}
	return dst
}

func invisible(r rune) bool {
	switch r {
	case 0xAD, 0x34F, 0x61C, 0xFEFF:
		return true
	}
	return r >= 0x200B && r <= 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2060 && r <= 0x206F || r >= 0xFE00 && r <= 0xFE0F
}
