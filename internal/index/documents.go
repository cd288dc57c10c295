package index

import (
	"encoding/binary"
	"fmt"
	"sort"
	"strings"
)

// A document's record is
//
//	its bytes, line ends and tokens (numbers); before them, in an index with gaps, the
//	bytes and line ends of dropped text that stand before the document,
//	docid, title, URL and date (each a number and that many bytes).
//
// The offsets of records are packed. For every documentGroup documents the position of
// the first in the text and the line ends before it are stored; those of the others
// follow by addition.
const documentGroup = 32

// documentGroupBytes is the length of a group's entry: two numbers of 64 bits.
const documentGroupBytes = 16

// record is a document's record before it is written.
type record struct {
	bytes, newlines, tokens int64
	docid, title, url, date string
}

func appendRecord(b []byte, r record) []byte {
	b = binary.AppendUvarint(b, uint64(r.bytes))
	b = binary.AppendUvarint(b, uint64(r.newlines))
	b = binary.AppendUvarint(b, uint64(r.tokens))
	for _, s := range []string{r.docid, r.title, r.url, r.date} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

// documents reads the records.
type documents struct {
	n       int
	gaps    bool
	records section
	offsets packed
	groups  section
	// order has the ordinals in the order of the docids' bytes, ranks the place of each
	// ordinal in that order. Both are empty when that is the order of the ordinals.
	order, ranks packed
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

// extentOf reads the numbers of a record. skip counts what stands before the document.
func (d *documents) numbersOf(r *numbers) (e extent, skipBytes, skipNewlines int64) {
	if d.gaps {
		skipBytes, skipNewlines = int64(r.next()), int64(r.next())
	}
	e.bytes, e.newlines, e.tokens = int64(r.next()), int64(r.next()), int64(r.next())
	return e, skipBytes, skipNewlines
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
		raw, err := d.raw(Ordinal(i))
		if err != nil {
			return extent{}, err
		}
		r := numbers{b: raw}
		e, skipBytes, skipNewlines := d.numbersOf(&r)
		if r.bad || e.bytes < 0 || e.newlines < 0 || skipBytes < 0 || skipNewlines < 0 {
			return extent{}, d.records.corrupt(fmt.Sprintf("bad record of document %d", i))
		}
		if i%documentGroup != 0 {
			start += skipBytes
			newlines += skipNewlines
		}
		if i == int(ord) {
			e.start, e.startNewlines = start, newlines
			return e, nil
		}
		start += e.bytes
		newlines += e.newlines
	}
}

// strings returns the first n of docid, title, URL and date, as parts of the mapped
// file.
func (d *documents) fields(ord Ordinal, n int) (f [4][]byte, e extent, err error) {
	raw, err := d.raw(ord)
	if err != nil {
		return f, e, err
	}
	r := numbers{b: raw}
	e, _, _ = d.numbersOf(&r)
	for i := range n {
		length := r.next()
		if r.bad || length > uint64(len(r.b)) {
			return f, e, d.records.corrupt(fmt.Sprintf("bad record of document %d", ord))
		}
		f[i], r.b = r.b[:length], r.b[length:]
	}
	return f, e, nil
}

// docid returns the docid of a document as a part of the mapped file.
func (d *documents) docid(ord Ordinal) ([]byte, error) {
	f, _, err := d.fields(ord, 1)
	return f[0], err
}

// rank returns the place of a document in the order of docids.
func (d *documents) rank(ord Ordinal) (uint32, error) {
	if len(d.ranks.data) == 0 {
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

// docids returns the docids of documents. They share one allocation.
func (d *documents) docids(hits []Hit) error {
	var arena strings.Builder
	arena.Grow(24 * len(hits))
	ends := make([]int, len(hits))
	for i, h := range hits {
		id, err := d.docid(h.Ordinal)
		if err != nil {
			return err
		}
		arena.Write(id)
		ends[i] = arena.Len()
	}
	all, from := arena.String(), 0
	for i, end := range ends {
		hits[i].DocID = all[from:end]
		from = end
	}
	return nil
}
