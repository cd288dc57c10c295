package lexical

import (
	"slices"
	"strings"

	"goserini/internal/lazyregexp"
)

var (
	placeNouns = set(`island islands isles isle mount mountain river lake sea sound street road hill valley bay cape county city town village province state district park forest peninsula ocean coast`)
	bodyNouns  = set(`company museum library university school college academy club society service board guild institute hospital party league band orchestra church committee commission council ministry department corporation inc ltd association union house press observatory expedition survey museum times gazette courier journal act agreement award war battle treaty`)
	locative   = set(`in at on near from to of into around outside`)
	honorifics = set(`mr mrs ms miss dr sir captain lady lord king queen president professor mayor judge lieutenant major general admiral`)
)

// suits says how well a span of a sentence suits the kind asked for; 1 is neither good nor
// bad. The factors are plain judgements, the same for every collection.
func (v *view) suits(s span, sentence string) float64 {
	words := scan(s.text)
	if len(words) == 0 {
		return 0
	}
	first, last := strings.ToLower(words[0].text), strings.ToLower(words[len(words)-1].text)
	factor := 1.0
	switch v.q.kind {
	case date, year:
		return v.q.inLife(s, sentence)
	case person:
		factor = v.isPerson(s, sentence)
		if placeNouns()[last] || bodyNouns()[last] || placeNouns()[first] {
			factor *= 0.4
		}
		if len(words) == 1 {
			factor *= 0.8
		}
		if len(words) > 5 || strings.ContainsAny(s.text, "0123456789") {
			factor *= 0.5
		}
	case place:
		factor = 0.8
		if locative()[wordBefore(s, sentence)] {
			factor = 1.05
		}
		if placeNouns()[last] || placeNouns()[first] {
			factor *= 1.1
		}
		if bodyNouns()[last] || honorifics()[first] {
			factor *= 0.6
		}
	case thing:
	default:
		return 1
	}
	if monthOrDay()[first] {
		factor *= 0.5
	}
	return factor * v.isA(s, sentence)
}

// wordBefore is the word before a span, in lower case.
func wordBefore(s span, sentence string) string {
	if s.start <= 0 {
		return ""
	}
	return strings.ToLower(lastWords(strings.TrimRight(sentence[:s.start], " "), 1))
}

var pronoun = lazyregexp.New(`(?i)\b(he|she|his|her|born)\b`)

// isPerson weighs a name as that of a person: by the first sentences of the document of
// that title, else by a preposition of place before it.
func (v *view) isPerson(s span, sentence string) float64 {
	k := nameKey(s.text)
	for _, d := range v.order {
		if d.titleKey != k || len(d.sentences) == 0 {
			continue
		}
		if d.isLife() {
			return 1.1
		}
		return 0.6
	}
	if placing()[wordBefore(s, sentence)] {
		return 0.75
	}
	return 1
}

// isLife reports whether a document tells somebody's life, by its first sentences.
func (d *document) isLife() bool {
	for n := range min(3, len(d.sentences)) {
		if lifespan.MatchString(d.sentences[n].text) || pronoun.MatchString(d.sentences[n].text) {
			return true
		}
	}
	return false
}

// placing are prepositions that stand before places and seldom before people.
var placing = set(`in at on near into around outside`)

var monthOrDay = set(`january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday`)

// isA raises names that are called what is asked for: the noun stands in or right before
// the name, or the document of that title says that it is one.
func (v *view) isA(s span, sentence string) float64 {
	if len(v.q.head) == 0 {
		return 1
	}
	want := v.q.head[len(v.q.head)-1]
	if slices.Contains(stems(s.text), want) || s.start > 0 && slices.Contains(stems(lastWords(sentence[:s.start], 2)), want) {
		return 1.15
	}
	k := nameKey(s.text)
	for _, d := range v.order {
		if d.titleKey != k {
			continue
		}
		for n := range min(2, len(d.sentences)) {
			if slices.Contains(stems(definition(d.sentences[n].text)), want) {
				return 1.25
			}
		}
		if v.q.kind == thing && d.isLife() {
			return 0.5
		}
		return 0.85
	}
	return 1
}

// lastWords returns the end of a text from its n-th word from behind.
func lastWords(text string, n int) string {
	words := scan(text)
	if len(words) == 0 {
		return ""
	}
	return text[words[max(0, len(words)-n)].start:]
}

var definesAs = lazyregexp.New(`\b(?:is|was|are|were) (?:an? |the |one of the )?([^.,;:()]{3,80})`)

// definition returns what a sentence says that its subject is, up to the next stop.
func definition(sentence string) string {
	if m := definesAs.FindStringSubmatch(sentence); m != nil {
		return m[1]
	}
	return ""
}
