package index

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"sort"
)

// The dictionary holds the terms in the order of their bytes, in blocks of
// dictionaryBlock. A block is
//
//	the offset of its first term's postings (8 bytes), then for each term
//	the bytes shared with the term before (a number; 0 for the first),
//	the bytes that follow (a number and the bytes),
//	df, tokens − df, the lengths of the postings and of the places (numbers)
//
// where a number is of variable length. The index of the dictionary has for each block
// the first eight bytes of its first term, as a big-endian number, and its offset.
const (
	dictionaryBlock     = 32
	dictionaryIndexSize = 16
	// maxTermBytes bounds a term: longer ones than analyzers make are refused.
	maxTermBytes = 1 << 16
)

// termInfo tells where the postings of a term are.
type termInfo struct {
	// df is the number of postings; tokens the sum of their frequencies.
	df, tokens int64
	// postings and places are lengths in bytes; the places follow the postings.
	offset           int64
	postings, places int64
}

// dictionaryWriter writes terms that come in order.
type dictionaryWriter struct {
	out, index *spool
	last       []byte
	n          int
	buf        []byte
}

func (w *dictionaryWriter) add(term []byte, t termInfo) error {
	b := w.buf[:0]
	shared := 0
	if w.n%dictionaryBlock == 0 {
		entry := binary.LittleEndian.AppendUint64(nil, termPrefix(term))
		if _, err := w.index.Write(binary.LittleEndian.AppendUint64(entry, uint64(w.out.size))); err != nil {
			return err
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(t.offset))
	} else {
		shared = sharedPrefix(w.last, term)
	}
	b = binary.AppendUvarint(b, uint64(shared))
	b = binary.AppendUvarint(b, uint64(len(term)-shared))
	b = append(b, term[shared:]...)
	for _, v := range []int64{t.df, t.tokens - t.df, t.postings, t.places} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	w.last = append(w.last[:0], term...)
	w.buf = b
	w.n++
	_, err := w.out.Write(b)
	return err
}

// termPrefix is the first eight bytes of a term as a number that sorts as they do.
func termPrefix(term []byte) uint64 {
	var b [8]byte
	copy(b[:], term)
	return binary.BigEndian.Uint64(b[:])
}

func sharedPrefix(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// dictionary finds terms.
type dictionary struct {
	terms, index section
}

// check compares the length of the index with that of its entries.
func (d dictionary) check() error {
	if len(d.index.data)%dictionaryIndexSize != 0 {
		return d.index.corrupt("its length is not that of an index")
	}
	return nil
}

func (d dictionary) blocks() int { return len(d.index.data) / dictionaryIndexSize }

// entry returns the prefix and the offset of a block.
func (d dictionary) entry(block int) (prefix uint64, offset int, err error) {
	b, err := d.index.bytes(block*dictionaryIndexSize, dictionaryIndexSize)
	if err != nil {
		return 0, 0, err
	}
	off := binary.LittleEndian.Uint64(b[8:])
	if off > uint64(len(d.terms.data)) {
		return 0, 0, d.index.corrupt(fmt.Sprintf("block %d begins at %d", block, off))
	}
	return binary.LittleEndian.Uint64(b), int(off), nil
}

// lookup returns what is known of a term, false if the index does not hold it.
func (d dictionary) lookup(term []byte) (termInfo, bool, error) {
	prefix := termPrefix(term)
	var failed error
	// The block is the last one whose first term is not after the term.
	after := sort.Search(d.blocks(), func(i int) bool {
		p, offset, err := d.entry(i)
		if err == nil && p == prefix {
			var first []byte
			if first, err = d.first(offset); err == nil {
				return bytes.Compare(first, term) > 0
			}
		}
		if err != nil {
			failed = err
		}
		return p > prefix
	})
	if failed != nil || after == 0 {
		return termInfo{}, false, failed
	}
	c, err := d.open(after - 1)
	if err != nil {
		return termInfo{}, false, err
	}
	for c.next() {
		if order := bytes.Compare(c.term, term); order >= 0 {
			return c.info, order == 0, nil
		}
	}
	return termInfo{}, false, c.err
}

// first returns the first term of the block at offset.
func (d dictionary) first(offset int) ([]byte, error) {
	c := dictionaryCursor{d: d, at: offset + 8, end: len(d.terms.data), left: 1}
	c.next()
	return c.term, c.err
}

// open returns a cursor over the terms of a block.
func (d dictionary) open(block int) (dictionaryCursor, error) {
	_, offset, err := d.entry(block)
	if err != nil {
		return dictionaryCursor{}, err
	}
	end := len(d.terms.data)
	if block+1 < d.blocks() {
		if _, end, err = d.entry(block + 1); err != nil {
			return dictionaryCursor{}, err
		}
	}
	b, err := d.terms.bytes(offset, 8)
	if err != nil {
		return dictionaryCursor{}, err
	}
	c := dictionaryCursor{d: d, at: offset + 8, end: end, left: dictionaryBlock}
	c.info.offset = int64(binary.LittleEndian.Uint64(b))
	return c, nil
}

// dictionaryCursor goes through the terms of one block.
type dictionaryCursor struct {
	d       dictionary
	at, end int
	left    int
	term    []byte
	info    termInfo
	err     error
}

// next reads the next term into term and info, and returns false at the end of the block.
func (c *dictionaryCursor) next() bool {
	if c.left == 0 || c.at >= c.end || c.err != nil {
		return false
	}
	c.left--
	// One entry is at most this long; its page or pages are checked at once.
	const longest = 6*binary.MaxVarintLen64 + maxTermBytes
	limit := min(c.end, c.at+128)
	b, err := c.d.terms.bytes(c.at, limit-c.at)
	if err != nil {
		c.err = err
		return false
	}
	n, ok := c.parse(b)
	if !ok && limit < c.end {
		limit = min(c.end, c.at+longest)
		if b, err = c.d.terms.bytes(c.at, limit-c.at); err != nil {
			c.err = err
			return false
		}
		n, ok = c.parse(b)
	}
	if !ok {
		c.err = c.d.terms.corrupt(fmt.Sprintf("bad entry at %d", c.at))
		return false
	}
	c.at += n
	return true
}

// parse reads one entry from b and returns its length.
func (c *dictionaryCursor) parse(b []byte) (int, bool) {
	r := numbers{b: b}
	shared, suffix := r.next(), r.next()
	if r.bad || shared > uint64(len(c.term)) || suffix > uint64(len(r.b)) {
		return 0, false
	}
	rest := numbers{b: r.b[suffix:]}
	df, more, postings, places := rest.next(), rest.next(), rest.next(), rest.next()
	if rest.bad || df == 0 || df > maxDocuments || (postings|places|more)>>56 != 0 {
		return 0, false
	}
	c.term = append(c.term[:shared], r.b[:suffix]...)
	c.info.offset += c.info.postings + c.info.places
	c.info.df, c.info.tokens = int64(df), int64(df+more)
	c.info.postings, c.info.places = int64(postings), int64(places)
	return len(b) - len(rest.b), true
}

// numbers reads numbers of variable length from b.
type numbers struct {
	b   []byte
	bad bool
}

// next returns the next number; bad is set when there is none.
func (r *numbers) next() uint64 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := r.b[0]
		r.b = r.b[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// bytes returns the next bytes, whose number stands before them.
func (r *numbers) bytes() []byte {
	n := r.next()
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}
