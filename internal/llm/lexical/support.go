package lexical

import (
	"cmp"
	"math/bits"
	"regexp"
	"slices"
	"strings"
)

// Levels of presence of a stem, by where it stands as seen from a sentence.
const (
	here      = 1.0  // in the sentence
	beside    = 0.75 // in the one before or after
	nearby    = 0.5  // within three sentences
	above     = 0.65 // in the title or the heading
	elsewhere = 0.25 // anywhere in the document
)

// Discounts of support that does not stand beside the candidate.
const (
	sameDocument = 0.8  // it stands elsewhere in the document
	byName       = 0.85 // it stands beside a name that stands beside the candidate
)

// view is the library made ready for weighing: everything that depends on all documents.
type view struct {
	*library
	w     []float64
	clues []mask
	sum   []float64 // total weight of each clue
	// best[i][k] is the most that any sentence of document i has of clue k.
	best [][]float64
	bridges
}

func newView(l *library) *view {
	l.settle()
	v := &view{library: l, w: l.weights()}
	for _, c := range l.q.clues {
		m := l.stemsMask(c.stems)
		v.clues = append(v.clues, m)
		v.sum = append(v.sum, v.weight(m))
	}
	v.measure()
	v.build()
	return v
}

func (v *view) weight(m mask) float64 {
	sum := 0.0
	for ; m != 0; m &= m - 1 {
		sum += v.w[bits.TrailingZeros64(uint64(m))]
	}
	return sum
}

// local is the share of clue k, by weight, that a sentence and its surroundings have.
func (v *view) local(d *document, s, k int) float64 {
	if v.sum[k] == 0 {
		return 0
	}
	left := v.clues[k]
	sum := 0.0
	take := func(m mask, level float64) {
		sum += level * v.weight(left&m)
		left &^= m
	}
	take(d.sentences[s].mask, here)
	take(d.around(s, 1), beside)
	take(d.titleMask|d.sentences[s].heading, above)
	take(d.around(s, 3), nearby)
	if len(d.sentences) < 200 {
		take(d.all, elsewhere)
	} else {
		take(d.all, elsewhere/3)
	}
	return sum / v.sum[k]
}

// around unites the masks of the sentences within n of s.
func (d *document) around(s, n int) mask {
	var m mask
	for i := max(0, s-n); i <= min(len(d.sentences)-1, s+n); i++ {
		m |= d.sentences[i].mask
	}
	return m
}

// measure finds for each document and clue the most that any of its sentences has.
func (v *view) measure() {
	v.best = make([][]float64, len(v.order))
	for i, d := range v.order {
		v.best[i] = make([]float64, len(v.clues))
		for k := range v.clues {
			for s := range d.sentences {
				if d.sentences[s].mask&v.clues[k] != 0 {
					v.best[i][k] = max(v.best[i][k], v.local(d, s, k))
				}
			}
		}
	}
}

// support is the share of clue k that speaks for sentence s of document i, where the names
// near it are given.
func (v *view) support(i, s, k int, near []string) float64 {
	best := max(v.local(v.order[i], s, k), sameDocument*v.best[i][k])
	for _, name := range near {
		best = max(best, byName*v.strength(name, k))
	}
	return best
}

// candidate is a possible answer with what speaks for it.
type candidate struct {
	key, text string
	score     float64
	// clues is the support of each clue; focus that of the part that asks.
	clues []float64
	// at is the occurrence that spoke best for it.
	doc, sentence int
	docs          int // documents it occurs in
	typed         float64
}

// occurrence is a candidate at a place.
type occurrence struct {
	span
	doc, sentence int
}

// sentencesConsidered bounds the sentences from which candidates are taken.
const sentencesConsidered = 240

// promising returns the places whose surroundings have most of the part that asks and of the other clues.
func (v *view) promising() [][2]int {
	type place struct {
		at    [2]int
		value float64
	}
	var places []place
	for i, d := range v.order {
		for s := range d.sentences {
			if d.around(s, 1)|d.titleMask == 0 {
				continue
			}
			value := 1.5 * v.local(d, s, v.q.focus)
			for k := range v.clues {
				if k != v.q.focus {
					value += v.local(d, s, k) / float64(len(v.clues))
				}
			}
			if value > 0 {
				places = append(places, place{[2]int{i, s}, value})
			}
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(b.value, a.value) })
	if len(places) > sentencesConsidered {
		places = places[:sentencesConsidered]
	}
	out := make([][2]int, len(places))
	for i, p := range places {
		out[i] = p.at
	}
	return out
}

// candidates weighs the spans of the asked kind at the promising places, best first.
func (v *view) candidates() []candidate {
	byKey := map[string]*candidate{}
	var order []*candidate
	for _, p := range v.promising() {
		for _, o := range v.spansAt(p[0], p[1]) {
			k := nameKey(o.text)
			if k == "" || v.q.holds(o.text) {
				continue
			}
			c := byKey[k]
			if c == nil {
				c = &candidate{key: k, text: o.text, clues: make([]float64, len(v.clues)), doc: -1}
				byKey[k] = c
				order = append(order, c)
			}
			v.weigh(c, o)
		}
	}
	out := make([]candidate, 0, len(order))
	for _, c := range order {
		v.total(c)
		out = append(out, *c)
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return out
}

// spansAt are the candidates of a sentence: its spans of the asked kind and, for names,
// the title of its document, which the text is about.
func (v *view) spansAt(i, s int) []occurrence {
	d := v.order[i]
	text := d.sentences[s].text
	var found []span
	switch v.q.kind {
	case date:
		found = dates(text)
	case year:
		found = years(text)
	case number:
		found = quantities(text, v.q.head)
	case person, place:
		found = v.names(text)
	default:
		found = v.things(text)
	}
	if v.q.kind == person || v.q.kind == thing || v.q.kind == place {
		if t := strings.TrimSpace(bracketed.ReplaceAllString(d.title, "")); d.titleKey != "" {
			found = append(found, span{text: t, start: -1, end: -1, typed: 0.9})
		}
	}
	out := make([]occurrence, len(found))
	for n, f := range found {
		f.typed *= v.suits(f, text)
		out[n] = occurrence{f, i, s}
	}
	return out
}

// weigh adds what an occurrence says for a candidate.
func (v *view) weigh(c *candidate, o occurrence) {
	near := append(v.near(o.doc, o.sentence), nameKey(o.text))
	near = append(near, strings.Fields(nameKey(o.text))...)
	total := 0.0
	here := make([]float64, len(v.clues))
	for k := range v.clues {
		if k == v.q.focus {
			here[k] = v.local(v.order[o.doc], o.sentence, k) * v.closeness(o)
		} else {
			here[k] = v.support(o.doc, o.sentence, k, near)
		}
	}
	total = v.mean(here) * o.typed
	if c.doc < 0 || total > c.score {
		c.score, c.doc, c.sentence, c.typed, c.text = total, o.doc, o.sentence, o.typed, o.text
		c.clues = here
	}
}

// mean weighs the supports of the clues: half for the part that asks, half for the others
// by their weight.
func (v *view) mean(clues []float64) float64 {
	others, sum := 0.0, 0.0
	for k, s := range clues {
		if k != v.q.focus {
			others += s * v.sum[k]
			sum += v.sum[k]
		}
	}
	focus := clues[v.q.focus]
	switch {
	case v.sum[v.q.focus] == 0 && sum == 0:
		return 0
	case sum == 0:
		return focus
	case v.sum[v.q.focus] == 0:
		return others / sum
	}
	return 0.5*focus + 0.5*others/sum
}

func (v *view) total(c *candidate) {
	if v.q.refers && v.isDescribed(c.key) {
		c.score *= 0.6
	}
}

// isDescribed reports whether a candidate is what the other clues describe: the title of
// the document that has most of them.
func (v *view) isDescribed(k string) bool {
	best, at := 0.0, -1
	for i := range v.order {
		sum := 0.0
		for _, c := range v.q.others() {
			sum += v.best[i][c] * v.sum[c]
		}
		if sum > best {
			best, at = sum, i
		}
	}
	return at >= 0 && v.order[at].titleKey != "" && (v.order[at].titleKey == k || holdsWord(v.order[at].titleKey, k))
}

// closeness lowers the weight of spans that stand far from the words of the asking part.
func (v *view) closeness(o occurrence) float64 {
	if o.start < 0 {
		return 0.95
	}
	text := v.order[o.doc].sentences[o.sentence].text
	nearest := 200
	for _, w := range scan(text) {
		if !w.content() || v.maskOf(w.text)&v.clues[v.q.focus] == 0 {
			continue
		}
		gap := 0
		switch {
		case w.start >= o.end:
			gap = w.start - o.end
		case w.end <= o.start:
			gap = o.start - w.end
		}
		nearest = min(nearest, gap)
	}
	return 1 - 0.3*float64(min(nearest, 150))/150
}

var (
	placeNouns = set(`island islands isles isle mount mountain river lake sea sound street road hill valley bay cape county city town village province state district park forest peninsula ocean coast`)
	bodyNouns  = set(`company museum library university school college academy club society service board guild institute hospital party league band orchestra church committee commission council ministry department corporation inc ltd association union house press observatory expedition survey museum times gazette courier journal act agreement award war battle treaty`)
	locative   = set(`in at on near from to of into around outside`)
	honorifics = set(`mr mrs ms miss dr sir captain lady lord king queen president professor mayor judge lieutenant major general admiral`)
)

// suits says how well a name in a sentence suits the kind asked for.
func (v *view) suits(s span, sentence string) float64 {
	ws := scan(s.text)
	if len(ws) == 0 {
		return 0
	}
	last, first := strings.ToLower(ws[len(ws)-1].text), strings.ToLower(ws[0].text)
	switch v.q.kind {
	case date, year:
		return v.q.inLife(s, sentence)
	case person:
		f := v.isPerson(s, sentence)
		if placeNouns[last] || bodyNouns[last] || placeNouns[first] || monthOrDay[first] {
			f *= 0.4
		}
		if len(ws) == 1 {
			f *= 0.8
		}
		if len(ws) > 5 || strings.ContainsAny(s.text, "0123456789") {
			f *= 0.5
		}
		return f * v.isA(s, sentence)
	case place:
		f := 0.8
		if s.start > 0 {
			before := scan(sentence[:s.start])
			if n := len(before); n > 0 && locative[strings.ToLower(before[n-1].text)] {
				f = 1.05
			}
		}
		if placeNouns[last] || placeNouns[first] {
			f *= 1.1
		}
		if bodyNouns[last] || honorifics[first] || monthOrDay[first] {
			f *= 0.6
		}
		return f * v.isA(s, sentence)
	case thing:
		f := 1.0
		if monthOrDay[first] {
			f *= 0.5
		}
		return f * v.isA(s, sentence)
	}
	return 1
}

var pronoun = regexp.MustCompile(`(?i)\b(he|she|his|her|born)\b`)

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
	if s.start > 0 {
		before := scan(sentence[:s.start])
		if n := len(before); n > 0 && placing[strings.ToLower(before[n-1].text)] {
			return 0.75
		}
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

var definesAs = regexp.MustCompile(`\b(?:is|was|are|were) (?:an? |the |one of the )?([^.,;:()]{3,80})`)

// definition returns what a sentence says that its subject is, up to the next stop.
func definition(sentence string) string {
	if m := definesAs.FindStringSubmatch(sentence); m != nil {
		return m[1]
	}
	return ""
}
