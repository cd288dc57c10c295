// Package exchange turns runs that other programs made into records and trajectories, and
// run directories into the forms that other programs read.
//
// Read knows three forms:
//
//   - browsecomp-plus: the run files of that benchmark's evaluator, one JSON object a query in a
//     folder of *.json or in a .jsonl, also the published reference runs, whose outputs are enciphered;
//   - pi-serini: the run directories of the reference implementation;
//   - trec: a run of six columns.
//
// Official, WriteTREC and WriteMessages are the way back. docs/runs.md says what each form can
// and cannot tell.
package exchange

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"goserini/internal/browsecompplus"
	"goserini/internal/trajectory"
)

// Format names a form of run.
type Format string

// The forms that Read knows.
const (
	BrowseCompPlus Format = "browsecomp-plus"
	PiSerini       Format = "pi-serini"
	TREC           Format = "trec"
)

// Options say how a run is read.
type Options struct {
	// Format is recognised if empty.
	Format Format
	// Key deciphers outputs where a file's outputs are enciphered; without it they are an error.
	Key *browsecompplus.Key
	// Question gives the text of a query, "" where it is not known. May be nil.
	Question func(queryID string) string
}

// ErrEnciphered is wrapped where outputs are enciphered and cannot be deciphered.
var ErrEnciphered = errors.New("its outputs are enciphered")

// Run is what was read of a run as a whole.
type Run struct {
	Format Format
	// Benchmark and QuerySet are what the run says of itself, "" where it does not.
	Benchmark, QuerySet string
	// Model is the first model named.
	Model string
	// Notes say what the form could not tell.
	Notes []string
}

// Answered is one query of a run.
type Answered struct {
	Record trajectory.Record
	// Events are a trajectory made up from what the form tells, empty where it tells of no step.
	Events []trajectory.Event
}

// maxFile bounds one file of a run, in bytes.
const maxFile = 256 << 20

// Read reads a run and gives every query to each.
func Read(path string, opts Options, each func(Answered) error) (Run, error) {
	format := opts.Format
	if format == "" {
		var err error
		if format, err = recognise(path); err != nil {
			return Run{}, err
		}
	}
	switch format {
	case BrowseCompPlus:
		return readOfficial(path, opts, each)
	case PiSerini:
		return readReference(path, opts, each)
	case TREC:
		return readTREC(path, opts, each)
	}
	return Run{}, fmt.Errorf("format %q: want %s, %s or %s", format, BrowseCompPlus, PiSerini, TREC)
}

// The files beside the queries in a run directory of the reference implementation.
const (
	referenceManifest = "benchmark_manifest_snapshot.json"
	referenceSetup    = "run_setup.json"
	referenceSummary  = "evaluation_summary.json"
	referenceMerged   = "merged"
)

func recognise(path string) (Format, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read run: %w", err)
	}
	if !info.IsDir() {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".json", ".jsonl", ".ndjson":
			return BrowseCompPlus, nil
		}
		return TREC, nil
	}
	if there(path, "manifest.json") && there(path, "results.jsonl") {
		return "", fmt.Errorf("%s is a run directory already", path)
	}
	for _, dir := range []string{path, filepath.Join(path, referenceMerged)} {
		if there(dir, referenceManifest) || there(dir, referenceSetup) {
			return PiSerini, nil
		}
	}
	return BrowseCompPlus, nil
}

func there(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// readBounded reads a whole file of bounded size.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: %d bytes are more than a run file may have (%d)", path, info.Size(), maxFile)
	}
	return os.ReadFile(path)
}

// jsonFiles lists the files with the queries of a run in a folder.
func jsonFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	var paths []string
	for _, e := range entries {
		name := e.Name()
		switch {
		case e.IsDir(), filepath.Ext(name) != ".json", strings.HasPrefix(name, "."):
		case name == referenceManifest, name == referenceSetup, name == referenceSummary, strings.HasSuffix(name, "_eval.json"):
		default:
			paths = append(paths, filepath.Join(dir, name))
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("read run: %s: %w", dir, errNoQueries)
	}
	return paths, nil
}

var errNoQueries = errors.New("no files with queries (*.json)")

// note adds a note once.
func (r *Run) note(text string) {
	for _, n := range r.Notes {
		if n == text {
			return
		}
	}
	r.Notes = append(r.Notes, text)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
