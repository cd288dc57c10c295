package trajectory

import (
	"fmt"
	"io"

	"goserini/internal/jsonl"
)

// File is a trajectory read back.
type File struct {
	Events []Event
	// Torn says that the last line was unfinished: the process was killed while it
	// wrote. Whole says that the trajectory has its end event.
	Torn, Whole bool
}

// ReadFile reads a trajectory. A torn last line is left out and reported; everything
// else that does not follow the format is an error with file and line.
func ReadFile(path string) (File, error) {
	c := collector{name: path}
	tail, err := jsonl.Read(path, MaxLine, c.add)
	return c.file(tail, err)
}

// Read is ReadFile over an open stream that errors call name.
func Read(r io.Reader, name string) (File, error) {
	c := collector{name: name}
	tail, err := jsonl.ReadFrom(r, name, MaxLine, c.add)
	return c.file(tail, err)
}

// collector checks events one by one as they are read.
type collector struct {
	name   string
	events []Event
}

func (c *collector) add(line jsonl.Line) error {
	if len(c.events) == 0 {
		if err := checkVersion(line); err != nil {
			return err
		}
	}
	var e Event
	if err := line.Decode(&e); err != nil {
		return err
	}
	if err := e.check(len(c.events) + 1); err != nil {
		return fmt.Errorf("%s:%d: %w", line.File, line.Number, err)
	}
	if n := len(c.events); n > 0 && c.events[n-1].Type == TypeEnd {
		return fmt.Errorf("%s:%d: event %d (%s) follows the end: two processes wrote to one file; record the question again with goserini run",
			line.File, line.Number, e.Seq, e.Type)
	}
	c.events = append(c.events, e)
	return nil
}

// checkVersion looks at the version before anything else of the first line, which
// another version may have changed.
func checkVersion(line jsonl.Line) error {
	var head struct {
		Type   Type `json:"type"`
		Header *struct {
			Version int `json:"version"`
		} `json:"header"`
	}
	if err := line.Decode(&head); err != nil {
		return err
	}
	if head.Type != TypeHeader || head.Header == nil {
		return fmt.Errorf("%s:%d: not a trajectory: the first line has type %q, want %q", line.File, line.Number, head.Type, TypeHeader)
	}
	if head.Header.Version != Version {
		return fmt.Errorf("%s:%d: trajectory format version %d; this goserini reads version %d: read it with the goserini that wrote it, or record the question again with goserini run",
			line.File, line.Number, head.Header.Version, Version)
	}
	return nil
}

func (c *collector) file(tail jsonl.Tail, err error) (File, error) {
	if err != nil {
		return File{}, fmt.Errorf("read trajectory: %w", err)
	}
	n := len(c.events)
	if n == 0 {
		return File{}, fmt.Errorf("read trajectory: %s: no whole event; record the question again with goserini run", c.name)
	}
	return File{Events: c.events, Torn: tail.Torn > 0, Whole: c.events[n-1].Type == TypeEnd}, nil
}

// check reports an event that does not follow the format.
func (e Event) check(wantSeq int) error {
	set := 0
	for _, part := range []struct {
		t     Type
		there bool
	}{
		{TypeHeader, e.Header != nil}, {TypeTurn, e.Turn != nil}, {TypeCall, e.Call != nil},
		{TypeObservation, e.Observation != nil}, {TypeSteer, e.Steer != nil},
		{TypeAttempt, e.Attempt != nil}, {TypeShorten, e.Shorten != nil}, {TypeEnd, e.End != nil},
	} {
		if part.there {
			set++
			if part.t != e.Type {
				return fmt.Errorf("event %d has type %q but holds %q", e.Seq, e.Type, part.t)
			}
		}
	}
	switch {
	case set != 1:
		return fmt.Errorf("event %d has type %q and %d bodies, want the one of its type", e.Seq, e.Type, set)
	case e.Seq != wantSeq:
		return fmt.Errorf("event number %d, want %d: an event is missing or doubled", e.Seq, wantSeq)
	case wantSeq == 1 && e.Type != TypeHeader:
		return fmt.Errorf("the first event has type %q, want %q", e.Type, TypeHeader)
	}
	return nil
}
