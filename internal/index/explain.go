package index

import (
	"slices"
	"sort"

	"goserini/internal/bm25"
)

// Explain shows how the score of a document for a query comes about. The query's depth
// does not matter.
func (ix *Index) Explain(q Query, ord Ordinal) (Explanation, error) {
	q.Depth = max(q.Depth, 1)
	if err := q.validate(); err != nil {
		return Explanation{}, err
	}
	if err := ix.check(ord); err != nil {
		return Explanation{}, err
	}
	terms, infos, err := ix.queryTerms(q.Text)
	if err != nil {
		return Explanation{}, err
	}
	record, err := ix.documents.parsed(ord)
	if err != nil {
		return Explanation{}, err
	}
	norm, err := ix.norms.bytes(int(ord), 1)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{DocID: string(record.docid), Variant: bm25.Variant, Params: q.Params, Documents: ix.stats.WithTokens,
		AverageLength: ix.avgdl(), Tokens: int(record.extent.tokens), Length: bm25.Length(norm[0])}
	inv := bm25.InverseNorms(q.Params, ix.avgdl())
	sum := 0.0
	for i, t := range terms {
		te := TermExplanation{QueryTerm: t}
		if t.DF > 0 {
			tf, err := ix.frequency(infos[i], ord)
			if err != nil {
				return Explanation{}, err
			}
			te.TF = int(tf)
			te.IDF = bm25.IDF(ix.stats.WithTokens, int64(t.DF))
			te.Weight = bm25.Weight(t.Count, te.IDF)
			te.Contribution = bm25.TermScore(te.Weight, tf, inv[norm[0]])
		}
		sum += float64(te.Contribution)
		e.Terms = append(e.Terms, te)
	}
	e.Score = float32(sum)
	return e, nil
}

// frequency returns how often a document holds a term.
func (ix *Index) frequency(t termInfo, ord Ordinal) (uint32, error) {
	p, err := ix.find(t, ord)
	return p.tf, err
}

// posting is where a document stands in the postings of a term.
type posting struct {
	// tf is 0 if the document does not hold the term.
	tf uint32
	// part is the chunk or group of the list, of which there are parts; index is the place
	// in it, or in a short list.
	part, parts, index int
	layout             layout
	// In chunks words and wide are those of the part, one behind the other; else docs and
	// tfs are its postings.
	words, wide []byte
	docs, tfs   []uint32
}

// find looks for a document in the postings of a term.
func (ix *Index) find(t termInfo, ord Ordinal) (posting, error) {
	var c cursor
	if err := c.open(ix.postings, t, ix.stats.Documents); err != nil {
		return posting{}, err
	}
	return c.find(uint32(ord))
}

// find looks for a document. In groups it leaves the cursor at the document's group.
func (c *cursor) find(doc uint32) (posting, error) {
	switch c.layout {
	case chunkLayout:
		return c.findInChunk(doc)
	case shortLayout:
		return c.findListed(posting{}, doc), nil
	}
	groups := len(c.directory) / groupEntryBytes
	after := sort.Search(groups, func(g int) bool { return c.groupFirst(g) > doc })
	if after == 0 {
		return posting{layout: groupLayout}, nil
	}
	if c.group != after {
		c.group = after - 1
		if err := c.nextGroup(); err != nil {
			return posting{}, err
		}
	}
	return c.findListed(posting{part: after - 1, parts: groups, layout: groupLayout}, doc), nil
}

// findListed completes p with a document's place among the decoded postings.
func (c *cursor) findListed(p posting, doc uint32) posting {
	p.docs, p.tfs = c.docs, c.tfs
	i, found := slices.BinarySearch(c.docs, doc)
	if p.index = i; found {
		p.tf = c.tfs[i]
	}
	return p
}

func (c *cursor) findInChunk(doc uint32) (posting, error) {
	w, err := c.chunk(doc / chunkDocs)
	if err != nil {
		return posting{}, err
	}
	p := posting{part: int(doc/chunkDocs) - int(c.first), parts: len(c.directory) / chunkEntryBytes, layout: chunkLayout,
		words: w.words, wide: w.wide}
	place := uint16(doc % chunkDocs)
	if p.tf = w.find(place); p.tf == 0 {
		return p, nil
	}
	n := len(w.words) / 2
	if i := lowerWord(w.words, place); i >= 0 && wordAt(w.words, i)>>4 == place {
		p.index = i
	} else {
		p.index = n + sort.Search(len(w.wide)/4, func(i int) bool { return wideAt(w.wide, i)>>wideTFBits >= uint32(place) })
	}
	return p, nil
}
