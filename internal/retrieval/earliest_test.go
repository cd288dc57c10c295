package retrieval_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"goserini/internal/retrieval"
)

func TestEarliestExcerpt(t *testing.T) {
	long := strings.Repeat("filler words go here. ", 30) + "the unique marker quokka appears" + strings.Repeat(" trailing text follows", 30)
	for _, tt := range []struct {
		name, query, contents string
		length                int
		want                  retrieval.Excerpt
	}{
		{"a short document is shown whole", "zinc", "zinc onyx", 220, retrieval.Excerpt{Text: "zinc onyx", Line: 1}},
		{"surrounding blanks do not count", "zinc", "\n  zinc onyx \n", 220, retrieval.Excerpt{Text: "zinc onyx", Line: 2}},
		{"a quarter of the length, at least 20, comes before the match", "quokka zebra", long, 40,
			retrieval.Excerpt{Text: ".... the unique marker quokka appears trail...", Truncated: true, Line: 1}},
		{"a word inside another word counts", "cat", "concatenate these", 8, retrieval.Excerpt{Text: "concaten...", Truncated: true, Line: 1}},
		{"stop words do not anchor", "the marker", strings.Repeat("the ", 40) + "marker", 12,
			retrieval.Excerpt{Text: "...the the the...", Truncated: true, Line: 1}},
		{"no match shows the beginning", "zebra", long, 12, retrieval.Excerpt{Text: "filler words...", Truncated: true, Line: 1}},
		{"an empty document", "zinc", "", 220, retrieval.Excerpt{Line: 1}},
		{"lower-casing does not move the place", "kestrel", "İstanbul 😀😀 emoji kestrel text", 12,
			retrieval.Excerpt{Text: "İstanbul 😀😀...", Truncated: true, Line: 1}},
		{"words beyond ASCII anchor", "ÉTÉ", strings.Repeat("x", 30) + " été", 20, retrieval.Excerpt{Text: "...xxxxxxxxxxxxxxxxxxx...", Truncated: true, Line: 1}},
		{"the line is that of the first character", "quokka", strings.Repeat("a\n", 60) + "quokka", 80,
			retrieval.Excerpt{Text: "..." + strings.Repeat("a\n", 10) + "quokka", Truncated: true, Line: 51}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := retrieval.EarliestExcerpt(tt.query, tt.contents, tt.length); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestEarliestExcerptCutsNoCharacter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab \n灯🐻e\u0301İß")), 0, 80, -1).Draw(t, "text")
		query := rapid.StringOfN(rapid.SampledFrom([]rune("ab灯İ ")), 0, 6, -1).Draw(t, "query")
		length := rapid.IntRange(-1, 60).Draw(t, "length")
		got := retrieval.EarliestExcerpt(query, text, length)
		if !utf8.ValidString(got.Text) {
			t.Fatalf("not valid UTF-8: %q", got.Text)
		}
		inner := strings.TrimSuffix(strings.TrimPrefix(got.Text, "..."), "...")
		if !strings.Contains(text, inner) {
			t.Fatalf("%q does not stand in the document", inner)
		}
		if n := utf8.RuneCountInString(inner); n > max(length, 1) {
			t.Fatalf("%d characters, at most %d wanted", n, length)
		}
		if whole := strings.TrimSpace(text); got.Truncated != (utf8.RuneCountInString(whole) > max(length, 1) || strings.HasPrefix(got.Text, "...")) {
			t.Fatalf("truncated is %v for %q of %q", got.Truncated, got.Text, whole)
		}
	})
}

// anchor tries every place, character by character.
func anchor(query, text string) int {
	words := strings.Fields(strings.Map(unicode.ToLower, query))
	for i := range text {
		rest := strings.Map(unicode.ToLower, text[i:])
		for _, w := range words {
			if utf8.RuneCountInString(w) >= 2 && strings.HasPrefix(rest, w) {
				return i
			}
		}
	}
	return -1
}

func TestAnchorIsTheEarliestPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]rune("aAbBkKiIİ\u212a灯é "))
		text := rapid.StringOfN(letters, 0, 60, -1).Draw(t, "text")
		query := rapid.StringOfN(letters, 0, 40, -1).Draw(t, "query")
		if got, want := retrieval.Anchor(query, text), anchor(query, text); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}
