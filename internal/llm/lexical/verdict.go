package lexical

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"goserini/internal/lazyregexp"
)

// Shares of a question from which a claim is supported, wholly or partly, and a question
// answered with yes: where one sentence decides, and where each of two things must have it.
const (
	supported = 0.75
	partly    = 0.40
	likely    = 0.50
	ofBoth    = 0.60
)

// truth answers a question for yes or no, or checks a claim.
func (v *view) truth() final {
	if v.q.kind == verdict {
		if f, ok := v.ofEach(); ok {
			return f
		}
	}
	doc, sentence, best := v.whole()
	if doc < 0 {
		return final{"No sentence read has any of the question's words.", notFound, 0}
	}
	why := fmt.Sprintf("The sentence that has most of it, %.0f%%: %s", 100*best, v.quote(doc, sentence))
	if v.q.kind == claim {
		switch {
		case best >= supported:
			return final{why, "supported", best}
		case best >= partly:
			return final{why, "partially supported", best}
		}
		return final{why, notFound, 1 - best}
	}
	if best >= likely {
		return final{why, "yes", best}
	}
	return final{why, "no", 1 - best}
}

// ofEach answers whether something is true of each of the things a question names, where
// each has a document of its own: yes if the rest of the question stands in all of them.
// Where it asks for the same of something ("in the same province"), what they have of it
// must be equal.
func (v *view) ofEach() (final, bool) {
	var about []int
	named := mask(0)
	for k, c := range v.q.clues {
		if !c.name {
			continue
		}
		if i := v.titled(c.text); i >= 0 {
			about = append(about, i)
			named |= v.clues[k]
		}
	}
	if len(about) < 2 {
		return final{}, false
	}
	rest := mask(0)
	for _, m := range v.clues {
		rest |= m &^ named
	}
	least := 1.0
	var quotes []string
	var same []string
	for _, i := range about {
		s, share := v.most(i, rest)
		least = min(least, share)
		quotes = append(quotes, v.quote(i, s))
		same = append(same, v.beforeNoun(i))
	}
	why := strings.Join(quotes, " ")
	yes := least >= ofBoth
	if v.q.asksSame() {
		yes = same[0] != "" && !slices.ContainsFunc(same, func(x string) bool { return x != same[0] })
	}
	if yes {
		return final{why, "yes", least}, true
	}
	return final{why, "no", max(1-least, 0.5)}, true
}

// titled returns the document with a title, or -1.
func (v *view) titled(name string) int {
	k := nameKey(name)
	for i, d := range v.order {
		if d.titleKey == k {
			return i
		}
	}
	return -1
}

// most finds the sentence of a document that has most of a set of stems, by weight.
func (v *view) most(i int, m mask) (sentence int, share float64) {
	total := v.weight(m)
	if total == 0 {
		return 0, 0
	}
	for s := range v.order[i].sentences {
		if x := v.weight(m&v.order[i].sentences[s].mask) / total; x > share {
			sentence, share = s, x
		}
	}
	return sentence, share
}

var sameNoun = lazyregexp.New(`(?i)\bsame ([a-z]+)`)

func (q question) asksSame() bool { return sameNoun.MatchString(q.text) }

// beforeNoun returns the name that stands right before or after the noun of which the
// question asks whether it is the same, in the first sentence that has both.
func (v *view) beforeNoun(i int) string {
	m := sameNoun.FindStringSubmatch(v.q.text)
	if m == nil {
		return ""
	}
	for _, s := range v.order[i].sentences {
		at := strings.Index(strings.ToLower(s.text), strings.ToLower(m[1]))
		if at < 0 {
			continue
		}
		for _, n := range v.names(s.text) {
			if n.end <= at && at-n.end < 3 || n.start > at && n.start-at-len(m[1]) < 6 {
				return nameKey(n.text)
			}
		}
	}
	return ""
}

// whole finds the sentence that, with its surroundings, has most of the whole question.
func (v *view) whole() (doc, sentence int, best float64) {
	doc = -1
	total := 0.0
	for _, w := range v.sum {
		total += w
	}
	if total == 0 {
		return
	}
	for i, d := range v.order {
		for s := range d.sentences {
			if d.sentences[s].mask == 0 {
				continue
			}
			value := 0.0
			for k := range v.clues {
				value += v.local(d, s, k) * v.sum[k] / total
			}
			if value > best {
				doc, sentence, best = i, s, value
			}
		}
	}
	return doc, sentence, best
}

// passage answers with the sentence that has most of the question.
func (v *view) passage() final {
	doc, sentence, best := v.whole()
	if doc < 0 || best < leastTotal/2 {
		return final{"No passage read has enough of the question's words.", notFound, 0}
	}
	d := v.order[doc]
	text := d.sentences[sentence].text
	return final{"This passage has most of the question's words: " + v.quote(doc, sentence), harmless(text), best}
}

// earlier and later are the words of questions that compare dates.
var (
	earlier = set(`first earlier earliest older oldest before`)
	later   = set(`later latest last younger youngest newer newest recent recently after`)
)

// choose decides between the two things a question names: by their years where it asks
// which came first or last, else by how much of the question stands beside each.
func (v *view) choose() (final, bool) {
	var at [2]spot
	var years [2]int
	for n, option := range v.q.options {
		at[n] = v.about(option)
		if at[n].doc < 0 {
			return final{}, false
		}
		years[n] = v.firstYear(at[n].doc, at[n].sentence)
	}
	pick := 0
	order := v.q.comparesDates()
	if order != 0 && years[0] != years[1] && years[0] > 0 && years[1] > 0 {
		if (years[1] < years[0]) == (order < 0) {
			pick = 1
		}
	} else if at[1].value > at[0].value {
		pick = 1
	}
	why := v.quote(at[0].doc, at[0].sentence) + " " + v.quote(at[1].doc, at[1].sentence)
	return final{why, harmless(v.q.options[pick]), min(at[0].value, at[1].value)}, true
}

// ownDocument is what the document of a thing counts more than any other.
const ownDocument = 0.5

// about finds the sentence that names a thing, or stands in its own document, and has most
// of the part that asks. Its doc is -1 where there is none.
func (v *view) about(name string) spot {
	best := spot{doc: -1}
	k, lower := nameKey(name), strings.ToLower(name)
	for i, d := range v.order {
		own := d.titleKey == k
		for s := range d.sentences {
			if !own && !holdsWord(strings.ToLower(d.sentences[s].text), lower) {
				continue
			}
			value := v.local(d, s, v.q.focus)
			if own {
				value += ownDocument
			}
			if best.doc < 0 || value > best.value {
				best = spot{i, s, value}
			}
		}
	}
	return best
}

// comparesDates is -1 where the question asks for the earlier, 1 for the later, 0 for neither.
func (q question) comparesDates() int {
	for _, w := range scan(q.text) {
		switch lower := strings.ToLower(w.text); {
		case earlier()[lower]:
			return -1
		case later()[lower]:
			return 1
		}
	}
	return 0
}

// firstYear is the first year in or after a sentence, within its document.
func (v *view) firstYear(doc, sentence int) int {
	d := v.order[doc]
	for s := sentence; s < len(d.sentences); s++ {
		if ys := years(d.sentences[s].text); len(ys) > 0 {
			n, _ := strconv.Atoi(ys[0].text)
			return n
		}
	}
	return 0
}
