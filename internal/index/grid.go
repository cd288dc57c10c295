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
	for hope := ix.gridHopes.justified(); ; hope = false {
		g := ix.grid(settings)
		g.depth, g.hope = depth, hope
		if err := g.run(ctx, terms, infos, judged); err != nil {
			return nil, err // the grid may hold anything and is thrown away
		}
		ranks, failed := g.ranks(len(judged))
		ix.grids.Put(g)
		if hope {
			ix.gridHopes.count(failed)
		}
		if !failed {
			return ranks, nil
		}
	}
}

// run counts at every rival the documents that rank before it.
func (g *grid) run(ctx context.Context, terms []QueryTerm, infos []termInfo, judged []Ordinal) error {
	if err := g.open(terms, infos); err != nil {
		return err
	}
	if err := g.judge(judged); err != nil {
		return err
	}
	again := int64(firstDocs)
	for from := int64(0); from < g.ix.stats.Documents && g.alive; {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min((from/chunkDocs+1)*chunkDocs, again)
		if err := g.part(uint32(from/chunkDocs), int(from%chunkDocs), int((to-1)%chunkDocs+1)); err != nil {
			return err
		}
		from = to
		g.settle(min(float64(from)/float64(g.ix.stats.Documents), 1))
		if from == again {
			g.share(g.least)
			again = max(2*again, chunkDocs)
		}
	}
	return nil
}

// firstDocs is the number of documents after which bounds are set by what is known, before
// the first chunk is done. Later that is done each time that the number of documents has doubled.
const firstDocs = 512

// grid is the state of one GridRanks. It goes through the documents chunk by chunk, and
// through what the terms have of a chunk twice: first a bound of each document's scores
// is added up, one for all settings, then the scores of the documents that may matter.
//
// Those are rough: sums of whole numbers that stand for weights times the numbers that stand
// for saturations. Where they leave open how a document compares with a judged one, its score is
// computed as a search computes it.
type grid struct {
	ix *Index
	saturations
	depth int
	// hope says that judged documents may be given up that are only expected not to be in
	// the ranking.
	hope  bool
	terms []gridTerm
	// least has for each setting the sum below which a document cannot matter, rough the rough
	// sum below which it certainly cannot. Neither falls.
	least []float64
	rough []uint32
	// bounds has for each document of the chunk at least the highest of its sums, as a
	// share of what matters.
	bounds [chunkDocs]float64
	// reached are the documents that may matter, taken their bounds. While they are scored,
	// places has by document, counted from 1, which of them it is.
	reached [chunkDocs]uint16
	taken   [chunkDocs]float64
	places  [chunkDocs]uint16
	// found has for each of them room for a posting of every term, counts how many there are.
	found  []gridPosting
	counts []int
	// sums are the rough sums of one document, two in a word, hits the lanes that matter.
	sums    []uint64
	hits    []uint16
	ladders []ladder
	alive   bool
}

// gridTerm is a term of the query: a cursor to go through its postings, and one to look up
// single documents.
type gridTerm struct {
	cursor
	probe cursor
	// here is what it has of the chunk; listed has room for it if the term is not in chunks.
	here, listed chunkWords
	// rough is the whole number that stands for the weight.
	rough uint32
}

// gridPosting is a posting of a document: its term's weight, and the row of its saturations.
type gridPosting struct {
	weight     float32
	rough, row uint32
}

// gridBytes is about what found may take: a part of the processor's cache.
const gridBytes, gridPostingBytes = 64 << 10, 12

// roughWeights bounds the sum of the whole numbers that stand for weights, so that rough sums
// are below never.
const (
	roughWeights = 1 << 15
	never        = math.MaxInt32
)

// mayMatter is the least bound of a document that may matter; it leaves room for the
// rounding of sums of bounds.
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
	// Rough sums below from[i] are those of scores below that of rival i. It is filled up to a
	// power of two that is above the number of rivals.
	from []uint32
	// If a rough sum is at least from of n rivals, but below to[n], it stays open whether the
	// score is above that of the last of those.
	to []uint32
	// higher counts by n the documents that rank before n rivals.
	higher []int
	// given is how many of the rivals are given up.
	given int
}

// newLadder makes a ladder for rough sums that are scores times scale, off by at most slack.
func newLadder(rivals []rival, scale, slack float64) ladder {
	slices.SortFunc(rivals, func(a, b rival) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(b.rank, a.rank))
	})
	size := 1 << bits.Len(uint(len(rivals)))
	l := ladder{rivals, make([]uint32, size), make([]uint32, size), make([]int, size), 0}
	for i := range l.from {
		l.from[i] = never
	}
	for i, r := range rivals {
		l.from[i] = uint32(max(leastSum(r.score)*scale-slack, 0))
		above := math.Nextafter32(r.score, float32(math.Inf(1)))
		// Scores below scoredZero stand for no sum.
		l.to[i+1] = uint32(min(leastSum(max(above, scoredZero))*scale+slack, never))
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

// reached counts the rivals that a rough sum does not leave above. There is nothing to
// foresee in how they compare, so it has no branches for it.
func (l *ladder) reached(sum uint32) int {
	n, from := 0, l.from
	for half := len(from) / 2; half > 0; half /= 2 {
		n += half * roughlyAtLeast(sum, from[n+half-1])
	}
	return n
}

// roughlyAtLeast is 1 if a ≥ b, else 0, without a branch.
func roughlyAtLeast(a, b uint32) int { return int(1 - (a-b)>>31) }

// grid returns an empty one, with what is known of the settings from others before it.
func (ix *Index) grid(settings []bm25.Params) *grid {
	g, ok := ix.grids.Get().(*grid)
	if !ok {
		g = &grid{ix: ix}
	}
	if !slices.Equal(g.settings, settings) {
		g.saturations.reset(settings, ix.avgdl())
		g.least, g.rough = make([]float64, g.lanes), make([]uint32, g.lanes)
		g.sums, g.hits = make([]uint64, g.lanes/2), make([]uint16, g.lanes)
	}
	return g
}

// open prepares the terms that have postings.
func (g *grid) open(terms []QueryTerm, infos []termInfo) error {
	g.terms = g.terms[:0]
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
		g.terms = append(g.terms, gt)
	}
	docs := min(max(gridBytes/gridPostingBytes/max(len(g.terms), 1), 1), chunkDocs)
	g.counts = slices.Grow(g.counts[:0], docs)[:docs]
	g.found = slices.Grow(g.found[:0], docs*len(g.terms))[:docs*len(g.terms)]
	return nil
}

// judge computes the scores of the judged documents.
func (g *grid) judge(judged []Ordinal) error {
	sums, rivals := make([]float64, len(g.settings)), make([][]rival, len(g.settings))
	for j, doc := range judged {
		norm, err := g.ix.norms.bytes(int(doc), 1)
		if err != nil {
			return err
		}
		clear(sums)
		for i := range g.terms {
			t := &g.terms[i]
			p, err := t.probe.find(uint32(doc))
			if err != nil {
				return err
			}
			for s, inv := range g.factors(norm[0])[:len(sums)] {
				if p.tf > 0 {
					sums[s] += float64(termScore(t.weight, p.tf, inv))
				}
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
	g.ladders = g.ladders[:0]
	scale, slack := g.roughen()
	for _, r := range rivals {
		g.ladders = append(g.ladders, newLadder(r, scale, slack))
	}
	g.settle(0)
	g.share(g.least)
	return nil
}

// roughen sets the whole numbers that stand for the weights. Rough sums are scores times scale,
// off by at most slack.
func (g *grid) roughen() (scale, slack float64) {
	weights, n := 0.0, float64(len(g.terms))
	for i := range g.terms {
		weights += float64(g.terms[i].weight)
	}
	scale = max(roughWeights-n, 0) / weights
	for i := range g.terms {
		g.terms[i].rough = uint32(math.Round(float64(g.terms[i].weight) * scale))
	}
	// A weight is off by at most 1/2, times a full saturation. A saturation is off by less
	// than 2, times a weight: over all terms by less than a full saturation. So is all
	// else: the scores' own rounding and that of what sums are compared with.
	return scale * fullSaturation, fullSaturation * (n/2 + 2)
}

// settle finds out, when a share of the documents has been seen, which rivals are still in the
// ranking, and so what can still matter.
//
// Of the rivals that are expected not to be, only the first stays: if it turns out not to be
// in the ranking, those behind it are not either.
func (g *grid) settle(share float64) {
	g.alive = false
	for s := range g.least {
		g.least[s], g.rough[s] = math.Inf(1), never
	}
	limit := g.depth
	if g.hope && float64(g.depth)*share >= 1 {
		limit = min(limit, hoped(g.depth, share))
	}
	for s := range g.ladders {
		l, higher := &g.ladders[s], 0
		for i := len(l.rivals) - 1; i >= l.given; i-- {
			if higher += l.higher[i+1]; higher >= g.depth {
				l.given = i + 1
				break
			}
			g.least[s], g.rough[s] = leastSum(l.rivals[i].score), l.from[i]
			g.alive = true
			if higher >= limit {
				l.given = i
				break
			}
		}
	}
}

// part goes through the postings of a chunk's documents in a range. The first range of a chunk
// begins at 0.
func (g *grid) part(chunk uint32, from, to int) error {
	b, err := g.ix.norms.bytes(int(chunk)*chunkDocs, chunkDocs)
	if err != nil {
		return err
	}
	g.forget()
	norms := (*[chunkDocs]byte)(b)
	for i := range g.terms {
		t := &g.terms[i]
		if from == 0 {
			if err := t.read(chunk); err != nil {
				return err
			}
		}
		g.bound(t, norms)
	}
	clear(g.bounds[:from])
	reached := g.reached[:takeSums(g.reached[:], g.taken[:], g.bounds[:to], mayMatter)]
	clear(g.bounds[to:])
	for len(reached) > 0 {
		n := min(len(reached), len(g.counts))
		if err := g.score(chunk, reached[:n], norms); err != nil {
			return err
		}
		reached = reached[n:]
	}
	return nil
}

// read gets what the term has of a chunk, the next one.
func (t *gridTerm) read(number uint32) (err error) {
	if t.layout == chunkLayout {
		t.here, err = t.cursor.chunk(number)
		return err
	}
	l := &t.listed
	l.words, l.wide, l.tfs = l.words[:0], l.wide[:0], l.tfs[:0]
	end := (number + 1) * chunkDocs
	for t.next < end {
		i := t.at
		for ; i < len(t.docs) && t.docs[i] < end; i++ {
			l.append(t.docs[i]%chunkDocs, t.tfs[i])
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
			if t.next < number*chunkDocs {
				return t.badPostings("its groups do not ascend")
			}
		}
	}
	t.here = *l
	return nil
}

// bound adds the bounds of a term's postings to those of their documents, by four at a time as
// in [addTabled].
func (g *grid) bound(t *gridTerm, norms *[chunkDocs]byte) {
	weight, words := float64(t.weight), t.here.words
	for len(words) >= 8 {
		v := binary.LittleEndian.Uint64(words)
		d0, d1, d2, d3 := v>>4&(chunkDocs-1), v>>20&(chunkDocs-1), v>>36&(chunkDocs-1), v>>52
		c0, c1, c2, c3 := v&15<<8|uint64(norms[d0]), v>>16&15<<8|uint64(norms[d1]), v>>32&15<<8|uint64(norms[d2]), v>>48&15<<8|uint64(norms[d3])
		b0, b1, b2, b3 := g.highest[c0], g.highest[c1], g.highest[c2], g.highest[c3]
		if b0*b1*b2*b3 == 0 { // one of them is not known yet
			b0, b1, b2, b3 = g.saturations.bound(uint32(c0)), g.saturations.bound(uint32(c1)), g.saturations.bound(uint32(c2)), g.saturations.bound(uint32(c3))
		}
		g.bounds[d0] += weight * b0
		g.bounds[d1] += weight * b1
		g.bounds[d2] += weight * b2
		g.bounds[d3] += weight * b3
		words = words[8:]
	}
	for ; len(words) >= 2; words = words[2:] {
		v := binary.LittleEndian.Uint16(words)
		d := v >> 4
		g.bounds[d] += weight * g.saturations.bound(uint32(v)&15<<8|uint32(norms[d]))
	}
	w := t.here
	for len(w.wide) >= 4 {
		d, tf := w.nextWide()
		g.bounds[d] += weight * g.saturations.bound(tfClass(tf)<<8|uint32(norms[d]))
	}
}

// score counts some documents of a chunk at the rivals that they rank before.
func (g *grid) score(chunk uint32, docs []uint16, norms *[chunkDocs]byte) error {
	clear(g.counts)
	for i, d := range docs {
		g.places[d&(chunkDocs-1)] = uint16(i + 1)
	}
	for i := range g.terms {
		t := &g.terms[i]
		for words := t.here.words; len(words) >= 2; words = words[2:] {
			v := binary.LittleEndian.Uint16(words)
			if place := g.places[v>>4]; place != 0 {
				g.find(place, t, g.rowOf(uint32(v)&15+1, norms[v>>4]))
			}
		}
		w := t.here
		for len(w.wide) >= 4 {
			d, tf := w.nextWide()
			if place := g.places[d]; place != 0 {
				g.find(place, t, g.rowOf(tf, norms[d]))
			}
		}
	}
	for i, d := range docs {
		d &= chunkDocs - 1
		g.places[d] = 0
		found := g.found[i*len(g.terms):][:g.counts[i]]
		g.add(found)
		if err := g.compare(chunk*chunkDocs+uint32(d), found, norms[d]); err != nil {
			return err
		}
	}
	return nil
}

// find notes a posting of a document. Only in a damaged file there are more than terms.
func (g *grid) find(place uint16, t *gridTerm, row uint32) {
	if n := &g.counts[place-1]; *n < len(g.terms) {
		g.found[int(place-1)*len(g.terms)+*n] = gridPosting{t.weight, t.rough, row}
		*n++
	}
}

// add makes rough sums of a document's postings.
func (g *grid) add(found []gridPosting) {
	for from := 0; from+rowWords <= len(g.sums); from += rowWords {
		var s0, s1, s2, s3 uint64
		for _, p := range found {
			row := (*[rowWords]uint64)(g.values[int(p.row)*len(g.sums)+from:])
			s0 += uint64(p.rough) * row[0]
			s1 += uint64(p.rough) * row[1]
			s2 += uint64(p.rough) * row[2]
			s3 += uint64(p.rough) * row[3]
		}
		*(*[rowWords]uint64)(g.sums[from:]) = [rowWords]uint64{s0, s1, s2, s3}
	}
}

// compare counts a document at the rivals that it ranks before, under each setting.
func (g *grid) compare(doc uint32, found []gridPosting, norm byte) error {
	n, hits, rough := 0, g.hits[:2*len(g.sums)], g.rough[:2*len(g.sums)]
	for i, pair := range g.sums {
		hits[n] = uint16(2 * i)
		n += roughlyAtLeast(uint32(pair), rough[2*i])
		hits[n] = uint16(2*i + 1)
		n += roughlyAtLeast(uint32(pair>>32), rough[2*i+1])
	}
	for _, s := range hits[:n] {
		l, sum := &g.ladders[s], uint32(g.sums[s/2]>>(s%2*32))
		n := l.reached(sum)
		if sum < l.to[n] {
			score := g.exact(found, norm, int(s))
			for ; n > 0; n-- {
				before, err := g.before(doc, score, &l.rivals[n-1])
				if err != nil {
					return err
				}
				if before {
					break
				}
			}
		}
		l.higher[n]++
	}
	return nil
}

// exact is the score of a document with those postings, as a search computes it.
func (g *grid) exact(found []gridPosting, norm byte, setting int) float32 {
	sum, inverse := unseen, g.factors(norm)[setting]
	for _, p := range found {
		sum += float64(termScore(p.weight, g.tfs[p.row], inverse))
	}
	return scoreOf(sum)
}

// before tells whether a document ranks before a rival.
func (g *grid) before(doc uint32, score float32, r *rival) (bool, error) {
	if score != r.score {
		return score > r.score, nil
	}
	rank, err := g.ix.documents.rank(Ordinal(doc))
	return rank < r.rank, err
}

// ranks are the results for that many judged documents, and whether a hope failed.
func (g *grid) ranks(judged int) ([][]int, bool) {
	ranks := make([][]int, len(g.ladders))
	for s, l := range g.ladders {
		ranks[s] = make([]int, judged)
		higher := 0
		for i := len(l.rivals) - 1; i >= 0; i-- {
			if higher += l.higher[i+1]; higher >= g.depth {
				break
			}
			if i < l.given {
				return nil, true
			}
			ranks[s][l.rivals[i].judged] = higher + 1
		}
	}
	return ranks, false
}
