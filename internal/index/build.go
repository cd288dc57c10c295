package index

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"goserini/internal/analysis"
	"goserini/internal/atomicfile"
	"goserini/internal/corpus"
)

// DefaultMemory is the memory that Build keeps to where BuildOptions.Memory is 0.
const DefaultMemory = 512 << 20

// minMemory is the least that Build can work with.
const minMemory = 32 << 20

// BuildOptions says how an index is built. The zero value is the default.
type BuildOptions struct {
	// Analyzer is the name of the analyzer; "" is analysis.Default.
	Analyzer string
	// Memory bounds what Build holds at once, in bytes, beside a few documents and some
	// 30 bytes for each document at the end; 0 means DefaultMemory.
	Memory int64
	// Workers is the number of goroutines; 0 means one per processor. The index's
	// bytes do not depend on it.
	Workers int
	// Duplicates is the policy when two documents have the same docid.
	Duplicates DuplicatePolicy
	// Passages makes an index that holds passages, too: see [Index.SearchPassages].
	Passages bool
	// Source describes where the documents come from, for people.
	Source string
	// Progress, if set, is called from one goroutine at a time, a few times a second.
	Progress func(Progress)
}

// DuplicatePolicy says what happens when two documents have the same docid.
type DuplicatePolicy string

const (
	// RefuseDuplicates ends the build with an error that names both places.
	RefuseDuplicates DuplicatePolicy = ""
	// KeepFirst and KeepLast keep one of them and count the others in Stats.
	KeepFirst DuplicatePolicy = "first"
	KeepLast  DuplicatePolicy = "last"
)

// DuplicateError says that a docid occurs twice.
type DuplicateError struct {
	DocID         string
	First, Second corpus.Location
}

// Progress tells how far a build has come.
type Progress struct {
	// Phase is "reading", "merging" or "publishing".
	Phase string
	// Documents counts those read so far.
	Documents int64
	// BytesRead and BytesTotal are about the source as it lies on disk.
	BytesRead, BytesTotal int64
}

func (o *BuildOptions) complete() error {
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.Memory < minMemory {
		return fmt.Errorf("memory of %d bytes is too little: give at least %d MB", o.Memory, minMemory>>20)
	}
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Workers < 1 {
		return fmt.Errorf("workers=%d is out of range: it must be at least 1", o.Workers)
	}
	switch o.Duplicates {
	case RefuseDuplicates, KeepFirst, KeepLast:
		return nil
	}
	return fmt.Errorf("duplicates=%q is unknown: use first or last, or leave it out to refuse them", o.Duplicates)
}

// Build makes an index of all documents of src in dir, replacing the index that is there.
//
// Until it has succeeded dir holds what it held before, whenever the process dies. What a
// killed build leaves the next one removes. Two builds of one directory at a time are
// refused. The file's bytes follow from the documents, the analyzer, the policy for
// duplicates, whether there are passages, and the description of the source alone.
func Build(ctx context.Context, dir string, src *corpus.Reader, opts BuildOptions) (stats Stats, err error) {
	if err := opts.complete(); err != nil {
		return Stats{}, err
	}
	a, err := analysis.ByName(opts.Analyzer)
	if err != nil {
		return Stats{}, err
	}
	first, err := src.Next()
	if errors.Is(err, io.EOF) {
		return Stats{}, ErrNoDocuments
	}
	if err != nil {
		return Stats{}, err
	}
	t, err := claim(dir)
	if err != nil {
		return Stats{}, err
	}
	defer func() { err = errors.Join(err, t.lock.Release()) }()
	b := &builder{dir: dir, src: src, opts: opts, analyzer: a, first: &first}
	defer func() { err = errors.Join(err, b.release()) }()
	return b.build(ctx)
}

// builder holds what the steps of a build hand on.
type builder struct {
	dir      string
	src      *corpus.Reader
	opts     BuildOptions
	analyzer analysis.Analyzer
	// first is the record that was read to see whether there is any.
	first *corpus.Record

	file    *atomicfile.File
	out     *fileWriter
	workers []*worker
	docs    *docTable
	blocks  *spool
	// passages is nil in an index without; turn is what the next batch begins from.
	passages *passageTable
	turn     chan uint32
	// list is the list of frequent words, made before the first batch is processed.
	list  []string
	stats Stats
	shown time.Time
}

func (b *builder) build(ctx context.Context) (Stats, error) {
	var err error
	if b.file, err = atomicfile.Create(filepath.Join(b.dir, FileName), 0o644); err != nil {
		return Stats{}, err
	}
	defer b.file.Abort()
	b.out = newFileWriter(b.file)
	if _, err := b.out.Write(appendHeader(nil, b.opts.Passages)); err != nil {
		return Stats{}, err
	}
	b.docs, b.blocks = newDocTable(b.dir), newSpool(b.dir)
	if b.opts.Passages {
		b.passages, b.turn = newPassageTable(b.dir, b.docs), make(chan uint32, 1)
		b.turn <- 0
	}
	b.stats = Stats{FormatVersion: FormatVersion, Analyzer: b.analyzer.Name(), Source: b.opts.Source}
	for _, step := range []func(context.Context) error{b.read, b.merge, b.finish} {
		if err := step(ctx); err != nil {
			return Stats{}, err
		}
	}
	b.show("publishing", true)
	if err := b.file.Commit(); err != nil {
		return Stats{}, err
	}
	return b.stats, nil
}

// release gives back memory and temporary files.
func (b *builder) release() error {
	var failed []error
	for _, w := range b.workers {
		if w.coder != nil {
			failed = append(failed, w.coder.numbers.free())
		}
		failed = append(failed, w.inverter.release())
		for _, f := range w.inverter.runs {
			closeTemporary(f)
		}
		if p := w.inverter.passages; p != nil {
			for _, f := range p.runs {
				closeTemporary(f)
			}
		}
	}
	if b.passages != nil {
		b.passages.records.close()
	}
	if b.docs != nil {
		b.blocks.close()
		failed = append(failed, b.docs.close())
	}
	return errors.Join(failed...)
}

// inFlightShare is the part of the memory that documents may take between being read and
// being stored.
const inFlightShare = 16

// inverterShare is the part of the memory that the workers' inverters take together.
const inverterShare = 0.75

// read inverts all documents and writes the section of text.
func (b *builder) read(ctx context.Context) error {
	if err := b.hire(); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	todo, ordered := make(chan *batch), make(chan *batch, 4*len(b.workers))
	room := semaphore.NewWeighted(b.opts.Memory / inFlightShare)
	g.Go(func() error {
		defer close(todo)
		defer close(ordered)
		return b.sampled(ctx, func(next *batch) error {
			// A batch greater than the room takes all of it.
			next.size = min(max(next.size, 1), b.opts.Memory/inFlightShare)
			if err := room.Acquire(ctx, next.size); err != nil {
				return err
			}
			for _, c := range []chan<- *batch{ordered, todo} {
				select {
				case c <- next:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	})
	for _, w := range b.workers {
		g.Go(func() error {
			for next := range todo {
				next.err = w.process(ctx, next, b.list)
				close(next.done)
			}
			return nil
		})
	}
	g.Go(func() error {
		for next := range ordered {
			select {
			case <-next.done:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := b.store(next); err != nil {
				return err
			}
			room.Release(next.size)
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if b.docs.n == 0 {
		return ErrNoDocuments
	}
	return b.endText()
}

func (b *builder) hire() error {
	budget := int64(float64(b.opts.Memory) * inverterShare / float64(b.opts.Workers))
	for range b.opts.Workers {
		e, err := newBlockEncoder()
		if err != nil {
			return err
		}
		v, err := newInverter(b.analyzer, b.dir, budget, b.opts.Passages)
		b.workers = append(b.workers, &worker{inverter: v, encoder: e})
		if err != nil {
			return err
		}
	}
	return nil
}

// sampled cuts the source into batches, of which it holds the first ones back until it
// has made the list of frequent words of them.
func (b *builder) sampled(ctx context.Context, send func(*batch) error) error {
	var held []*batch
	size := int64(0)
	release := func() error {
		var err error
		if b.list, err = sampleWords(held); err != nil {
			return err
		}
		for _, next := range held {
			if err := send(next); err != nil {
				return err
			}
		}
		held = nil
		return nil
	}
	err := b.batches(ctx, func(next *batch) error {
		if size >= sampleBytes {
			return send(next)
		}
		held = append(held, next)
		if size += next.size; size >= sampleBytes {
			return release()
		}
		return nil
	})
	if err == nil && size < sampleBytes {
		err = release()
	}
	return err
}

// sampleWords makes the list of frequent words of the first sampleBytes of some batches.
// Records that cannot be decoded are left to whoever processes them.
func sampleWords(batches []*batch) ([]string, error) {
	counter := pieceCounter{}
	left := sampleBytes
	for _, b := range batches {
		for _, rec := range b.records {
			d, err := rec.Document()
			if err != nil || left <= 0 {
				continue
			}
			text := d.Contents()
			text = text[:min(len(text), left)]
			left -= len(text)
			counter.add([]byte(text))
		}
	}
	return counter.list(), nil
}

// batches cuts the source into batches.
func (b *builder) batches(ctx context.Context, send func(*batch) error) error {
	slot := int64(0)
	next := b.newBatch(0)
	for ctx.Err() == nil {
		rec, err := b.next()
		if errors.Is(err, io.EOF) {
			if len(next.records) > 0 {
				return send(next)
			}
			return nil
		}
		if err != nil {
			return err
		}
		if slot == maxDocuments {
			return fmt.Errorf("the source holds more than %d documents: split it over several indexes", int64(maxDocuments))
		}
		next.records = append(next.records, rec)
		next.size += int64(rec.Size())
		slot++
		if next.size >= batchBytes || len(next.records) == batchRecords {
			if err := send(next); err != nil {
				return err
			}
			next = b.newBatch(uint32(slot))
		}
	}
	return ctx.Err()
}

// newBatch makes the batch behind the ones made before.
func (b *builder) newBatch(slot uint32) *batch {
	n := &batch{slot: slot, done: make(chan struct{})}
	if b.passages != nil {
		n.from, n.to = b.turn, make(chan uint32, 1)
		b.turn = n.to
	}
	return n
}

func (b *builder) next() (corpus.Record, error) {
	if b.first != nil {
		rec := *b.first
		b.first = nil
		return rec, nil
	}
	return b.src.Next()
}

// store writes a batch, in the order of the source.
func (b *builder) store(done *batch) error {
	if done.err != nil {
		return done.err
	}
	offset := b.out.size - headerBytes
	start, newlines := b.docs.bytes, b.docs.newlines
	if _, err := b.out.Write(done.text); err != nil {
		return err
	}
	var entry []byte
	for _, bl := range done.blocks {
		entry = appendBlock(entry[:0], block{offset + bl.offset, start, newlines, bl.sum})
		start += bl.start
		newlines += bl.newlines
		if _, err := b.blocks.Write(entry); err != nil {
			return err
		}
	}
	for i, d := range done.docs {
		if err := b.docs.add(d, done.records[i].Location()); err != nil {
			return err
		}
		if b.passages == nil {
			continue
		}
		if err := b.passages.add(d.passages); err != nil {
			return err
		}
	}
	b.show("reading", false)
	return nil
}

// endText ends the section of text and its table.
func (b *builder) endText() error {
	end := block{offset: b.out.size - headerBytes, start: b.docs.bytes, newlines: b.docs.newlines}
	if err := b.out.end(textSection); err != nil {
		return err
	}
	if _, err := b.blocks.Write(appendBlock(nil, end)); err != nil {
		return err
	}
	for _, w := range b.workers {
		if err := w.inverter.spill(); err != nil {
			return err
		}
		if err := w.inverter.release(); err != nil {
			return err
		}
	}
	return nil
}

// merge numbers the documents and writes the section of postings.
func (b *builder) merge(ctx context.Context) error {
	if err := b.docs.number(b.opts.Duplicates); err != nil {
		return err
	}
	words := newSpool(b.dir)
	defer words.close()
	if _, err := words.Write(appendWordList(nil, b.list)); err != nil {
		return err
	}
	ordinals := b.docs.renumbering()
	m := &merger{norms: b.docs.norms, ordinals: ordinals, documents: b.docs.n, finalNorms: b.docs.finalNorms(ordinals), placed: true}
	for _, w := range b.workers {
		m.runs = append(m.runs, w.inverter.runs...)
	}
	err := b.mergeRuns(ctx, m, invertedSections{postingsSection, termsSection, termIndexSection, normsSection},
		extraSection{blocksSection, b.blocks}, extraSection{wordsSection, words})
	b.stats.Terms, b.stats.Postings = m.terms, m.postings
	return err
}

// invertedSections are the sections that a merger's result goes to.
type invertedSections struct{ postings, terms, termIndex, norms sectionID }

// extraSection is a section that is complete in a spool.
type extraSection struct {
	id sectionID
	s  *spool
}

// mergeRuns writes the sections of postings, terms and norms, and between the first two the
// extra ones.
func (b *builder) mergeRuns(ctx context.Context, m *merger, to invertedSections, extra ...extraSection) error {
	terms, index := newSpool(b.dir), newSpool(b.dir)
	defer terms.close()
	defer index.close()
	m.workers, m.out, m.start = b.opts.Workers, b.out, b.out.size
	m.dictionary = &dictionaryWriter{out: terms, index: index}
	m.merged = func(int64) { b.show("merging", false) }
	if err := m.run(ctx); err != nil {
		return err
	}
	if err := b.out.end(to.postings); err != nil {
		return err
	}
	for _, s := range append(extra, extraSection{to.terms, terms}, extraSection{to.termIndex, index}) {
		if err := b.copy(s.id, s.s); err != nil {
			return err
		}
	}
	padded := (len(m.finalNorms) + chunkDocs - 1) / chunkDocs * chunkDocs
	if _, err := b.out.Write(append(m.finalNorms, make([]byte, padded-len(m.finalNorms))...)); err != nil {
		return err
	}
	return b.out.end(to.norms)
}

// mergePassages writes the sections about passages.
func (b *builder) mergePassages(ctx context.Context) error {
	if err := b.passages.settle(); err != nil {
		return err
	}
	ordinals := b.passages.renumbering()
	m := &merger{norms: b.passages.norms, ordinals: ordinals, documents: b.passages.stats.Passages, finalNorms: finalNorms(b.passages.norms, b.passages.states)}
	for _, w := range b.workers {
		m.runs = append(m.runs, w.inverter.passages.runs...)
	}
	err := b.mergeRuns(ctx, m, invertedSections{passagePostingsSection, passageTermsSection, passageTermIndexSection, passageNormsSection})
	if err != nil {
		return err
	}
	if err != nil {
		return err
	}
	b.passages.stats.Terms, b.passages.stats.Postings = m.terms, m.postings
	b.stats.Passages = &b.passages.stats
	return b.passages.write(b.out)
}

func (b *builder) copy(id sectionID, s *spool) error {
	r, err := s.reader()
	if err != nil {
		return err
	}
	if _, err := io.Copy(b.out, r); err != nil {
		return err
	}
	return b.out.end(id)
}

// finish writes the sections about documents, those about passages and the end of the file.
func (b *builder) finish(ctx context.Context) error {
	if err := b.docs.write(b.out); err != nil {
		return err
	}
	if b.passages != nil {
		if err := b.mergePassages(ctx); err != nil {
			return err
		}
	}
	b.docs.describe(&b.stats)
	foot := footer{Stats: b.stats, Gaps: b.docs.dropped > 0}
	if err := b.out.finish(foot); err != nil {
		return err
	}
	for _, s := range b.out.sections {
		b.stats.Parts = append(b.stats.Parts, Part{s.Name, s.Length})
	}
	b.stats.Bytes = b.out.size
	return nil
}

// showEvery is the least time between two reports of progress.
const showEvery = 200 * time.Millisecond

func (b *builder) show(phase string, always bool) {
	if b.opts.Progress == nil || !always && time.Since(b.shown) < showEvery {
		return
	}
	b.shown = time.Now()
	read, total := b.src.Progress()
	b.opts.Progress(Progress{Phase: phase, Documents: b.docs.n, BytesRead: read, BytesTotal: total})
}
