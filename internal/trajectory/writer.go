package trajectory

import (
	"bytes"
	"encoding/json"
	"fmt"

	"goserini/internal/jsonl"
)

// MaxLine bounds one line of a trajectory, in bytes. The largest events hold what a
// model or a tool said, and both are bounded far below it where they come from.
const MaxLine = 64 << 20

// Writer writes the trajectory of one question, one line an event. Every event has
// reached the operating system when Append returns, so a killed process loses at
// most a part of the event it was writing; Close forces the file to disk. A Writer
// is not safe for concurrent use: events have an order.
type Writer struct {
	lines *jsonl.Writer
	path  string
	seq   int
	err   error
}

// Create starts a trajectory, replacing one that was begun for the same question.
func Create(path string) (*Writer, error) {
	lines, err := jsonl.OpenAt(path, 0, jsonl.SyncClose)
	if err != nil {
		return nil, fmt.Errorf("create trajectory: %w", err)
	}
	return &Writer{lines: lines, path: path}, nil
}

// Append writes one event. Events come in the order of their Seq; after the first
// failure nothing more is written, so that what is in the file has no gap.
func (w *Writer) Append(e Event) error {
	if w.err != nil {
		return w.err
	}
	w.err = w.append(e)
	return w.err
}

func (w *Writer) append(e Event) error {
	if err := e.check(w.seq + 1); err != nil {
		return fmt.Errorf("write trajectory %s: %w", w.path, err)
	}
	line, err := encode(e)
	if err != nil {
		return fmt.Errorf("write trajectory %s: event %d (%s): %w", w.path, e.Seq, e.Type, err)
	}
	if err := w.lines.Append(line); err != nil {
		return fmt.Errorf("write trajectory: event %d (%s): %w", e.Seq, e.Type, err)
	}
	w.seq++
	return nil
}

// encode leaves characters such as < as they are: raw messages of providers must come
// back byte for byte.
func encode(e Event) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	if buf.Len() > MaxLine {
		return nil, fmt.Errorf("%d bytes are more than a line may hold (%d)", buf.Len(), MaxLine)
	}
	return buf.Bytes(), nil
}

// Close forces the file to disk. It returns the first error of Append if there was one.
func (w *Writer) Close() error {
	err := w.lines.Close()
	if w.err != nil {
		return w.err
	}
	if err != nil {
		return fmt.Errorf("close trajectory %s: %w", w.path, err)
	}
	return nil
}
