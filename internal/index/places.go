package index

import (
	"encoding/binary"

	"goserini/internal/bm25"
)

// The places of a term in a document tell roughly where it stands: the document's bytes
// are cut into 16 equal ranges, and a token lies in the range where its first byte is. The
// range of the first token is stored, and, where there are more, the range that holds most
// of the others, of several the first.
//
// They let a passage be chosen without reading the text. Short documents have none: their
// text is read faster than their places.
const (
	placeRanges = 16
	// placesFrom is the quantised length in tokens from which a document has places.
	placesFrom = 256
)

// hasPlaces tells whether documents of that norm have places.
func hasPlaces(norm byte) bool { return norm >= firstNormWithPlaces }

var firstNormWithPlaces = bm25.Quantise(placesFrom)

// placeNibbles is the number of ranges that are stored for a posting, four bits each.
func placeNibbles(tf uint32, norm byte) int {
	if !hasPlaces(norm) {
		return 0
	}
	return int(min(tf, 2))
}

// placeRange returns where in a document of that many bytes a range begins.
func placeRange(r int, bytes int64) int64 { return (int64(r)*bytes + placeRanges - 1) / placeRanges }

// appendPlaces appends the places of a list: for lists in chunks or groups the number of
// nibbles before each of those, 32 bits each, then the nibbles, in the order in which the
// postings are stored. A list without any places takes no bytes.
func appendPlaces(b []byte, l *list, norms []byte, documents int64) []byte {
	total := 0
	for i, doc := range l.docs {
		total += placeNibbles(l.tfs[i], norms[doc])
	}
	if total == 0 {
		return b
	}
	lay := layoutOf(int64(len(l.docs)), documents)
	directory := len(b)
	if lay != shortLayout {
		b = append(b, make([]byte, 4*(1+partOf(l, len(l.docs)-1, lay)))...)
	}
	w := nibbleWriter{b: b}
	for from, part := 0, 0; from < len(l.docs); part++ {
		to := from
		for to < len(l.docs) && partOf(l, to, lay) == part {
			to++
		}
		if lay != shortLayout {
			binary.LittleEndian.PutUint32(w.b[directory+4*part:], uint32(w.n))
		}
		w.postings(l, norms, from, to, func(tf uint32) bool { return lay != chunkLayout || tf <= wordTF })
		if lay == chunkLayout {
			w.postings(l, norms, from, to, func(tf uint32) bool { return tf > wordTF })
		}
		from = to
	}
	return w.b
}

// partOf returns the chunk or group of the list that posting i is in.
func partOf(l *list, i int, lay layout) int {
	switch lay {
	case shortLayout:
		return 0
	case groupLayout:
		return i / groupPostings
	}
	return int(l.docs[i]/chunkDocs - l.docs[0]/chunkDocs)
}

// nibbleWriter appends values of four bits, of which it has n.
type nibbleWriter struct {
	b []byte
	n int
}

// postings appends the places of the postings from..to whose frequency is wanted.
func (w *nibbleWriter) postings(l *list, norms []byte, from, to int, wanted func(uint32) bool) {
	for i := from; i < to; i++ {
		if !wanted(l.tfs[i]) {
			continue
		}
		for k := range placeNibbles(l.tfs[i], norms[l.docs[i]]) {
			v := l.places[i] >> (4 * k) & 15
			if w.n%2 == 0 {
				w.b = append(w.b, v)
			} else {
				w.b[len(w.b)-1] |= v << 4
			}
			w.n++
		}
	}
}

// placesOf returns the bitmap of ranges for a posting that find found. It is full where
// the document has no places.
func (ix *Index) placesOf(t termInfo, ord Ordinal, p posting) (uint16, error) {
	const everywhere = 1<<placeRanges - 1
	norm, err := ix.norms.bytes(int(ord), 1)
	if err != nil || !hasPlaces(norm[0]) {
		return everywhere, err
	}
	b, err := ix.postings.bytes(int(t.offset+t.postings), int(t.places))
	if err != nil {
		return 0, err
	}
	before, err := ix.nibblesBefore(ord, p)
	if err != nil {
		return 0, err
	}
	if p.layout != shortLayout {
		parts := p.parts * 4
		if parts > len(b) || p.part >= p.parts {
			return 0, ix.postings.corrupt("bad directory of places")
		}
		before += int(binary.LittleEndian.Uint32(b[4*p.part:]))
		b = b[parts:]
	}
	n := placeNibbles(p.tf, norm[0])
	if before+n > 2*len(b) {
		return 0, ix.postings.corrupt("places are missing")
	}
	ranges := uint16(0)
	for at := before; at < before+n; at++ {
		ranges |= 1 << (b[at/2] >> (4 * (at & 1)) & 15)
	}
	return ranges, nil
}

// nibblesBefore counts the nibbles of the postings that stand before p in its part.
func (ix *Index) nibblesBefore(ord Ordinal, p posting) (int, error) {
	n := 0
	if p.layout != chunkLayout {
		for i, doc := range p.docs[:p.index] {
			norm, err := ix.norms.bytes(int(doc), 1)
			if err != nil {
				return 0, err
			}
			n += placeNibbles(p.tfs[i], norm[0])
		}
		return n, nil
	}
	norms, err := ix.norms.bytes(int(ord)/chunkDocs*chunkDocs, chunkDocs)
	if err != nil {
		return 0, err
	}
	for i := range min(p.index, len(p.words)/2) {
		w := wordAt(p.words, i)
		n += placeNibbles(uint32(w&15)+1, norms[w>>4])
	}
	for i := range p.index - len(p.words)/2 {
		n += placeNibbles(wordTF+1, norms[wideAt(p.wide, i)>>wideTFBits])
	}
	return n, nil
}
