package index

import (
	"context"
	"fmt"
	"slices"
)

// A search goes through the documents in windows of up to windowDocs. In each it adds up the
// scores of one term after the other (the sums of a window stay in the processor's cache),
// and then picks the documents whose sum can still be among the best.
//
// Once enough documents are known, the terms with the lowest scores may be optional: a
// document that holds no other term cannot be among the best. Where that spares most of the
// postings, only the documents of the other terms are looked at; see prune.go.
const (
	windowChunks = 4
	windowDocs   = windowChunks * chunkDocs
)

// span is what a term has of a chunk of the window.
type span struct {
	chunk int
	chunkWords
}

// run goes through all windows that may hold one of the best documents; with hope it may miss
// some, which [top.failed] tells.
func (s *searcher) run(ctx context.Context, hope bool) error {
	for base := uint32(0); ; {
		optional := s.optional()
		next := uint32(done)
		for _, c := range s.order[optional:] {
			if c.next < base {
				if err := c.advance(base); err != nil {
					return err
				}
			}
			next = min(next, c.next)
		}
		if next == done {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		base = next / chunkDocs * chunkDocs
		left := int64(s.ix.stats.Documents) - int64(base)
		if left < 1 {
			return s.ix.postings.corrupt(fmt.Sprintf("it has a document %d", next))
		}
		var n int
		var err error
		if optional > 0 {
			n = int(min(left, chunkDocs))
			err = s.prune(base, n, optional)
		} else {
			// The first window is short, so that something is known after it.
			n = int(min(left, windowDocs))
			if base == 0 {
				n = min(n, chunkDocs)
			}
			err = s.exhaust(base, n)
		}
		if err != nil {
			return err
		}
		base += uint32(n)
		if hope {
			s.top.hope(int64(base), s.ix.stats.Documents)
		}
	}
}

// exhaust scores the n documents from base on.
func (s *searcher) exhaust(base uint32, n int) error {
	norms, err := s.window(base, n)
	if err != nil {
		return err
	}
	for _, c := range s.order {
		if err := s.add(c, base, n, norms); err != nil {
			return err
		}
	}
	return s.pick(base, n)
}

// window begins with a window and returns the norms of its chunks.
func (s *searcher) window(base uint32, n int) ([]byte, error) {
	s.spans, s.touched, s.seen = s.spans[:0], s.touched[:0], 0
	return s.ix.norms.bytes(int(base), (n+chunkDocs-1)/chunkDocs*chunkDocs)
}

// add adds the scores of a term to the sums of the window and moves its cursor behind it.
func (s *searcher) add(c *cursor, base uint32, n int, norms []byte) error {
	if c.next >= base+uint32(n) {
		return nil
	}
	if c.layout == chunkLayout {
		return s.addChunks(c, base, norms)
	}
	return s.addListed(c, base, uint32(n), norms)
}

func (s *searcher) addChunks(c *cursor, base uint32, norms []byte) error {
	for i := range len(norms) / chunkDocs {
		w, err := c.chunk(base/chunkDocs + uint32(i))
		if err != nil {
			return err
		}
		if w.count() == 0 {
			continue
		}
		s.addChunk(c, &w, i, (*[chunkDocs]byte)(norms[i*chunkDocs:]))
		s.spans = append(s.spans, span{i, w})
		s.seen += w.count()
	}
	return c.advance(base + uint32(len(norms)))
}

// addChunk adds what a term has of chunk i of the window.
func (s *searcher) addChunk(c *cursor, w *chunkWords, i int, norms *[chunkDocs]byte) {
	sums := (*[chunkDocs]float64)(s.sums[i*chunkDocs:])
	if c.table != nil {
		addTabled(sums, norms, c.table, w.words)
	} else {
		addComputed(sums, norms, c.weight, &s.inv, w.words)
	}
	addWide(sums, norms, c.weight, &s.inv, w.wide, w.tfs)
}

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

// dense tells whether to look at all sums of the window.
func (s *searcher) dense(n int) bool { return (s.seen+len(s.touched))*sweepShare > n }

// pick takes the keys of the best of the window's n documents and makes all sums unseen.
func (s *searcher) pick(base uint32, n int) error {
	t, rank := &s.top, s.ix.documents.rank
	if s.dense(n) {
		for from := 0; from < n; from += chunkDocs {
			s.takeKeys(base+uint32(from), takeSums(s.numbers[:], s.taken[:], s.sums[from:from+chunkDocs], t.least))
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

// takeKeys makes keys of the first n taken sums of a chunk that begins at base.
func (s *searcher) takeKeys(base uint32, n int) {
	keys := slices.Grow(s.top.keys, n)
	for i, sum := range s.taken[:n] {
		keys = append(keys, keyOf(sum, base+uint32(s.numbers[i])))
	}
	s.top.keys = keys
}
