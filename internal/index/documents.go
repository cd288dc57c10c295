package index

import (
	"encoding/binary"
	"fmt"
	"sort"
	"sync/atomic"
	"unsafe"
)

// A document's record is
//
//	its docid (a number and that many bytes),
//	its bytes, line ends and tokens (numbers),
//	in an index with gaps the bytes and line ends of dropped text that stand before the
//	document (numbers),
//	title, URL and date (each a number and that many bytes).
//
// The index of documents has for each the offset of its record and its rank, packed. For
// every documentGroup documents the position of the first in the text and the line ends
// before it are stored; those of the others follow by addition.
const documentGroup = 32

// documentGroupBytes is the length of a group's entry: two numbers of 64 bits.
const documentGroupBytes = 16

// record is a document's record before it is written.
type record struct {
	bytes, newlines, tokens int64
	docid, title, url, date string
}

// appendRecord appends a record with what is dropped before the document, which is
// nothing in an index without gaps.
func appendRecord(b []byte, r record, gaps bool, gap extent) []byte {
	b = append(binary.AppendUvarint(b, uint64(len(r.docid))), r.docid...)
	b = binary.AppendUvarint(b, uint64(r.bytes))
	b = binary.AppendUvarint(b, uint64(r.newlines))
	b = binary.AppendUvarint(b, uint64(r.tokens))
	if gaps {
		b = binary.AppendUvarint(b, uint64(gap.bytes))
		b = binary.AppendUvarint(b, uint64(gap.newlines))
	}
	for _, s := range []string{r.title, r.url, r.date} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

// parsedRecord is a record as parts of the bytes it was read from.
type parsedRecord struct {
	docid, title, url, date []byte
	// extent has the document's own numbers, gap what was dropped before it.
	extent, gap extent
}

// parseRecord reads a record, which is b or begins it.
func parseRecord(b []byte, gaps bool) (p parsedRecord, ok bool) {
	r := numbers{b: b}
	p.docid = r.bytes()
	p.extent = extent{bytes: int64(r.next()), newlines: int64(r.next()), tokens: int64(r.next())}
	if gaps {
		p.gap = extent{bytes: int64(r.next()), newlines: int64(r.next())}
	}
	p.title, p.url, p.date = r.bytes(), r.bytes(), r.bytes()
	for _, n := range []int64{p.extent.bytes, p.extent.newlines, p.extent.tokens, p.gap.bytes, p.gap.newlines} {
		r.bad = r.bad || n < 0
	}
	return p, !r.bad
}

// documents reads the records.
type documents struct {
	n       int
	gaps    bool
	records section
	offsets packed
	groups  section
	// order has the ordinals in the order of the docids' bytes, ranks the place of each
	// ordinal in that order. Where that is the order of the ordinals order is empty and ranks
	// have no bits.
	order, ranks packed
	fetched      atomic.Uint32
}

// documentIndexWidths are the bits of an offset and of a rank.
func documentIndexWidths(documents, recordBytes int64, ordered bool) (offset, rank int) {
	if ordered {
		rank = packedWidth(uint64(documents - 1))
	}
	return packedWidth(uint64(recordBytes)), rank
}

// raw returns the record of a document.
func (d *documents) raw(ord Ordinal) ([]byte, error) {
	from, err := d.offsets.at(int(ord))
	if err != nil {
		return nil, err
	}
	to := uint64(len(d.records.data))
	if int(ord)+1 < d.n {
		if to, err = d.offsets.at(int(ord) + 1); err != nil {
			return nil, err
		}
	}
	if to < from || to > uint64(len(d.records.data)) {
		return nil, d.records.corrupt(fmt.Sprintf("the record of document %d ends before it begins", ord))
	}
	return d.records.bytes(int(from), int(to-from))
}

// extent is where a document's text stands.
type extent struct {
	// start is the position of its first byte in the text of all documents; newlines
	// counts the line ends before it.
	start, startNewlines int64
	bytes, newlines      int64
	tokens               int64
}

// parsed returns the record of a document.
func (d *documents) parsed(ord Ordinal) (parsedRecord, error) {
	raw, err := d.raw(ord)
	if err != nil {
		return parsedRecord{}, err
	}
	p, ok := parseRecord(raw, d.gaps)
	if !ok {
		return parsedRecord{}, d.records.corrupt(fmt.Sprintf("bad record of document %d", ord))
	}
	return p, nil
}

// extent returns where the text of a document is.
func (d *documents) extent(ord Ordinal) (extent, error) {
	group := int(ord) / documentGroup
	b, err := d.groups.bytes(group*documentGroupBytes, documentGroupBytes)
	if err != nil {
		return extent{}, err
	}
	start := int64(binary.LittleEndian.Uint64(b))
	newlines := int64(binary.LittleEndian.Uint64(b[8:]))
	for i := group * documentGroup; ; i++ {
		p, err := d.parsed(Ordinal(i))
		if err != nil {
			return extent{}, err
		}
		if i%documentGroup != 0 {
			start += p.gap.bytes
			newlines += p.gap.newlines
		}
		e := p.extent
		if i == int(ord) {
			e.start, e.startNewlines = start, newlines
			return e, nil
		}
		start += e.bytes
		newlines += e.newlines
	}
}

// docid returns the docid of a document as a part of the mapped file.
func (d *documents) docid(ord Ordinal) ([]byte, error) {
	at, err := d.offsets.at(int(ord))
	if err != nil {
		return nil, err
	}
	return d.docidAt(int(at))
}

// docidAt returns the docid that the record at that offset begins with.
func (d *documents) docidAt(at int) ([]byte, error) {
	b, err := d.records.bytes(at, min(binary.MaxVarintLen64, len(d.records.data)-at))
	if err != nil {
		return nil, err
	}
	r := numbers{b: b}
	n := r.next()
	if r.bad || n > uint64(len(d.records.data)) {
		return nil, d.records.corrupt(fmt.Sprintf("bad record at %d", at))
	}
	return d.records.bytes(at+len(b)-len(r.b), int(n))
}

// shortDocid returns the docid that the record at an offset of all records begins with, nil
// where it is long or there is none.
func shortDocid(records []byte, at uint64) []byte {
	if at >= uint64(len(records)) || records[at] >= 0x80 {
		return nil
	}
	n := uint64(records[at])
	if n > uint64(len(records))-at-1 {
		return nil
	}
	return records[at+1:][:n:n]
}

// rank returns the place of a document in the order of docids.
func (d *documents) rank(ord Ordinal) (uint32, error) {
	if d.ranks.width == 0 {
		return uint32(ord), nil
	}
	r, err := d.ranks.at(int(ord))
	if err == nil && r >= uint64(d.n) {
		err = d.ranks.corrupt(fmt.Sprintf("document %d has rank %d", ord, r))
	}
	return uint32(r), err
}

// ranked returns the document at a place in the order of docids.
func (d *documents) ranked(rank uint32) (Ordinal, error) {
	if len(d.order.data) == 0 {
		return Ordinal(rank), nil
	}
	o, err := d.order.at(int(rank))
	if err == nil && o >= uint64(d.n) {
		err = d.order.corrupt(fmt.Sprintf("rank %d is that of document %d", rank, o))
	}
	return Ordinal(o), err
}

// lookup finds a docid.
func (d *documents) lookup(docid string) (Ordinal, bool, error) {
	var failed error
	at := func(i int) (Ordinal, []byte) {
		ord, err := d.ranked(uint32(i))
		var id []byte
		if err == nil {
			id, err = d.docid(ord)
		}
		if err != nil {
			failed = err
		}
		return ord, id
	}
	i := sort.Search(d.n, func(i int) bool {
		_, id := at(i)
		return string(id) >= docid
	})
	if failed != nil || i == d.n {
		return 0, false, failed
	}
	ord, id := at(i)
	return ord, string(id) == docid, failed
}

// entry is what the index of documents says of one.
type entry struct {
	offset uint64
	rank   uint32
}

// entries appends the entries of the documents in the low halves of keys.
//
// Nearly every document's entry and record is far from those of the others. So all of them
// are asked for first, one right after the other, in loops that do nothing else: the
// processor then fetches many at the same time.
func (d *documents) entries(out []entry, keys []uint64) ([]entry, error) {
	fetched := byte(0)
	for _, key := range keys {
		if at := uint64(Ordinal(key)) * uint64(d.offsets.stride) >> 3; at < uint64(len(d.offsets.data)) {
			fetched ^= d.offsets.data[at]
		}
	}
	all := d.offsets.whole()
	for _, key := range keys {
		e, err := d.entry(Ordinal(key), all)
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
	for _, e := range out {
		if e.offset < uint64(len(d.records.data)) {
			fetched ^= d.records.data[e.offset]
		}
	}
	d.fetched.Store(uint32(fetched)) // so that the loads are not optimised away
	return out, nil
}

// entry returns the entry of a document; all are the entries' bytes if they were compared, else
// nil.
func (d *documents) entry(ord Ordinal, all []byte) (entry, error) {
	if int(ord) >= d.n {
		return entry{}, d.offsets.corrupt(fmt.Sprintf("it has no document %d", ord))
	}
	// Offset and rank stand side by side: one load mostly gets both.
	bit := int(ord) * d.offsets.stride
	var b []byte
	if from := bit >> 3; from <= len(all)-packedPadding {
		b = all[from:]
	} else {
		b = d.offsets.compared(from, packedPadding)
	}
	if b != nil && d.offsets.stride <= maxPackedWidth {
		v := binary.LittleEndian.Uint64(b) >> (bit & 7)
		rank := uint64(ord)
		if d.ranks.width > 0 {
			rank = v >> d.offsets.width & (1<<d.ranks.width - 1)
		}
		if rank < uint64(d.n) {
			return entry{v & (1<<d.offsets.width - 1), uint32(rank)}, nil
		}
	}
	offset, err := d.offsets.at(int(ord))
	if err != nil {
		return entry{}, err
	}
	rank, err := d.rank(ord)
	return entry{offset, rank}, err
}

// name sets the docids of hits whose entries are given.
func (d *documents) name(hits []Hit, entries []entry) error {
	const size, typical = 4 << 10, 24
	var arena []byte
	records := d.records.whole()
	for i := range hits {
		id := shortDocid(records, entries[i].offset)
		if id == nil {
			var err error
			if id, err = d.docidAt(int(entries[i].offset)); err != nil {
				return err
			}
		}
		if len(arena)+len(id) > cap(arena) {
			arena = make([]byte, 0, max(min(size, typical*(len(hits)-i)), len(id)))
		}
		from := len(arena)
		arena = append(arena, id...)
		// The arena's bytes never change after this, so strings may share them.
		hits[i].DocID = unsafe.String(unsafe.SliceData(arena[from:]), len(id))
	}
	return nil
}
