package wordmask_test

import (
	"testing"

	"pgregory.net/rapid"

	"goserini/internal/wordmask"
)

// isWord is what the masks are to say of a byte.
func isWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b >= 0x80
}

func check(t interface{ Fatalf(string, ...any) }, text string, at int) {
	words, foreign := wordmask.Of(text, at)
	for i := range wordmask.Width {
		word, outside := false, false
		if at+i < len(text) {
			word, outside = isWord(text[at+i]), text[at+i] >= 0x80
		}
		if got := words>>i&1 == 1; got != word {
			t.Fatalf("%q from %d: byte %d in a word: %v", text, at, i, got)
		}
		if got := foreign>>i&1 == 1; got != outside {
			t.Fatalf("%q from %d: byte %d outside ASCII: %v", text, at, i, got)
		}
	}
}

func TestEveryByteBesideEveryOther(t *testing.T) {
	for a := range 256 {
		for b := range 256 {
			text := make([]byte, 70)
			for i := range text {
				text[i] = byte(a)
				if i%2 == 1 {
					text[i] = byte(b)
				}
			}
			check(t, string(text), 0)
			check(t, string(text[:9]), 0)
		}
	}
}

func TestMasksOfAnyPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "text"))
		check(t, text, rapid.IntRange(0, len(text)).Draw(t, "at"))
	})
}
