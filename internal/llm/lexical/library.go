package lexical

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"goserini/internal/analysis"
	"goserini/internal/lazyregexp"
)

// maxTerms is the number of different stems of a question that are followed: as many as
// fit a mask. Questions are shorter; of longer ones the later stems are only searched for.
const maxTerms = 64

// mask is a set of stems of the question.
type mask uint64

// library is what the conversation has shown of the collection.
type library struct {
	q     *question
	ids   map[string]int // stem → bit
	docs  map[string]*document
	order []*document // as they were first seen
	// cased counts, by word in lower case, how often it stands inside a sentence with and
	// without a capital letter: that tells names from words that begin a sentence.
	cased map[string]*[2]int
}

// document is one document as far as it has been shown.
type document struct {
	id, title string
	titleKey  string
	titleMask mask
	total     int // lines, 0 while unknown
	lines     map[int][]line
	opened    bool
	excerpts  []string
	// excerptLine is the line where its first excerpt stands, 0 if no page has told.
	excerptLine int
	// fused is the reciprocal rank fusion of the rankings in which it was shown.
	fused float64
	// upTo is the last line of the unbroken run read from line 1.
	upTo int

	dirty     bool
	sentences []sentence
	all       mask
	// capitals are the words in it, in lower case, that have a capital letter somewhere.
	capitals map[string]bool
}

// sentence is a sentence of a document with what it has of the question.
type sentence struct {
	text    string
	line    int
	mask    mask
	heading mask
	// names are what looks like names in it, nameKeys their keys and the last words of longer
	// ones. They are filled when they are asked for.
	names    []span
	nameKeys []string
	named    bool
}

func newLibrary(q *question) *library {
	l := &library{q: q, ids: map[string]int{}, docs: map[string]*document{}, cased: map[string]*[2]int{}}
	for _, s := range q.stems {
		if len(l.ids) < maxTerms {
			l.ids[s] = len(l.ids)
		}
	}
	return l
}

// doc returns the document of an id and shelves it when it is new.
func (l *library) doc(id string) *document {
	d := l.docs[id]
	if d == nil {
		d = &document{id: id, lines: map[int][]line{}}
		l.docs[id] = d
		l.order = append(l.order, d)
	}
	return d
}

// fusion is the constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009).
const fusion = 60

// addHit shelves a hit of a ranking.
func (l *library) addHit(h hit) {
	d := l.doc(h.docid)
	if d.title == "" && h.title != "" {
		l.setTitle(d, h.title)
	}
	d.fused += 1 / float64(fusion+h.rank)
	if h.excerpt != "" && !slices.Contains(d.excerpts, h.excerpt) {
		d.excerpts = append(d.excerpts, h.excerpt)
		d.dirty = true
	}
	if d.excerptLine == 0 {
		d.excerptLine = h.line
	}
}

// addPage shelves a page of a document.
func (l *library) addPage(p *docPage) {
	d := l.doc(p.docid)
	d.total, d.dirty, d.opened = p.total, true, true
	for _, n := range p.lines {
		old := d.lines[n.number]
		if i := slices.IndexFunc(old, func(o line) bool { return o.column >= n.column }); i >= 0 {
			old = old[:i]
		}
		d.lines[n.number] = append(old, n)
	}
	for len(d.lines[d.upTo+1]) > 0 {
		d.upTo++
	}
}

var bracketed = lazyregexp.New(`\s*\([^)]*\)`)

func (l *library) setTitle(d *document, title string) {
	d.title = strings.TrimSpace(title)
	d.titleMask = l.maskOf(title)
	k := nameKey(bracketed.ReplaceAllString(title, ""))
	if n := strings.Count(k, " ") + 1; n <= 7 && len(k) >= 4 {
		d.titleKey = k
	}
}

// maskOf returns the stems of the question that a text has.
func (l *library) maskOf(text string) mask {
	var m mask
	english().Analyze(text, func(t analysis.Token) {
		if id, ok := l.ids[string(t.Term)]; ok {
			m |= 1 << id
		}
	})
	return m
}

// stemsMask is the mask of stems.
func (l *library) stemsMask(stems []string) mask {
	var m mask
	for _, s := range stems {
		if id, ok := l.ids[s]; ok {
			m |= 1 << id
		}
	}
	return m
}

// settle brings the sentences of all documents up to date.
func (l *library) settle() {
	changed := false
	for _, d := range l.order {
		if !d.dirty {
			continue
		}
		changed = true
		d.dirty = false
		for _, s := range d.sentences {
			l.count(d, s.text, -1)
		}
		d.sentences = l.sentencesOf(d)
		d.all, d.capitals = d.titleMask, map[string]bool{}
		for _, s := range d.sentences {
			d.all |= s.mask
			l.count(d, s.text, 1)
		}
	}
	if changed { // what counts as a name may have changed with the counts
		for _, d := range l.order {
			for i := range d.sentences {
				s := &d.sentences[i]
				s.named, s.names, s.nameKeys = false, nil, nil
			}
		}
	}
}

// count adds n to the counts of the case of the words of a sentence, the first left out,
// and notes which have a capital letter in the document.
func (l *library) count(d *document, text string, n int) {
	for i, w := range scan(text) {
		if w.digits {
			continue
		}
		lower := strings.ToLower(w.text)
		if w.upper {
			d.capitals[lower] = true
		}
		if i == 0 {
			continue
		}
		c := l.cased[lower]
		if c == nil {
			c = new([2]int)
			l.cased[lower] = c
		}
		if w.upper {
			c[0] += n
		} else {
			c[1] += n
		}
	}
}

// weights returns the weight of each stem: the rarer in the sentences seen, the higher.
// A stem that was never seen weighs most, so that what is missing is missed.
func (l *library) weights() []float64 {
	counts := make([]int, len(l.ids))
	total := 0
	for _, d := range l.order {
		for _, s := range d.sentences {
			total++
			for m := s.mask; m != 0; m &= m - 1 {
				counts[bits.TrailingZeros64(uint64(m))]++
			}
		}
	}
	out := make([]float64, len(l.ids))
	for i, n := range counts {
		out[i] = math.Log(1 + (float64(total)+1)/(float64(n)+1))
	}
	return out
}
