package index

import (
	"fmt"
	"math/bits"

	"goserini/internal/bm25"
)

// Locator finds where in documents the terms of one query stand, without reading their
// text. It is not safe for concurrent use.
type Locator struct {
	ix    *Index
	infos []termInfo
	idfs  []float64
	// cursors find documents in the postings of the terms.
	cursors []cursor
}

// Locator prepares to locate the terms of a query.
func (ix *Index) Locator(query string) (*Locator, error) {
	terms, infos, err := ix.queryTerms(query)
	if err != nil {
		return nil, err
	}
	l := &Locator{ix: ix}
	for i, t := range terms {
		if t.DF > 0 {
			l.infos = append(l.infos, infos[i])
			l.idfs = append(l.idfs, ix.IDF(t.DF))
			var c cursor
			if err := c.open(ix.postings, infos[i], ix.stats.Documents); err != nil {
				return nil, err
			}
			l.cursors = append(l.cursors, c)
		}
	}
	return l, nil
}

// IDF is the inverse document frequency of a term that df documents hold.
func (ix *Index) IDF(df int) float64 { return float64(bm25.IDF(ix.stats.WithTokens, int64(df))) }

// Densest returns the byte range of a document, an eighth of it, that holds most of the
// query: each distinct term counts its idf. Of a short document it is the whole.
func (l *Locator) Densest(ord Ordinal) (from, to int64, err error) {
	e, err := l.ix.extent(ord)
	if err != nil {
		return 0, 0, err
	}
	norm, err := l.ix.norms.bytes(int(ord), 1)
	if err != nil {
		return 0, 0, err
	}
	if !hasPlaces(norm[0]) || len(l.infos) == 0 {
		return 0, e.bytes, nil
	}
	var weights [placeRanges - 1]float64
	for i, info := range l.infos {
		p, err := l.cursors[i].find(uint32(ord))
		if err != nil {
			return 0, 0, err
		}
		if p.tf == 0 {
			continue
		}
		ranges, err := l.ix.placesOf(info, ord, p)
		if err != nil {
			return 0, 0, err
		}
		for r := range weights {
			if ranges>>r&3 != 0 {
				weights[r] += l.idfs[i]
			}
		}
	}
	best := 0
	for r, w := range weights {
		if w > weights[best] {
			best = r
		}
	}
	return placeRange(best, e.bytes), placeRange(best+2, e.bytes), nil
}

// First returns a byte of a document behind the first place of each term that stands in the
// earliest sixteenth of the document which has one of them; the length of the document if it
// is short or has none.
func (l *Locator) First(ord Ordinal) (int64, error) {
	e, err := l.ix.extent(ord)
	if err != nil {
		return 0, err
	}
	norm, err := l.ix.norms.bytes(int(ord), 1)
	if err != nil || !hasPlaces(norm[0]) {
		return e.bytes, err
	}
	first := placeRanges
	for i, info := range l.infos {
		p, err := l.cursors[i].find(uint32(ord))
		if err != nil {
			return 0, err
		}
		if p.tf == 0 {
			continue
		}
		ranges, err := l.ix.placesOf(info, ord, p)
		if err != nil {
			return 0, err
		}
		first = min(first, bits.TrailingZeros16(ranges)+1)
	}
	return placeRange(first, e.bytes), nil
}

// Slice returns the bytes of a document's contents from from up to to, which are bounded
// by its length. They may begin and end inside a character.
func (ix *Index) Slice(ord Ordinal, from, to int64) (string, error) {
	e, err := ix.extent(ord)
	if err != nil {
		return "", err
	}
	from = min(max(from, 0), e.bytes)
	to = min(max(to, from), e.bytes)
	return ix.text.read(e.start+from, e.start+to)
}

// LineAt returns the 1-based line that a byte of a document's contents is in.
func (ix *Index) LineAt(ord Ordinal, at int64) (int, error) {
	e, err := ix.extent(ord)
	if err != nil {
		return 0, err
	}
	if at < 0 || at > e.bytes {
		return 0, fmt.Errorf("byte %d is out of range: document %d has %d bytes", at, ord, e.bytes)
	}
	n, err := ix.text.newlinesBefore(e.start + at)
	return int(n-e.startNewlines) + 1, err
}

// DF is the number of documents that hold a term, which is as the analyzer makes it.
func (ix *Index) DF(term string) (int, error) {
	info, found, err := ix.dictionary.lookup([]byte(term))
	if !found {
		return 0, err
	}
	return int(info.df), err
}
