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
// nibbles before each of those, 32 bits each, then the nibbles. A list without any places
// takes no bytes.
func appendPlaces(b []byte, l *list, norms []byte, documents int64) []byte {
	total := 0
	for i, doc := range l.docs {
		total += placeNibbles(l.tfs[i], norms[doc])
	}
	if total == 0 {
		return b
	}
	if lay := layoutOf(int64(len(l.docs)), documents); lay != shortLayout {
		b = appendPlaceDirectory(b, l, norms, lay)
	}
	return appendNibbles(b, l, norms, total)
}

func appendPlaceDirectory(b []byte, l *list, norms []byte, lay layout) []byte {
	part, nibbles := 0, 0
	for i, doc := range l.docs {
		for ; part <= partOf(l, i, lay); part++ {
			b = binary.LittleEndian.AppendUint32(b, uint32(nibbles))
		}
		nibbles += placeNibbles(l.tfs[i], norms[doc])
	}
	return b
}

// partOf returns the chunk or group of the list that posting i is in.
func partOf(l *list, i int, lay layout) int {
	if lay == chunkLayout {
		return int(l.docs[i]/chunkDocs - l.docs[0]/chunkDocs)
	}
	return i / groupPostings
}

func appendNibbles(b []byte, l *list, norms []byte, total int) []byte {
	start := len(b)
	b = append(b, make([]byte, (total+1)/2)...)
	out := b[start:]
	at := 0
	for i, doc := range l.docs {
		for n := range placeNibbles(l.tfs[i], norms[doc]) {
			out[at/2] |= l.places[i] >> (4 * n) & 15 << (4 * (at & 1))
			at++
		}
	}
	return b
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
	for i := range p.index {
		w := wordAt(p.words, i)
		n += placeNibbles(uint32(w&15)+1, norms[w>>4])
	}
	return n, nil
}
