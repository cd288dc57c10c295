package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"goserini/internal/analysis"
	"goserini/internal/bm25"
	"goserini/internal/corpus"
)

// The records of a source are cut into batches, which depend on the source alone, so that
// an index has the same bytes whoever works on which batch.
const (
	batchBytes   = 256 << 10
	batchRecords = 1024
)

// batch is some records in a row and, when done is closed, what became of them.
type batch struct {
	records []corpus.Record
	size    int64
	// slot is the number of the first record in the source.
	slot uint32

	done chan struct{}
	err  error
	// docs has one entry for each record.
	docs []batchDocument
	// text is compressed; blocks tell where each block begins, in the text and in text.
	text   []byte
	blocks []block
	// bytes and newlines are those of the batch before compression.
	bytes, newlines int64

	// In an index with passages from hands on how many passages the batches before have, to
	// how many they have with those of this one; so passages are numbered in the order of the
	// source. cuts are the documents as they are cut.
	from, to chan uint32
	cuts     []cutDocument
}

// batchDocument is a document of a batch, and its record.
type batchDocument struct {
	record
	missing bool
	norm    byte
	// unsegmented tells that the analyzer cannot cut the document's script into words.
	unsegmented bool
	passages    []passage
}

// worker works on one batch at a time.
type worker struct {
	inverter *inverter
	encoder  *zstd.Encoder
	// coder is made when the list of words is known.
	coder   *wordCoder
	coded   []byte
	pending []byte
}

// maxDocumentBytes bounds a document: tokens keep their place in 32 bits.
const maxDocumentBytes = math.MaxInt32

// process decodes, inverts and compresses the documents of a batch.
func (w *worker) process(ctx context.Context, b *batch, list []string) error {
	if w.coder == nil {
		var err error
		if w.coder, err = newWordCoder(list); err != nil {
			return err
		}
	}
	w.pending = w.pending[:0]
	slot := uint32(0) // of the next passage
	if b.from != nil {
		var err error
		if slot, err = b.cut(ctx); err != nil {
			return err
		}
	}
	for i, rec := range b.records {
		d, err := b.document(i)
		if errors.Is(err, corpus.ErrSkipped) {
			b.docs = append(b.docs, batchDocument{missing: true})
			continue
		}
		if err != nil {
			return err
		}
		bd, err := w.document(b, b.slot+uint32(i), d)
		if err == nil && b.from != nil {
			bd.passages, err = w.inverter.addPassages(slot, d.contents, d.cut)
			slot += uint32(len(bd.passages))
		}
		if err != nil {
			return fmt.Errorf("%s: document %q: %w", place(rec.Location()), d.DocID, err)
		}
		b.docs = append(b.docs, bd)
	}
	b.cuts = nil
	w.blocks(b, true)
	if w.inverter.full() {
		return w.inverter.spill()
	}
	return nil
}

// document returns a record of the batch, decoded now or when it was cut.
func (b *batch) document(i int) (cutDocument, error) {
	if b.cuts != nil {
		return b.cuts[i], b.cuts[i].err
	}
	d, err := b.records[i].Document()
	return cutDocument{Document: d, contents: d.Contents()}, err
}

func (w *worker) document(b *batch, slot uint32, d cutDocument) (batchDocument, error) {
	contents := d.contents
	if len(contents) > maxDocumentBytes {
		return batchDocument{}, fmt.Errorf("it has %d bytes, more than %d: split it", len(contents), maxDocumentBytes)
	}
	tokens, err := w.inverter.add(slot, contents)
	if err != nil {
		return batchDocument{}, err
	}
	before := b.newlines
	w.store(b, contents)
	return batchDocument{
		record: record{bytes: int64(len(contents)), newlines: b.newlines - before, tokens: int64(tokens),
			docid: d.DocID, title: d.Title, url: d.URL, date: d.Date},
		norm:        bm25.Quantise(tokens),
		unsegmented: analysis.Unsegmented(w.inverter.vocabulary.analyzer, contents),
	}, nil
}

// store appends a document's text to the batch.
func (w *worker) store(b *batch, contents string) {
	b.bytes += int64(len(contents))
	for len(contents) > 0 {
		n := min(len(contents), blockBytes+1-len(w.pending))
		b.newlines += int64(strings.Count(contents[:n], "\n"))
		w.pending = append(w.pending, contents[:n]...)
		contents = contents[n:]
		w.blocks(b, false)
	}
}

// blocks compresses what is pending if it is more than a block, or if it is the last of the
// batch.
func (w *worker) blocks(b *batch, last bool) {
	for len(w.pending) > blockBytes || last && len(w.pending) > 0 {
		end := blockEnd(w.pending)
		newlines := int64(bytes.Count(w.pending[:end], []byte{'\n'}))
		from := len(b.text)
		w.coded = w.coder.code(w.coded[:0], w.pending[:end])
		b.text = w.encoder.EncodeAll(w.coded, b.text)
		b.blocks = append(b.blocks, block{offset: int64(from), start: int64(end), newlines: newlines, sum: xxh3.Hash(b.text[from:])})
		w.pending = append(w.pending[:0], w.pending[end:]...)
	}
}
