// Package enginebench measures the engine over a synthetic collection: building, opening,
// searching, reading, excerpts and grids of settings. Whatever is compared takes turns in
// rounds; see package bench.
package enginebench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"goserini/internal/atomicfile"
	"goserini/internal/bench"
	"goserini/internal/bm25"
	"goserini/internal/index"
	"goserini/internal/synth"
)

// Config says what is measured.
type Config struct {
	// Dir keeps collections and indexes from one time to the next.
	Dir    string
	Corpus synth.Corpus
	// Sets are the query sets, Queries the number of queries in each, at least 1.
	Sets    []synth.QuerySet
	Queries int
	// Depths and Settings are combined; the first of each are those of all other measurements.
	Depths   []int
	Settings []bm25.Params
	Rounds   int
	// Tolerance is how far the canary may move in a round that counts; 0 accepts all.
	Tolerance float64
	// Load is how long each closed loop runs.
	Load time.Duration
	// Binary is the goserini program, which builds and searches in processes of its own.
	Binary string
	// Index is an index of the collection to measure instead of building one; then the
	// report has no times of the build.
	Index string
	// Rebuild builds the index although there is one.
	Rebuild bool
	// Say, if not nil, is told what is going on.
	Say func(format string, args ...any)
}

// Report is what was measured. Times are seconds.
type Report struct {
	Date    time.Time `json:"date"`
	Machine Machine   `json:"machine"`

	Shape     synth.Shape `json:"shape"`
	Documents int         `json:"documents"`
	Seed      uint64      `json:"seed"`

	Build Build `json:"build"`
	// Open is the time to open the index, First that from the start of a process that
	// searches to its end.
	Open  float64 `json:"open_seconds"`
	First float64 `json:"first_result_seconds"`
	// Memory is that of a process that has searched all queries on two threads.
	Memory bench.Memory `json:"memory"`

	Searches []Search `json:"searches"`
	Loads    []Load   `json:"loads"`
	// Tool is a call of the agent's search tool: a ranking and its first page.
	Tool Latency `json:"search_tool"`
	// Lines is reading 200 lines at a random place of a document.
	Lines Latency `json:"line_range"`
	// Excerpts are the paper's, of five documents of about 32 KB. Passages are the best ones
	// of the same documents in the part where the index says that the query stands, against
	// those of the whole texts, from which the navigator chooses.
	Excerpts Comparison `json:"excerpts"`
	Passages Comparison `json:"passages"`
	// Page is a navigator's page of ten documents of about 32 KB, whose ranking is there.
	Page Latency `json:"navigator_page"`
	// Grid is ranks under 24 settings at once, against as many searches.
	Grid Comparison `json:"grid"`

	// Discarded and Unquiet count rounds in which the machine changed.
	Discarded int `json:"rounds_discarded"`
	Unquiet   int `json:"rounds_unquiet"`
}

// Machine is where it was measured.
type Machine struct {
	OS    string `json:"os"`
	Arch  string `json:"arch"`
	Cores int    `json:"cores"`
	CPU   string `json:"cpu,omitempty"`
	Go    string `json:"go"`
}

// Build is how an index was built.
type Build struct {
	bench.Usage
	TextBytes  int64 `json:"text_bytes"`
	IndexBytes int64 `json:"index_bytes"`
	Tokens     int64 `json:"tokens"`
	Postings   int64 `json:"postings"`
	// Parts are the sections of the index file.
	Parts []index.Part `json:"parts"`
	// Documents counts those indexed.
	Documents int64 `json:"documents"`
}

// MBPerSecond is megabytes of text by second of wall time.
func (b Build) MBPerSecond() float64 { return float64(b.TextBytes) / 1e6 / b.Wall.Seconds() }

// Latency is how long something takes.
type Latency struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	P99 float64 `json:"p99"`
}

func latency(batches []bench.Batch) Latency {
	if len(batches) == 0 {
		return Latency{}
	}
	return Latency{P50: bench.Of(batches, bench.P50), P95: bench.Of(batches, bench.P95), P99: bench.Of(batches, bench.P99)}
}

// Comparison is a fast way and a plain way to do the same.
type Comparison struct {
	Fast  Latency `json:"fast"`
	Plain Latency `json:"plain"`
	// Ratio is that of the medians in wall time, ThreadRatio in processor time.
	Ratio       bench.Interval `json:"ratio"`
	ThreadRatio bench.Interval `json:"processor_ratio"`
}

// Search is a query set at one depth and setting, on one thread.
type Search struct {
	Set      synth.QuerySet `json:"set"`
	Queries  int            `json:"queries"`
	Depth    int            `json:"k"`
	Params   bm25.Params    `json:"bm25"`
	Postings float64        `json:"postings_per_query"`
	Latency
	// Thread is the same in processor time, all 0 where the system does not tell.
	Thread Latency `json:"processor"`
	// NanosPerPosting is the mean time by the mean number of postings.
	NanosPerPosting float64 `json:"ns_per_posting"`
}

// Load is a query set searched over and over.
type Load struct {
	Set synth.QuerySet `json:"set"`
	One bench.Load     `json:"one_thread"`
	Two bench.Load     `json:"two_threads"`
}

// Run measures everything.
func Run(ctx context.Context, c Config) (*Report, error) {
	r := &Report{Date: time.Now().UTC(), Machine: machine(), Shape: c.Corpus.Shape, Documents: c.Corpus.Documents, Seed: c.Corpus.Seed}
	if c.Say == nil {
		c.Say = func(string, ...any) {}
	}
	dir, build, err := c.index(ctx)
	if err != nil {
		return nil, err
	}
	r.Build = build
	m, err := newMeasurement(c, dir, r)
	if err != nil {
		return nil, err
	}
	defer m.ix.Close()
	for _, step := range []func(context.Context) error{m.open, m.processes, m.searches, m.loads, m.tool, m.lines, m.excerpts, m.navigator, m.grid} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// name of what belongs to the collection.
func (c Config) name() string {
	return fmt.Sprintf("%s-%d-seed%d", c.Corpus.Shape, c.Corpus.Documents, c.Corpus.Seed)
}

// index builds the collection and the index unless they are there.
func (c Config) index(ctx context.Context) (dir string, build Build, err error) {
	if c.Index != "" {
		return c.existing()
	}
	dir = filepath.Join(c.Dir, "engine", fmt.Sprintf("%s-format%d", c.name(), index.FormatVersion))
	record := dir + ".json"
	if !c.Rebuild {
		data, err := os.ReadFile(record)
		if err == nil && json.Unmarshal(data, &build) == nil {
			c.Say("index %s is there, built in %.0f s", dir, build.Wall.Seconds())
			return dir, build, nil
		}
	}
	source := filepath.Join(c.Dir, "corpora", c.name()+".jsonl")
	if _, err := os.Stat(source); errors.Is(err, fs.ErrNotExist) {
		c.Say("writing %s", source)
		if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
			return dir, build, err
		}
		if err := WriteCorpus(ctx, c.Corpus, source, nil); err != nil {
			return dir, build, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return dir, build, err
	}
	c.Say("building %s", dir)
	if build, err = c.build(ctx, source, dir); err != nil {
		return dir, build, err
	}
	data, err := json.MarshalIndent(build, "", "  ")
	if err != nil {
		return dir, build, err
	}
	return dir, build, atomicfile.Write(record, data, 0o644)
}

// build builds an index in a process of its own.
func (c Config) build(ctx context.Context, source, dir string) (Build, error) {
	cmd := exec.CommandContext(ctx, c.Binary, "index", source, "--index", dir, "--json")
	out, usage, err := measured(cmd)
	if err != nil {
		return Build{}, err
	}
	var stats index.Stats
	if err := json.Unmarshal(out, &stats); err != nil {
		return Build{}, fmt.Errorf("read statistics of the build: %w", err)
	}
	return buildOf(stats, usage), nil
}

// existing takes the index that was given, which must be of the collection.
func (c Config) existing() (string, Build, error) {
	ix, err := index.Open(c.Index)
	if err != nil {
		return "", Build{}, err
	}
	defer ix.Close()
	if n := ix.Stats().Documents; n != int64(c.Corpus.Documents) {
		return "", Build{}, fmt.Errorf("index %s has %d documents, the collection %d: it is another's", c.Index, n, c.Corpus.Documents)
	}
	return c.Index, buildOf(ix.Stats(), bench.Usage{}), nil
}

func buildOf(s index.Stats, u bench.Usage) Build {
	return Build{Usage: u, TextBytes: s.TextBytes, IndexBytes: s.Bytes, Tokens: s.Tokens, Postings: s.Postings, Parts: s.Parts, Documents: s.Documents}
}

func machine() Machine {
	return Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(), CPU: cpuName(), Go: runtime.Version()}
}
