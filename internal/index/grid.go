package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"goserini/internal/bm25"
)

// GridRanks returns the ranks that some documents have for a query under many settings of
// k1 and b: ranks[s][j] is the 1-based rank of judged[j] in the ranking of depth documents
// under settings[s], 0 if it is not in it. They are exactly those of as many searches, but
// the postings are gone through once.
//
// The measures that parameters are tuned by follow from the ranks of the judged documents,
// so nothing is sorted: documents that rank before a judged one are counted.
func (ix *Index) GridRanks(ctx context.Context, text string, settings []bm25.Params, judged []Ordinal, depth int) ([][]int, error) {
	for _, p := range settings {
		if err := (Query{Text: text, Params: p, Depth: depth}).validate(); err != nil {
			return nil, err
		}
	}
	for _, ord := range judged {
		if err := ix.check(ord); err != nil {
			return nil, err
		}
	}
	terms, infos, err := ix.queryTerms(text)
	if err != nil {
		return nil, err
	}
	g := newGrid(ix, settings, depth)
	defer g.release()
	if err := g.open(terms, infos); err != nil {
		return nil, err
	}
	if err := g.judge(judged); err != nil {
		return nil, err
	}
	again := g.docs
	for base := uint32(0); int64(base) < ix.stats.Documents && g.alive; base += g.docs {
		if base == again {
			g.share()
			again *= 2
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := g.window(base); err != nil {
			return nil, err
		}
	}
	return g.ranks(len(judged)), nil
}

// gridBytes is about what the sums of a window take: a part of the processor's cache.
const gridBytes = 64 << 10

// memoDF is the number of documents that a term must stand in for its rows to be kept.
const memoDF = 256

// grid is the state of one GridRanks.
type grid struct {
	ix       *Index
	settings int
	depth    int
	terms    []gridTerm
	// inverse has for each norm a row of the factors of tf under each setting.
	inverse []float32
	// row is the length of rows, docs the number of documents of a window, a power of two.
	row  int
	docs uint32
	// sums has a row for each document of the window.
	sums []float64
	// least has for each setting the sum below which a document cannot matter, shares the
	// inverse of what it was lately. It never falls.
	least, shares []float64
	// bounds has for each document of the window at least the highest of its sums, as a
	// share of what matters.
	bounds []float64
	// found are the postings of the window, term by term.
	found   []gridPosting
	reached []uint16
	ladders []ladder
	alive   bool
}

// gridTerm is a term of the query: a cursor to go through its postings, and one to look up
// single documents.
type gridTerm struct {
	cursor
	probe cursor
	// left is what is left of the chunk, if the term is in chunks.
	left chunkWords
	// memo is nil for terms too rare to be worth one; all their postings have the same bound.
	memo  *rowMemo
	bound float64
	// found is where its postings of the window end among all that were found.
	found int
}

// gridPosting is a posting of a document, given by its place in the window.
type gridPosting struct {
	tf   uint32
	doc  uint16
	norm byte
}

// mayMatter is the least bound of a document that may matter; it leaves room for the
// rounding of bounds.
const mayMatter = 1 - 1e-9

// rival is a judged document under one setting.
type rival struct {
	judged int
	score  float32
	// rank is its place in the order of docids.
	rank uint32
}

// ladder has the judged documents under one setting.
type ladder struct {
	// rivals are in order, the last of the ranking first.
	rivals []rival
	// from has for each rival the least sum that rounds to its score. Infinities fill it up
	// to a power of two that is above the number of rivals.
	from []float64
	// A document that n rivals are not above, is tied with the last of those if its sum is
	// below to[n].
	to []float64
	// higher counts by n the documents that rank before n rivals.
	higher []int
}

func newLadder(rivals []rival) ladder {
	slices.SortFunc(rivals, func(a, b rival) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(b.rank, a.rank))
	})
	size := 1 << bits.Len(uint(len(rivals)))
	l := ladder{rivals, make([]float64, size), make([]float64, size), make([]int, size)}
	for i := range l.from {
		l.from[i] = math.Inf(1)
	}
	for i, r := range rivals {
		l.from[i] = leastSum(r.score)
		above := math.Nextafter32(r.score, float32(math.Inf(1)))
		l.to[i+1] = leastSum(max(above, scoredZero)) // the scores between stand for no sum
	}
	return l
}

// leastSum is the least sum that rounds to a score.
func leastSum(score float32) float64 {
	sum := roundsTo(score)
	if scoreOf(sum) < score {
		sum = math.Nextafter(sum, math.Inf(1))
	}
	return sum
}

// reached counts the rivals whose score is at most that of a sum. There is nothing to
// foresee in how they compare, so it has no branches for it.
func (l *ladder) reached(sum float64) int {
	n, from := 0, l.from
	for half := len(from) / 2; half > 0; half /= 2 {
		n += half * atLeast(sum, from[n+half-1])
	}
	return n
}

func newGrid(ix *Index, settings []bm25.Params, depth int) *grid {
	g := &grid{ix: ix, settings: len(settings), depth: depth, ladders: make([]ladder, len(settings))}
	g.row = (len(settings) + rowLanes - 1) / rowLanes * rowLanes
	g.docs = chunkDocs
	for g.docs > 64 && int(g.docs)*g.row*8 > gridBytes {
		g.docs /= 2
	}
	g.sums = make([]float64, int(g.docs)*g.row)
	g.inverse = make([]float32, bm25.Norms*g.row)
	for s, p := range settings {
		for norm, inv := range bm25.InverseNorms(p, ix.avgdl()) {
			g.inverse[norm*g.row+s] = inv
		}
	}
	g.least, g.shares = make([]float64, g.row), make([]float64, g.row)
	g.bounds = make([]float64, g.docs)
	g.reached = make([]uint16, g.docs)
	return g
}

// open prepares the terms that have postings.
func (g *grid) open(terms []QueryTerm, infos []termInfo) error {
	for i, t := range terms {
		if t.DF == 0 {
			continue
		}
		var gt gridTerm
		for _, c := range []*cursor{&gt.cursor, &gt.probe} {
			if err := c.open(g.ix.postings, infos[i], g.ix.stats.Documents); err != nil {
				return err
			}
		}
		gt.weight = bm25.Weight(t.Count, bm25.IDF(g.ix.stats.WithTokens, int64(t.DF)))
		if t.DF >= memoDF {
			gt.memo = newRowMemo()
		}
		g.terms = append(g.terms, gt)
	}
	return nil
}

// release gives back what later grids can use.
func (g *grid) release() {
	for i := range g.terms {
		if m := g.terms[i].memo; m != nil {
			m.release()
		}
	}
	g.terms = nil
}

// judge computes the scores of the judged documents.
func (g *grid) judge(judged []Ordinal) error {
	sums := make([]float64, g.row)
	rivals := make([][]rival, g.settings)
	for j, doc := range judged {
		clear(sums)
		norm, err := g.ix.norms.bytes(int(doc), 1)
		if err != nil {
			return err
		}
		for i := range g.terms {
			p, err := g.terms[i].probe.find(uint32(doc))
			if err != nil {
				return err
			}
			if p.tf > 0 {
				addRow(sums, g.factors(norm[0]), g.terms[i].weight, float32(p.tf))
			}
		}
		rank, err := g.ix.documents.rank(doc)
		if err != nil {
			return err
		}
		for s := range rivals {
			if sums[s] != unseen {
				rivals[s] = append(rivals[s], rival{judged: j, score: scoreOf(sums[s]), rank: rank})
			}
		}
	}
	for s := range g.ladders {
		g.ladders[s] = newLadder(rivals[s])
	}
	g.settle()
	g.share()
	return nil
}

// share sets what matters, and all bounds by it. That is worth its while when it has grown.
func (g *grid) share() {
	highest := 0.0
	for s, least := range g.least {
		g.shares[s] = 1 / least
		highest = max(highest, g.shares[s])
	}
	for i := range g.terms {
		t := &g.terms[i]
		t.bound = float64(t.weight) * highest
		if t.memo != nil {
			t.memo.share(g.shares)
		}
	}
}

// factors are those of tf under all settings.
func (g *grid) factors(norm byte) []float32 { return g.inverse[int(norm)*g.row:][:g.row] }

// find notes a posting of a document, given by its place in the window.
func (g *grid) find(t *gridTerm, doc, tf uint32, norm byte) {
	bound := t.bound
	if t.memo != nil {
		bound = t.memo.bound(g.factors(norm), g.shares, t.weight, tf, norm)
	}
	g.bounds[doc] += bound
	g.found = append(g.found, gridPosting{tf, uint16(doc), norm})
}

// add adds a term's scores under all settings to the sums of the documents that may matter.
func (g *grid) add(t *gridTerm, found []gridPosting) {
	for _, p := range found {
		if g.bounds[p.doc] < mayMatter {
			continue
		}
		sums := g.sums[int(p.doc)*g.row:][:g.row]
		if t.memo != nil && p.tf <= memoTF && !fastRows() {
			addScores(sums, t.memo.row(g.row, p.tf, p.norm))
		} else {
			addRow(sums, g.factors(p.norm), t.weight, float32(p.tf))
		}
	}
}

// settle finds out which rivals are still in the ranking, and so what can still matter.
func (g *grid) settle() {
	g.alive = false
	for s := range g.least {
		g.least[s] = math.Inf(1)
	}
	for s := range g.ladders {
		l, higher := &g.ladders[s], 0
		for i := len(l.rivals) - 1; i >= 0; i-- {
			if higher += l.higher[i+1]; higher >= g.depth {
				break
			}
			g.least[s] = l.from[i]
			g.alive = true
		}
	}
}

// window goes through the postings of a window.
func (g *grid) window(base uint32) error {
	n := min(g.docs, uint32(g.ix.stats.Documents)-base)
	norms, err := g.ix.norms.bytes(int(base)/chunkDocs*chunkDocs, chunkDocs)
	if err != nil {
		return err
	}
	clear(g.bounds)
	g.found = g.found[:0]
	for i := range g.terms {
		t := &g.terms[i]
		if t.layout == chunkLayout {
			err = g.findChunk(t, base, n, (*[chunkDocs]byte)(norms))
		} else {
			err = g.findListed(t, base, n, norms)
		}
		if err != nil {
			return err
		}
		t.found = len(g.found)
	}
	from := 0
	for i := range g.terms {
		t := &g.terms[i]
		g.add(t, g.found[from:t.found])
		from = t.found
	}
	for _, doc := range g.reached[:takeRows(g.reached, g.sums[:int(n)*g.row], g.least)] {
		sums := g.sums[int(doc)*g.row:][:g.row]
		if err := g.compare(base+uint32(doc), sums); err != nil {
			return err
		}
		clear(sums)
	}
	g.settle()
	return nil
}

// findChunk finds the postings of a term in chunks.
func (g *grid) findChunk(t *gridTerm, base, n uint32, norms *[chunkDocs]byte) error {
	if base%chunkDocs == 0 {
		var err error
		if t.left, err = t.cursor.chunk(base / chunkDocs); err != nil {
			return err
		}
	}
	w, first := &t.left, base%chunkDocs
	for len(w.words) >= 2 {
		v := binary.LittleEndian.Uint16(w.words)
		d := uint32(v >> 4)
		if d-first >= n {
			break
		}
		g.find(t, d-first, uint32(v&15)+1, norms[d])
		w.words = w.words[2:]
	}
	for len(w.wide) >= 4 {
		v := binary.LittleEndian.Uint32(w.wide)
		d, tf := v>>wideTFBits, v&wideTFMask
		if d-first >= n {
			break
		}
		if tf == wideTFMask && len(w.tfs) >= 4 {
			tf, w.tfs = binary.LittleEndian.Uint32(w.tfs), w.tfs[4:]
		}
		g.find(t, d-first, tf, norms[d])
		w.wide = w.wide[4:]
	}
	return nil
}

// findListed finds the postings of a term in groups or a short list.
func (g *grid) findListed(t *gridTerm, base, n uint32, norms []byte) error {
	for t.next < base+n {
		i := t.at
		for ; i < len(t.docs) && t.docs[i] < base+n; i++ {
			g.find(t, t.docs[i]-base, t.tfs[i], norms[t.docs[i]%chunkDocs])
		}
		t.at = i
		switch {
		case i < len(t.docs):
			t.next = t.docs[i]
		case t.layout == shortLayout:
			t.next = done
		default:
			if err := t.nextGroup(); err != nil {
				return err
			}
			if t.next < base {
				return t.badPostings("its groups do not ascend")
			}
		}
	}
	return nil
}

// compare counts a document at the rivals that it ranks before, under each setting.
func (g *grid) compare(doc uint32, sums []float64) error {
	for s := range g.ladders {
		sum := sums[s]
		if sum < g.least[s] {
			continue
		}
		l := &g.ladders[s]
		n := l.reached(sum)
		if sum < l.to[n] {
			rank, err := g.ix.documents.rank(Ordinal(doc))
			if err != nil {
				return err
			}
			for score := scoreOf(sum); n > 0 && score == l.rivals[n-1].score && rank >= l.rivals[n-1].rank; n-- {
			}
		}
		l.higher[n]++
	}
	return nil
}

// ranks are the results for that many judged documents.
func (g *grid) ranks(judged int) [][]int {
	ranks := make([][]int, len(g.ladders))
	for s, l := range g.ladders {
		ranks[s] = make([]int, judged)
		higher := 0
		for i := len(l.rivals) - 1; i >= 0; i-- {
			if higher += l.higher[i+1]; higher < g.depth {
				ranks[s][l.rivals[i].judged] = higher + 1
			}
		}
	}
	return ranks
}
