package lexical

import (
	"strings"
	"unicode/utf8"

	"goserini/internal/lazyregexp"
)

// span is a piece of a sentence that could be an answer, or a name to follow.
type span struct {
	text       string
	start, end int // byte offsets in the sentence
	// typed is how well its form suits the kind asked for, 1 being a plain match.
	typed float64
}

// joiners may stand inside a name, between two words with capitals, up to two in a row:
// "Bank of the North".
var joiners = set(`of the de la le van von der den du da di del`)

// names returns the names of a sentence: runs of words with capital letters, with numbers
// and small words between them. The first word of the sentence belongs to one only if it
// looks like a name elsewhere too.
func (l *library) names(text string) []span {
	return runs(text, func(first word) bool { return l.commonWord(first.text) })
}

// runs returns the runs of words with capital letters. drop tells whether the first word
// of the text is left out of the run it begins.
func runs(text string, drop func(word) bool) []span {
	words := scan(text)
	var out []span
	for i := 0; i < len(words); {
		if !words[i].upper || !words[i].content() {
			i++
			continue
		}
		j := nameEnd(text, words, i)
		from := i
		for from < j && (!words[from].content() || from == 0 && drop(words[from])) {
			from++
		}
		if from < j {
			out = append(out, cut(text, words[from].start, words[j-1].end, 1))
		}
		i = max(j, i+1)
	}
	return out
}

// nameEnd returns the index after the last word of the name that begins at i.
func nameEnd(text string, words []word, i int) int {
	end := i + 1
	for j := i + 1; j < len(words); j++ {
		w := words[j]
		if !nameGap(text[words[j-1].end:w.start], words[j-1]) {
			break
		}
		if words[j-1].possessive && !w.upper {
			break
		}
		switch {
		case w.upper && w.content(), w.digits && j == end && len(w.text) < 4:
			end = j + 1
		case !w.upper && joiners()[w.text] && j-end < 2:
		default:
			return end
		}
	}
	return end
}

// nameGap reports whether what stands between two words lets a name go on.
func nameGap(gap string, before word) bool {
	switch gap {
	case " ", "-", " & ", "'s ", "’s ":
		return true
	case ". ", ".":
		return utf8.RuneCountInString(before.text) == 1 || abbreviations()[strings.ToLower(before.text)]
	}
	return false
}

// commonWord reports whether a word that begins a sentence is likelier an ordinary word than a name.
func (l *library) commonWord(w string) bool {
	c := l.cased[strings.ToLower(w)]
	return c == nil || c[0] <= c[1]
}

func cut(text string, from, to int, typed float64) span {
	return span{text: text[from:to], start: from, end: to, typed: typed}
}

var (
	months      = `(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan\.?|Feb\.?|Mar\.?|Apr\.?|Jun\.?|Jul\.?|Aug\.?|Sept?\.?|Oct\.?|Nov\.?|Dec\.?)`
	fullDate    = lazyregexp.New(`\b(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? ` + months + `,? \d{4}|` + months + ` \d{1,2}(?:st|nd|rd|th)?,? \d{4}|\d{4}-\d{2}-\d{2}|\d{1,2}/\d{1,2}/\d{2,4})\b`)
	partDate    = lazyregexp.New(`\b(?:` + months + `,? \d{4}|\d{1,2} ` + months + `|` + months + ` \d{1,2})\b`)
	yearAlone   = lazyregexp.New(`\b(?:1[0-9]|20)\d{2}\b`)
	numberWords = `(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|billion|dozen|half)`
	quantity    = lazyregexp.New(`(?i)(?:[$€£]\s?)?\b(?:\d[\d,]*(?:\.\d+)?|` + numberWords + `(?:[- ](?:and )?` + numberWords + `)*)\b(?:\s?%|\s(?:percent|per cent|million|billion|thousand|hundred)\b)*`)
	quoted      = lazyregexp.New(`["“]([^"”“]{2,80})["”]`)
)

// dates returns the dates of a sentence, the fuller forms first and better.
func dates(text string) []span {
	var out []span
	for _, form := range []struct {
		re    *lazyregexp.Regexp
		typed float64
	}{{fullDate, 1}, {partDate, 0.8}, {yearAlone, 0.7}} {
		for _, m := range form.re.FindAllStringIndex(text, -1) {
			if !overlaps(out, m) {
				out = append(out, cut(text, m[0], m[1], form.typed))
			}
		}
	}
	return out
}

func overlaps(spans []span, m []int) bool {
	for _, s := range spans {
		if m[0] < s.end && s.start < m[1] {
			return true
		}
	}
	return false
}

// years returns the years of a sentence.
func years(text string) []span {
	var out []span
	for _, m := range yearAlone.FindAllStringIndex(text, -1) {
		if before := text[:m[0]]; strings.HasSuffix(before, ",") || strings.HasSuffix(before, ".") || strings.HasSuffix(before, "$") {
			continue // part of a larger number
		}
		out = append(out, cut(text, m[0], m[1], 1))
	}
	return out
}

// inLife says how well a date inside a pair of years of a life suits: the first is the
// birth, the second the death.
func (q question) inLife(s span, sentence string) float64 {
	m := lifespan.FindStringSubmatchIndex(sentence)
	if m == nil || s.start < m[0] || s.end > m[1] {
		return 1
	}
	born, died := q.known["born"] || q.known["birth"], q.known["die"] || q.known["di"] || q.known["death"]
	first := s.end < m[4]
	switch {
	case born && first, died && !first && !born:
		return 1.2
	case born, died:
		return 0.5
	}
	return 0.7
}

// quantities returns the numbers of a sentence that are no part of a date, with the unit
// asked for where it follows.
func quantities(text string, unit []string) []span {
	var out []span
	taken := dates(text)
	for _, m := range quantity.FindAllStringIndex(text, -1) {
		if overlaps(taken, m) {
			continue
		}
		s := cut(text, m[0], m[1], 1)
		if len(unit) > 0 {
			s = withUnit(text, s, unit)
		}
		out = append(out, s)
	}
	return out
}

// withUnit takes the unit into the span where it follows at once, and doubts the number otherwise.
func withUnit(text string, s span, unit []string) span {
	rest := text[s.end:]
	for i, w := range scan(rest) {
		if i > 1 || strings.ContainsAny(rest[:w.start], ".;:()") {
			break
		}
		if st := stems(w.text); len(st) > 0 && st[0] == unit[len(unit)-1] {
			if i == 0 {
				return cut(text, s.start, s.end+w.end, 1)
			}
			return s
		}
	}
	s.typed = 0.5
	return s
}

// things returns what a question for "which X" may be answered with: quotations, names,
// and names with the noun that belongs to them ("Achter's sedge").
func (l *library) things(text string) []span {
	var out []span
	for _, m := range quoted.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, cut(text, m[2], m[3], 0.95))
	}
	for _, n := range l.names(text) {
		if owned, ok := ownedBy(text, n); ok {
			out = append(out, owned)
			n.typed *= 0.85
		}
		out = append(out, n)
	}
	return out
}

// ownedBy extends a possessive name by the lower-case noun that follows.
func ownedBy(text string, n span) (span, bool) {
	for _, suffix := range []string{"'s ", "’s "} {
		rest, ok := strings.CutPrefix(text[n.end:], suffix)
		if !ok {
			continue
		}
		words := scan(rest)
		if len(words) > 0 && words[0].start == 0 && words[0].content() && !words[0].upper && !words[0].digits {
			return cut(text, n.start, n.end+len(suffix)+words[0].end, 1), true
		}
	}
	return span{}, false
}
