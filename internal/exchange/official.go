package exchange

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"goserini/internal/browsecompplus"
	"goserini/internal/jsonl"
)

// readOfficial reads a file of one query, a file of lines, or a folder of such files.
func readOfficial(path string, opts Options, each func(Answered) error) (Run, error) {
	r := officialReader{run: Run{Format: BrowseCompPlus}, opts: opts, each: each, seen: map[string]string{}}
	info, err := os.Stat(path)
	if err != nil {
		return r.run, fmt.Errorf("read run: %w", err)
	}
	switch {
	case info.IsDir():
		paths, err := jsonFiles(path)
		if err != nil {
			return r.run, err
		}
		for _, p := range paths {
			if err := r.file(p); err != nil {
				return r.run, err
			}
		}
	case strings.EqualFold(filepath.Ext(path), ".json"):
		err = r.file(path)
	default:
		err = r.lines(path)
	}
	return r.run, err
}

type officialReader struct {
	run  Run
	opts Options
	each func(Answered) error
	seen map[string]string
}

func (r *officialReader) file(path string) error {
	b, err := readBounded(path)
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	return r.one(b, path)
}

func (r *officialReader) lines(path string) error {
	tail, err := jsonl.Read(path, maxFile, func(l jsonl.Line) error {
		return r.one(l.Data, fmt.Sprintf("%s:%d", l.File, l.Number))
	})
	if err == nil && tail.Torn > 0 {
		err = fmt.Errorf("%s:%d: the last line is torn: the file is not whole", path, tail.Lines+1)
	}
	if err != nil {
		return fmt.Errorf("read run: %w", err)
	}
	return nil
}

// one takes the JSON of one query that stands at a place.
func (r *officialReader) one(b []byte, place string) error {
	var f browsecompplus.RunFile
	if err := json.Unmarshal(b, &f); err != nil {
		return fmt.Errorf("%s: not a run file: %w", place, err)
	}
	if err := f.Check(); err != nil {
		return fmt.Errorf("%s: not a run file: %w", place, err)
	}
	id := string(f.QueryID)
	if other, twice := r.seen[id]; twice {
		return fmt.Errorf("%s: query %q is also in %s", place, id, other)
	}
	r.seen[id] = place
	if r.opts.Key != nil && f.Enciphered(*r.opts.Key) {
		if err := f.Decrypt(*r.opts.Key); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		r.run.note("outputs were deciphered")
	}
	switch {
	case !f.Unreadable():
	case r.opts.Key == nil:
		return fmt.Errorf("%s: query %q: %w", place, id, ErrEnciphered)
	default:
		return fmt.Errorf("%s: query %q: %w, and %w for it", place, id, ErrEnciphered, browsecompplus.ErrWrongCanary)
	}
	if r.run.Model == "" {
		r.run.Model = f.Model()
	}
	a, err := fromOfficial(f, r.opts)
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	r.run.note("turns and times are not told by this form: each step counts as a turn of its own, without duration")
	r.run.note("surfaced and previewed are both the documents that the file counts as retrieved")
	if f.Usage == nil {
		r.run.note("some or all of the usage is not told")
	}
	return r.each(a)
}

// fromOfficial makes a record and a trajectory of a run file.
func fromOfficial(f browsecompplus.RunFile, opts Options) (Answered, error) {
	s := newSteps(string(f.QueryID), opts.question(string(f.QueryID)), f.Model())
	s.items(f.Result, f.Usage)
	retrieved := texts(f.Retrieved)
	a := s.end(f.Status, f.Answer(), retrieved)
	a.Record.Surfaced, a.Record.Previewed = retrieved, retrieved
	if f.ToolCallCounts != nil {
		a.Record.ToolCallCounts = f.ToolCallCounts
	}
	return a, nil
}

func (o Options) question(id string) string {
	if o.Question == nil {
		return ""
	}
	return o.Question(id)
}

// texts returns ids once each, in order; an empty list rather than none.
func texts(ids []browsecompplus.Text) []string {
	out, seen := []string{}, map[string]bool{}
	for _, id := range ids {
		if !seen[string(id)] {
			seen[string(id)] = true
			out = append(out, string(id))
		}
	}
	return out
}
