package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"goserini/internal/atomicfile"
	"goserini/internal/jsonl"
	"goserini/internal/trajectory"
)

// results holds what a session needs to remember of each result. The records themselves, which
// name every document that was ever ranked, stay on disk.
type results struct {
	mu   sync.Mutex
	byID map[string]outcome
}

// outcome is a result in short.
type outcome struct {
	trajectory.Earlier
	started time.Time
	// earlier are the attempts before it.
	earlier []trajectory.Earlier
}

func outcomeOf(rec trajectory.Record) outcome {
	return outcome{trajectory.Earlier{Status: rec.Status, Reason: rec.Reason, Usage: rec.Usage, ElapsedSeconds: rec.ElapsedSeconds}, rec.StartedAt, rec.Earlier}
}

func (r *results) has(queryID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.byID[queryID]
	return ok
}

func (r *results) done() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.byID)
}

// place is where a line of results.jsonl stands.
type place struct {
	offset int64
	length int
}

// places finds the newest line of each query, the order in which the queries first appear, and how
// many lines there are.
func places(f *os.File) (at map[string]place, order []string, lines int, err error) {
	at = map[string]place{}
	_, err = jsonl.ReadFrom(f, f.Name(), trajectory.MaxLine, func(l jsonl.Line) error {
		lines++
		var rec struct {
			QueryID string `json:"query_id"`
		}
		if err := l.Decode(&rec); err != nil {
			return err
		}
		if _, again := at[rec.QueryID]; !again {
			order = append(order, rec.QueryID)
		}
		at[rec.QueryID] = place{l.Offset, len(l.Data)}
		return nil
	})
	if err != nil {
		return nil, nil, 0, unreadable(err)
	}
	return at, order, lines, nil
}

// unreadable says why results cannot be read, and of a damaged line, what can be done.
func unreadable(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("read results: %w: take the line out, and goserini run makes it again from the question's trajectory", err)
	}
	return fmt.Errorf("read results: %w", err)
}

// EachResult reads the results of a run directory one by one, the newest of each query, in file
// order; an error of each ends it and is returned as it is. A torn last line, which a run in progress
// may leave for a moment, is passed over; a directory without results has none.
func EachResult(dir string, each func(trajectory.Record) error) error {
	// One open file is read twice: what a run at work appends or puts in its place meanwhile is not seen.
	f, err := os.Open(filepath.Join(dir, resultsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	defer f.Close()
	at, _, _, err := places(f)
	if err != nil {
		return err
	}
	newest := make(map[int64]bool, len(at))
	for _, p := range at {
		newest[p.offset] = true
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	var stopped error
	_, err = jsonl.ReadFrom(f, f.Name(), trajectory.MaxLine, func(l jsonl.Line) error {
		if !newest[l.Offset] {
			return nil
		}
		var rec trajectory.Record
		if err := l.Decode(&rec); err != nil {
			return err
		}
		stopped = each(rec)
		return stopped
	})
	if stopped != nil {
		return stopped
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

// ReadResults reads the results of a run directory in file order, one record a query: the newest.
func ReadResults(dir string) ([]trajectory.Record, error) {
	if _, err := os.Stat(filepath.Join(dir, resultsFile)); err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	var out []trajectory.Record
	err := EachResult(dir, func(rec trajectory.Record) error {
		out = append(out, rec)
		return nil
	})
	return out, err
}

// orderResults rewrites results.jsonl so that it has the newest line of each query, in the given
// order; queries without a result are passed over.
func orderResults(dir string, ids []string) error {
	path := filepath.Join(dir, resultsFile)
	in, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	defer in.Close()
	at, order, lines, err := places(in)
	if err != nil {
		return err
	}
	if lines == len(order) && slices.Equal(order, ids) {
		return nil // it is so already
	}
	out, err := atomicfile.Create(path, 0o644)
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	defer out.Abort()
	for _, id := range ids {
		p, ok := at[id]
		if !ok {
			continue
		}
		if err := copyLine(out, in, p); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	if err := out.Commit(); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}

func copyLine(out io.Writer, in io.ReaderAt, p place) error {
	if _, err := io.Copy(out, io.NewSectionReader(in, p.offset, int64(p.length))); err != nil {
		return err
	}
	_, err := out.Write([]byte{'\n'})
	return err
}

// ReadTrajectory reads the trajectory that a record of a run directory names. The name comes from a
// file, so what lies outside the directory is refused. Without one the error is an [fs.ErrNotExist].
func ReadTrajectory(dir *os.Root, rec trajectory.Record) (trajectory.File, error) {
	path := filepath.FromSlash(rec.Trajectory)
	switch {
	case path == "":
		return trajectory.File{}, fmt.Errorf("its record names no trajectory: %w", fs.ErrNotExist)
	case !filepath.IsLocal(path):
		return trajectory.File{}, fmt.Errorf("trajectory %q is not in the run directory", rec.Trajectory)
	}
	f, err := dir.Open(path)
	if err != nil {
		return trajectory.File{}, fmt.Errorf("open trajectory: %w", err)
	}
	defer f.Close()
	return trajectory.Read(f, filepath.Join(dir.Name(), path))
}
