package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"goserini/internal/atomicfile"
	"goserini/internal/index"
	"goserini/internal/synth"
)

// workspace is the folder that everything is kept in, and how to run programs there.
type workspace struct {
	options
	// source is bench/peers in the project.
	root, source string
	scratch      string
	tools        *tools
}

func newWorkspace(root string, o options) (*workspace, error) {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return nil, err
	}
	o.dir = dir
	w := &workspace{options: o, root: root, source: filepath.Join(root, "bench", "peers")}
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return nil, err
	}
	if w.scratch, err = os.MkdirTemp(o.dir, "scratch-"); err != nil {
		return nil, err
	}
	w.tools = &tools{workspace: w}
	return w, nil
}

func (w *workspace) close() { os.RemoveAll(w.scratch) }

func (w *workspace) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

func say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// command prepares a program that keeps its temporary files in the workspace. What it
// says goes to the error stream.
func (w *workspace) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+w.scratch, "PYTHONUNBUFFERED=1", "NUMBA_NUM_THREADS=2", "PYTHONPATH="+filepath.Join(w.source, "python"))
	cmd.Stderr = os.Stderr
	cmd.Stdout = os.Stderr
	return cmd
}

func (w *workspace) run(ctx context.Context, name string, args ...string) error {
	if err := w.command(ctx, name, args...).Run(); err != nil {
		return fmt.Errorf("%s %s: %w", filepath.Base(name), strings.Join(args, " "), err)
	}
	return nil
}

// once makes something at a path unless it is there. make is given a path beside it, which
// is renamed when it is complete.
func (w *workspace) once(path string, make func(partial string) error) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	say("making %s", path)
	partial := filepath.Join(filepath.Dir(path), ".partial-"+filepath.Base(path))
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := make(partial); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	return os.Rename(partial, path)
}

// saved returns a result kept from before, or makes and keeps it.
func saved[T any](w *workspace, part, name string, make func() (T, error)) (T, error) {
	path := w.path("results", part, name+".json")
	var result T
	if !among(w.again, name) {
		if data, err := os.ReadFile(path); err == nil {
			return result, json.Unmarshal(data, &result)
		}
	}
	say("measuring %s of %s", name, part)
	result, err := make()
	if err != nil {
		return result, fmt.Errorf("measure %s: %w", name, err)
	}
	data, err := json.MarshalIndent(result, "", " ")
	if err != nil {
		return result, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return result, err
	}
	return result, atomicfile.Write(path, data, 0o644)
}

// part is a collection with everything that is measured on it.
type part struct {
	*workspace
	corpus synth.Corpus
}

// parts are those asked for.
func (w *workspace) parts() []*part {
	var parts []*part
	if w.long > 0 {
		parts = append(parts, &part{w, synth.Corpus{Shape: synth.Long, Documents: w.long}})
	}
	if w.passages > 0 {
		parts = append(parts, &part{w, synth.Corpus{Shape: synth.Passages, Documents: w.passages}})
	}
	return parts
}

func (p *part) name() string { return fmt.Sprintf("%s-%d", p.corpus.Shape, p.corpus.Documents) }

// The files of a part. The text is in a folder of its own, as Anserini wants it.
func (p *part) textFolder() string         { return p.path("text", p.name()) }
func (p *part) text() string               { return filepath.Join(p.textFolder(), "corpus.jsonl") }
func (p *part) tokens() string             { return p.path("tokens", p.name()+".tsv") }
func (p *part) index(engine string) string { return p.path("indexes", p.name(), engine) }

// ours is the index of this project, by its format.
func (p *part) ours() string { return p.index(fmt.Sprintf("goserini-format%d", index.FormatVersion)) }
