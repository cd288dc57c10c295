package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/bm25"
	"goserini/internal/enginebench"
	"goserini/internal/synth"
)

type benchEngineOptions struct {
	synthFlags
	dir      string
	sets     []string
	depths   []int
	settings []string
	rounds   int
	quiet    float64
	load     time.Duration
	index    string
	rebuild  bool
	json     bool
}

func newBenchEngine(term *terminal) *cobra.Command {
	var o benchEngineOptions
	cmd := &cobra.Command{
		Use:   "engine",
		Short: "Build, open, search and read a synthetic collection, and time it",
		Long: `Measure the engine over a synthetic collection: build (MB/s, peak memory, bytes), time to open and to a
first result, latency of query sets by depth and setting, queries per second on one and two threads,
memory, line ranges, excerpts, grids of settings. Ways to do the same take turns in rounds; rounds in which
a canary tells that the machine changed are repeated.

The collection and the index are kept in --dir ($GOSERINI_BENCH_DIR) and used again.`,
		Example: `  goserini bench engine --documents 10k
  goserini bench engine --shape passages --documents 8.8M --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.config(cmd, term)
			if err != nil {
				return err
			}
			r, err := enginebench.Run(cmd.Context(), c)
			if err != nil {
				return err
			}
			if o.json {
				return term.json(r)
			}
			showEngine(term, r)
			return nil
		},
	}
	o.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", benchDir(), "where collections and indexes are kept")
	f.StringSliceVar(&o.sets, "sets", nil, "query sets: "+setNames()+" (default all)")
	f.IntSliceVar(&o.depths, "hits", []int{1000, 100, 10}, "depths of rankings; the first is that of all else")
	f.StringSliceVar(&o.settings, "settings", []string{"25:1", "0.9:0.4"}, "k1:b, the first is that of all else")
	f.IntVar(&o.rounds, "rounds", 5, "rounds, at least 1")
	f.Float64Var(&o.quiet, "tolerance", 0.1, "how far a canary may move in a round that counts, 0.1 being 10 %; 0 accepts every round")
	f.DurationVar(&o.load, "load", 20*time.Second, "how long each closed loop runs")
	f.StringVar(&o.index, "index", "", "an index of the collection to measure instead of building one")
	f.BoolVar(&o.rebuild, "rebuild", false, "build the index although there is one")
	f.BoolVar(&o.json, "json", false, "print as JSON")
	return cmd
}

// benchDir is where measurements keep what can be made again.
func benchDir() string {
	if dir := os.Getenv("GOSERINI_BENCH_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(os.TempDir(), "goserini-bench")
}

func (o benchEngineOptions) config(cmd *cobra.Command, term *terminal) (enginebench.Config, error) {
	var c enginebench.Config
	corpus, err := o.resolve(cmd)
	if err != nil {
		return c, err
	}
	binary, err := os.Executable()
	if err != nil {
		return c, fmt.Errorf("find this program: %w", err)
	}
	c = enginebench.Config{Dir: o.dir, Corpus: corpus, Sets: synth.QuerySets, Queries: o.queries, Depths: o.depths, Rounds: o.rounds, Tolerance: o.quiet,
		Load: o.load, Binary: binary, Index: o.index, Rebuild: o.rebuild, Say: func(format string, args ...any) { term.say(format, args...) }}
	if len(o.sets) > 0 {
		c.Sets = nil
	}
	for _, name := range o.sets {
		if _, err := corpus.Queries(synth.QuerySet(name), 0); err != nil {
			return c, usagef(cmd, "--sets: %w", err)
		}
		c.Sets = append(c.Sets, synth.QuerySet(name))
	}
	for _, k := range o.depths {
		if k < 1 {
			return c, usagef(cmd, "--hits %d: want at least 1", k)
		}
	}
	for _, s := range o.settings {
		var p bm25.Params
		if _, err := fmt.Sscanf(s+" ", "%g:%g ", &p.K1, &p.B); err != nil {
			return c, usagef(cmd, "--settings %q: want k1:b, such as 25:1", s)
		}
		if err := p.Validate(); err != nil {
			return c, usagef(cmd, "--settings %q: %w", s, err)
		}
		c.Settings = append(c.Settings, p)
	}
	switch {
	case len(c.Depths) == 0 || len(c.Settings) == 0:
		return c, usagef(cmd, "give at least one depth and one setting")
	case o.rounds < 1:
		return c, usagef(cmd, "--rounds %d: want at least 1", o.rounds)
	case o.quiet < 0:
		return c, usagef(cmd, "--tolerance %g: want 0 or more", o.quiet)
	case o.load <= 0:
		return c, usagef(cmd, "--load %s: want more than 0", o.load)
	}
	return c, nil
}

// newBenchProbe is what bench engine runs in a process of its own.
func newBenchProbe(term *terminal) *cobra.Command {
	var dir, topics string
	cmd := &cobra.Command{
		Use: "probe", Short: "Search a query file and print what the process holds in memory", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := enginebench.Probe(cmd.Context(), dir, topics, bm25.Paper)
			if err != nil {
				return err
			}
			return term.json(m)
		},
	}
	cmd.Flags().StringVar(&dir, "index", "", "the folder of the index")
	cmd.Flags().StringVar(&topics, "topics", "", "a query file")
	return cmd
}

func showEngine(term *terminal, r *enginebench.Report) {
	p := term.print
	p("%s %s documents, seed %d; %s %s, %d processors, %s; %s\n\n", count(r.Documents), r.Shape, r.Seed, r.Machine.OS, r.Machine.Arch, r.Machine.Cores,
		r.Machine.CPU, r.Date.Format(time.DateOnly))
	b := r.Build
	if b.Wall > 0 {
		p("build              %.1f MB/s, %.0f documents/s, %.1f s wall, %.1f s processor\n", b.MBPerSecond(), float64(b.Documents)/b.Wall.Seconds(), b.Wall.Seconds(), b.CPU.Seconds())
		p("peak memory        %s\n", size(b.Peak))
	}
	p("index / text       %.3f (%s for %s)\n", float64(b.IndexBytes)/float64(b.TextBytes), size(b.IndexBytes), size(b.TextBytes))
	p("open               %s\n", micros(r.Open))
	p("start to result    %s\n", micros(r.First))
	p("anonymous memory   %s (and %s of mapped files)\n\n", size(r.Memory.Anonymous), size(r.Memory.File))
	p("%-12s %5s %-12s %10s %9s %9s %9s %8s %9s %9s\n", "query set", "k", "k1, b", "postings", "p50", "p95", "p99", "p99/p50", "ns/post.", "p50 (cpu)")
	for _, s := range r.Searches {
		p("%-12s %5d %-12s %10.0f %9s %9s %9s %8.2f %9.2f %9s\n", s.Set, s.Depth, fmt.Sprintf("%g, %g", s.Params.K1, s.Params.B), s.Postings,
			micros(s.P50), micros(s.P95), micros(s.P99), s.P99/s.P50, s.NanosPerPosting, micros(s.Thread.P50))
	}
	p("\n%-12s %14s %14s %8s %12s\n", "closed loop", "1 thread", "2 threads", "ratio", "p99 (2)")
	for _, l := range r.Loads {
		p("%-12s %10.0f q/s %10.0f q/s %8.2f %12s\n", l.Set, l.One.PerSecond, l.Two.PerSecond, l.Two.PerSecond/l.One.PerSecond, micros(l.Two.P99))
	}
	p("\nsearch tool        %s p50, %s p99\n", micros(r.Tool.P50), micros(r.Tool.P99))
	p("200 lines          %s p50, %s p99\n", micros(r.Lines.P50), micros(r.Lines.P99))
	p("navigator page     %s p50, %s p99\n", micros(r.Page.P50), micros(r.Page.P99))
	for _, c := range []struct {
		name, plain string
		enginebench.Comparison
	}{
		{"five excerpts", "decode and scan", r.Excerpts},
		{"five passages", "decode and scan", r.Passages},
		{"grid of 24", "24 searches", r.Grid},
	} {
		p("%-18s %s p50, %s: %s, ratio %s, of processor time %s\n", c.name, micros(c.Fast.P50), c.plain, micros(c.Plain.P50), c.Ratio, c.ThreadRatio)
	}
	p("\nrounds repeated because the machine changed: %d, kept in spite of it: %d\n", r.Discarded, r.Unquiet)
}

// micros prints seconds with the unit that suits.
func micros(s float64) string {
	switch {
	case s < 1e-3:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.2f ms", s*1e3)
	}
	return fmt.Sprintf("%.2f s", s)
}
