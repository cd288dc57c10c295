package analysis

import (
	"math/bits"
	"unicode/utf8"
)

// Unsegmented reports whether text is mostly in scripts that are written without
// spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) and that a does
// not divide, so that searches find next to nothing in it. At least half of its
// letters are in such scripts, and an eighth of its bytes outside ASCII; texts with
// fewer, most of all, cost a fraction of what tokenizing costs.
func Unsegmented(a Analyzer, text string) bool {
	if c, ok := a.(*chain); ok && c.unspaced {
		return false
	}
	if highBytes(text)*8 < max(len(text), 1) {
		return false
	}
	letters, unspaced := 0, 0
	for _, r := range text {
		switch characterKind(r) {
		case word, hangul:
			letters++
		case han, hiragana, katakana, southeastAsian:
			letters++
			unspaced++
		}
	}
	return 2*unspaced > letters
}

// highBytes counts the bytes outside ASCII.
func highBytes(text string) int {
	const top = 0x8080808080808080
	n := 0
	for ; len(text) >= 8; text = text[8:] {
		n += bits.OnesCount64(load8(text) & top)
	}
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			n++
		}
	}
	return n
}
