package index

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"goserini/internal/corpus"
)

// docTable gathers the documents of a build in the order of the source and writes the
// sections about them. A slot is the number of a record in the source; ordinals are what
// slots become when those without a document are left out.
type docTable struct {
	// n counts the documents read and not dropped.
	n int64
	// bytes and newlines are those of all text stored, be the document dropped or not.
	bytes, newlines int64
	// keptBytes leaves out dropped documents.
	keptBytes int64
	// norms and states are by slot.
	norms   []byte
	states  []slotState
	dropped int64
	skipped int64

	records, locations *spool
	files              map[string]uint64
	fileNames          []string
	lengths            map[int64]int64
	withTokens, tokens int64
	unsegmented        int64

	// ascending tells that every docid so far is greater than the one before.
	ascending bool
	last      string
	// order has the ordinals in the order of docids; it is empty if that is their own.
	order array[uint32]
}

// slotState says what became of a record.
type slotState uint8

const (
	slotKept slotState = iota
	// slotSkipped: the record could not become a document.
	slotSkipped
	// slotDropped: another document has the docid.
	slotDropped
)

func newDocTable(dir string) *docTable {
	return &docTable{records: newSpool(dir), locations: newSpool(dir), files: map[string]uint64{},
		lengths: map[int64]int64{}, ascending: true}
}

func (t *docTable) close() error {
	t.records.close()
	t.locations.close()
	return t.order.free()
}

// add takes the next record of the source.
func (t *docTable) add(d batchDocument, at corpus.Location) error {
	t.norms = append(t.norms, d.norm)
	if d.missing {
		t.states = append(t.states, slotSkipped)
		t.skipped++
		return nil
	}
	t.states = append(t.states, slotKept)
	t.bytes += d.bytes
	t.newlines += d.newlines
	t.count(d.bytes, d.tokens, 1)
	if d.unsegmented {
		t.unsegmented++
	}
	if t.ascending = t.ascending && (t.n == 1 || d.docid > t.last); t.ascending {
		t.last = d.docid
	}
	if err := t.addLocation(at); err != nil {
		return err
	}
	raw := appendRecord(nil, d.record, false, extent{})
	if _, err := t.records.Write(binary.AppendUvarint(nil, uint64(len(raw)))); err != nil {
		return err
	}
	_, err := t.records.Write(raw)
	return err
}

func (t *docTable) addLocation(at corpus.Location) error {
	file, ok := t.files[at.File]
	if !ok {
		file = uint64(len(t.fileNames))
		t.files[at.File] = file
		t.fileNames = append(t.fileNames, at.File)
	}
	b := binary.AppendUvarint(nil, file)
	_, err := t.locations.Write(binary.AppendUvarint(b, uint64(at.Line)))
	return err
}

// count adds a document, or takes it back if by is -1.
func (t *docTable) count(bytes, tokens, by int64) {
	t.n += by
	t.keptBytes += by * bytes
	if tokens > 0 {
		t.withTokens += by
		t.tokens += by * tokens
		t.lengths[tokens] += by
	}
}

// each calls f with the slot and the record of every document that was read.
func (t *docTable) each(f func(slot int, raw []byte) error) error {
	r, err := t.records.reader()
	if err != nil {
		return err
	}
	var raw []byte
	for slot, state := range t.states {
		if state == slotSkipped {
			continue
		}
		n, err := binary.ReadUvarint(r)
		if err != nil {
			return fmt.Errorf("read spool: %w", err)
		}
		raw = append(raw[:0], make([]byte, n)...)
		if _, err := io.ReadFull(r, raw); err != nil {
			return fmt.Errorf("read spool: %w", err)
		}
		if err := f(slot, raw); err != nil {
			return err
		}
	}
	return nil
}

// renumbering maps slots to ordinals; it is nil if they are the same.
func (t *docTable) renumbering() *renumbering {
	if t.skipped+t.dropped == 0 {
		return nil
	}
	return newRenumbering(t.states)
}

// finalNorms are the norms by ordinal.
func (t *docTable) finalNorms(r *renumbering) []byte {
	if r == nil {
		return t.norms
	}
	return finalNorms(t.norms, t.states)
}

// finalNorms leaves out the norms of slots that are not kept; without states all are.
func finalNorms(norms []byte, states []slotState) []byte {
	if states == nil {
		return norms
	}
	var kept []byte
	for slot, state := range states {
		if state == slotKept {
			kept = append(kept, norms[slot])
		}
	}
	return kept
}

// write writes the sections about documents.
func (t *docTable) write(out *fileWriter) (err error) {
	var offsets array[uint64]
	var ranks array[uint32]
	defer func() { err = errors.Join(err, offsets.free(), ranks.free()) }()
	if err := offsets.grow(int(t.n)); err != nil {
		return err
	}
	groups, err := t.writeRecords(out, offsets.s)
	if err != nil {
		return err
	}
	ordered := len(t.order.s) > 0
	offsetBits, rankBits := documentIndexWidths(t.n, out.sections[len(out.sections)-1].Length, ordered)
	if ordered {
		if err := ranks.grow(int(t.n)); err != nil {
			return err
		}
		for rank, ord := range t.order.s[:t.n] {
			ranks.s[ord] = uint32(rank)
		}
	}
	err = writePacked(out, docIndexSection, int(t.n), func(p *packer, i int) {
		p.append(offsets.s[i], offsetBits)
		if ordered {
			p.append(uint64(ranks.s[i]), rankBits)
		}
	})
	if err != nil {
		return err
	}
	if _, err := out.Write(groups); err != nil {
		return err
	}
	if err := out.end(docGroupsSection); err != nil {
		return err
	}
	n := 0
	if ordered {
		n = int(t.n)
	}
	return writePacked(out, orderSection, n, func(p *packer, i int) { p.append(uint64(t.order.s[i]), rankBits) })
}

// writeRecords writes the records, notes where each begins, and returns the groups.
func (t *docTable) writeRecords(out *fileWriter, offsets []uint64) ([]byte, error) {
	var groups, b []byte
	from, ord := out.size, 0
	var at, skip extent
	err := t.each(func(slot int, raw []byte) error {
		p, ok := parseRecord(raw, false)
		if !ok {
			return fmt.Errorf("read spool: bad record")
		}
		e := p.extent
		if t.states[slot] == slotDropped {
			skip.bytes, skip.newlines = skip.bytes+e.bytes, skip.newlines+e.newlines
			return nil
		}
		at.bytes, at.newlines = at.bytes+skip.bytes, at.newlines+skip.newlines
		if ord%documentGroup == 0 {
			groups = binary.LittleEndian.AppendUint64(groups, uint64(at.bytes))
			groups = binary.LittleEndian.AppendUint64(groups, uint64(at.newlines))
		}
		offsets[ord] = uint64(out.size - from)
		if t.dropped > 0 {
			b = appendRecord(b[:0], record{bytes: e.bytes, newlines: e.newlines, tokens: e.tokens, docid: string(p.docid),
				title: string(p.title), url: string(p.url), date: string(p.date)}, true, skip)
			raw = b
		}
		skip = extent{}
		at.bytes, at.newlines = at.bytes+e.bytes, at.newlines+e.newlines
		ord++
		_, err := out.Write(raw)
		return err
	})
	if err != nil {
		return nil, err
	}
	return groups, out.end(docsSection)
}

// writePacked writes a section of n packed values, which value appends; of none, no bytes at
// all.
func writePacked(out *fileWriter, id sectionID, n int, value func(*packer, int)) error {
	var p packer
	for i := range n {
		value(&p, i)
		if err := p.drain(out); err != nil {
			return err
		}
	}
	if n > 0 {
		p.finish()
	}
	if _, err := out.Write(p.out); err != nil {
		return err
	}
	return out.end(id)
}

// describe fills the statistics about documents.
func (t *docTable) describe(s *Stats) {
	s.Documents, s.WithTokens, s.Tokens = t.n, t.withTokens, t.tokens
	s.TextBytes, s.DuplicatesDropped, s.Unsegmented = t.keptBytes, t.dropped, t.unsegmented
	s.Lengths = distribution(t.lengths, t.withTokens)
}

// distribution computes the percentiles of n values from how often each occurs.
func distribution(counts map[int64]int64, n int64) Distribution {
	if n == 0 {
		return Distribution{}
	}
	values := slices.Sorted(maps.Keys(counts))
	values = slices.DeleteFunc(values, func(v int64) bool { return counts[v] == 0 })
	at := func(percent int64) int64 {
		left := max((n*percent+99)/100, 1)
		for _, v := range values {
			if left -= counts[v]; left <= 0 {
				return v
			}
		}
		return values[len(values)-1]
	}
	return Distribution{Min: values[0], P10: at(10), P25: at(25), P50: at(50), P75: at(75), P90: at(90), P99: at(99), Max: at(100)}
}

// location reads where the record of a slot stands.
func (t *docTable) location(slot int) (corpus.Location, error) {
	r, err := t.locations.reader()
	if err != nil {
		return corpus.Location{}, err
	}
	for s, state := range t.states {
		if state == slotSkipped {
			continue
		}
		file, line, err := readLocation(r)
		if err != nil {
			return corpus.Location{}, err
		}
		if s == slot {
			return corpus.Location{File: t.fileNames[file], Line: line}, nil
		}
	}
	return corpus.Location{}, fmt.Errorf("read spool: no slot %d", slot)
}

func readLocation(r *bufio.Reader) (file uint64, line int, err error) {
	if file, err = binary.ReadUvarint(r); err != nil {
		return 0, 0, fmt.Errorf("read spool: %w", err)
	}
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return 0, 0, fmt.Errorf("read spool: %w", err)
	}
	return file, int(n), nil
}
