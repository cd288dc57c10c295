package index

import (
	"encoding/binary"

	"goserini/internal/bm25"
)

// layout is the form in which the postings of a term are stored. It follows from the
// numbers of postings and documents, so it is not stored itself.
type layout uint8

const (
	// shortLayout holds variable-length gaps and frequencies, for rare terms.
	shortLayout layout = iota
	// groupLayout holds groups of 128 postings: gaps of one, two or four bytes.
	groupLayout
	// chunkLayout holds 16-bit words, each a document's place in its chunk of 4096 and a
	// frequency, so that scoring needs no decoding. It takes at least 32 postings a chunk
	// on average for its directory to be small beside the words.
	chunkLayout
)

const (
	shortPostings = 64
	groupPostings = 128
	chunkDocs     = 4096
	chunkShare    = 128
)

func layoutOf(df, documents int64) layout {
	switch {
	case df < shortPostings:
		return shortLayout
	case df*chunkShare >= documents:
		return chunkLayout
	}
	return groupLayout
}

// A word of a chunk has the document's place in the chunk in its high twelve bits and
// tf − 1 in its low four. Postings with a greater tf stand behind the words of the chunk in
// wide words of 32 bits: the place in the high twelve, tf in the low twenty. Where those
// are all ones the tf follows behind the wide words of the chunk, 32 bits each.
const (
	wordTF     = 16
	wideTFBits = 20
	wideTFMask = 1<<wideTFBits - 1
)

// chunkEntryBytes is the length of a chunk's entry in the directory of a list: the offset
// of its first word as 32 bits in units of 16, and the numbers of its words and of its wide
// words, 16 bits each.
const chunkEntryBytes = 8

// groupEntryBytes is the length of a group's entry: its first document and the offset of
// its bytes, 32 bits each.
const groupEntryBytes = 8

// list is the postings of one term on their way to the file.
type list struct {
	docs []uint32
	tfs  []uint32
	// places has the two ranges of each posting in four bits each, the first one low.
	places []byte
}

func (l *list) reset() { l.docs, l.tfs, l.places = l.docs[:0], l.tfs[:0], l.places[:0] }

func (l *list) append(doc, tf uint32, places byte) {
	l.docs = append(l.docs, doc)
	l.tfs = append(l.tfs, tf)
	l.places = append(l.places, places)
}

// appendPostings appends the list as it is stored in an index of that many documents
// with those norms.
func appendPostings(b []byte, l *list, norms []byte, documents int64) []byte {
	switch layoutOf(int64(len(l.docs)), documents) {
	case shortLayout:
		return appendShort(b, l)
	case groupLayout:
		return appendGroups(appendImpacts(b, l, norms), l)
	default:
		return appendChunks(appendImpacts(b, l, norms), l)
	}
}

func appendShort(b []byte, l *list) []byte {
	last := uint32(0)
	for i, doc := range l.docs {
		b = appendGap(b, doc-last, l.tfs[i])
		last = doc
	}
	return b
}

// appendGap appends a gap and a frequency; the lowest bit says that the frequency is 1.
func appendGap(b []byte, gap, tf uint32) []byte {
	if tf == 1 {
		return binary.AppendUvarint(b, uint64(gap)<<1|1)
	}
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(gap)<<1), uint64(tf))
}

// impact is a pair of a frequency and a quantised length.
type impact struct {
	tf   uint32
	norm byte
}

// appendImpacts appends the pairs of the list that no other pair beats with at least the
// frequency and at most the length: one of them has the highest score of the list,
// whatever k1 and b are. Both grow from pair to pair.
func appendImpacts(b []byte, l *list, norms []byte) []byte {
	var most [bm25.Norms]uint32
	for i, doc := range l.docs {
		n := norms[doc]
		most[n] = max(most[n], l.tfs[i])
	}
	var best []impact
	top := uint32(0)
	for n, tf := range most {
		if tf > top {
			best = append(best, impact{tf, byte(n)})
			top = tf
		}
	}
	b = binary.AppendUvarint(b, uint64(len(best)))
	for _, im := range best {
		b = binary.AppendUvarint(append(b, im.norm), uint64(im.tf))
	}
	return b
}

// appendChunks appends the number of the first chunk, the number of chunks, their
// directory and the words.
func appendChunks(b []byte, l *list) []byte {
	first := l.docs[0] / chunkDocs
	chunks := int(l.docs[len(l.docs)-1]/chunkDocs - first + 1)
	b = binary.AppendUvarint(b, uint64(first))
	b = binary.AppendUvarint(b, uint64(chunks))
	dir := len(b)
	b = append(b, make([]byte, chunks*chunkEntryBytes)...)
	words := len(b)
	from := 0
	for c := range chunks {
		to := from
		for to < len(l.docs) && l.docs[to]/chunkDocs == first+uint32(c) {
			to++
		}
		entry := b[dir+c*chunkEntryBytes:]
		binary.LittleEndian.PutUint32(entry, uint32((len(b)-words)/2))
		wide := 0
		for i := from; i < to; i++ {
			if l.tfs[i] > wordTF {
				wide++
			}
		}
		binary.LittleEndian.PutUint16(entry[4:], uint16(to-from-wide))
		binary.LittleEndian.PutUint16(entry[6:], uint16(wide))
		b = appendChunk(b, l, from, to)
		from = to
	}
	return b
}

// appendChunk appends the words of the postings from..to, which are those of a chunk.
func appendChunk(b []byte, l *list, from, to int) []byte {
	for i := from; i < to; i++ {
		if l.tfs[i] <= wordTF {
			b = binary.LittleEndian.AppendUint16(b, uint16(l.docs[i]%chunkDocs<<4|(l.tfs[i]-1)))
		}
	}
	for i := from; i < to; i++ {
		if l.tfs[i] > wordTF {
			b = binary.LittleEndian.AppendUint32(b, l.docs[i]%chunkDocs<<wideTFBits|min(l.tfs[i], wideTFMask))
		}
	}
	for i := from; i < to; i++ {
		if l.tfs[i] >= wideTFMask {
			b = binary.LittleEndian.AppendUint32(b, l.tfs[i])
		}
	}
	return b
}

// escapedTF stands in four bits for frequencies that do not fit.
const escapedTF = 15

// Frequencies of a group are stored in the shorter of two forms.
const (
	// exceptionTFs lists the postings whose frequency is not 1.
	exceptionTFs = iota
	// nibbleTFs has four bits for each posting, tf − 1, and then the escaped ones.
	nibbleTFs
)

// appendGroups appends the directory of groups and the groups.
func appendGroups(b []byte, l *list) []byte {
	groups := (len(l.docs) + groupPostings - 1) / groupPostings
	dir := len(b)
	b = append(b, make([]byte, groups*groupEntryBytes)...)
	start := len(b)
	for g := range groups {
		from := g * groupPostings
		to := min(from+groupPostings, len(l.docs))
		entry := b[dir+g*groupEntryBytes:]
		binary.LittleEndian.PutUint32(entry, l.docs[from])
		binary.LittleEndian.PutUint32(entry[4:], uint32(len(b)-start))
		b = appendGroup(b, l.docs[from:to], l.tfs[from:to])
	}
	return b
}

// appendGroup appends a byte with the width of the gaps (low two bits: 1, 2 or 4 bytes)
// and the form of the frequencies (next bit), the gaps after the first document, and the
// frequencies.
func appendGroup(b []byte, docs, tfs []uint32) []byte {
	widest := uint32(0)
	for i, doc := range docs[1:] {
		widest = max(widest, doc-docs[i])
	}
	exceptions, escaped := 0, 0
	for _, tf := range tfs {
		if tf != 1 {
			exceptions++
		}
		if tf-1 >= escapedTF {
			escaped++
		}
	}
	form := byte(exceptionTFs)
	if 1+2*exceptions > (len(tfs)+1)/2+escaped {
		form = nibbleTFs
	}
	switch {
	case widest <= 0xFF:
		b = append(b, 0|form<<2)
		for i, doc := range docs[1:] {
			b = append(b, byte(doc-docs[i]))
		}
	case widest <= 0xFFFF:
		b = append(b, 1|form<<2)
		for i, doc := range docs[1:] {
			b = binary.LittleEndian.AppendUint16(b, uint16(doc-docs[i]))
		}
	default:
		b = append(b, 2|form<<2)
		for i, doc := range docs[1:] {
			b = binary.LittleEndian.AppendUint32(b, doc-docs[i])
		}
	}
	if form == exceptionTFs {
		return appendExceptions(b, tfs, exceptions)
	}
	return appendNibbleTFs(b, tfs)
}

func appendExceptions(b []byte, tfs []uint32, n int) []byte {
	b = append(b, byte(n))
	for i, tf := range tfs {
		if tf != 1 {
			b = binary.AppendUvarint(append(b, byte(i)), uint64(tf))
		}
	}
	return b
}

func appendNibbleTFs(b []byte, tfs []uint32) []byte {
	for i := 0; i < len(tfs); i += 2 {
		v := min(tfs[i]-1, escapedTF)
		if i+1 < len(tfs) {
			v |= min(tfs[i+1]-1, escapedTF) << 4
		}
		b = append(b, byte(v))
	}
	for _, tf := range tfs {
		if tf-1 >= escapedTF {
			b = binary.AppendUvarint(b, uint64(tf))
		}
	}
	return b
}
