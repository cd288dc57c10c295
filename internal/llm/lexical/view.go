package lexical

import "math/bits"

// Levels of presence of a stem, by where it stands as seen from a sentence.
const (
	here      = 1.0  // in the sentence
	beside    = 0.75 // in the one before or after
	nearby    = 0.5  // within three sentences
	above     = 0.65 // in the title or the heading
	elsewhere = 0.25 // anywhere in the document

	elsewhereLong = elsewhere / 3 // anywhere in a long document, where most words occur
	longDocument  = 200           // sentences
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
	if len(d.sentences) < longDocument {
		take(d.all, elsewhere)
	} else {
		take(d.all, elsewhereLong)
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
