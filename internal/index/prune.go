package index

// spared is the share of the postings that must be optional for it to be worth looking at
// the documents of the other terms alone. It is high, since looking a posting up costs
// dozens of times what adding one does.
const spared = 0.95

// optional returns how many of the terms with the lowest bounds are optional, 0 where that
// would not spare much.
func (s *searcher) optional() int {
	n := 0
	for n < len(s.reach) && s.reach[n] < s.top.least {
		n++
	}
	if n == 0 || float64(s.dfs[n-1]) < spared*float64(s.dfs[len(s.dfs)-1]) {
		return 0
	}
	return n
}

// prune finds the best of the n documents from base on, which are those of a chunk, among
// the documents that hold a term that is not optional.
//
// Their sums over these terms are completed by one optional term after the other, the
// highest bounds first, and documents are given up as soon as what is left cannot lift them
// among the best. Where too many are left for that the optional terms are added as all
// others.
func (s *searcher) prune(base uint32, n, optional int) error {
	norms, err := s.window(base, n)
	if err != nil {
		return err
	}
	for _, c := range s.order[optional:] {
		if err := s.add(c, base, n, norms); err != nil {
			return err
		}
	}
	least := s.top.least
	m := s.candidates(n, least-s.reach[optional-1])
	if m == 0 {
		return nil
	}
	postings, err := s.ahead(base, s.order[:optional])
	if err != nil {
		return err
	}
	if m*optional*lookupCost > postings {
		return s.restore(base, n, optional, norms, m)
	}
	for i := optional - 1; i >= 0; i-- {
		if m = s.keep(m, least-s.reach[i]); m == 0 {
			return nil
		}
		if err := s.complete(s.order[i], base, n, norms, m); err != nil {
			return err
		}
	}
	s.takeKeys(base, s.keep(m, least))
	return s.top.trim(s.ix.documents.rank)
}

// lookupCost is how many postings are added in the time in which one is looked up.
const lookupCost = 12

// ahead moves cursors to base and returns about how many postings they have in the chunk that
// begins there.
func (s *searcher) ahead(base uint32, cursors []*cursor) (int, error) {
	n := 0
	for _, c := range cursors {
		if c.next < base {
			if err := c.advance(base); err != nil {
				return 0, err
			}
		}
		if c.layout != chunkLayout {
			continue
		}
		w, err := c.chunk(base / chunkDocs)
		if err != nil {
			return 0, err
		}
		n += w.count()
	}
	return n, nil
}

// restore puts the first m taken sums back, adds the optional terms and takes the best.
func (s *searcher) restore(base uint32, n, optional int, norms []byte, m int) error {
	sums := (*[chunkDocs]float64)(s.sums[:])
	for i, d := range s.numbers[:m] {
		sums[d&(chunkDocs-1)] = s.taken[i]
	}
	for _, c := range s.order[:optional] {
		if err := s.add(c, base, n, norms); err != nil {
			return err
		}
	}
	s.takeKeys(base, takeSums(s.numbers[:], s.taken[:], sums[:], s.top.least))
	return s.top.trim(s.ix.documents.rank)
}

// candidates takes the sums that are at least least, which is above zero, and makes all sums
// unseen. It returns how many were taken.
func (s *searcher) candidates(n int, least float64) int {
	sums := (*[chunkDocs]float64)(s.sums[:])
	if s.dense(n) {
		return takeSums(s.numbers[:], s.taken[:], sums[:], least)
	}
	m := 0
	take := func(d uint16) {
		if sums[d&(chunkDocs-1)] >= least {
			s.numbers[m&(chunkDocs-1)], s.taken[m&(chunkDocs-1)] = d, sums[d&(chunkDocs-1)]
			m++
		}
		sums[d&(chunkDocs-1)] = unseen
	}
	for i := range s.spans {
		w := &s.spans[i].chunkWords
		for k := range len(w.words) / 2 {
			take(wordAt(w.words, k) >> 4)
		}
		for k := range len(w.wide) / 4 {
			take(uint16(wideAt(w.wide, k) >> wideTFBits))
		}
	}
	for _, d := range s.touched {
		take(d)
	}
	return m
}

// keep keeps those of the first m taken sums that are at least least.
func (s *searcher) keep(m int, least float64) int {
	kept := 0
	for i, sum := range s.taken[:m] {
		s.numbers[kept], s.taken[kept] = s.numbers[i], sum
		kept += atLeast(sum, least)
	}
	return kept
}

// complete adds the scores of a term to the first m taken sums.
func (s *searcher) complete(c *cursor, base uint32, n int, norms []byte, m int) error {
	if c.layout == chunkLayout {
		w, err := c.chunk(base / chunkDocs)
		if err != nil {
			return err
		}
		for i, d := range s.numbers[:m] {
			if tf := w.find(d); tf > 0 {
				s.taken[i] += float64(s.score(c, tf, norms[d]))
			}
		}
		return nil
	}
	s.touched = s.touched[:0]
	if err := s.add(c, base, n, norms); err != nil {
		return err
	}
	for i, d := range s.numbers[:m] {
		s.taken[i] += s.sums[d&(chunkDocs-1)]
	}
	for _, d := range s.touched {
		s.sums[d] = unseen
	}
	return nil
}
