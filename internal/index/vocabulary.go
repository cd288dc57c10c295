package index

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"

	"goserini/internal/analysis"
)

// wordTable maps byte strings to numbers: open addressing, all memory outside the garbage
// collector's heap.
//
// A lookup of a rare word costs what its misses of the processor's caches cost. So words of
// up to sixteen bytes stand in the slots themselves, and the words met lately stand once
// more in a table small enough to stay in the cache.
type wordTable struct {
	slots array[wordSlot]
	words array[byte]
	// used is the number of bytes of words, n that of entries.
	used, n int
	recent  []wordSlot
}

// wordSlot holds a word of up to sixteen bytes, none of them zero, padded with zeros; or
// the place and the length of a longer one in words and its hash, with bit 31 of value set.
type wordSlot struct {
	low, high uint64
	// value is the number plus one; 0 marks a free slot.
	value uint32
	_     uint32
}

const (
	inlineBytes = 16
	longWord    = 1 << 31
	recentWords = 1 << 13
	// maxWords bounds the numbers, whose highest values have a meaning of their own.
	maxWords = longWord - 4
)

// padding has what remains of the bytes of two little-endian numbers for each length.
var padding = makePadding()

func makePadding() (p [inlineBytes + 1][2]uint64) {
	for n := range p {
		for i := range n {
			p[n][i/8] |= 0xFF << (8 * (i % 8))
		}
	}
	return p
}

// inline returns a word of up to sixteen bytes as two numbers; false if it is longer or
// holds a zero byte, which would make it equal to a shorter one.
func inline(word []byte) (low, high uint64, ok bool) {
	if len(word) > inlineBytes {
		return 0, 0, false
	}
	if cap(word) >= inlineBytes {
		b := word[:inlineBytes]
		p := &padding[len(word)]
		low, high = binary.LittleEndian.Uint64(b)&p[0], binary.LittleEndian.Uint64(b[8:])&p[1]
	} else {
		var b [inlineBytes]byte
		copy(b[:], word)
		low, high = binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	}
	return low, high, len(word) > 0 && word[len(word)-1] != 0
}

func hashInline(low, high uint64) uint64 {
	const seed, other = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	h, l := bits.Mul64(low^seed, high^other)
	return h ^ l
}

// find returns the number of a word.
func (t *wordTable) find(word []byte) (value uint32, ok bool) {
	if t.n == 0 {
		return 0, false
	}
	low, high, ok := inline(word)
	if !ok {
		s := t.findLong(word, xxh3.Hash(word))
		return s.value&^longWord - 1, s.value != 0
	}
	hash := hashInline(low, high)
	r := &t.recent[hash>>40%recentWords]
	if r.low == low && r.high == high && r.value != 0 {
		return r.value - 1, true
	}
	s := t.findInline(low, high, hash)
	if s.value == 0 {
		return 0, false
	}
	*r = *s
	return s.value - 1, true
}

// findInline returns the slot of a word, or the free one where it belongs.
func (t *wordTable) findInline(low, high, hash uint64) *wordSlot {
	slots := t.slots.s
	mask := uint64(len(slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &slots[i]
		if s.value == 0 || s.low == low && s.high == high && s.value < longWord {
			return s
		}
	}
}

// findLong does the same for a word that does not stand in its slot.
func (t *wordTable) findLong(word []byte, hash uint64) *wordSlot {
	slots := t.slots.s
	mask := uint64(len(slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &slots[i]
		if s.value == 0 {
			return s
		}
		if s.value >= longWord && s.high == hash {
			at, n := s.low>>24, s.low&(1<<24-1)
			if bytes.Equal(t.words.s[at:at+n], word) {
				return s
			}
		}
	}
}

// add inserts a word that find did not find.
func (t *wordTable) add(word []byte, value uint32) error {
	if (t.n+1)*8 > len(t.slots.s)*5 {
		if err := t.rehash(); err != nil {
			return err
		}
	}
	t.n++
	if low, high, ok := inline(word); ok {
		*t.findInline(low, high, hashInline(low, high)) = wordSlot{low: low, high: high, value: value + 1}
		return nil
	}
	if err := t.words.grow(t.used + len(word)); err != nil {
		return err
	}
	hash := xxh3.Hash(word)
	*t.findLong(word, hash) = wordSlot{low: uint64(t.used)<<24 | uint64(len(word)), high: hash, value: (value + 1) | longWord}
	t.used += copy(t.words.s[t.used:], word)
	return nil
}

func (t *wordTable) rehash() error {
	if t.recent == nil {
		t.recent = make([]wordSlot, recentWords)
	}
	var bigger array[wordSlot]
	if err := bigger.grow(max(1<<14, 2*len(t.slots.s))); err != nil {
		return err
	}
	mask := uint64(len(bigger.s) - 1)
	for _, s := range t.slots.s {
		if s.value == 0 {
			continue
		}
		i := s.high & mask
		if s.value < longWord {
			i = hashInline(s.low, s.high) & mask
		}
		for bigger.s[i].value != 0 {
			i = (i + 1) & mask
		}
		bigger.s[i] = s
	}
	old := t.slots
	t.slots = bigger
	return old.free()
}

func (t *wordTable) bytes() int64 { return t.slots.bytes() + t.words.bytes() }

func (t *wordTable) free() error {
	t.used, t.n = 0, 0
	clear(t.recent)
	if err := t.slots.free(); err != nil {
		return err
	}
	return t.words.free()
}

// dropped is the number of raw tokens that are no terms.
const dropped = maxWords + 1

// vocabulary numbers the terms of the documents that one worker sees. It remembers the
// number of every raw token, so that each is normalised once.
type vocabulary struct {
	analyzer  analysis.Analyzer
	staged    analysis.Staged
	tokenizer analysis.Tokenizer
	raws      wordTable
	terms     wordTable
	// all has the bytes of the terms, starts the place of each.
	all    array[byte]
	starts array[uint32]
	used   int
	n      int
	buf    []byte
}

func newVocabulary(a analysis.Analyzer) *vocabulary {
	v := &vocabulary{analyzer: a}
	if s, ok := a.(analysis.Staged); ok {
		v.staged, v.tokenizer = s, s.Tokenizer()
	}
	return v
}

// term is the bytes of a term.
func (v *vocabulary) term(id uint32) []byte {
	end := v.used
	if int(id)+1 < v.n {
		end = int(v.starts.s[id+1])
	}
	return v.all.s[v.starts.s[id]:end]
}

// ofRaw returns the number of a raw token's term, or dropped.
func (v *vocabulary) ofRaw(raw []byte) (uint32, error) {
	if id, ok := v.raws.find(raw); ok {
		return id, nil
	}
	id := uint32(dropped)
	term, keep := v.staged.Normalize(v.buf[:0], raw)
	v.buf = term
	if keep && len(term) > 0 {
		var err error
		if id, err = v.ofTerm(term); err != nil {
			return 0, err
		}
	}
	return id, v.raws.add(raw, id)
}

// ofTerm returns the number of a term.
func (v *vocabulary) ofTerm(term []byte) (uint32, error) {
	if id, ok := v.terms.find(term); ok {
		return id, nil
	}
	if err := v.starts.grow(v.n + 1); err != nil {
		return 0, err
	}
	if err := v.all.grow(v.used + len(term)); err != nil {
		return 0, err
	}
	v.starts.s[v.n] = uint32(v.used)
	v.used += copy(v.all.s[v.used:], term)
	if err := v.terms.add(term, uint32(v.n)); err != nil {
		return 0, err
	}
	v.n++
	return uint32(v.n - 1), nil
}

// placed is a term and where its token begins.
type placed struct{ term, start uint32 }

// tokens appends the terms of a text in order.
func (v *vocabulary) tokens(text string, out []placed) ([]placed, error) {
	if v.staged == nil {
		var failed error
		v.analyzer.Analyze(text, func(t analysis.Token) {
			id, err := v.ofTerm(t.Term)
			if err != nil {
				failed = err
			}
			out = append(out, placed{id, uint32(t.Start)})
		})
		return out, failed
	}
	v.tokenizer.Reset(text)
	for {
		t, ok := v.tokenizer.Next()
		if !ok {
			return out, nil
		}
		id, ok := v.raws.find(t.Term)
		if !ok {
			var err error
			if id, err = v.ofRaw(t.Term); err != nil {
				return out, err
			}
		}
		if id != dropped {
			out = append(out, placed{id, uint32(t.Start)})
		}
	}
}

func (v *vocabulary) bytes() int64 {
	return v.raws.bytes() + v.terms.bytes() + v.starts.bytes() + v.all.bytes()
}

// clear forgets all terms.
func (v *vocabulary) clear() error {
	v.n, v.used = 0, 0
	for _, free := range []func() error{v.raws.free, v.terms.free, v.starts.free, v.all.free} {
		if err := free(); err != nil {
			return err
		}
	}
	return nil
}
