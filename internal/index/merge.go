package index

import (
	"bytes"
	"context"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"
)

// merger makes the postings and the dictionary of an index from the runs.
type merger struct {
	runs    []*os.File
	workers int
	// norms are by slot; ordinals maps slots to ordinals, or is nil if they are the same.
	norms     []byte
	ordinals  *renumbering
	documents int64
	// finalNorms are by ordinal.
	finalNorms []byte
	// placed says that the postings have places.
	placed bool

	out        *fileWriter
	dictionary *dictionaryWriter
	start      int64
	terms      int64
	postings   int64
	merged     func(terms int64)
}

// A job is some terms in order, with the postings of each from all runs.
const (
	jobBytes = 1 << 20
	jobTerms = 4096
)

type mergeJob struct {
	terms []jobTerm
	// words holds the terms, pieces the postings.
	words, pieces []byte
	out           []byte
	infos         []termInfo
	err           error
	finished      chan struct{}
}

type jobTerm struct {
	wordEnd int
	// pieceEnds are where the postings of each run that has the term end in pieces.
	pieceEnds []int
}

// run merges all runs.
func (m *merger) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	todo, ordered := make(chan *mergeJob), make(chan *mergeJob, 2*m.workers)
	pool := &sync.Pool{New: func() any { return new(mergeJob) }}
	g.Go(func() error {
		defer close(todo)
		defer close(ordered)
		return m.split(ctx, pool, todo, ordered)
	})
	for range m.workers {
		g.Go(func() error {
			var l, scratch list
			for j := range todo {
				j.err = m.encode(j, &l, &scratch)
				close(j.finished)
			}
			return nil
		})
	}
	g.Go(func() error {
		for j := range ordered {
			select {
			case <-j.finished:
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := m.write(j); err != nil {
				return err
			}
			pool.Put(j)
		}
		return nil
	})
	return g.Wait()
}

// split reads the runs side by side and makes jobs.
func (m *merger) split(ctx context.Context, pool *sync.Pool, todo, ordered chan<- *mergeJob) error {
	readers := make([]*runReader, len(m.runs))
	for i, f := range m.runs {
		readers[i] = newRunReader(f, 1<<18)
		if err := readers[i].next(); err != nil {
			return err
		}
	}
	job := newMergeJob(pool)
	send := func() error {
		for _, c := range []chan<- *mergeJob{ordered, todo} {
			select {
			case c <- job:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		job = newMergeJob(pool)
		return nil
	}
	for {
		first := firstTerm(readers)
		if first == nil {
			break
		}
		job.words = append(job.words, first.term...)
		t := jobTerm{wordEnd: len(job.words)}
		word := job.words[len(job.words)-len(first.term):]
		for _, r := range readers {
			if r.done || !bytes.Equal(r.term, word) {
				continue
			}
			var err error
			if job.pieces, err = r.postings(job.pieces); err != nil {
				return err
			}
			t.pieceEnds = append(t.pieceEnds, len(job.pieces))
			if err := r.next(); err != nil {
				return err
			}
		}
		job.terms = append(job.terms, t)
		if len(job.pieces) >= jobBytes || len(job.terms) >= jobTerms {
			if err := send(); err != nil {
				return err
			}
		}
	}
	if len(job.terms) > 0 {
		return send()
	}
	return nil
}

func newMergeJob(pool *sync.Pool) *mergeJob {
	j := pool.Get().(*mergeJob)
	*j = mergeJob{terms: j.terms[:0], words: j.words[:0], pieces: j.pieces[:0], out: j.out[:0], infos: j.infos[:0], finished: make(chan struct{})}
	return j
}

// firstTerm returns a reader whose term is the first of all, nil at the end.
func firstTerm(readers []*runReader) *runReader {
	var first *runReader
	for _, r := range readers {
		if !r.done && (first == nil || bytes.Compare(r.term, first.term) < 0) {
			first = r
		}
	}
	return first
}

// encode makes the postings of a job's terms as they are stored.
func (m *merger) encode(j *mergeJob, l, scratch *list) error {
	from := 0
	for _, t := range j.terms {
		if err := m.gather(j.pieces, from, t.pieceEnds, l, scratch); err != nil {
			return err
		}
		from = t.pieceEnds[len(t.pieceEnds)-1]
		info := termInfo{df: int64(len(l.docs))}
		for _, tf := range l.tfs {
			info.tokens += int64(tf)
		}
		if info.df > 0 {
			start := len(j.out)
			j.out = appendPostings(j.out, l, m.finalNorms, m.documents)
			info.postings = int64(len(j.out) - start)
			if m.placed {
				j.out = appendPlaces(j.out, l, m.finalNorms, m.documents)
			}
			info.places = int64(len(j.out)-start) - info.postings
		}
		j.infos = append(j.infos, info)
	}
	return nil
}

// gather decodes the pieces of a term into l, in order of the documents.
func (m *merger) gather(pieces []byte, from int, ends []int, l, scratch *list) error {
	l.reset()
	if len(ends) == 1 {
		if err := decodeRun(pieces[from:ends[0]], l, m.norms, m.placed); err != nil {
			return err
		}
	} else {
		scratch.reset()
		heads, tails := make([]int, 0, len(ends)), make([]int, 0, len(ends))
		for _, end := range ends {
			heads = append(heads, len(scratch.docs))
			if err := decodeRun(pieces[from:end], scratch, m.norms, m.placed); err != nil {
				return err
			}
			tails = append(tails, len(scratch.docs))
			from = end
		}
		interleave(l, scratch, heads, tails)
	}
	if m.ordinals != nil {
		m.ordinals.apply(l)
	}
	return nil
}

// interleave merges parts of from, which each are in order and begin at heads and end at
// tails, into l.
func interleave(l, from *list, heads, tails []int) {
	for {
		first, bound := -1, uint32(done)
		for i, h := range heads {
			if h == tails[i] {
				continue
			}
			switch doc := from.docs[h]; {
			case first < 0 || doc < from.docs[heads[first]]:
				if first >= 0 {
					bound = from.docs[heads[first]]
				}
				first = i
			case doc < bound:
				bound = doc
			}
		}
		if first < 0 {
			return
		}
		i, end := heads[first], tails[first]
		for ; i < end && from.docs[i] < bound; i++ {
			l.append(from.docs[i], from.tfs[i], from.places[i])
		}
		heads[first] = i
	}
}

// write appends a finished job to the file.
func (m *merger) write(j *mergeJob) error {
	if j.err != nil {
		return j.err
	}
	offset := m.out.size - m.start
	if _, err := m.out.Write(j.out); err != nil {
		return err
	}
	from := 0
	for i, info := range j.infos {
		word := j.words[from:j.terms[i].wordEnd]
		from = j.terms[i].wordEnd
		if info.df == 0 {
			continue
		}
		info.offset = offset
		offset += info.postings + info.places
		m.terms++
		m.postings += info.df
		if err := m.dictionary.add(word, info); err != nil {
			return err
		}
	}
	m.merged(m.terms)
	return nil
}

// renumbering maps slots, some of which hold no document, to ordinals.
type renumbering struct {
	states []slotState
	// before counts the slots without a document before each slot.
	before []uint32
}

func newRenumbering(states []slotState) *renumbering {
	r := &renumbering{states: states, before: make([]uint32, len(states))}
	n := uint32(0)
	for i, state := range states {
		r.before[i] = n
		if state != slotKept {
			n++
		}
	}
	return r
}

// apply turns the slots of a list into ordinals and leaves out those without a document.
func (r *renumbering) apply(l *list) {
	n := 0
	for i, slot := range l.docs {
		if r.states[slot] != slotKept {
			continue
		}
		l.docs[n], l.tfs[n], l.places[n] = slot-r.before[slot], l.tfs[i], l.places[i]
		n++
	}
	l.docs, l.tfs, l.places = l.docs[:n], l.tfs[:n], l.places[:n]
}
