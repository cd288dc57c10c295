package analysis

import "unicode/utf8"

// porterStem returns the stem of a lower-cased word. It overwrites word and may
// return a part of it.
//
// It is Porter's algorithm of 1980 as Lucene applies it, which differs from the
// paper: words of one or two UTF-16 units stay; "bli" becomes "ble" and "logi"
// becomes "log"; the first suffix of a step that matches decides, even if its
// condition then fails; steps 2 and 4 skip words shrunk to one letter. Every
// character but a, e, i, o, u, y is a consonant, so digits, points and letters
// outside ASCII are as well.
func porterStem(word []byte) []byte {
	for _, c := range word {
		if c >= utf8.RuneSelf {
			return porterStemUnicode(word)
		}
	}
	return porterStemUnits(word)
}

// porterStemUnicode stems a word in which one byte is not one UTF-16 unit. It
// stems a stand-in that has one byte for each unit: two different bytes, so that
// a doubled letter stays recognisable, both consonants. Rules change nothing
// before the last of them, since all suffixes are ASCII.
func porterStemUnicode(word []byte) []byte {
	const standIn, otherStandIn = 0x80, 0x81
	units := make([]byte, 0, len(word))
	last := rune(-1)
	for _, r := range string(word) {
		switch {
		case r < utf8.RuneSelf:
			units = append(units, byte(r))
		case r > 0xFFFF:
			units = append(units, standIn, otherStandIn)
		case r == last:
			units = append(units, units[len(units)-1])
		case len(units) > 0 && units[len(units)-1] == standIn:
			units = append(units, otherStandIn)
		default:
			units = append(units, standIn)
		}
		last = r
	}
	stem := porterStemUnits(units)

	kept := len(stem) // units up to and including the last stand-in
	for kept > 0 && stem[kept-1] < utf8.RuneSelf {
		kept--
	}
	end := 0
	for n := 0; n < kept; {
		r, size := utf8.DecodeRune(word[end:])
		end += size
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return append(word[:end], stem[kept:]...)
}

func porterStemUnits(word []byte) []byte {
	if len(word) <= 2 {
		return word
	}
	w := porterWord{word}
	w.plural()
	w.pastAndGerund()
	w.finalY()
	if len(w.b) > 1 {
		w.replaceFirst(porterStep2)
	}
	w.replaceFirst(porterStep3)
	if len(w.b) > 1 {
		w.dropFirst(porterStep4)
	}
	w.finalE()
	return w.b
}

// suffixRule replaces a suffix.
type suffixRule struct{ suffix, replacement string }

// Steps 2, 3 and 4 of the algorithm, in the order of trial: where one suffix ends
// in another, the longer stands first.
var (
	porterStep2 = []suffixRule{
		{"ational", "ate"}, {"tional", "tion"},
		{"enci", "ence"}, {"anci", "ance"},
		{"izer", "ize"},
		{"bli", "ble"}, {"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"},
		{"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"},
		{"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"},
		{"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"},
		{"logi", "log"},
	}
	porterStep3 = []suffixRule{
		{"icate", "ic"}, {"ative", ""}, {"alize", "al"},
		{"iciti", "ic"},
		{"ical", "ic"}, {"ful", ""},
		{"ness", ""},
	}
	porterStep4 = []string{
		"al", "ance", "ence", "er", "ic", "able", "ible",
		"ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
	}
)

// porterWord is a word on its way to its stem.
type porterWord struct{ b []byte }

// plural is step 1a: sses to ss, ies to i, s to nothing except after s.
func (w *porterWord) plural() {
	n := len(w.b)
	switch {
	case w.b[n-1] != 's':
	case w.has("sses"):
		w.b = w.b[:n-2]
	case w.has("ies"):
		w.b = append(w.b[:n-3], 'i')
	case w.b[n-2] != 's':
		w.b = w.b[:n-1]
	}
}

// pastAndGerund is step 1b: eed to ee; ed and ing to nothing after a vowel, with
// the end mended.
func (w *porterWord) pastAndGerund() {
	if w.has("eed") {
		if stem := len(w.b) - 3; w.measure(stem) > 0 {
			w.b = w.b[:stem+2]
		}
		return
	}
	stem := len(w.b)
	switch {
	case w.has("ed"):
		stem -= 2
	case w.has("ing"):
		stem -= 3
	default:
		return
	}
	if !w.hasVowel(stem) {
		return
	}
	w.b = w.b[:stem]
	switch {
	case w.has("at"), w.has("bl"), w.has("iz"):
		w.b = append(w.b, 'e')
	case w.doubled(stem):
		if c := w.b[stem-1]; c != 'l' && c != 's' && c != 'z' {
			w.b = w.b[:stem-1]
		}
	case w.measure(stem) == 1 && w.shortSyllable(stem):
		w.b = append(w.b, 'e')
	}
}

// finalY is step 1c: y to i after a vowel.
func (w *porterWord) finalY() {
	if n := len(w.b); w.b[n-1] == 'y' && w.hasVowel(n-1) {
		w.b[n-1] = 'i'
	}
}

// replaceFirst applies the first rule whose suffix the word has, if a consonant
// follows a vowel before that suffix.
func (w *porterWord) replaceFirst(rules []suffixRule) {
	for _, r := range rules {
		if w.has(r.suffix) {
			if stem := len(w.b) - len(r.suffix); w.measure(stem) > 0 {
				w.b = append(w.b[:stem], r.replacement...)
			}
			return
		}
	}
}

// dropFirst removes the first of the suffixes that the word has, if a consonant
// follows a vowel twice before it.
func (w *porterWord) dropFirst(suffixes []string) {
	for _, suffix := range suffixes {
		if !w.has(suffix) {
			continue
		}
		stem := len(w.b) - len(suffix)
		if suffix == "ion" && (stem == 0 || w.b[stem-1] != 's' && w.b[stem-1] != 't') {
			return
		}
		if w.measure(stem) > 1 {
			w.b = w.b[:stem]
		}
		return
	}
}

// finalE is step 5: e to nothing and ll to l at the end of longer words.
func (w *porterWord) finalE() {
	n := len(w.b)
	if w.b[n-1] == 'e' {
		if m := w.measure(n); m > 1 || m == 1 && !w.shortSyllable(n-1) {
			n--
		}
	}
	if n > 0 && w.b[n-1] == 'l' && w.doubled(n) && w.measure(n) > 1 {
		n--
	}
	w.b = w.b[:n]
}

// has reports whether the word ends in suffix, which has two letters at least. The last
// letter but one tells most of them apart.
func (w *porterWord) has(suffix string) bool {
	n := len(w.b) - len(suffix)
	return n >= 0 && w.b[len(w.b)-2] == suffix[len(suffix)-2] && string(w.b[n:]) == suffix
}

// consonant reports whether letter i is one.
func (w *porterWord) consonant(i int) bool {
	consonant := false
	if w.b[i] != 'y' {
		return isConsonant(w.b[i], false)
	}
	first := i
	for first > 0 && w.b[first-1] == 'y' {
		first--
	}
	if first > 0 {
		consonant = isConsonant(w.b[first-1], false)
	}
	for range i - first + 1 {
		consonant = !consonant
	}
	return consonant
}

// isConsonant reports whether letter c is one: y is at the start, which counts as
// after a vowel, and after a vowel.
func isConsonant(c byte, afterConsonant bool) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return !afterConsonant
	}
	return true
}

func (w *porterWord) hasVowel(n int) bool {
	consonant := false
	for _, c := range w.b[:n] {
		if consonant = isConsonant(c, consonant); !consonant {
			return true
		}
	}
	return false
}

// measure counts how often a consonant follows a vowel in the first n letters.
func (w *porterWord) measure(n int) int {
	count := 0
	vowel, consonant := false, false
	for _, c := range w.b[:n] {
		consonant = isConsonant(c, consonant)
		if consonant && vowel {
			count++
		}
		vowel = !consonant
	}
	return count
}

// doubled reports whether the first n letters end in two equal consonants.
func (w *porterWord) doubled(n int) bool {
	return n >= 2 && w.b[n-1] == w.b[n-2] && w.consonant(n-1)
}

// shortSyllable reports whether the first n letters end in consonant, vowel,
// consonant, the last not being w, x or y.
func (w *porterWord) shortSyllable(n int) bool {
	if n < 3 || !w.consonant(n-1) || w.consonant(n-2) || !w.consonant(n-3) {
		return false
	}
	c := w.b[n-1]
	return c != 'w' && c != 'x' && c != 'y'
}
