package index

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"os"
	"slices"

	"goserini/internal/analysis"
	"goserini/internal/bm25"
)

// inverter gathers the postings of the documents that one worker sees, and writes them as
// a run, sorted by term, when its memory is full.
//
// In an index with passages it also gathers those of the passages, of the same tokens.
type inverter struct {
	vocabulary *vocabulary
	// budget bounds vocabulary, states and arenas together, in bytes.
	budget int64
	// chains has the postings of the documents.
	chains
	// passages has those of the passages, nil in an index without.
	passages *chains
	// sorted are the numbers of the terms, as of the last run, in the order of their bytes.
	sorted []uint32

	tokens []placed
	terms  []docTerm
}

// chains are the postings of all terms in documents, or in passages.
//
// The postings of a term are a chain of slices of one arena, each longer than the one
// before. A posting is the gap to the slot of the document before and a frequency, as in a
// short list, and then a byte of places, if the document has any.
type chains struct {
	dir    string
	states array[termState]
	arena  array[byte]
	used   int
	runs   []*os.File
}

// termState is where the postings of a term go on.
type termState struct {
	// slot is the index in inverter.terms plus one while the document holding it is read.
	slot uint32
	// last is the slot of the last document.
	last uint32
	// pos and end bound the room left in the last slice; both are 0 before the first posting.
	pos, end uint32
	// head is where the first slice begins.
	head uint32
}

// docTerm is a term of the document that is being read.
type docTerm struct {
	term, tf uint32
	// first is the range of the first token, most the one that most of the others are in,
	// mostTF their number, at the range counted now and atTF the number there.
	first, most, at byte
	mostTF, atTF    uint32
}

// count takes the next token, in range r.
func (d *docTerm) count(r byte) {
	d.tf++
	if d.tf == 1 {
		d.first = r
		return
	}
	if r != d.at || d.atTF == 0 {
		d.at, d.atTF = r, 0
	}
	d.atTF++
	if d.atTF > d.mostTF {
		d.most, d.mostTF = d.at, d.atTF
	}
}

// sliceSizes are the lengths of the slices of a chain. Each ends with a byte for its level
// and, from linkBytes before its end, the place of the next slice.
var sliceSizes = [...]int{16, 32, 64, 128, 256, 512, 1024, 2048, 4096}

const linkBytes = 5

// postingBytes bounds a posting in a chain.
const postingBytes = 5 + 5 + 1

// maxInverterBudget keeps places in the arena below 2³².
const maxInverterBudget = 1 << 30

func newInverter(a analysis.Analyzer, dir string, budget int64, passages bool) (*inverter, error) {
	v := &inverter{vocabulary: newVocabulary(a), budget: min(budget, maxInverterBudget), chains: chains{dir: dir}}
	// Memory that is not touched costs nothing, so the arena need not grow.
	arena := int(2*v.budget) + 1<<20
	if err := v.arena.grow(arena); err != nil || !passages {
		return v, err
	}
	v.passages = &chains{dir: dir}
	return v, v.passages.arena.grow(arena)
}

// add takes the document in that slot, which is above all before, and returns the number
// of its tokens.
func (v *inverter) add(slot uint32, contents string) (int, error) {
	var err error
	if v.tokens, err = v.vocabulary.tokens(contents, v.tokens[:0]); err != nil {
		return 0, err
	}
	if err := v.states.grow(v.vocabulary.n); err != nil {
		return 0, err
	}
	v.count(int64(len(contents)), v.tokens)
	if err := v.reserve(len(v.terms)); err != nil {
		return 0, err
	}
	places := hasPlaces(bm25.Quantise(len(v.tokens)))
	for _, t := range v.terms {
		v.append(slot, t, places)
	}
	return len(v.tokens), nil
}

// count fills terms with the distinct terms of tokens, of a text of that length in bytes, and
// clears their slots again.
func (v *inverter) count(length int64, parts ...[]placed) {
	v.terms = v.terms[:0]
	states := v.states.s
	r, next := 0, placeRange(1, length)
	for _, tokens := range parts {
		for _, t := range tokens {
			for int64(t.start) >= next {
				r++
				next = placeRange(r+1, length)
			}
			s := &states[t.term]
			if s.slot == 0 {
				v.terms = append(v.terms, docTerm{term: t.term})
				s.slot = uint32(len(v.terms))
			}
			v.terms[s.slot-1].count(byte(r))
		}
	}
	for _, d := range v.terms {
		states[d.term].slot = 0
	}
}

// reserve makes room for that many postings. A new slice is never longer than the chain
// before it, so all new slices together are at most as long as what is used; the first
// ones are short.
func (v *chains) reserve(n int) error {
	const last = len(sliceSizes) - 1
	return v.arena.grow(v.used + min(n*(sliceSizes[0]+sliceSizes[last]), v.used+4*n*sliceSizes[0]))
}

// append adds a posting to the chain of its term.
func (v *chains) append(slot uint32, t docTerm, places bool) {
	s := &v.states.s[t.term]
	var buf [postingBytes + 4]byte
	b := appendGap(buf[:0], slot-s.last, t.tf)
	if places {
		b = append(b, t.first|t.most<<4)
	}
	s.last = slot
	if s.end == 0 {
		s.head = uint32(v.used)
		v.slice(s, 0)
	}
	for len(b) > 0 {
		if s.pos == s.end {
			level := min(int(v.arena.s[s.end])+1, len(sliceSizes)-1)
			binary.LittleEndian.PutUint32(v.arena.s[s.end+1:], uint32(v.used))
			v.slice(s, level)
		}
		n := copy(v.arena.s[s.pos:s.end], b)
		s.pos += uint32(n)
		b = b[n:]
	}
}

// slice begins a new slice of that level.
func (v *chains) slice(s *termState, level int) {
	s.pos = uint32(v.used)
	v.used += sliceSizes[level]
	s.end = uint32(v.used) - linkBytes
	v.arena.s[s.end] = byte(level)
}

// full tells whether it is time to write a run.
func (v *inverter) full() bool {
	size := v.vocabulary.bytes() + v.chains.bytes()
	if v.passages != nil {
		size += v.passages.bytes()
	}
	return size > v.budget
}

func (v *chains) bytes() int64 { return v.states.bytes() + int64(v.used) }

// spill writes all postings as runs and forgets them. Terms are remembered as long as
// they take little of the budget.
func (v *inverter) spill() error {
	v.sort()
	if err := v.chains.spill(v.vocabulary, v.sorted); err != nil {
		return err
	}
	if v.passages != nil {
		if err := v.passages.spill(v.vocabulary, v.sorted); err != nil {
			return err
		}
	}
	if v.vocabulary.bytes() > v.budget/2 {
		v.sorted = nil
		return v.vocabulary.clear()
	}
	return nil
}

// spill writes all postings as a run, in the order of sorted terms, and forgets them.
func (v *chains) spill(vocabulary *vocabulary, sorted []uint32) error {
	if v.used == 0 {
		return nil
	}
	f, err := temporary(v.dir)
	if err != nil {
		return err
	}
	v.runs = append(v.runs, f)
	w := bufio.NewWriterSize(f, 1<<18)
	var postings []byte
	for _, id := range sorted {
		s := &v.states.s[id]
		if s.end == 0 {
			continue
		}
		postings = v.chain(postings[:0], s)
		if err := writeRunEntry(w, vocabulary.term(id), postings); err != nil {
			return err
		}
		*s = termState{}
	}
	v.used = 0
	return w.Flush()
}

// chain appends the bytes of a term's postings.
func (v *chains) chain(b []byte, s *termState) []byte {
	for at, level := s.head, 0; ; level = min(level+1, len(sliceSizes)-1) {
		end := at + uint32(sliceSizes[level]-linkBytes)
		if end == s.end {
			return append(b, v.arena.s[at:s.pos]...)
		}
		b = append(b, v.arena.s[at:end]...)
		at = binary.LittleEndian.Uint32(v.arena.s[end+1:])
	}
}

// sort brings the terms that are new since the last run into order and merges them with
// the others.
func (v *inverter) sort() {
	type keyed struct {
		prefix uint64
		id     uint32
	}
	old := len(v.sorted)
	fresh := make([]keyed, v.vocabulary.n-old)
	for i := range fresh {
		id := uint32(old + i)
		fresh[i] = keyed{termPrefix(v.vocabulary.term(id)), id}
	}
	slices.SortFunc(fresh, func(a, b keyed) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return bytes.Compare(v.vocabulary.term(a.id), v.vocabulary.term(b.id))
	})
	merged := make([]uint32, 0, v.vocabulary.n)
	i := 0
	for _, f := range fresh {
		for i < old && bytes.Compare(v.vocabulary.term(v.sorted[i]), v.vocabulary.term(f.id)) < 0 {
			merged = append(merged, v.sorted[i])
			i++
		}
		merged = append(merged, f.id)
	}
	v.sorted = append(merged, v.sorted[i:]...)
}

// release gives the memory back; the runs stay.
func (v *inverter) release() error {
	v.sorted, v.tokens, v.terms = nil, nil, nil
	err := errors.Join(v.vocabulary.clear(), v.states.free(), v.arena.free())
	if v.passages != nil {
		err = errors.Join(err, v.passages.states.free(), v.passages.arena.free())
	}
	return err
}
