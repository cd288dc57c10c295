package corpus

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Report says what reading passed over and what it repaired. It is complete once
// Next has returned io.EOF and every record has been decoded.
type Report struct {
	// Files is the number of files read to their end.
	Files int64
	// Records is the number of records found, bad ones included.
	Records int64
	// Ignored lists the files of the sources that hold no documents by the rules of
	// docs/formats/corpus.md, in order of their paths.
	Ignored []Ignored
	// Bad counts the records and files skipped as bad; Errors holds the first of them
	// in the order of the sources.
	Bad    int64
	Errors []error
	// Notes counts what was repaired or not used, most frequent first.
	Notes []Note
}

// Ignored is a file, or a folder with all below it, that was passed over.
type Ignored struct {
	Path, Reason string
}

// Note counts the records that share a peculiarity.
type Note struct {
	// What completes the sentence "N records …".
	What  string
	Count int64
	// First is where the first of them stands.
	First Location
}

// String is one line for a person.
func (n Note) String() string {
	noun := "records"
	if n.Count == 1 {
		noun = "record"
	}
	return fmt.Sprintf("%d %s %s, first at %s", n.Count, noun, n.What, n.First)
}

// Failed tells whether anything was lost, a record or a file skipped as bad.
func (r Report) Failed() bool { return r.Bad > 0 }

// What can be noted about a record.
const (
	noteInvalidUTF8 = "with invalid UTF-8, replaced by U+FFFD"
	noteSurrogate   = "with half a surrogate pair (\\ud800 to \\udfff), replaced by U+FFFD"
	noteNUL         = "with NUL characters, replaced by blanks"
	noteControl     = "with control characters that JSON wants escaped, taken as they are"
	noteRepeated    = "with a key given twice, the last taken"
	noteBOM         = "behind a byte-order mark inside the file, dropped"
	noteEmpty       = "without any text"
	noteOutside     = "after text that stands between documents, not used"
	noteOutsideText = "with text outside the elements that hold text, not used"
	noteCharset     = "decoded from another character set"
	noteUnused      = "with %q, not used"
	noteUnusedMore  = "with further keys, not used"
)

// maxErrors bounds Report.Errors, maxUnused the number of unused keys told apart.
const (
	maxErrors = 20
	maxUnused = 64
)

// notes gathers a Report. It is safe for concurrent use.
type notes struct {
	// counts is replaced, never changed, so that counting takes no lock.
	counts atomic.Pointer[map[string]*count]
	unused atomic.Pointer[map[string]*count]

	mu     sync.Mutex
	bad    int64
	errors []badRecord
}

// count is how many records share a note and the first of them.
type count struct {
	n atomic.Int64
	// first is the lowest sequence number seen, guarded by mu together with at.
	first atomic.Int64
	mu    sync.Mutex
	at    Location
}

type badRecord struct {
	seq int64
	err error
}

func (c *count) add(rec *Record) {
	c.n.Add(1)
	if rec.seq >= c.first.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if rec.seq < c.first.Load() {
		c.first.Store(rec.seq)
		c.at = rec.loc
	}
}

// add counts a note for a record.
func (n *notes) add(what string, rec *Record) {
	n.counter(&n.counts, what, 0).add(rec)
}

// notUsed counts a key or tag of a record that stands for no field.
func (n *notes) notUsed(name []byte, rec *Record) {
	if m := n.unused.Load(); m != nil {
		if c := (*m)[string(name)]; c != nil {
			c.add(rec)
			return
		}
	}
	if c := n.counter(&n.unused, string(name), maxUnused); c != nil {
		c.add(rec)
		return
	}
	n.add(noteUnusedMore, rec)
}

// counter returns the counter of that name, new if need be; nil where that would
// make more than most of them (0: no bound).
func (n *notes) counter(p *atomic.Pointer[map[string]*count], name string, most int) *count {
	if m := p.Load(); m != nil && (*m)[name] != nil {
		return (*m)[name]
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	grown := make(map[string]*count)
	if m := p.Load(); m != nil {
		if c := (*m)[name]; c != nil {
			return c
		}
		if most > 0 && len(*m) >= most {
			return nil
		}
		for k, c := range *m {
			grown[k] = c
		}
	}
	c := &count{}
	c.first.Store(1<<63 - 1)
	grown[name] = c
	p.Store(&grown)
	return c
}

// skip counts a bad record. The errors kept are the first ones of the sources,
// whatever order they arrive in.
func (n *notes) skip(seq int64, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.bad++
	at, _ := slices.BinarySearchFunc(n.errors, seq, func(b badRecord, seq int64) int { return cmp.Compare(b.seq, seq) })
	if at < maxErrors {
		n.errors = slices.Insert(n.errors, at, badRecord{seq, err})
		n.errors = n.errors[:min(len(n.errors), maxErrors)]
	}
}

func (n *notes) anyBad() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bad > 0
}

// report fills in what notes know.
func (n *notes) report(r *Report) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r.Bad = n.bad
	for _, b := range n.errors {
		r.Errors = append(r.Errors, b.err)
	}
	collect := func(p *atomic.Pointer[map[string]*count], what func(string) string) {
		if p.Load() == nil {
			return
		}
		for name, c := range *p.Load() {
			c.mu.Lock()
			r.Notes = append(r.Notes, Note{What: what(name), Count: c.n.Load(), First: c.at})
			c.mu.Unlock()
		}
	}
	collect(&n.counts, func(s string) string { return s })
	collect(&n.unused, func(s string) string { return fmt.Sprintf(noteUnused, s) })
	slices.SortFunc(r.Notes, func(a, b Note) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.What, b.What))
	})
}
