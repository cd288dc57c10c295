package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
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
	for base := uint32(0); int64(base) < ix.stats.Documents && g.alive; base += g.docs {
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
	// least has for each setting the sum below which a document cannot matter.
	least   []float64
	reached []uint16
	// rivals are the judged documents under each setting, the last of the ranking first.
	rivals [][]rival
	alive  bool
}

// gridTerm is a term of the query: a cursor to go through its postings, and one to look up
// single documents.
type gridTerm struct {
	cursor
	probe cursor
	// left is what is left of the chunk, if the term is in chunks.
	left chunkWords
	// memo is nil where rows are computed each time.
	memo *rowMemo
}

// rival is a judged document under one setting.
type rival struct {
	judged int
	score  float32
	// from and to bound the sums that round to its score: the least that do, and the least
	// that round to a higher one.
	from, to float64
	// rank is its place in the order of docids.
	rank uint32
	// higher counts the documents that rank before it.
	higher int
}

func newRival(judged int, score float32, rank uint32) rival {
	least := func(score float32) float64 {
		sum := roundsTo(score)
		if scoreOf(sum) < score {
			sum = math.Nextafter(sum, math.Inf(1))
		}
		return sum
	}
	above := math.Nextafter32(score, float32(math.Inf(1)))
	if above < scoredZero {
		above = scoredZero // the scores between stand for no sum
	}
	return rival{judged: judged, score: score, from: least(score), to: least(above), rank: rank}
}

func newGrid(ix *Index, settings []bm25.Params, depth int) *grid {
	g := &grid{ix: ix, settings: len(settings), depth: depth, rivals: make([][]rival, len(settings))}
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
	g.least = make([]float64, g.row)
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
		if !fastRows() && t.DF >= memoDF {
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
				g.add(sums, &g.terms[i], p.tf, norm[0])
			}
		}
		rank, err := g.ix.documents.rank(doc)
		if err != nil {
			return err
		}
		for s := range g.rivals {
			if sums[s] != unseen {
				g.rivals[s] = append(g.rivals[s], newRival(j, scoreOf(sums[s]), rank))
			}
		}
	}
	for _, rivals := range g.rivals {
		slices.SortFunc(rivals, func(a, b rival) int {
			return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(b.rank, a.rank))
		})
	}
	g.settle()
	return nil
}

// add adds a term's scores under all settings to a row.
func (g *grid) add(sums []float64, t *gridTerm, tf uint32, norm byte) {
	inverse := g.inverse[int(norm)*g.row : (int(norm)+1)*g.row]
	if t.memo != nil && tf <= memoTF {
		addScores(sums, t.memo.row(inverse, t.weight, tf, norm))
	} else {
		addRow(sums, inverse, t.weight, float32(tf))
	}
}

// settle finds out which rivals are still in the ranking, and so what can still matter.
func (g *grid) settle() {
	g.alive = false
	for s := range g.least {
		g.least[s] = math.Inf(1)
	}
	for s, rivals := range g.rivals {
		for i := range rivals {
			if rivals[i].higher < g.depth {
				g.least[s] = rivals[i].from
				g.alive = true
				break
			}
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
	for i := range g.terms {
		t := &g.terms[i]
		if t.layout == chunkLayout {
			err = g.addChunk(t, base, n, (*[chunkDocs]byte)(norms))
		} else {
			err = g.addListed(t, base, n, norms)
		}
		if err != nil {
			return err
		}
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

// addChunk adds the scores of a term in chunks.
func (g *grid) addChunk(t *gridTerm, base, n uint32, norms *[chunkDocs]byte) error {
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
		g.add(g.sums[int(d-first)*g.row:][:g.row], t, uint32(v&15)+1, norms[d])
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
		g.add(g.sums[int(d-first)*g.row:][:g.row], t, tf, norms[d])
		w.wide = w.wide[4:]
	}
	return nil
}

// addListed adds the scores of a term in groups or a short list.
func (g *grid) addListed(t *gridTerm, base, n uint32, norms []byte) error {
	for t.next < base+n {
		i := t.at
		for ; i < len(t.docs) && t.docs[i] < base+n; i++ {
			g.add(g.sums[int(t.docs[i]-base)*g.row:][:g.row], t, t.tfs[i], norms[t.docs[i]%chunkDocs])
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

// compare counts a document at the rivals that it ranks before, under each setting. There
// is nothing to foresee in how the scores compare, so it has no branches for them.
func (g *grid) compare(doc uint32, sums []float64) error {
	for s, rivals := range g.rivals {
		sum, tied := sums[s], int64(0)
		if sum < g.least[s] {
			continue
		}
		for i := range rivals {
			r := &rivals[i]
			below := less(sum, r.to)
			r.higher += int(^uint64(below) >> 63)
			tied |= below &^ less(sum, r.from)
		}
		if tied < 0 {
			if err := g.compareTied(doc, sum, rivals); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareTied counts a document at the rivals of the same score that it ranks before.
func (g *grid) compareTied(doc uint32, sum float64, rivals []rival) error {
	rank, err := g.ix.documents.rank(Ordinal(doc))
	if err != nil {
		return err
	}
	score := scoreOf(sum)
	for i := range rivals {
		if r := &rivals[i]; score == r.score && rank < r.rank {
			r.higher++
		}
	}
	return nil
}

// ranks are the results for that many judged documents.
func (g *grid) ranks(judged int) [][]int {
	ranks := make([][]int, len(g.rivals))
	for s, rivals := range g.rivals {
		ranks[s] = make([]int, judged)
		for _, r := range rivals {
			if r.higher < g.depth {
				ranks[s][r.judged] = r.higher + 1
			}
		}
	}
	return ranks
}
