package lexical

import (
	"fmt"
	"html"
	"strings"

	"goserini/internal/lazyregexp"
)

// notFound is the exact answer where no answer was found.
const notFound = "not found"

// Thresholds below which a candidate is not put forward: of the whole; and, where the
// whole is not convincing either, of the part that asks.
const (
	leastTotal = 0.30
	leastFocus = 0.45
	convincing = 0.60
)

// final is an answer in its three parts.
type final struct {
	explanation, exact string
	confidence         float64
}

func (f final) String() string {
	return fmt.Sprintf("Explanation: %s\nExact Answer: %s\nConfidence: %.0f%%", f.explanation, f.exact, 100*min(max(f.confidence, 0), 1))
}

// answer proposes what the conversation supports best.
func (s *session) answer() final {
	if s.library == nil || len(s.library.order) == 0 {
		return final{"The searches brought up no document, so nothing supports an answer.", notFound, 0}
	}
	v := newView(s.library)
	switch s.q.kind {
	case verdict, claim:
		return v.truth()
	case choice:
		if f, ok := v.choose(); ok {
			return f
		}
	case passage:
		return v.passage()
	}
	found := v.candidates()
	if len(found) == 0 {
		return v.nothing(nil)
	}
	c := found[0]
	if c.score < leastTotal || c.score < convincing && c.clues[v.q.focus] < leastFocus {
		return v.nothing(&c)
	}
	return final{v.explain(c), harmless(c.text), v.mean(c.clues)}
}

// explain quotes the sentence the answer stands in and, for each other clue, the best one.
func (v *view) explain(c candidate) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Asked for is %s. %s", v.q.kind, v.quote(c.doc, c.sentence))
	for _, k := range v.q.others() {
		if p := v.bestFor(k, c); p.doc >= 0 && (p.doc != c.doc || p.sentence != c.sentence) {
			fmt.Fprintf(&b, " For the clue “%s”: %s", harmless(short(v.q.clues[k].text, clueWords)), v.quote(p.doc, p.sentence))
		}
	}
	return b.String()
}

// quote quotes a sentence with its line and cites its document.
func (v *view) quote(i, s int) string {
	d := v.order[i]
	at := ""
	if n := d.sentences[s].line; n > 0 {
		at = fmt.Sprintf(" (line %d)", n)
	}
	return fmt.Sprintf("“%s”%s [%s].", short(harmless(d.sentences[s].text), quotedWords), at, d.id)
}

// Lengths in words to which quotations and clues are cut.
const (
	quotedWords = 40
	clueWords   = 14
)

var label = lazyregexp.New(`(?i)(explanation|answer|confidence)\s*:`)

// harmless renders foreign text so that nothing in it reads as a part of the answer, a
// citation or markup.
func harmless(text string) string {
	text = html.UnescapeString(strings.Join(strings.Fields(text), " "))
	text = strings.NewReplacer("[", "(", "]", ")", "【", "(", "】", ")", "`", "'", "*", "", "<", "‹", ">", "›").Replace(text)
	return label.ReplaceAllString(text, "$1 –")
}

// bestFor finds the sentence that has most of a clue, with a preference for the document
// of the answer. The doc is -1 where none has enough to be worth quoting.
func (v *view) bestFor(k int, c candidate) spot {
	best := spot{doc: -1, value: worthQuoting}
	for i, d := range v.order {
		for s := range d.sentences {
			if d.sentences[s].mask&v.clues[k] == 0 {
				continue
			}
			value := v.local(d, s, k)
			if i == c.doc {
				value *= sameDocumentQuoted
			}
			if value > best.value {
				best = spot{i, s, value}
			}
		}
	}
	return best
}

const (
	worthQuoting       = 0.3 // of a clue
	sameDocumentQuoted = 1.2
)

// nothing says that no answer was found, and what came nearest. The confidence is the share
// of the clues that the nearest leaves open.
func (v *view) nothing(c *candidate) final {
	if c == nil {
		return final{"The documents read hold nothing of the kind asked for near the clues.", notFound, 0}
	}
	return final{
		fmt.Sprintf("Nothing read supports an answer well enough. The nearest is “%s”, which has %.0f%% of the clues: %s", harmless(c.text), 100*v.mean(c.clues), v.quote(c.doc, c.sentence)),
		notFound, 1 - v.mean(c.clues),
	}
}
