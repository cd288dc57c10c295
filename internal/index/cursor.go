package index

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"

	"goserini/internal/bm25"
)

// done is the next document of a cursor at its end.
const done = math.MaxUint32

// cursor goes through the postings of one term, towards higher ordinals.
type cursor struct {
	layout layout
	df     int64
	// documents bounds the ordinals.
	documents uint32
	// next is a lower bound of the next document.
	next   uint32
	weight float32
	// bound is at least the highest score of a posting.
	bound float32
	// table is nil for terms too rare to be worth one.
	table *scoreTable
	// most is the highest frequency, where the layout tells it, else 0; impacts are the
	// pairs that bound the scores.
	impacts []impact

	// In chunks: the first chunk, the directory and the words.
	first     uint32
	directory []byte
	words     []byte
	postings  section

	// In groups: the directory is that of the groups, words their bytes, group the next one
	// to decode. In groups and short lists docs and tfs are decoded postings, of which at is
	// the next one.
	group     int
	docs, tfs []uint32
	at        int
}

// badPostings is the error of postings that are not as they were written.
func (c *cursor) badPostings(detail string) error { return c.postings.corrupt(detail) }

// open begins with the postings of a term in an index of that many documents. It reuses
// the cursor's buffers.
func (c *cursor) open(postings section, t termInfo, documents int64) error {
	*c = cursor{layout: layoutOf(t.df, documents), df: t.df, documents: uint32(documents), postings: postings, impacts: c.impacts[:0], docs: c.docs[:0], tfs: c.tfs[:0]}
	if t.offset < 0 || t.offset > int64(len(postings.data)) || t.postings > int64(len(postings.data)) {
		return c.badPostings(fmt.Sprintf("it has no postings at %d", t.offset))
	}
	b, err := postings.bytes(int(t.offset), int(t.postings))
	if err != nil {
		return err
	}
	if c.layout == shortLayout {
		return c.openShort(b)
	}
	r := numbers{b: b}
	c.readImpacts(&r)
	entries := uint64(t.df+groupPostings-1) / groupPostings
	size := groupEntryBytes
	if c.layout == chunkLayout {
		first := r.next()
		entries, size = r.next(), chunkEntryBytes
		if first > maxDocuments/chunkDocs || entries > maxDocuments/chunkDocs-first+1 {
			r.bad = true
		}
		c.first = uint32(first)
		c.next = c.first * chunkDocs
	}
	if r.bad || entries == 0 || entries > uint64(len(r.b)/size) {
		return c.badPostings("bad directory of postings")
	}
	c.directory, c.words = r.b[:int(entries)*size], r.b[int(entries)*size:]
	if c.layout == groupLayout {
		return c.nextGroup()
	}
	return nil
}

func (c *cursor) readImpacts(r *numbers) {
	n := r.next()
	b := r.b
	r.bad = r.bad || n > bm25.Norms || n > uint64(len(b)/2)
	if r.bad {
		return
	}
	for range n {
		if len(b) < 2 {
			r.bad = true
			return
		}
		norm, tf, size := b[0], uint64(b[1]), 1
		if tf >= 0x80 {
			tf, size = binary.Uvarint(b[1:])
		}
		if size <= 0 || tf > math.MaxUint32 {
			r.bad = true
			return
		}
		c.impacts = append(c.impacts, impact{uint32(tf), norm})
		b = b[1+size:]
	}
	r.b = b
}

func (c *cursor) openShort(b []byte) error {
	r := numbers{b: b}
	doc := uint64(0)
	for range c.df {
		v := r.next()
		tf := uint64(1)
		if v&1 == 0 {
			tf = r.next()
		}
		doc += v >> 1
		if r.bad || doc >= uint64(c.documents) || tf == 0 || tf > math.MaxUint32 {
			return c.badPostings("bad short list of postings")
		}
		c.docs, c.tfs = append(c.docs, uint32(doc)), append(c.tfs, uint32(tf))
	}
	c.next = c.docs[0]
	return nil
}

// nextGroup decodes the next group; at the end next is done.
func (c *cursor) nextGroup() error {
	groups := len(c.directory) / groupEntryBytes
	if c.group == groups {
		c.next = done
		return nil
	}
	n := groupPostings
	if c.group == groups-1 {
		n = int(c.df) - c.group*groupPostings
	}
	entry := c.directory[c.group*groupEntryBytes:]
	doc, offset := binary.LittleEndian.Uint32(entry), binary.LittleEndian.Uint32(entry[4:])
	if n < 1 || n > groupPostings || uint64(offset) > uint64(len(c.words)) {
		return c.badPostings("bad directory of groups")
	}
	c.docs = append(c.docs[:0], make([]uint32, n)...)
	c.tfs = append(c.tfs[:0], make([]uint32, n)...)
	if !decodeGroup(c.words[offset:], doc, c.docs, c.tfs) || c.docs[n-1] >= c.documents {
		return c.badPostings(fmt.Sprintf("bad group %d of postings", c.group))
	}
	c.at = 0
	c.next = c.docs[0]
	c.group++
	return nil
}

// decodeGroup decodes as many postings as docs has room for.
func decodeGroup(b []byte, first uint32, docs, tfs []uint32) bool {
	if len(b) == 0 {
		return false
	}
	head := b[0]
	width := 1 << (head & 3)
	gaps := (len(docs) - 1) * width
	if head&3 == 3 || head>>3 != 0 || gaps > len(b)-1 {
		return false
	}
	g, rest := b[1:1+gaps], b[1+gaps:]
	doc := uint64(first)
	docs[0] = first
	switch width {
	case 1:
		for i, gap := range g {
			doc += uint64(gap)
			docs[1+i] = uint32(doc)
		}
	case 2:
		for i := range docs[1:] {
			doc += uint64(binary.LittleEndian.Uint16(g[2*i:]))
			docs[1+i] = uint32(doc)
		}
	default:
		for i := range docs[1:] {
			doc += uint64(binary.LittleEndian.Uint32(g[4*i:]))
			docs[1+i] = uint32(doc)
		}
	}
	// The documents ascend, so the last one bounds them all.
	if doc > math.MaxUint32 {
		return false
	}
	if head>>2 == exceptionTFs {
		return decodeExceptions(rest, tfs)
	}
	return decodeNibbleTFs(rest, tfs)
}

func decodeExceptions(b []byte, tfs []uint32) bool {
	for i := range tfs {
		tfs[i] = 1
	}
	if len(b) == 0 {
		return false
	}
	r := numbers{b: b[1:]}
	for range b[0] {
		if len(r.b) == 0 || int(r.b[0]) >= len(tfs) {
			return false
		}
		i := r.b[0]
		r.b = r.b[1:]
		tf := r.next()
		if r.bad || tf == 0 || tf > math.MaxUint32 {
			return false
		}
		tfs[i] = uint32(tf)
	}
	return true
}

func decodeNibbleTFs(b []byte, tfs []uint32) bool {
	n := (len(tfs) + 1) / 2
	if n > len(b) {
		return false
	}
	r := numbers{b: b[n:]}
	for i := range tfs {
		code := uint32(b[i/2]>>(4*(i&1))) & 15
		tfs[i] = code + 1
		if code == escapedTF {
			tf := r.next()
			if r.bad || tf == 0 || tf > math.MaxUint32 {
				return false
			}
			tfs[i] = uint32(tf)
		}
	}
	return true
}

// chunkWords is what a list has of one chunk.
type chunkWords struct {
	// words are 16 bits each, wide 32; tfs are the frequencies of wide words that have none.
	words, wide, tfs []byte
}

// find returns the frequency of a document, given by its place in the chunk; 0 if there is
// none.
func (w *chunkWords) find(d uint16) uint32 {
	if i := lowerWord(w.words, d); i >= 0 {
		if v := wordAt(w.words, i); v>>4 == d {
			return uint32(v&15) + 1
		}
	}
	low, high := 0, len(w.wide)/4
	for low < high {
		if middle := (low + high) / 2; wideAt(w.wide, middle)>>wideTFBits < uint32(d) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(w.wide)/4 || wideAt(w.wide, low)>>wideTFBits != uint32(d) {
		return 0
	}
	return w.wideTF(low)
}

// lowerWord returns the last word whose place is at most d, −1 if there is none.
func lowerWord(words []byte, d uint16) int {
	n := len(words) / 2
	if n == 0 || wordAt(words, 0)>>4 > d {
		return -1
	}
	low := 0
	for n > 1 {
		half := n / 2
		if wordAt(words, low+half)>>4 <= d {
			low += half
		}
		n -= half
	}
	return low
}

// wideTF is the frequency of wide word i.
func (w *chunkWords) wideTF(i int) uint32 {
	tf := wideAt(w.wide, i) & wideTFMask
	if tf != wideTFMask {
		return tf
	}
	before := 0
	for k := range i {
		if wideAt(w.wide, k)&wideTFMask == wideTFMask {
			before++
		}
	}
	if 4*before+4 > len(w.tfs) {
		return tf
	}
	return wideAt(w.tfs, before)
}

// nextWide takes the first of the postings in wide words; tf is at least 1 even in a damaged file.
func (w *chunkWords) nextWide() (d, tf uint32) {
	v := binary.LittleEndian.Uint32(w.wide)
	w.wide = w.wide[4:]
	d, tf = v>>wideTFBits, v&wideTFMask
	if tf == wideTFMask && len(w.tfs) >= 4 {
		tf, w.tfs = binary.LittleEndian.Uint32(w.tfs), w.tfs[4:]
	}
	return d, max(tf, 1)
}

// append appends a posting.
func (w *chunkWords) append(d, tf uint32) {
	if tf <= wordTF {
		w.words = binary.LittleEndian.AppendUint16(w.words, uint16(d<<4|(tf-1)))
		return
	}
	w.wide = binary.LittleEndian.AppendUint32(w.wide, d<<wideTFBits|min(tf, wideTFMask))
	if tf >= wideTFMask {
		w.tfs = binary.LittleEndian.AppendUint32(w.tfs, tf)
	}
}

// count is the number of postings.
func (w *chunkWords) count() int { return len(w.words)/2 + len(w.wide)/4 }

// chunk returns what the list has of a chunk.
func (c *cursor) chunk(number uint32) (chunkWords, error) {
	i := int(number) - int(c.first)
	if i < 0 || i >= len(c.directory)/chunkEntryBytes {
		return chunkWords{}, nil
	}
	entry := c.directory[i*chunkEntryBytes:]
	from := 2 * int(binary.LittleEndian.Uint32(entry))
	middle := from + 2*int(binary.LittleEndian.Uint16(entry[4:]))
	to := middle + 4*int(binary.LittleEndian.Uint16(entry[6:]))
	end := len(c.words)
	if len(entry) >= 2*chunkEntryBytes {
		end = 2 * int(binary.LittleEndian.Uint32(entry[chunkEntryBytes:]))
	}
	if to > end || end > len(c.words) {
		return chunkWords{}, c.badPostings(fmt.Sprintf("chunk %d ends behind the postings", number))
	}
	return chunkWords{c.words[from:middle], c.words[middle:to], c.words[to:end]}, nil
}

// lastChunk is the number of the last chunk that has postings.
func (c *cursor) lastChunk() uint32 {
	return c.first + uint32(len(c.directory)/chunkEntryBytes) - 1
}

// advance moves the cursor to documents from base on.
func (c *cursor) advance(base uint32) error {
	switch c.layout {
	case chunkLayout:
		if base/chunkDocs > c.lastChunk() {
			c.next = done
		} else {
			c.next = max(c.next, base)
		}
		return nil
	case groupLayout:
		groups := len(c.directory) / groupEntryBytes
		if c.group < groups && c.groupFirst(c.group) <= base {
			c.group += sort.Search(groups-c.group, func(i int) bool { return c.groupFirst(c.group+i) > base }) - 1
			if err := c.nextGroup(); err != nil {
				return err
			}
		}
	}
	for c.at < len(c.docs) && c.docs[c.at] < base {
		c.at++
	}
	switch {
	case c.at < len(c.docs):
		c.next = c.docs[c.at]
	case c.layout == shortLayout:
		c.next = done
	default:
		return c.nextGroup()
	}
	return nil
}

// groupFirst is the first document of a group.
func (c *cursor) groupFirst(g int) uint32 {
	return binary.LittleEndian.Uint32(c.directory[g*groupEntryBytes:])
}

// wordAt is word i of a chunk.
func wordAt(words []byte, i int) uint16 { return binary.LittleEndian.Uint16(words[2*i:]) }

// wideAt is wide word i of a chunk.
func wideAt(wide []byte, i int) uint32 { return binary.LittleEndian.Uint32(wide[4*i:]) }
