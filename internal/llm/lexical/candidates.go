package lexical

import (
	"cmp"
	"slices"
	"strings"
)

// candidate is a possible answer with what speaks for it.
type candidate struct {
	key, text string
	score     float64
	// clues is the support of each clue; focus that of the part that asks.
	clues []float64
	// doc and sentence are the place that spoke best for it.
	doc, sentence int
}

// occurrence is a candidate at a place.
type occurrence struct {
	span
	doc, sentence int
}

// sentencesConsidered bounds the sentences from which candidates are taken.
const sentencesConsidered = 240

// askingWeight is the weight of the part that asks, against all other clues together,
// when sentences are chosen from which candidates are taken.
const askingWeight = 1.5

// promising returns the sentences that have most of the part that asks and of the other
// clues, themselves and their surroundings.
func (v *view) promising() []spot {
	var out []spot
	for i, d := range v.order {
		for s := range d.sentences {
			if d.around(s, 1)|d.titleMask == 0 {
				continue
			}
			value := askingWeight * v.local(d, s, v.q.focus)
			for k := range v.clues {
				if k != v.q.focus {
					value += v.local(d, s, k) / float64(len(v.clues))
				}
			}
			if value > 0 {
				out = append(out, spot{i, s, value})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b spot) int { return cmp.Compare(b.value, a.value) })
	return out[:min(len(out), sentencesConsidered)]
}

// candidates weighs the spans of the asked kind at the promising places, best first.
func (v *view) candidates() []candidate {
	byKey := map[string]*candidate{}
	var order []*candidate
	for _, p := range v.promising() {
		for _, o := range v.spansAt(p.doc, p.sentence) {
			k := nameKey(o.text)
			if k == "" || v.q.holds(o.text) {
				continue
			}
			c := byKey[k]
			if c == nil {
				c = &candidate{key: k, doc: -1}
				byKey[k] = c
				order = append(order, c)
			}
			v.weigh(c, o)
		}
	}
	out := make([]candidate, 0, len(order))
	for _, c := range order {
		if v.q.refers && v.isDescribed(c.key) {
			c.score *= described
		}
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

// weigh adds what an occurrence says for a candidate: its best place decides.
func (v *view) weigh(c *candidate, o occurrence) {
	k := nameKey(o.text)
	near := append(v.near(o.doc, o.sentence), k)
	near = append(near, strings.Fields(k)...)
	clues := make([]float64, len(v.clues))
	for k := range v.clues {
		if k == v.q.focus {
			clues[k] = v.local(v.order[o.doc], o.sentence, k) * v.closeness(o)
		} else {
			clues[k] = v.support(o.doc, o.sentence, k, near)
		}
	}
	if score := v.mean(clues) * o.typed; c.doc < 0 || score > c.score {
		*c = candidate{key: c.key, text: o.text, score: score, clues: clues, doc: o.doc, sentence: o.sentence}
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

// described lowers the score of what the question itself describes and refers back to.
const described = 0.6

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

// A span loses up to farLoss of the support of the asking part, at farthest bytes from its
// nearest word. The title of a document loses titleLoss wherever the words stand.
const (
	farLoss   = 0.3
	farthest  = 150
	titleLoss = 0.05
)

// closeness lowers the weight of spans that stand far from the words of the asking part.
func (v *view) closeness(o occurrence) float64 {
	if o.start < 0 {
		return 1 - titleLoss
	}
	text := v.order[o.doc].sentences[o.sentence].text
	nearest := farthest
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
	return 1 - farLoss*float64(nearest)/farthest
}
