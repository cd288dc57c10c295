package judge

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold brings compatible characters, letter case, accents on Latin letters, dashes and
// blanks into one form; punctuation stays.
func fold(s string) string {
	s = cases.Fold().String(norm.NFKC.String(s))
	var b strings.Builder
	latin := false
	for _, r := range norm.NFD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r) && latin:
			continue // marks are letters of their own outside Latin script
		case unicode.Is(unicode.Pd, r) || r == '−':
			r = '-'
		case unicode.IsSpace(r):
			r = ' '
		}
		latin = unicode.Is(unicode.Latin, r)
		b.WriteRune(r)
	}
	return strings.TrimSpace(norm.NFC.String(b.String()))
}

// words returns the normal form of a text as words: folded, without punctuation, quotes and
// a leading article. Symbols (C++, C#, 5 %) stay, since they tell words apart.
func words(s string) []string {
	folded := []rune(fold(s))
	var b strings.Builder
	for i, r := range folded {
		switch {
		case isApostrophe(r):
		case r == '&':
			b.WriteString(" and ")
		case r == '.' || r == ',':
			b.WriteString(innerMark(folded, i))
		case unicode.IsPunct(r) && !strings.ContainsRune("#%@", r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	fields := strings.Fields(b.String())
	if len(fields) > 1 && (fields[0] == "the" || fields[0] == "a" || fields[0] == "an") {
		fields = fields[1:]
	}
	return fields
}

func isApostrophe(r rune) bool {
	return r == '\'' || r == '’' || r == '‘' || r == 'ʼ' || r == '`'
}

// innerMark says what a full stop or comma at position i becomes: nothing inside an
// abbreviation (U.S.) or a grouped number (1,250), itself inside a decimal number, else a blank.
func innerMark(text []rune, i int) string {
	if i == 0 || i+1 == len(text) {
		return " "
	}
	before, after := text[i-1], text[i+1]
	switch {
	case unicode.IsDigit(before) && unicode.IsDigit(after) && text[i] == ',':
		if digitsFrom(text, i+1) == 3 {
			return ""
		}
		return "."
	case unicode.IsDigit(before) && unicode.IsDigit(after):
		return "."
	case text[i] == '.' && unicode.IsLetter(before) && unicode.IsLetter(after):
		return ""
	}
	return " "
}

func digitsFrom(text []rune, i int) int {
	n := 0
	for i+n < len(text) && unicode.IsDigit(text[i+n]) {
		n++
	}
	return n
}

// withoutCitations drops citations at the end of an answer ("Lake Orrin [d2]") and
// the marks of emphasis around it.
func withoutCitations(s string) string {
	for {
		s = strings.Trim(strings.TrimSpace(s), "*_ ")
		rest := strings.TrimRight(s, ".")
		open := -1
		if strings.HasSuffix(rest, "]") {
			open = strings.LastIndex(rest, "[")
		} else if strings.HasSuffix(rest, "】") {
			open = strings.LastIndex(rest, "【")
		}
		if open <= 0 {
			return s
		}
		s = rest[:open]
	}
}

// contains reports whether part occurs in whole as neighbouring words.
func contains(whole, part []string) bool {
	for i := 0; i+len(part) <= len(whole); i++ {
		match := true
		for j, w := range part {
			if whole[i+j] != w {
				match = false
				break
			}
		}
		if match {
			return true
		}
	}
	return false
}
