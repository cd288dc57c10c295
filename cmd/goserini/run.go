package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/benchmark"
	"goserini/internal/bm25"
	"goserini/internal/experiment"
	"goserini/internal/index"
	"goserini/internal/trajectory"
)

type runOptions struct {
	researchFlags
	benchmark   string
	querySet    string
	index       string
	out         string
	concurrency int
	limit       int
	retry       string
	override    bool
	dryRun      bool
}

func newRun(term *terminal) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run --benchmark B --model M --out DIR",
		Short: "Research a set of questions into a run directory",
		Long: `Research a benchmark's questions into a run directory, which holds everything about the
run. The same command again goes on: a question that has a result is not run again, unless
--retry names its status.`,
		Example: `  goserini run --benchmark demo --model builtin/lexical --out runs/demo
  goserini run --benchmark ./collection --model deepseek/deepseek-chat --out runs/a --concurrency 8`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.benchmark == "":
				return usagef(cmd, "--benchmark is missing: a name (%s) or a folder", strings.Join(benchmark.Names(), ", "))
			case o.out == "" && !o.dryRun:
				return usagef(cmd, "--out DIR is missing: name the run directory")
			case o.model.name == "":
				return usagef(cmd, "--model is missing: PROVIDER/MODEL, or %s", lexicalModel)
			case o.concurrency < 1:
				return usagef(cmd, "--concurrency %d: want at least 1", o.concurrency)
			case o.limit < 0:
				return usagef(cmd, "--limit %d: want 0 or more", o.limit)
			}
			if err := o.retriever.resolve(cmd, &o.index); err != nil {
				return err
			}
			return runBenchmark(cmd.Context(), term, cmd, o)
		},
	}
	o.register(cmd)
	o.tools.register(cmd, "paper")
	f := cmd.Flags()
	f.StringVar(&o.benchmark, "benchmark", "", "a built-in benchmark or a folder with a corpus and queries")
	f.StringVar(&o.querySet, "query-set", "", "a query set of the benchmark (default: its own default)")
	f.StringVar(&o.index, "index", "", "an index of the benchmark's corpus (default: built and cached)")
	f.StringVar(&o.out, "out", "", "the run directory")
	f.IntVar(&o.concurrency, "concurrency", 1, "questions at once")
	f.IntVar(&o.limit, "limit", 0, "only the first N questions (0 is all)")
	f.StringVar(&o.retry, "retry", "", "run questions with these statuses again: failed,timeout")
	f.BoolVar(&o.override, "override", false, "go on although the settings differ; the differences are recorded")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the resolved specification and stop")
	return cmd
}

func (o runOptions) retryStatuses(cmd *cobra.Command) ([]string, error) {
	var out []string
	for _, s := range strings.FieldsFunc(o.retry, func(r rune) bool { return r == ',' || r == ' ' }) {
		switch trajectory.Status(s) {
		case trajectory.Failed, trajectory.Timeout:
			out = append(out, s)
		default:
			return nil, usagef(cmd, "--retry %q: want failed, timeout or both with a comma", s)
		}
	}
	return out, nil
}

// benchmarkIndex opens the index of a benchmark: the one named, or a cached one of its corpus.
func benchmarkIndex(ctx context.Context, term *terminal, b *benchmark.Benchmark, dir string) (*index.Index, string, error) {
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
		sum, err := hashFile(path)
		if err != nil {
			return nil, "", err
		}
		key = keyOf("benchmark", sum, b.Analyzer, fmt.Sprint(index.FormatVersion))
	} else if key, err = embeddedKey(b); err != nil {
		return nil, "", err
	}
	return cachedIndex(ctx, term, key, b.Open, index.BuildOptions{Analyzer: b.Analyzer, Source: b.Name})
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

// benchmarkParams prefers a benchmark's own setting to the rule over all collections.
func benchmarkParams(b *benchmark.Benchmark, ix *index.Index) func() (bm25.Params, string) {
	if b.BM25 != nil {
		return func() (bm25.Params, string) { return *b.BM25, "benchmark " + b.Name }
	}
	return chosenByCollection(ix)
}

// openIndex opens the index of the benchmark, none where another retriever is named.
func (o runOptions) openIndex(ctx context.Context, term *terminal, b *benchmark.Benchmark) (*index.Index, string, error) {
	if o.retriever.spec != "" {
		return nil, "", nil
	}
	return benchmarkIndex(ctx, term, b, o.index)
}

// close releases what the run searches.
func (p *benchmarkRun) close() {
	p.researcher.close()
	if p.index != nil {
		p.index.Close()
	}
}

// benchmarkRun is a run ready to be made.
type benchmarkRun struct {
	benchmark  *benchmark.Benchmark
	index      *index.Index
	indexDir   string
	researcher *researcher
	questions  []benchmark.Question
	plan       experiment.Plan
}

func (o runOptions) prepare(ctx context.Context, term *terminal, cmd *cobra.Command) (*benchmarkRun, error) {
	b, err := benchmark.Load(o.benchmark)
	if err != nil {
		return nil, err
	}
	questions, err := b.Questions(o.querySet)
	if err != nil {
		return nil, err
	}
	if o.limit > 0 && o.limit < len(questions) {
		questions = questions[:o.limit]
	}
	ix, dir, err := o.openIndex(ctx, term, b)
	if err != nil {
		return nil, err
	}
	r, err := o.researcher(cmd, term, ix, benchmarkParams(b, ix))
	if err != nil {
		if ix != nil {
			ix.Close()
		}
		return nil, err
	}
	p := &benchmarkRun{benchmark: b, index: ix, indexDir: dir, researcher: r, questions: questions}
	asked := make([]experiment.Question, len(questions))
	for i, q := range questions {
		asked[i] = experiment.Question{ID: q.ID, Text: q.Text}
	}
	if p.plan, err = r.plan(o.out, asked); err != nil {
		p.close()
		return nil, err
	}
	p.plan.Spec.Benchmark, p.plan.Spec.QuerySet = b.Name, o.querySet
	if p.plan.Inputs, err = hashInputs(b.Files); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func hashInputs(files map[string]string) (map[string]experiment.Input, error) {
	out := make(map[string]experiment.Input, len(files))
	for role, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("read input: %w", err)
		}
		sum, err := hashFile(path)
		if err != nil {
			return nil, fmt.Errorf("read input: %w", err)
		}
		out[role] = experiment.Input{Path: path, SHA256: sum, Bytes: info.Size()}
	}
	return out, nil
}

func runBenchmark(ctx context.Context, term *terminal, cmd *cobra.Command, o runOptions) error {
	retry, err := o.retryStatuses(cmd)
	if err != nil {
		return err
	}
	p, err := o.prepare(ctx, term, cmd)
	if err != nil {
		return err
	}
	defer p.close()
	if o.dryRun {
		return term.json(p.plan.Spec)
	}
	p.researcher.describe(term)
	summary, err := p.run(ctx, term, o.out, experiment.Options{Concurrency: o.concurrency, Retry: retry, Override: o.override, Command: "goserini run"})
	return p.concludeRun(term, o.out, summary, err)
}

func (p *benchmarkRun) run(ctx context.Context, term *terminal, out string, opts experiment.Options) (experiment.Summary, error) {
	start := time.Now()
	if opts.Observe == nil {
		opts.Observe = func(n experiment.Notice) {
			if n.Record != nil {
				term.progress("%d of %d questions, %s", n.Done, n.Total, duration(time.Since(start)))
			}
		}
	}
	summary, err := experiment.Run(ctx, out, p.plan, opts)
	term.endProgress()
	return summary, err
}

// concludeRun says what a run came to and chooses the exit code.
func (p *benchmarkRun) concludeRun(term *terminal, out string, s experiment.Summary, err error) error {
	if err != nil {
		return withHint(err, "%d of %d questions have a result; the same command again goes on", s.Total-s.Unfinished, s.Total)
	}
	term.say("%d questions: %d completed, %d timed out, %d failed (%d run now, %d kept)", s.Total, s.Completed, s.TimedOut, s.Failed, s.Ran, s.Kept)
	term.hint("next: goserini judge %s && goserini eval %s", shellQuote(out), shellQuote(out))
	if len(s.FailedIDs) > 0 {
		return &failedQueriesError{fmt.Sprintf("%d of %d questions failed or timed out: %s; try them again with --retry failed,timeout",
			len(s.FailedIDs), s.Total, clip(strings.Join(s.FailedIDs, ", "), 400))}
	}
	return nil
}

func newBenchmarks(term *terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "benchmarks", Short: "List the built-in benchmarks", Args: cobra.NoArgs,
		Example: "  goserini benchmarks",
		RunE: func(*cobra.Command, []string) error {
			type entry struct {
				Name      string   `json:"name"`
				Title     string   `json:"title"`
				Questions int      `json:"questions"`
				QuerySets []string `json:"query_sets"`
			}
			var list []entry
			for _, name := range benchmark.Names() {
				b, err := benchmark.Load(name)
				if err != nil {
					return err
				}
				questions, err := b.Questions(benchmark.AllQuestions)
				if err != nil {
					return err
				}
				list = append(list, entry{b.Name, b.Title, len(questions), b.SetNames()})
			}
			if asJSON {
				return term.json(list)
			}
			for _, e := range list {
				term.print("%-22s %5d questions  sets: %-30s %s\n", e.Name, e.Questions, strings.Join(e.QuerySets, ", "), e.Title)
			}
			term.say("also: any folder with a corpus and queries (this project's layout or BEIR's)")
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
