package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"goserini/internal/atomicfile"
	"goserini/internal/benchmark"
)

// FormatVersion is the version of the run directory.
//
//	1: first version
const FormatVersion = 1

// Manifest holds the resolved facts of a run. It is written before the first question
// and again at the end of every session.
type Manifest struct {
	Format int    `json:"format"`
	Name   string `json:"name"`
	Spec   Spec   `json:"spec"`
	// Inputs are the files the run was made from, by role.
	Inputs map[string]Input `json:"inputs,omitempty"`
	// Program is the version of the program, in its own words.
	Program json.RawMessage `json:"program,omitempty"`
	// PriceTable is the date of the price table in use; costs are computed when reporting.
	PriceTable string    `json:"price_table,omitempty"`
	Sessions   []Session `json:"sessions"`
	// Findings are what a reader of the scores should know about the benchmark.
	Findings []benchmark.Finding `json:"findings,omitempty"`
	// Private says that the run holds questions and answers that must not be published in plain text.
	Private bool `json:"private,omitempty"`
	// Imported says where a run that another program made was read from.
	Imported *Imported `json:"imported,omitempty"`
	// Merged are the runs this one was joined from.
	Merged []string `json:"merged,omitempty"`
	// Finished says that every question has a result.
	Finished bool `json:"finished"`
}

// Imported is the origin of a run that another program made.
type Imported struct {
	// Format is browsecomp-plus, pi-serini or trec.
	Format string `json:"format"`
	Path   string `json:"path"`
	// Notes say what the format could not tell.
	Notes []string `json:"notes,omitempty"`
}

// Input is a file a run was made from.
type Input struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Session is one process that worked on a run.
type Session struct {
	StartedAt   time.Time  `json:"started_at"`
	EndedAt     *time.Time `json:"ended_at,omitempty"`
	Concurrency int        `json:"concurrency"`
	// Shard is the part of the run that it worked on, in a run merged from shards.
	Shard Shard `json:"shard,omitzero"`
	// RunMaxCostUSD and RunMaxTokens are what the run as a whole could spend, 0 without a limit.
	RunMaxCostUSD float64 `json:"run_max_cost_usd,omitempty"`
	RunMaxTokens  int64   `json:"run_max_tokens,omitempty"`
	// Retried lists the statuses and reasons whose questions were run again.
	Retried []string `json:"retried,omitempty"`
	// Overridden lists the differences from the manifest's spec that the user forced.
	Overridden []Difference `json:"overridden,omitempty"`
	// Program and Inputs are those that were no longer the manifest's.
	Program json.RawMessage  `json:"program,omitempty"`
	Inputs  map[string]Input `json:"inputs,omitempty"`
}

const (
	manifestFile    = "manifest.json"
	resultsFile     = "results.jsonl"
	trajectoriesDir = "trajectories"
	// VerdictsFile and ScoresFile are written by judge and eval.
	VerdictsFile = "verdicts.jsonl"
	ScoresFile   = "scores.json"
	lockFile     = ".lock"
	ignoreFile   = ".gitignore"
)

// ErrNoRun is wrapped by ReadManifest where a folder is no run directory.
var ErrNoRun = errors.New("not a run directory")

// maxQuestions bounds what a manifest can claim.
const maxQuestions = 10_000_000

// ReadManifest reads the manifest of a run directory.
func ReadManifest(dir string) (Manifest, error) {
	m, _, err := readManifest(dir)
	return m, err
}

// readManifest also returns the file's bytes.
func readManifest(dir string) (m Manifest, text []byte, err error) {
	path := filepath.Join(dir, manifestFile)
	text, err = os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil, fmt.Errorf("%s: %w: it has no %s", dir, ErrNoRun, manifestFile)
	}
	if err != nil {
		return m, nil, fmt.Errorf("read manifest: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, nil, fmt.Errorf("%s: damaged manifest: %w", path, err)
	}
	if m.Format != FormatVersion {
		return m, nil, fmt.Errorf("%s: run format %d, and this program reads format %d: use the goserini that wrote it", path, m.Format, FormatVersion)
	}
	if n := m.Spec.Questions; n < 0 || n > maxQuestions {
		return m, nil, fmt.Errorf("%s: damaged manifest: spec.questions is %d, want 0 to %d", path, n, maxQuestions)
	}
	return m, text, nil
}

// readOwnManifest reads a manifest that is going to be written again, or made part of another: a
// field that this program does not know would be lost on the way, so it is refused.
func readOwnManifest(dir string) (Manifest, error) {
	m, text, err := readManifest(dir)
	if err != nil {
		return m, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&Manifest{}); err != nil {
		return m, fmt.Errorf("%s: %w, which this program does not have: go on with the goserini that wrote it", filepath.Join(dir, manifestFile), err)
	}
	return m, nil
}

func writeManifest(dir string, m Manifest) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encode manifest: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(dir, manifestFile), append(b, '\n'), 0o644); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	return nil
}
