package controller

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// plainWordHashes hashes the words of text one character after the other.
func plainWordHashes(text string) []uint64 {
	var hashes []uint64
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		h := uint64(14695981039346656037)
		for _, r := range word {
			h = (h ^ uint64(unicode.ToLower(r))) * 1099511628211
		}
		hashes = append(hashes, h)
	}
	return hashes
}

func TestWordsAreHashedWhereverTheyStand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"Zinc", "a", "B2", "9", " ", "\n", "-", "_", "'s", "Été", "e\u0301", "灯塔", "\u212a", "—", "’s", "\xff", strings.Repeat("w", 70), strings.Repeat(" ", 61)})
		text := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "pieces"), "")
		got := appendWordHashes(nil, text)
		if want := plainWordHashes(text); !slices.Equal(got, want) {
			t.Fatalf("%q: got %x, want %x", text, got, want)
		}
	})
}
