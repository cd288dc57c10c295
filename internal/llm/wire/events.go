package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// MaxEvent bounds one event of a stream in bytes.
const MaxEvent = 16 << 20

// Event is one event of a text/event-stream.
type Event struct {
	// Name is the event's type; empty means "message".
	Name string
	// Data is valid until the next call of Next.
	Data []byte
}

// EventReader reads a text/event-stream as the HTML standard, section 9.2, lays it out,
// with one tolerance: an event that the end of the stream cuts off after a whole line is
// still delivered, since many servers omit the last blank line.
type EventReader struct {
	in *bufio.Reader
	// afterCR says that the last line ended in CR, so that an LF belongs to it.
	afterCR bool
	started bool
	line    []byte
	data    []byte
}

// NewEventReader reads events from r.
func NewEventReader(r io.Reader) *EventReader {
	return &EventReader{in: bufio.NewReaderSize(r, 32<<10)}
}

// Next returns the next event that has data, and io.EOF after the last one.
func (r *EventReader) Next() (Event, error) {
	r.data = r.data[:0]
	name, any := "", false
	for {
		line, err := r.readLine()
		if err == io.EOF && any {
			return r.event(name), nil
		}
		if err != nil {
			return Event{}, err
		}
		if !r.started {
			r.started = true
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if len(line) == 0 {
			if any {
				return r.event(name), nil
			}
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			any = true
			r.data = append(append(r.data, value...), '\n')
		case "event":
			name = string(value)
		}
		if len(r.data) > MaxEvent {
			return Event{}, tooLong()
		}
	}
}

func (r *EventReader) event(name string) Event {
	return Event{Name: name, Data: r.data[:len(r.data)-1]}
}

func tooLong() error { return fmt.Errorf("%w: one event over %d bytes", ErrTooLarge, MaxEvent) }

// readLine returns a line without its end. A last line without an end counts when it is not empty.
func (r *EventReader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		_, err := r.in.Peek(1)
		if err != nil {
			if err == io.EOF && len(r.line) > 0 {
				return r.line, nil
			}
			return nil, err
		}
		have, _ := r.in.Peek(r.in.Buffered())
		if r.afterCR {
			r.afterCR = false
			if have[0] == '\n' {
				_, _ = r.in.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(have, "\r\n")
		if end < 0 {
			r.line = append(r.line, have...)
			_, _ = r.in.Discard(len(have))
			if len(r.line) > MaxEvent {
				return nil, tooLong()
			}
			continue
		}
		r.line = append(r.line, have[:end]...)
		r.afterCR = have[end] == '\r'
		_, _ = r.in.Discard(end + 1)
		return r.line, nil
	}
}
