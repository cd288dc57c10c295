package index

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"

	"goserini/internal/analysis"
)

// wordTable maps short byte strings to numbers: open addressing, all memory outside the
// garbage collector's heap.
type wordTable struct {
	slots array[wordSlot]
	words array[byte]
	// used is the number of bytes of words, n that of entries.
	used, n int
}

type wordSlot struct {
	hash   uint32
	offset uint32
	length uint32
	// value is the number plus one; 0 marks a free slot.
	value uint32
}

func hashWord(b []byte) uint32 {
	const seed, other = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	n := len(b)
	var low, high uint64
	switch {
	case n > 16:
		h := xxh3.Hash(b)
		return uint32(h ^ h>>32)
	case n >= 8:
		low, high = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[n-8:])
	case n >= 4:
		low, high = uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[n-4:]))
	case n > 0:
		low = uint64(b[0])<<16 | uint64(b[n/2])<<8 | uint64(b[n-1])
	}
	h, l := bits.Mul64(low^seed, high^other^uint64(n))
	h ^= l
	return uint32(h ^ h>>32)
}

// find returns the number of a word, or false and the slot where it belongs.
func (t *wordTable) find(word []byte, hash uint32) (value, slot uint32, ok bool) {
	slots := t.slots.s
	if len(slots) == 0 {
		return 0, 0, false
	}
	mask := uint32(len(slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &slots[i]
		if s.value == 0 {
			return 0, i, false
		}
		if s.hash == hash && int(s.length) == len(word) && bytes.Equal(t.words.s[s.offset:s.offset+s.length], word) {
			return s.value - 1, i, true
		}
	}
}

// add inserts a word that find did not find.
func (t *wordTable) add(word []byte, hash, value uint32) error {
	if (t.n+1)*4 > len(t.slots.s)*3 {
		if err := t.rehash(); err != nil {
			return err
		}
	}
	if err := t.words.grow(t.used + len(word)); err != nil {
		return err
	}
	_, i, _ := t.find(word, hash)
	t.slots.s[i] = wordSlot{hash: hash, offset: uint32(t.used), length: uint32(len(word)), value: value + 1}
	t.used += copy(t.words.s[t.used:], word)
	t.n++
	return nil
}

func (t *wordTable) rehash() error {
	var bigger array[wordSlot]
	if err := bigger.grow(max(1<<14, 2*len(t.slots.s))); err != nil {
		return err
	}
	mask := uint32(len(bigger.s) - 1)
	for _, s := range t.slots.s {
		if s.value == 0 {
			continue
		}
		i := s.hash & mask
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
	if err := t.slots.free(); err != nil {
		return err
	}
	return t.words.free()
}

// dropped is the number of raw tokens that are no terms.
const dropped = 1<<32 - 2

// vocabulary numbers the terms of the documents that one worker sees. It remembers the
// number of every raw token, so that each is normalised once.
type vocabulary struct {
	analyzer  analysis.Analyzer
	staged    analysis.Staged
	tokenizer analysis.Tokenizer
	raws      wordTable
	terms     wordTable
	// starts has the place of each term in terms.words.
	starts array[uint32]
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
	end := v.terms.used
	if int(id)+1 < v.n {
		end = int(v.starts.s[id+1])
	}
	return v.terms.words.s[v.starts.s[id]:end]
}

// ofRaw returns the number of a raw token's term, or dropped.
func (v *vocabulary) ofRaw(raw []byte) (uint32, error) {
	hash := hashWord(raw)
	if id, _, ok := v.raws.find(raw, hash); ok {
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
	return id, v.raws.add(raw, hash, id)
}

// ofTerm returns the number of a term.
func (v *vocabulary) ofTerm(term []byte) (uint32, error) {
	hash := hashWord(term)
	if id, _, ok := v.terms.find(term, hash); ok {
		return id, nil
	}
	if err := v.starts.grow(v.n + 1); err != nil {
		return 0, err
	}
	v.starts.s[v.n] = uint32(v.terms.used)
	if err := v.terms.add(term, hash, uint32(v.n)); err != nil {
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
		id, err := v.ofRaw(t.Term)
		if err != nil {
			return out, err
		}
		if id != dropped {
			out = append(out, placed{id, uint32(t.Start)})
		}
	}
}

func (v *vocabulary) bytes() int64 { return v.raws.bytes() + v.terms.bytes() + v.starts.bytes() }

// clear forgets all terms.
func (v *vocabulary) clear() error {
	v.n = 0
	for _, free := range []func() error{v.raws.free, v.terms.free, v.starts.free} {
		if err := free(); err != nil {
			return err
		}
	}
	return nil
}
