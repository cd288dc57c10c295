package corpus

import (
	"io"
	"iter"
)

// FromDocuments returns a reader over documents held in memory, of which there may be
// none. They are checked and repaired as those of files are; the location of the nth is
// memory:n.
func FromDocuments(docs []Document) *Reader {
	return FromSequence("memory", func(yield func(Document, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	})
}

// FromSequence returns a reader over documents that another program part makes, one
// at a time as Next asks for them; messages call the nth one name:n. An error in the
// sequence ends the reading.
func FromSequence(name string, docs iter.Seq2[Document, error]) *Reader {
	r := &Reader{mayBeEmpty: true, name: name}
	next, stop := iter.Pull2(docs)
	r.framer = &sequenceFramer{name: name, pull: next, stop: stop}
	r.source = &source{decoder: sequenceDecoder{}, opts: &r.opts, notes: &r.notes}
	return r
}

// sequenceFramer numbers the documents of a sequence.
type sequenceFramer struct {
	name string
	pull func() (Document, error, bool)
	stop func()
	n    int
}

func (f *sequenceFramer) next() (Record, error) {
	doc, err, ok := f.pull()
	if !ok {
		return Record{}, io.EOF
	}
	f.n++
	return Record{doc: &doc, loc: Location{File: f.name, Line: f.n}}, err
}

// sequenceDecoder has nothing left to decode.
type sequenceDecoder struct{}

func (sequenceDecoder) decode(rec *Record) (Document, error) { return *rec.doc, nil }
