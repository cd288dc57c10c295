package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"goserini/internal/atomicfile"
	"goserini/internal/benchmark"
	"goserini/internal/bm25"
	"goserini/internal/experiment"
	"goserini/internal/index"
)

// benchmarkEntry is one line of the listing.
type benchmarkEntry struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// State is ready (or what is missing for it), embedded, not set up, or what is wrong.
	State     string   `json:"state"`
	Questions int      `json:"questions"`
	Answers   int      `json:"answers"`
	QuerySets []string `json:"query_sets"`
	Default   string   `json:"default_set"`
	Private   bool     `json:"private,omitempty"`
	// BM25, Analyzer and Judge are the benchmark's own, absent where it leaves them open.
	BM25     *bm25.Params `json:"bm25,omitempty"`
	Analyzer string       `json:"analyzer,omitempty"`
	Judge    string       `json:"judge,omitempty"`
	Dir      string       `json:"dir,omitempty"`
	Index    string       `json:"index,omitempty"`
}

func newBenchmarks(term *terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "benchmarks [FOLDER or TOML...]", Short: "List benchmarks and what of them is on this machine",
		Long: `List the built-in benchmarks, or the ones named: what is on this machine, how many questions, which
query sets. A benchmark can also be a folder with a corpus and queries, or a TOML file that describes one.`,
		Example: "  goserini benchmarks\n  goserini benchmarks ./collection mine.toml",
		RunE: func(_ *cobra.Command, args []string) error {
			names := args
			if len(names) == 0 {
				names = benchmark.Names()
			}
			list := make([]benchmarkEntry, len(names))
			var unusable []string
			for i, name := range names {
				var err error
				if list[i], err = describeBenchmark(name); err != nil {
					unusable = append(unusable, printable(name))
				}
			}
			if asJSON {
				if err := term.json(list); err != nil {
					return err
				}
			} else {
				for _, e := range list {
					showBenchmark(term, e)
				}
			}
			if len(unusable) > 0 {
				return fmt.Errorf("no usable benchmark: %s", strings.Join(unusable, ", "))
			}
			if len(args) == 0 && !asJSON {
				term.say("also: any folder with a corpus and queries (this project's layout or BEIR's), or a TOML file that describes one")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// describeBenchmark looks at a benchmark. One that is not set up is described all the same.
func describeBenchmark(name string) (benchmarkEntry, error) {
	e := benchmarkEntry{Name: name, QuerySets: []string{}}
	b, err := benchmark.Load(name)
	var absent *benchmark.NotSetUpError
	switch {
	case errors.As(err, &absent):
		d, dir, err := benchmark.Describe(name)
		if err != nil {
			return e, err
		}
		e.Title, e.Dir, e.Private, e.Default, e.Questions = d.Title, dir, d.Private, d.DefaultSet, d.Expect.Questions
		e.QuerySets = append(e.QuerySets, sortedKeys(d.Sets)...)
		e.Analyzer, e.Judge = d.Analyzer, d.Judge
		if d.K1 != nil {
			e.BM25 = &bm25.Params{K1: *d.K1, B: *d.B}
		}
		e.State = "not set up: goserini setup " + shellQuote(name)
		return e, nil
	case err != nil:
		e.State = err.Error()
		return e, err
	}
	questions, err := b.Questions(benchmark.AllQuestions)
	if err != nil {
		return e, err
	}
	e.Title, e.Dir, e.Private, e.Index, e.Questions = b.Title, b.Dir, b.Private, b.Index, len(questions)
	e.QuerySets, e.Default, e.State = b.SetNames(), b.SetName(""), "ready"
	e.BM25, e.Analyzer, e.Judge = b.BM25, b.Analyzer, b.Judge
	for _, q := range questions {
		if q.Answer != nil {
			e.Answers++
		}
	}
	if b.Dir == "" {
		e.State = "embedded"
	} else if b.Index == "" {
		if source, err := b.Open(); err == nil {
			source.Close()
		} else { // an index can be given
			e.State = "without documents: " + err.Error()
		}
	}
	return e, nil
}

func showBenchmark(term *terminal, e benchmarkEntry) {
	term.print("%s  %s\n", term.paint(bold, printable(e.Name)), printable(e.Title))
	term.print("    %s", printable(e.State))
	if e.Questions > 0 {
		term.print("; %d questions", e.Questions)
	}
	if e.Answers > 0 {
		term.print(", %d with answers", e.Answers)
	}
	if len(e.QuerySets) > 0 {
		term.print("; sets: %s", strings.Join(e.QuerySets, ", "))
	}
	if e.Default != "" {
		term.print(" (default %s)", e.Default)
	}
	if e.BM25 != nil {
		term.print("; k1=%g b=%g", e.BM25.K1, e.BM25.B)
	}
	if e.Private {
		term.print("; private")
	}
	term.print("\n")
}

// benchmarkIndex opens the index of a benchmark: the one named, the one that setup made, or a
// cached one of its corpus.
func benchmarkIndex(ctx context.Context, term *terminal, b *benchmark.Benchmark, dir string) (*index.Index, string, error) {
	return benchmarkIndexOf(ctx, term, b, dir, false)
}

// benchmarkIndexOf does the same; the cached one holds passages if they are wanted.
func benchmarkIndexOf(ctx context.Context, term *terminal, b *benchmark.Benchmark, dir string, passages bool) (*index.Index, string, error) {
	if dir == "" {
		dir = b.Index
	}
	if dir != "" {
		ix, err := openIndex(dir)
		return ix, dir, err
	}
	source, err := b.Open()
	if err != nil {
		return nil, "", err
	}
	source.Close()
	key := ""
	if path := b.Files["corpus"]; path != "" {
		sum, err := hashKnown(path)
		if err != nil {
			return nil, "", err
		}
		key = keyOf("benchmark", sum, b.Analyzer, fmt.Sprint(index.FormatVersion))
	} else if key, err = embeddedKey(b); err != nil {
		return nil, "", err
	}
	if passages {
		key = keyOf("passages", key)
	}
	return cachedIndex(ctx, term, key, b.Open, index.BuildOptions{Analyzer: b.Analyzer, Source: b.Name, Passages: passages})
}

func embeddedKey(b *benchmark.Benchmark) (string, error) {
	src, err := b.Open()
	if err != nil {
		return "", err
	}
	defer src.Close()
	h := sha256.New()
	for {
		rec, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		d, err := rec.Document()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%q %q\n", d.DocID, d.Contents())
	}
	return keyOf("embedded", hex.EncodeToString(h.Sum(nil)), b.Analyzer, fmt.Sprint(index.FormatVersion)), nil
}

// benchmarkParams prefers a benchmark's own setting to the default.
func benchmarkParams(b *benchmark.Benchmark) func() (bm25.Params, string) {
	if b.BM25 != nil {
		return func() (bm25.Params, string) { return *b.BM25, "benchmark " + b.Name }
	}
	return anseriniDefault
}

func hashInputs(files map[string]string) (map[string]experiment.Input, error) {
	out := make(map[string]experiment.Input, len(files))
	for role, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("read input: %w", err)
		}
		sum, err := hashKnown(path)
		if err != nil {
			return nil, fmt.Errorf("read input: %w", err)
		}
		out[role] = experiment.Input{Path: path, SHA256: sum, Bytes: info.Size()}
	}
	return out, nil
}

// hashKnown is hashFile, and does not read a file again whose size and time have not changed.
func hashKnown(path string) (string, error) {
	const worthwhile = 1 << 20
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir()
	if err != nil || info.Size() < worthwhile {
		return hashFile(path)
	}
	memory := filepath.Join(cache, "files", keyOf(abs)+".json")
	now := knownFile{Size: info.Size(), MTime: info.ModTime().UnixNano()}
	var old knownFile
	if b, err := os.ReadFile(memory); err == nil && json.Unmarshal(b, &old) == nil && old.Size == now.Size && old.MTime == now.MTime {
		return old.SHA256, nil
	}
	if now.SHA256, err = hashFile(path); err != nil {
		return "", err
	}
	b, err := json.Marshal(now)
	if err != nil {
		return "", fmt.Errorf("encode file cache: %w", err)
	}
	if os.MkdirAll(filepath.Dir(memory), 0o755) == nil {
		_ = atomicfile.Write(memory, b, 0o600) // without it the file is read again
	}
	return now.SHA256, nil
}
