package corpus

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync/atomic"
)

// Reader yields the records of sources one after the other. Next, Report and Close are
// for one goroutine, Progress for any; the records it yields may be decoded on any.
type Reader struct {
	opts   Options
	fields *fieldTable
	notes  notes

	inputs  []input
	ignored []Ignored
	total   int64
	read    atomic.Int64

	// The file being read: its framer and what its records share.
	stream *stream
	framer framer
	source *source
	name   string

	// mayBeEmpty says that no record at all is no error.
	mayBeEmpty bool

	files, records, seq int64
	// err ended the reading.
	err error
}

// Open prepares the sources, files and folders, for reading in the given order. A
// source that does not exist is an error here; all other trouble is reported by Next
// when the file's turn comes.
func Open(sources []string, opts Options) (*Reader, error) {
	if opts.MaxRecordBytes <= 0 {
		opts.MaxRecordBytes = DefaultMaxRecordBytes
	}
	opts.MaxRecordBytes = min(opts.MaxRecordBytes, math.MaxInt/4)
	if _, err := ParseFormat(string(opts.Format)); err != nil {
		return nil, err
	}
	fields, err := newFieldTable(opts.Fields)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(sources, opts.Format)
	if err != nil {
		return nil, err
	}
	r := &Reader{opts: opts, fields: fields, inputs: p.inputs, ignored: p.ignored}
	for _, in := range p.inputs {
		r.total += in.size
	}
	return r, nil
}

// Next returns the next record, or io.EOF after the last one. An error that is a
// *RecordError is about a record or file (under SkipBad those are passed over and
// counted); any other ends the reading whatever the policy. Sources without any record
// end in ErrNoDocuments.
func (r *Reader) Next() (Record, error) {
	for r.err == nil {
		if r.framer == nil && !r.nextFile() {
			continue
		}
		rec, err := r.framer.next()
		if err == nil {
			r.records++
			r.seq++
			rec.seq, rec.src = r.seq, r.source
			return rec, nil
		}
		r.trouble(err)
	}
	return Record{}, r.err
}

// trouble deals with an error of the framer: the end of the file, a bad record, or a
// broken stream.
func (r *Reader) trouble(err error) {
	var bad *RecordError
	switch {
	case errors.Is(err, io.EOF):
		r.files++
		r.closeFile()
	case errors.As(err, &bad):
		r.records++
		r.bad(bad)
		if bad.lost {
			r.closeFile()
		}
	default:
		r.err = fmt.Errorf("read %s: %w", r.name, err)
		r.closeFile()
	}
}

// bad ends the reading or counts the record, as the policy has it.
func (r *Reader) bad(err error) {
	r.seq++
	if r.opts.OnBad == StopAtBad {
		r.err = err
		return
	}
	r.notes.skip(r.seq, err)
}

// nextFile opens the next file; false if it holds nothing or cannot be read, or if
// there is none left, which sets r.err.
func (r *Reader) nextFile() bool {
	if len(r.inputs) == 0 {
		r.err = r.end()
		return false
	}
	in := r.inputs[0]
	r.inputs = r.inputs[1:]
	r.name = in.path
	err := r.openFile(in)
	if err == nil {
		return r.framer != nil
	}
	r.closeFile()
	var bad *RecordError
	switch {
	case errors.As(err, &bad):
	case errors.Is(err, errDamaged):
		r.err = fmt.Errorf("read %s: %w", in.path, err)
		return false
	default:
		bad = &RecordError{Location: Location{File: in.path}, Problem: "cannot be read", Err: pathless(err)}
	}
	r.bad(bad)
	return false
}

// pathless takes the path out of an error that is shown behind the path.
func pathless(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// end is what the end of the last file means.
func (r *Reader) end() error {
	if r.mayBeEmpty || r.records > 0 || r.notes.anyBad() {
		return io.EOF
	}
	if len(r.ignored) == 0 {
		return fmt.Errorf("%w in the sources", ErrNoDocuments)
	}
	first := r.ignored[0]
	return fmt.Errorf("%w in the sources: %d files passed over, the first %s (%s)", ErrNoDocuments, len(r.ignored), first.Path, first.Reason)
}

// openFile sets framer and source up for a file. A file without content is ignored.
func (r *Reader) openFile(in input) error {
	if in.err != nil {
		return in.err
	}
	s, err := openStream(in.path, &r.read)
	if err != nil {
		return err
	}
	return r.begin(in, s)
}

// begin is openFile over the file's stream.
func (r *Reader) begin(in input, s *stream) error {
	r.stream = s
	c := newCutter(s, r.opts.MaxRecordBytes)
	head := c.head()
	if err := c.failure(); err != nil && len(head) == 0 {
		return err
	}
	if len(head) == 0 {
		r.ignore(in.path, "empty file")
		return nil
	}
	if isBinary(head) && in.kind != kindJSON && in.kind != kindTSV && in.kind != kindTREC {
		if in.alone {
			return &RecordError{Location: Location{File: in.path}, Problem: "not text", Fix: "expected JSON lines, TSV, TREC SGML, or a text, Markdown or HTML file"}
		}
		r.ignore(in.path, "not text")
		return nil
	}
	return r.frame(in, c, head)
}

func (r *Reader) ignore(path, reason string) {
	r.closeFile()
	r.ignored = append(r.ignored, Ignored{Path: path, Reason: reason})
}

// frame chooses framer and decoder by the kind of the file.
func (r *Reader) frame(in input, c *cutter, head []byte) (err error) {
	k := in.kind
	if k == kindUnknown {
		k = kindByHead(head, !plainNames[extension(in.path)])
	}
	r.source = &source{opts: &r.opts, notes: &r.notes}
	page := &pageFramer{c: c, name: in.path, docid: in.docid}
	switch k {
	case kindJSON:
		r.framer, err = newJSONFramer(c, in.path, &r.notes)
		r.source.decoder = jsonDecoder{r.fields}
	case kindTSV:
		r.framer, r.source.decoder, err = newTSV(c, in.path, r.fields)
	case kindTREC:
		r.framer, r.source.decoder = &sgmlFramer{c: c, name: in.path, notes: &r.notes}, sgmlDecoder{}
	case kindMarkdown:
		r.framer, r.source.decoder = page, pageDecoder{pageMarkdown}
	case kindHTML:
		r.framer, r.source.decoder = page, pageDecoder{pageHTML}
	case kindOther:
		return &RecordError{Location: Location{File: in.path}, Problem: "not a kind of file that holds documents",
			Fix: "expected JSON lines, TSV, TREC SGML, or a text, Markdown or HTML file; name the format if it is one of these"}
	default:
		r.framer, r.source.decoder = page, pageDecoder{pageText}
	}
	if err == nil && r.framer == nil {
		r.ignore(in.path, "empty file")
	}
	return err
}

// Progress returns the bytes read so far, as they lie on disk, of the total.
func (r *Reader) Progress() (bytesRead, bytesTotal int64) { return r.read.Load(), r.total }

// closeFile closes the file being read. It was only read: closing cannot lose anything.
func (r *Reader) closeFile() {
	if r.stream != nil {
		_ = r.stream.Close()
	}
	if f, ok := r.framer.(*sequenceFramer); ok {
		f.stop()
	}
	r.stream, r.framer, r.source = nil, nil, nil
}

// Close releases what is open. Records already yielded stay valid.
func (r *Reader) Close() error {
	r.closeFile()
	if r.err == nil {
		r.err = errors.New("corpus reader is closed")
	}
	return nil
}

// Report says what was passed over and repaired so far.
func (r *Reader) Report() Report {
	report := Report{Files: r.files, Records: r.records, Ignored: slices.Clone(r.ignored)}
	slices.SortStableFunc(report.Ignored, func(a, b Ignored) int { return strings.Compare(a.Path, b.Path) })
	r.notes.report(&report)
	return report
}
