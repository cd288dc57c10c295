package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
)

// passage is a passage of a document on its way into the index.
type passage struct {
	// line is the 0-based line of the document that it begins in, column the byte of that
	// line.
	line, column int64
	// tokens are those of the passage and of what it gets of the title.
	tokens int64
}

// cutDocument is a decoded record of a batch, and in an index with passages how it is cut.
type cutDocument struct {
	corpus.Document
	contents string
	cut
	err error
}

// cut decodes and cuts the documents of a batch, and numbers their passages once the batch
// before has done the same.
func (b *batch) cut(ctx context.Context) (first uint32, err error) {
	b.cuts = make([]cutDocument, len(b.records))
	n := 0
	for i, rec := range b.records {
		c := &b.cuts[i]
		if c.Document, c.err = rec.Document(); c.err != nil {
			if errors.Is(c.err, corpus.ErrSkipped) {
				continue
			}
			return 0, c.err
		}
		c.contents = c.Contents()
		c.cut = cutPassages(c.contents, c.Title)
		n += len(c.starts)
	}
	select {
	case first = <-b.from:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if int64(first)+int64(n) > maxDocuments {
		return 0, fmt.Errorf("the source has more than %d passages: split it over several indexes", int64(maxDocuments))
	}
	b.to <- first + uint32(n)
	return first, nil
}

// addPassages takes the passages of the document that add took last. The first one is in
// that slot.
func (v *inverter) addPassages(slot uint32, contents string, c cut) ([]passage, error) {
	if err := v.passages.states.grow(v.vocabulary.n); err != nil {
		return nil, err
	}
	passages := make([]passage, len(c.starts))
	title := v.tokens[:tokensBefore(v.tokens, c.titleEnd)]
	rest, at := v.tokens, passage{}
	for i, start := range c.starts {
		end := len(contents)
		if i+1 < len(c.starts) {
			end = c.starts[i+1]
		}
		n := tokensBefore(rest, end)
		own := rest[:n]
		rest = rest[n:]
		if i == 0 {
			title = title[:min(len(title), n)]
			v.count(unplaced, own)
			at.tokens = int64(n)
		} else {
			v.count(unplaced, title, own)
			at.tokens = int64(len(title) + n)
		}
		passages[i] = at
		at = at.behind(contents[start:end])
		if err := v.passages.reserve(len(v.terms)); err != nil {
			return nil, err
		}
		for _, t := range v.terms {
			v.passages.append(slot+uint32(i), t, false)
		}
		// A single document may have more passages than there is room for.
		if int64(v.passages.used) > v.budget {
			v.sort()
			if err := v.passages.spill(v.vocabulary, v.sorted); err != nil {
				return nil, err
			}
		}
	}
	return passages, nil
}

// unplaced is a length of a text that puts all its tokens into the first range.
const unplaced = 1 << 40

// tokensBefore counts the leading tokens that begin before a byte offset.
func tokensBefore(tokens []placed, end int) int {
	n := 0
	for n < len(tokens) && int(tokens[n].start) < end {
		n++
	}
	return n
}

// behind returns where a passage begins that follows text, which begins at p.
func (p passage) behind(text string) passage {
	if n := strings.Count(text, "\n"); n > 0 {
		p.line += int64(n)
		p.column = 0
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	p.column += int64(len(text))
	return p
}

// passageTable gathers the passages of a build in the order of the source and writes the
// section about them. A slot is the number of a passage among all that were made; ordinals
// are what slots become when those of dropped documents are left out.
type passageTable struct {
	docs    *docTable
	norms   []byte
	records *spool
	// states are by slot; nil as long as no document is dropped.
	states  []slotState
	stats   PassageStats
	lengths map[int64]int64
}

func newPassageTable(dir string, docs *docTable) *passageTable {
	return &passageTable{docs: docs, records: newSpool(dir), lengths: map[int64]int64{}}
}

// add takes the passages of the next document.
func (t *passageTable) add(passages []passage) error {
	b := binary.AppendUvarint(nil, uint64(len(passages)))
	for _, p := range passages {
		t.norms = append(t.norms, bm25.Quantise(int(p.tokens)))
		for _, n := range []int64{p.line, p.column, p.tokens} {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	_, err := t.records.Write(b)
	return err
}

// each calls f with the document and the slot of every passage.
func (t *passageTable) each(f func(state slotState, doc Ordinal, slot int, p passage) error) error {
	r, err := t.records.reader()
	if err != nil {
		return err
	}
	slot, doc := 0, Ordinal(0)
	for _, state := range t.docs.states {
		n, err := binary.ReadUvarint(r)
		for i := uint64(0); i < n && err == nil; i++ {
			var p passage
			for _, into := range []*int64{&p.line, &p.column, &p.tokens} {
				var v uint64
				if v, err = binary.ReadUvarint(r); err != nil {
					break
				}
				*into = int64(v)
			}
			if err == nil {
				err = f(state, doc, slot, p)
			}
			slot++
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fmt.Errorf("passages: %w", err)
		}
		if state == slotKept {
			doc++
		}
	}
	return nil
}

// settle counts the passages of the documents that there are.
func (t *passageTable) settle() error {
	if t.docs.dropped > 0 {
		t.states = make([]slotState, len(t.norms))
	}
	err := t.each(func(state slotState, _ Ordinal, slot int, p passage) error {
		if state != slotKept {
			t.states[slot] = state
			return nil
		}
		t.stats.Passages++
		if p.tokens > 0 {
			t.stats.WithTokens++
			t.stats.Tokens += p.tokens
			t.lengths[p.tokens]++
		}
		t.stats.HighestLine, t.stats.HighestColumn = max(t.stats.HighestLine, p.line), max(t.stats.HighestColumn, p.column)
		return nil
	})
	t.stats.Lengths = distribution(t.lengths, t.stats.WithTokens)
	return err
}

// renumbering maps slots to ordinals; it is nil if they are the same.
func (t *passageTable) renumbering() *renumbering {
	if t.states == nil {
		return nil
	}
	return newRenumbering(t.states)
}

// write writes the section that says where passages stand.
func (t *passageTable) write(out *fileWriter) error {
	form := t.stats.form(t.docs.n)
	var p packer
	err := t.each(func(state slotState, doc Ordinal, _ int, at passage) error {
		if state != slotKept {
			return nil
		}
		p.append(uint64(doc), form.doc)
		p.append(uint64(at.line), form.line)
		p.append(uint64(at.column), form.column)
		return p.drain(out)
	})
	if err != nil {
		return err
	}
	if t.stats.Passages > 0 {
		p.finish()
	}
	if _, err := out.Write(p.out); err != nil {
		return err
	}
	return out.end(passagesSection)
}
