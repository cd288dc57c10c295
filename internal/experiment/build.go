package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"goserini/internal/atomicfile"
	"goserini/internal/jsonl"
	"goserini/internal/trajectory"
)

// Builder makes a run directory from results that are there already: of other programs, or of
// other run directories. The directory gets its name when it is whole.
type Builder struct {
	dir, final string
	manifest   Manifest
	out        *jsonl.Writer
	seen       map[string]bool
}

// Build begins a run directory, which must not exist yet or be empty.
func Build(dir string, m Manifest) (*Builder, error) {
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty: use another --out", dir)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("create run directory: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("create run directory: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".partial-*")
	if err != nil {
		return nil, fmt.Errorf("create run directory: %w", err)
	}
	b := &Builder{dir: tmp, final: dir, manifest: m, seen: map[string]bool{}}
	b.manifest.Format = FormatVersion
	if err := b.prepare(); err != nil {
		b.Abort()
		return nil, err
	}
	return b, nil
}

func (b *Builder) prepare() (err error) {
	if err := os.Chmod(b.dir, 0o755); err != nil {
		return err
	}
	if err := makeDir(b.dir, b.manifest.Private); err != nil {
		return fmt.Errorf("create run directory: %w", err)
	}
	b.out, err = jsonl.Create(filepath.Join(b.dir, resultsFile), jsonl.SyncClose)
	return err
}

// Add adds a result and, unless it is empty, its trajectory.
func (b *Builder) Add(rec trajectory.Record, events []trajectory.Event) error {
	if len(events) == 0 {
		rec.Trajectory = ""
		return b.add(rec)
	}
	rec.Trajectory = trajectoryPath(rec.QueryID)
	w, err := trajectory.Create(filepath.Join(b.dir, filepath.FromSlash(rec.Trajectory)))
	if err != nil {
		return err
	}
	for _, e := range events {
		if err := w.Append(e); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return b.add(rec)
}

func (b *Builder) add(rec trajectory.Record) error {
	if rec.QueryID == "" || b.seen[rec.QueryID] {
		return fmt.Errorf("two results for query %q, or one without an id", rec.QueryID)
	}
	b.seen[rec.QueryID] = true
	return b.out.Append(rec)
}

// copyFile copies a file into the directory under a relative path with slashes.
func (b *Builder) copyFile(from, rel string) error {
	path := filepath.Join(b.dir, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Copy(path, from, 0o644)
}

// Finish writes the manifest and gives the directory its name. Finished is set if every one of
// the spec's questions has a result.
func (b *Builder) Finish() error { return b.FinishOrdered(nil) }

// FinishOrdered is Finish, and brings the results into the order of the given queries, which must
// name them all.
func (b *Builder) FinishOrdered(ids []string) error {
	defer b.Abort()
	if err := b.out.Close(); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	b.out = nil
	if ids != nil {
		if err := orderResults(b.dir, ids); err != nil {
			return err
		}
	}
	b.manifest.Finished = len(b.seen) > 0 && len(b.seen) == b.manifest.Spec.Questions
	if err := writeManifest(b.dir, b.manifest); err != nil {
		return err
	}
	if err := os.Remove(b.final); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("create run directory: %w", err)
	}
	if err := os.Rename(b.dir, b.final); err != nil {
		return fmt.Errorf("create run directory: %w", err)
	}
	b.dir = ""
	return atomicfile.SyncDir(filepath.Dir(b.final))
}

// Abort throws away what was built. It does nothing after Finish.
func (b *Builder) Abort() {
	if b.out != nil {
		_ = b.out.Close() // it is thrown away
		b.out = nil
	}
	if b.dir != "" {
		_ = os.RemoveAll(b.dir) // a folder that this builder made, under a name of its own
		b.dir = ""
	}
}
