package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"goserini/internal/analysis"
	"goserini/internal/bm25"
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
	// order has the cursors by the highest score that their postings can have, the lowest
	// first; reach are the sums of those scores, dfs of the numbers of postings, up to each.
	order []*cursor
	reach []float64
	dfs   []int64
	top   top
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
	if err := s.rank(ctx, terms, infos, q.Params, q.Depth); err != nil {
		return Ranking{}, err
	}
	if r.Hits, err = s.hits(); err != nil {
		return Ranking{}, err
	}
	// A searcher that failed is thrown away: its sums may not be as a search needs them.
	ix.searchers.Put(s)
	return r, nil
}

// rank leaves the keys of the best documents in top.
func (s *searcher) rank(ctx context.Context, terms []QueryTerm, infos []termInfo, params bm25.Params, depth int) error {
	for hope := s.ix.hopes.justified(); ; hope = false {
		if err := s.open(terms, infos, params); err != nil {
			return err
		}
		s.top.reset(min(depth, int(s.ix.stats.Documents)))
		if err := s.run(ctx, hope); err != nil {
			return err
		}
		if s.top.hoped {
			s.ix.hopes.count(s.top.failed())
		}
		if !s.top.failed() {
			return nil
		}
	}
}

// hopes counts searches that hoped and those of them that failed and were run once more.
// Where the order of the documents has to do with what is asked for, many fail. The counts
// bear on the time that searches take, never on what they find.
type hopes struct{ all, failed atomic.Int64 }

// mostFailures is the share of hopes that may fail, as one of that many. One that fails costs
// another search.
const mostFailures = 16

func (h *hopes) justified() bool { return h.failed.Load()*mostFailures <= h.all.Load()+mostFailures }

func (h *hopes) count(failed bool) {
	h.all.Add(1)
	if failed {
		h.failed.Add(1)
	}
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
	s.sort()
	return nil
}

// sort brings the cursors into the order of their bounds.
func (s *searcher) sort() {
	s.order, s.reach, s.dfs = s.order[:0], s.reach[:0], s.dfs[:0]
	for i := range s.cursors {
		c := &s.cursors[i]
		c.bound = c.highest(&s.inv)
		s.order = append(s.order, c)
	}
	slices.SortFunc(s.order, func(a, b *cursor) int { return cmp.Compare(a.bound, b.bound) })
	reach, df := 0.0, int64(0)
	for _, c := range s.order {
		reach += float64(c.bound)
		df += c.df
		s.reach, s.dfs = append(s.reach, reach), append(s.dfs, df)
	}
}

// highest is at least the highest score of the list's postings.
func (c *cursor) highest(inv *[bm25.Norms]float32) float32 {
	if c.layout == shortLayout {
		return c.weight
	}
	bound := float32(barely)
	for _, im := range c.impacts {
		bound = max(bound, bm25.TermScore(c.weight, im.tf, inv[im.norm]))
	}
	return bound
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
		if to > from+1 {
			s.scratch = sortTied(keys[from:to], s.entries[from:to], s.scratch)
		}
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
