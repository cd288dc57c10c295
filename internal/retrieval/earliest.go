package retrieval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// EarliestLength is the length of the paper's excerpts in characters.
const EarliestLength = 220

// EarliestExcerpt is the excerpt the paper's system shows: length characters of
// contents around the earliest place where any word of the query occurs, be it
// inside another word. A quarter of the length, but at least 20 characters, comes
// before that place. Where no word occurs the excerpt is the beginning. An excerpt
// that does not begin or end with the contents is marked by three dots there, which
// do not count towards the length.
//
// Lengths are counted in characters (code points), so none is ever cut; the system
// of the paper counts UTF-16 units and takes only ASCII letters for words, which is
// the same for English text.
func EarliestExcerpt(query, contents string, length int) Excerpt {
	return ExcerptAt(contents, Anchor(query, contents), length)
}

// ExcerptAt is [EarliestExcerpt] for an anchor found before.
func ExcerptAt(contents string, anchor, length int) Excerpt {
	text := strings.TrimLeftFunc(contents, unicode.IsSpace)
	at := anchor - (len(contents) - len(text))
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	length = max(length, 1)
	before := 0
	if at > 0 {
		before = stepBack(text, at, max(20, length/4))
	}
	end := before + prefixLen(text[before:], length)
	shown := strings.TrimSpace(text[before:end])
	if before > 0 {
		shown = "..." + shown
	}
	if end < len(text) {
		shown += "..."
	}
	return Excerpt{
		Text:      shown,
		Truncated: before > 0 || end < len(text),
		Line:      lineAt(contents, text, before),
	}
}

// clueStop are the words that never anchor an excerpt: the paper's list.
var clueStop = strings.Fields("a an and are as at be by for from in into is it of on or that the their this to with")

// clueWords are the distinct lower-cased words of a query that may anchor an
// excerpt, in order: a letter or digit, then letters, digits, marks and "+._-";
// at least two characters; no stop word.
func clueWords(query string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(lower(query), func(r rune) bool { return !clueRune(r) }) {
		w = strings.TrimLeftFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if utf8.RuneCountInString(w) < 2 || slices.Contains(clueStop, w) || slices.Contains(words, w) {
			continue
		}
		words = append(words, w)
	}
	return words
}

func clueRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("+._-", r)
}

// earliest returns the byte offset of the first place in text where any of the
// lower-cased words begins, or -1.
func earliest(text string, words []string) int {
	if len(words) == 0 {
		return -1
	}
	// Bit k of begins[i][b] says that b may be byte i of what begins with a character of
	// ASCII and is as word k. Words share bits from the ninth on. A character outside ASCII
	// may be one of ASCII once it is lower-cased.
	var begins [3][256]uint8
	for b := utf8.RuneSelf; b < 256; b++ {
		for i := range begins {
			begins[i][b] = 0xFF
		}
	}
	for k, w := range words {
		bit, known := uint8(1)<<(k%8), true
		for i := range begins {
			known = known && i < len(w)
			switch {
			case !known:
				for b := range begins[i] {
					begins[i][b] |= bit
				}
			case w[i] >= utf8.RuneSelf:
				known = false // where the next character begins is unknown
			default:
				begins[i][w[i]] |= bit
				if 'a' <= w[i] && w[i] <= 'z' {
					begins[i][w[i]-'a'+'A'] |= bit
				}
			}
		}
	}
	for i := 0; i < len(text); {
		next := begins[0][text[i]]
		if next != 0 && text[i] < utf8.RuneSelf && i+2 < len(text) {
			next &= begins[1][text[i+1]] & begins[2][text[i+2]]
		}
		if next == 0 {
			i++
			continue
		}
		for _, w := range words {
			if hasLowerPrefix(text[i:], w) {
				return i
			}
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	return -1
}

// hasLowerPrefix reports whether text begins with word once each of its characters
// is lower-cased on its own, which never shifts an offset.
func hasLowerPrefix(text, word string) bool {
	for _, want := range word {
		if want < utf8.RuneSelf && text != "" && text[0] < utf8.RuneSelf {
			if c := text[0]; c != byte(want) && ('A' > c || c > 'Z' || c-'A'+'a' != byte(want)) {
				return false
			}
			text = text[1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		if size == 0 || unicode.ToLower(r) != want {
			return false
		}
		text = text[size:]
	}
	return true
}

func lower(s string) string { return strings.Map(unicode.ToLower, s) }

// stepBack returns the offset n characters before offset at, or 0.
func stepBack(text string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return at
}

// prefixLen returns the length in bytes of the first n characters of text.
func prefixLen(text string, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// lineAt returns the 1-based line of contents on which offset at of its trimmed
// form lies.
func lineAt(contents, trimmed string, at int) int {
	lead := strings.Index(contents, trimmed)
	return 1 + strings.Count(contents[:lead+at], "\n")
}
