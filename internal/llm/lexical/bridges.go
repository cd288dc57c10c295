package lexical

import (
	"cmp"
	"slices"
	"strings"
)

// bridges holds the names through which clues reach other documents. A name that stands
// where a clue is met, or is the title of a document that meets it, carries that clue to
// every place where the name stands again: "Alder Grace", found beside the wreck and the
// fog, vouches for them in the article about the keeper.
type bridges struct {
	// carried is, by the key of a name, the share of each clue that it carries.
	carried map[string][]float64
	// byLast finds the fullest name that ends in a word, for people called by their last name.
	byLast map[string]string
	// spread is, by word, the number of documents it stands in with a capital letter.
	spread map[string]int
	// text is a name as it stood first.
	text map[string]string
}

// Shares of a clue that names carry, by where they stand: in the sentence that has the
// clue, beside it, or anywhere in a short document that has it.
const (
	inClue     = 0.9
	besideClue = 0.75
	inDocument = 0.5

	shortDocument = 60 // sentences
)

// bridgeSentences bounds the sentences a clue takes names from.
const bridgeSentences = 40

// build finds the names that carry clues.
func (v *view) build() {
	v.bridges = bridges{carried: map[string][]float64{}, byLast: map[string]string{}, spread: map[string]int{}, text: map[string]string{}}
	v.countSpread()
	for k := range v.clues {
		for _, p := range v.strongest(k) {
			v.carryBeside(v.order[p.doc], p.sentence, k, p.value)
		}
		for i, d := range v.order {
			v.carryFrom(d, k, v.best[i][k])
		}
	}
}

// carryFrom lets the title of a document carry what the document has of clue k, and the
// names in a short one some of it.
func (v *view) carryFrom(d *document, k int, share float64) {
	if share == 0 {
		return
	}
	if d.titleKey != "" {
		v.carry(bracketed.ReplaceAllString(d.title, ""), k, share)
	}
	if len(d.sentences) > shortDocument {
		return
	}
	for s := range d.sentences {
		for _, n := range v.namesIn(d, s) {
			v.carry(n.text, k, inDocument*share)
		}
	}
}

// carryBeside lets the names in and beside a sentence carry clue k.
func (v *view) carryBeside(d *document, s, k int, share float64) {
	for n := max(0, s-1); n <= min(len(d.sentences)-1, s+1); n++ {
		level := besideClue
		if n == s {
			level = inClue
		}
		for _, name := range v.namesIn(d, n) {
			v.carry(name.text, k, level*share)
		}
	}
}

// countSpread counts in how many documents words with capital letters stand.
func (v *view) countSpread() {
	for _, d := range v.order {
		for w := range d.capitals {
			v.spread[w]++
		}
	}
}

// spot is a sentence with a value.
type spot struct {
	doc, sentence int
	value         float64
}

// strongest returns the sentences that have most of clue k, at least half as much as the best.
func (v *view) strongest(k int) []spot {
	var out []spot
	best := 0.0
	for i := range v.order {
		best = max(best, v.best[i][k])
	}
	for i, d := range v.order {
		if v.best[i][k] < best/2 {
			continue
		}
		for s := range d.sentences {
			if d.sentences[s].mask&v.clues[k] == 0 {
				continue
			}
			if x := v.local(d, s, k); x >= best/2 {
				out = append(out, spot{i, s, x})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b spot) int { return cmp.Compare(b.value, a.value) })
	return out[:min(len(out), bridgeSentences)]
}

// carry notes that a name carries a share of clue k. Names of the question carry nothing:
// they are clues themselves.
func (v *view) carry(name string, k int, share float64) {
	n := nameKey(name)
	if n == "" || monthOrDay()[n] || v.q.holds(name) {
		return
	}
	if v.carried[n] == nil {
		v.carried[n] = make([]float64, len(v.clues))
		v.text[n] = strings.TrimSpace(name)
		if words := strings.Fields(n); len(words) > 1 && len(words) <= 3 {
			last := words[len(words)-1]
			if old := v.byLast[last]; old == "" {
				v.byLast[last] = n
			}
		}
	}
	v.carried[n][k] = max(v.carried[n][k], share)
}

// strength is the share of clue k that a name carries, less where the name stands in most
// of the documents seen.
func (v *view) strength(name string, k int) float64 {
	c := v.carried[name]
	if c == nil {
		c = v.carried[v.byLast[name]]
	}
	if c == nil {
		return 0
	}
	return c[k] * v.rarity(name)
}

// rarity falls from 1 for a name in one document to a third for one in all.
func (v *view) rarity(name string) float64 {
	n := len(v.order)
	for _, w := range strings.Fields(name) {
		if c, ok := v.spread[w]; ok {
			n = min(n, c)
		}
	}
	return 1 - float64(n-1)/float64(len(v.order))*2/3
}

// near are the keys of the names within one sentence of s, and of the document's title.
func (v *view) near(i, s int) []string {
	d := v.order[i]
	var out []string
	if d.titleKey != "" {
		out = append(out, d.titleKey)
	}
	for n := max(0, s-1); n <= min(len(d.sentences)-1, s+1); n++ {
		v.namesIn(d, n)
		out = append(out, d.sentences[n].nameKeys...)
	}
	return out
}

// namesIn are the names in a sentence, found once.
func (v *view) namesIn(d *document, s int) []span {
	x := &d.sentences[s]
	if x.named {
		return x.names
	}
	x.named = true
	x.names = v.names(x.text)
	for _, n := range x.names {
		k := nameKey(n.text)
		x.nameKeys = append(x.nameKeys, k)
		if words := strings.Fields(k); len(words) > 1 {
			x.nameKeys = append(x.nameKeys, words[len(words)-1])
		}
	}
	return x.names
}
