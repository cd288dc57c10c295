package index

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"goserini/internal/analysis"
	"goserini/internal/bm25"
)

// A search goes through the documents in windows of windowDocs. In each it adds up the
// scores of one term after the other (the sums of a window stay in the processor's cache),
// and then picks the documents whose sum can still be among the best. Pruning saves
// nothing at the depths and parameters this program is for; see docs/performance.md.
const (
	windowChunks = 4
	windowDocs   = windowChunks * chunkDocs
)

// tabledFrom is the number of postings from which computing a table of all scores of a
// term costs less than it saves.
const tabledFrom = 4096

// searcher is what one search at a time needs.
type searcher struct {
	ix      *Index
	sums    [windowDocs]float64
	inv     [bm25.Norms]float32
	cursors []cursor
	tables  []*scoreTable
	top     top
	// spans and touched tell which sums of the window are not unseen.
	spans   []span
	touched []uint16
	seen    int
	// numbers and taken are where scan puts documents of a chunk and their sums.
	numbers [chunkDocs]uint16
	taken   [chunkDocs]float64
	entries []entry
	scratch []uint64
}

// span is what a term has of a chunk of the window.
type span struct {
	chunk int
	chunkWords
}

// Search ranks the documents that hold any term of the query. It answers equally for any
// number of searches at a time.
func (ix *Index) Search(ctx context.Context, q Query) (Ranking, error) {
	if err := q.validate(); err != nil {
		return Ranking{}, err
	}
	terms, infos, err := ix.queryTerms(q.Text)
	if err != nil {
		return Ranking{}, err
	}
	r := Ranking{Terms: terms}
	s := ix.searcher()
	if err := s.open(terms, infos, q.Params); err != nil {
		return Ranking{}, err
	}
	s.top.reset(min(q.Depth, int(ix.stats.Documents)))
	if err := s.run(ctx); err != nil {
		return Ranking{}, err
	}
	if r.Hits, err = s.hits(); err != nil {
		return Ranking{}, err
	}
	// A searcher that failed is thrown away: its sums may not be as a search needs them.
	ix.searchers.Put(s)
	return r, nil
}

func (q Query) validate() error {
	if err := q.Params.Validate(); err != nil {
		return err
	}
	if q.Depth < 1 {
		return fmt.Errorf("depth=%d is out of range: it must be at least 1", q.Depth)
	}
	if strings.TrimSpace(q.Text) == "" {
		return ErrEmptyQuery
	}
	return nil
}

// queryTerms returns the distinct terms of a text and where their postings are.
func (ix *Index) queryTerms(text string) ([]QueryTerm, []termInfo, error) {
	var terms []QueryTerm
	at := map[string]int{}
	ix.analyzer.Analyze(text, func(t analysis.Token) {
		i, ok := at[string(t.Term)]
		if !ok {
			i = len(terms)
			terms = append(terms, QueryTerm{Term: string(t.Term)})
			at[terms[i].Term] = i
		}
		terms[i].Count++
	})
	infos := make([]termInfo, len(terms))
	for i := range terms {
		info, ok, err := ix.dictionary.lookup([]byte(terms[i].Term))
		if err != nil {
			return nil, nil, err
		}
		if ok {
			infos[i] = info
			terms[i].DF = int(info.df)
		}
	}
	return terms, infos, nil
}

func (ix *Index) searcher() *searcher {
	if s, ok := ix.searchers.Get().(*searcher); ok {
		return s
	}
	return &searcher{ix: ix}
}

// open makes a cursor for every term that has postings.
func (s *searcher) open(terms []QueryTerm, infos []termInfo, params bm25.Params) error {
	s.inv = *bm25.InverseNorms(params, s.ix.avgdl())
	n := 0
	for i, t := range terms {
		if t.DF == 0 {
			continue
		}
		if n == len(s.cursors) {
			s.cursors = append(s.cursors[:n], cursor{})
		}
		s.cursors = s.cursors[:n+1]
		c := &s.cursors[n]
		if err := c.open(s.ix.postings, infos[i], s.ix.stats.Documents); err != nil {
			return err
		}
		c.weight = bm25.Weight(t.Count, bm25.IDF(s.ix.stats.WithTokens, int64(t.DF)))
		if t.DF >= tabledFrom {
			c.table = s.table(n)
			c.table.fill(c.weight, &s.inv, c.highestTF(), s.ix.lowNorm, s.ix.highNorm)
		}
		n++
	}
	s.cursors = s.cursors[:n]
	return nil
}

// table returns the n-th table, which is reused from search to search.
func (s *searcher) table(n int) *scoreTable {
	for len(s.tables) <= n {
		s.tables = append(s.tables, nil)
	}
	if s.tables[n] == nil {
		s.tables[n] = new(scoreTable)
	}
	return s.tables[n]
}

// highestTF is the highest frequency of a list that has impacts.
func (c *cursor) highestTF() uint32 {
	if len(c.impacts) == 0 {
		return 0
	}
	return c.impacts[len(c.impacts)-1].tf
}

// run goes through all windows that hold a posting.
func (s *searcher) run(ctx context.Context) error {
	for {
		next := uint32(done)
		for i := range s.cursors {
			next = min(next, s.cursors[i].next)
		}
		if next == done {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.window(next / windowDocs * windowDocs); err != nil {
			return err
		}
	}
}

// window scores the documents from base on.
func (s *searcher) window(base uint32) error {
	n := min(windowDocs, int(s.ix.stats.Documents)-int(base))
	if n < 1 {
		return s.ix.postings.corrupt(fmt.Sprintf("it has a document %d", base))
	}
	norms, err := s.ix.norms.bytes(int(base), (n+chunkDocs-1)/chunkDocs*chunkDocs)
	if err != nil {
		return err
	}
	s.spans, s.touched, s.seen = s.spans[:0], s.touched[:0], 0
	for i := range s.cursors {
		c := &s.cursors[i]
		if c.next >= base+uint32(n) {
			continue
		}
		if c.layout == chunkLayout {
			err = s.addChunks(c, base, norms)
		} else {
			err = s.addListed(c, base, uint32(n), norms)
		}
		if err != nil {
			return err
		}
	}
	return s.pick(base, n)
}

// addChunks adds the scores of a term in chunks and moves its cursor behind the window.
func (s *searcher) addChunks(c *cursor, base uint32, norms []byte) error {
	for i := range len(norms) / chunkDocs {
		w, err := c.chunk(base/chunkDocs + uint32(i))
		if err != nil {
			return err
		}
		if w.count() == 0 {
			continue
		}
		sums := (*[chunkDocs]float64)(s.sums[i*chunkDocs:])
		norms := (*[chunkDocs]byte)(norms[i*chunkDocs:])
		if c.table != nil {
			addTabled(sums, norms, c.table, w.words)
		} else {
			addComputed(sums, norms, c.weight, &s.inv, w.words)
		}
		addWide(sums, norms, c.weight, &s.inv, w.wide, w.tfs)
		s.spans = append(s.spans, span{i, w})
		s.seen += w.count()
	}
	if after := base/chunkDocs + windowChunks; after > c.lastChunk() {
		c.next = done
	} else {
		c.next = after * chunkDocs
	}
	return nil
}

// addListed adds the scores of a term in groups or a short list.
func (s *searcher) addListed(c *cursor, base, n uint32, norms []byte) error {
	for c.next < base+n {
		i := c.at
		for ; i < len(c.docs) && c.docs[i] < base+n; i++ {
			d := c.docs[i] - base
			s.sums[d&(windowDocs-1)] += float64(s.score(c, c.tfs[i], norms[d]))
			s.touched = append(s.touched, uint16(d))
		}
		c.at = i
		switch {
		case i < len(c.docs):
			c.next = c.docs[i]
		case c.layout == shortLayout:
			c.next = done
		default:
			if err := c.nextGroup(); err != nil {
				return err
			}
			if c.next < base {
				return c.badPostings("its groups do not ascend")
			}
		}
	}
	return nil
}

func (s *searcher) score(c *cursor, tf uint32, norm byte) float32 {
	if c.table != nil && tf <= wordTF {
		return c.table[(tf-1)<<8|uint32(norm)]
	}
	return termScore(c.weight, tf, s.inv[norm])
}

// sweepShare decides how a window's best documents are found: by the postings that were
// added, if they are fewer than this share of the documents, else by all sums in a row.
const sweepShare = 2

// pick takes the keys of the best of the window's n documents and makes all sums unseen.
func (s *searcher) pick(base uint32, n int) error {
	t, rank := &s.top, s.ix.documents.rank
	if (s.seen+len(s.touched))*sweepShare > n {
		for from := 0; from < n; from += chunkDocs {
			s.scan((*[chunkDocs]float64)(s.sums[from:]), base+uint32(from))
			if err := t.trim(rank); err != nil {
				return err
			}
		}
		return nil
	}
	for _, sp := range s.spans {
		sums := (*[chunkDocs]float64)(s.sums[sp.chunk*chunkDocs:])
		first := base + uint32(sp.chunk)*chunkDocs
		t.keys = sweep(t.keys, sums, sp.words, first, t.least)
		t.keys = sweepWide(t.keys, sums, sp.wide, first, t.least)
		if err := t.trim(rank); err != nil {
			return err
		}
	}
	for _, d := range s.touched {
		if sum := s.sums[d]; sum >= t.least {
			t.keys = append(t.keys, keyOf(sum, base+uint32(d)))
		}
		s.sums[d] = unseen
	}
	return t.trim(rank)
}

// scan takes the keys of the best documents of a chunk, of which base is the first, and makes
// all its sums unseen.
func (s *searcher) scan(sums *[chunkDocs]float64, base uint32) {
	n := takeSums(s.numbers[:], s.taken[:], sums[:], s.top.least)
	keys := slices.Grow(s.top.keys, n)
	for i, sum := range s.taken[:n] {
		keys = append(keys, keyOf(sum, base+uint32(s.numbers[i])))
	}
	s.top.keys = keys
}

// hits turns the best keys into hits.
func (s *searcher) hits() ([]Hit, error) {
	d := &s.ix.documents
	keys, err := s.top.ordered(d.rank)
	if err != nil {
		return nil, err
	}
	if s.entries, err = d.entries(s.entries[:0], keys); err != nil {
		return nil, err
	}
	for from, to := 0, 0; from < len(keys); from = to {
		for to = from + 1; to < len(keys) && keys[to]>>32 == keys[from]>>32; to++ {
		}
		s.scratch = sortTied(keys[from:to], s.entries[from:to], s.scratch)
	}
	hits := make([]Hit, len(keys))
	for i, key := range keys {
		hits[i] = Hit{Ordinal: Ordinal(key), Score: keyScore(key)}
	}
	return hits, d.name(hits, s.entries)
}

func (ix *Index) avgdl() float32 {
	return bm25.AverageLength(ix.stats.Tokens, max(ix.stats.WithTokens, 1))
}
