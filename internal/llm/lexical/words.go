package lexical

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"goserini/internal/analysis"
	"goserini/internal/lazyregexp"
)

// word is a run of letters and digits of a text, as it stands there.
type word struct {
	text       string
	start, end int // byte offsets in the text
	// upper says that it begins with a capital letter, digits that it has a digit first.
	upper, digits bool
	// possessive says that an apostrophe-s follows; it is not part of text.
	possessive bool
}

// scan splits text into words. Hyphens, apostrophes, points and commas between letters
// or digits belong to the word: "8.6", "U.S", "well-known".
func scan(text string) []word {
	var out []word
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !wordRune(r) {
			at += size
			continue
		}
		end := wordEnd(text, at+size)
		out = append(out, newWord(text, at, end))
		at = end
	}
	return out
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// wordEnd returns the end of the word that has begun before at.
func wordEnd(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if wordRune(r) {
			at += size
			continue
		}
		if !strings.ContainsRune("-'’.,&", r) {
			return at
		}
		next, _ := utf8.DecodeRuneInString(text[at+size:])
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		numeric := unicode.IsDigit(before) && unicode.IsDigit(next)
		initials := r == '.' && unicode.IsUpper(before) && unicode.IsUpper(next)
		inner := wordRune(next) && (r != '.' && r != ',' || numeric || initials)
		if !inner {
			return at
		}
		at += size
	}
	return at
}

func newWord(text string, start, end int) word {
	w := word{start: start, end: end}
	s := text[start:end]
	for _, suffix := range []string{"'s", "’s", "'S", "’S"} {
		if cut, ok := strings.CutSuffix(s, suffix); ok {
			s, w.possessive = cut, true
			w.end -= len(suffix)
			break
		}
	}
	w.text = s
	first, _ := utf8.DecodeRuneInString(s)
	w.upper, w.digits = unicode.IsUpper(first), unicode.IsDigit(first)
	return w
}

// content reports whether a word carries content.
func (w word) content() bool { return !function()[strings.ToLower(w.text)] }

// english analyzes the words of questions and documents alike. The collection may have
// been indexed otherwise; the policy cannot see that.
var english = sync.OnceValue(func() analysis.Analyzer {
	a, err := analysis.ByName(analysis.Default)
	if err != nil {
		panic("the default analyzer is missing") // a broken build
	}
	return a
})

// function holds the words that carry no content in a question: articles, pronouns,
// auxiliaries, prepositions, conjunctions, question words.
var function = set(`
	a about above according across after again against all almost along already also although always am among an and
	another any anyone anything are around as at away back be became because become been before began begin being
	below besides between both but by came can cannot come could did do does doing done down during each either else
	end ended even ever every everybody everyone for from further gave get give given go goes gone got had has have
	having he hence her here hers herself him himself his how however i if in into is it its itself just know known
	later least less let like made make makes many may me might mine more most much must my myself near
	neither never no nobody nor not nothing now of off on once one only onto or other others our ours out over own
	per please put rather same see seen several shall she should since so some somebody someone something still
	such take taken tell than that the their theirs them themselves then there these they thing things this those
	though through thus to together too took toward towards under until unto up upon us use used very via was way we
	went were what whatever when where whereas whether which while who whoever whom whose why will with within
	without would yes yet you your yours following called gave certain particular identify find answer question
`)

// set returns the words of a list. The set is made when it is first asked for, since most
// runs of the program ask for none.
func set(list string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		for _, w := range strings.Fields(list) {
			out[w] = true
		}
		return out
	})
}

// nameOf is a phrase that stands for what it names.
var nameOf = lazyregexp.New(`(?i)\bnames? of\b`)

// stems returns the stems of the content words of text, each once, in order.
func stems(text string) []string {
	text = nameOf.ReplaceAllString(text, " ")
	var out []string
	seen := map[string]bool{}
	for _, w := range scan(text) {
		if !w.content() {
			continue
		}
		for _, s := range analysis.Terms(english(), w.text) {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// key is the form in which names are compared: lower case, words only.
func key(s string) string {
	var b strings.Builder
	for _, w := range scan(s) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.ToLower(w.text))
	}
	return b.String()
}

// nameKey is the key of a name, without the article that may open it.
func nameKey(s string) string { return strings.TrimPrefix(key(s), "the ") }

// holdsWord reports whether text has part between word boundaries.
func holdsWord(text, part string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return false
		}
		at, end := from+i, from+i+len(part)
		if (at == 0 || !wordByte(text[at-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = at + 1
	}
}

func wordByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b >= 0x80
}
