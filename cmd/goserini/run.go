package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/agent"
	"goserini/internal/benchmark"
	"goserini/internal/experiment"
	"goserini/internal/index"
	"goserini/internal/judge"
	"goserini/internal/trajectory"
)

type runOptions struct {
	researchFlags
	benchmark    string
	querySet     string
	index        string
	out          string
	experiment   string
	conditions   []string
	shard        string
	concurrency  int
	limit        int
	retry        []string
	runMaxCost   float64
	runMaxTokens int64
	override     bool
	plaintext    bool
	dryRun       bool
}

func newRun(term *terminal) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run --benchmark B --model M --out DIR",
		Short: "Research a set of questions into a run directory",
		Long: `Research a benchmark's questions into a run directory, which holds everything about the
run. The same command again goes on: a question that has a result is not run again, unless
--retry names its status or the reason it failed for.

An experiment file holds settings, under the names of the flags; flags override it. With several
conditions each is run into a folder of its own below --out.

Several machines can share a run: --shard 1/4 to 4/4, each into its own directory, then goserini merge.`,
		Example: `  goserini run --benchmark demo --model builtin/lexical --out runs/demo
  goserini run --benchmark ./collection --model deepseek/deepseek-chat --out runs/a --concurrency 8
  goserini run --experiment experiments/depth.toml --out runs/depth --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.experiment != "" {
				return runExperiment(term, cmd, o)
			}
			if len(o.conditions) > 0 {
				return usagef(cmd, "--condition needs --experiment FILE")
			}
			if err := o.check(cmd); err != nil {
				return err
			}
			return runBenchmark(cmd.Context(), term, cmd, o)
		},
	}
	o.register(cmd)
	o.tools.register(cmd, "paper")
	o.knobs.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.experiment, "experiment", "", "a TOML file with settings")
	f.StringSliceVar(&o.conditions, "condition", nil, "only these conditions of the experiment file")
	f.StringVar(&o.benchmark, "benchmark", "", "a built-in benchmark, a folder with a corpus and queries, or a TOML file that describes one")
	f.StringVar(&o.querySet, "query-set", "", "a query set of the benchmark (default: its own default)")
	f.StringVar(&o.index, "index", "", "an index of the benchmark's corpus (default: the one that setup made, or built and cached)")
	f.StringVar(&o.out, "out", "", "the run directory")
	f.StringVar(&o.shard, "shard", "", "only the i-th of n parts of the questions, as in 2/4")
	f.IntVar(&o.concurrency, "concurrency", 1, "questions at once")
	f.IntVar(&o.limit, "limit", 0, "only the first N questions (0 is all)")
	f.StringSliceVar(&o.retry, "retry", nil, "run questions again that ended so: failed, timeout, or a reason such as model_failed")
	f.Float64Var(&o.runMaxCost, "run-max-cost", 0, "most US dollars for the whole run, all its sessions together (0 is no limit)")
	f.Int64Var(&o.runMaxTokens, "run-max-tokens", 0, "most tokens for the whole run, all its sessions together (0 is no limit)")
	f.BoolVar(&o.override, "override", false, "go on although the settings differ; the differences are recorded")
	f.BoolVar(&o.plaintext, "plaintext", false, "let a private benchmark's run directory lie outside the data directory")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the resolved specification and what the run is expected to take, and stop")
	return cmd
}

// check refuses what cannot be meant.
func (o *runOptions) check(cmd *cobra.Command) error {
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
	case !(o.runMaxCost >= 0), o.runMaxTokens < 0:
		return usagef(cmd, "a limit of the run is negative; 0 is no limit")
	}
	if err := o.knobs.resolve(cmd); err != nil {
		return err
	}
	if err := checkRetry(cmd, o.retry); err != nil {
		return err
	}
	return o.retriever.resolve(cmd, &o.index)
}

// retryWords are the statuses and the reasons of docs/agent.md that --retry takes.
var retryWords = []string{
	string(trajectory.Failed), string(trajectory.Timeout), "max_turns", "max_calls", "max_tokens", "max_cost", "context_full",
	"no_answer", "call_as_text", "output_limit", "bad_calls", "refusal", "model_failed", "tool_failed", "error",
}

func checkRetry(cmd *cobra.Command, words []string) error {
	for _, w := range words {
		if !slices.Contains(retryWords, w) {
			return usagef(cmd, "--retry %q: want %s", w, strings.Join(retryWords, ", "))
		}
	}
	return nil
}

// openIndex opens the index of the benchmark, none where another retriever is named.
func (o runOptions) openIndex(ctx context.Context, term *terminal, b *benchmark.Benchmark) (*index.Index, string, error) {
	if o.retriever.spec != "" {
		return nil, "", nil
	}
	return benchmarkIndex(ctx, term, b, o.index)
}

// benchmarkRun is a run ready to be made.
type benchmarkRun struct {
	benchmark  *benchmark.Benchmark
	index      *index.Index
	indexDir   string
	researcher *researcher
	questions  []benchmark.Question
	plan       experiment.Plan
	runMaxCost float64
}

// close releases what the run searches.
func (p *benchmarkRun) close() {
	p.researcher.close()
	if p.index != nil {
		p.index.Close()
	}
}

func (o runOptions) prepare(ctx context.Context, term *terminal, cmd *cobra.Command) (*benchmarkRun, error) {
	b, err := benchmark.Load(o.benchmark)
	if err != nil {
		return nil, err
	}
	if b.Private && o.out != "" {
		if err := checkPrivate(b.Name, o.out, o.plaintext); err != nil {
			return nil, err
		}
	}
	var shard experiment.Shard
	if o.shard != "" {
		if shard, err = experiment.ParseShard(o.shard); err != nil {
			return nil, usagef(cmd, "--shard: %w", err)
		}
	}
	questions, err := b.Questions(o.querySet)
	if err != nil {
		return nil, err
	}
	if o.limit > 0 && o.limit < len(questions) {
		questions = questions[:o.limit]
	}
	if n := len(questions); n > 0 && len(experiment.Select(shard, questions)) == 0 {
		return nil, usagef(cmd, "--shard %s: none of the %d questions is in it: share them among %d at most", shard, n, n)
	}
	ix, dir, err := o.openIndex(ctx, term, b)
	if err != nil {
		return nil, err
	}
	r, err := o.researcher(cmd, term, ix, benchmarkParams(b))
	if err != nil {
		if ix != nil {
			ix.Close()
		}
		return nil, err
	}
	p := &benchmarkRun{benchmark: b, index: ix, indexDir: dir, researcher: r, questions: experiment.Select(shard, questions), runMaxCost: o.runMaxCost}
	if err := p.makePlan(o, questions, shard); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// makePlan fills in the plan over all questions, of which the shard's are asked.
func (p *benchmarkRun) makePlan(o runOptions, questions []benchmark.Question, shard experiment.Shard) error {
	asked := make([]experiment.Question, len(questions))
	for i, q := range questions {
		asked[i] = experiment.Question{ID: q.ID, Text: q.Text}
	}
	var err error
	if p.plan, err = p.researcher.plan(filepath.Base(o.out), asked); err != nil {
		return err
	}
	p.plan.Questions = experiment.Select(shard, asked)
	p.plan.Spec.Benchmark, p.plan.Spec.QuerySet, p.plan.Spec.Shard = p.benchmark.Name, p.benchmark.SetName(o.querySet), shard
	p.plan.Private = p.benchmark.Private
	p.plan.Findings = p.benchmark.Findings(questions, p.researcher.exists())
	p.plan.Inputs, err = hashInputs(p.benchmark.Files)
	return err
}

// known is what the live view can hold the results against.
func (p *benchmarkRun) known() experiment.Known {
	k := experiment.Known{Answers: knownAnswers(p.questions)}
	k.Evidence, _ = p.benchmark.Qrels()
	if price := p.researcher.model.price; price != nil {
		k.Price = func(_ string, u trajectory.Usage) (float64, bool) { return price(u), true }
	}
	return k
}

func knownAnswers(questions []benchmark.Question) map[string]judge.Reference {
	out := map[string]judge.Reference{}
	for _, q := range questions {
		if q.Answer != nil {
			out[q.ID] = reference(q)
		}
	}
	return out
}

// limitRun sets what the run as a whole may spend: what is left of it after earlier sessions.
func (o runOptions) limitRun(r *researcher) error {
	if (o.runMaxCost > 0 || o.maxCost > 0) && r.model.price == nil {
		return withHint(fmt.Errorf("a limit of cost needs a price, and none is known for %s", r.model.label), "give one with --prices, or limit tokens with --max-tokens and --run-max-tokens")
	}
	if o.runMaxCost <= 0 && o.runMaxTokens <= 0 {
		return nil
	}
	spent, err := experiment.ReadSpent(o.out)
	if err != nil {
		return err
	}
	total := spent.Total()
	if o.runMaxCost > 0 {
		usd := r.model.price(total)
		if usd >= o.runMaxCost {
			return fmt.Errorf("the run's budget is used up: $%.2f of $%.2f are spent; raise --run-max-cost to go on", usd, o.runMaxCost)
		}
		r.ledgers = append(r.ledgers, agent.NewLedger(agent.USD, o.runMaxCost-usd))
	}
	if o.runMaxTokens > 0 {
		tokens := total.Input + total.CacheRead + total.CacheWrite + total.Output
		if tokens >= o.runMaxTokens {
			return fmt.Errorf("the run's budget is used up: %s of %s tokens are spent; raise --run-max-tokens to go on", count(tokens), count(o.runMaxTokens))
		}
		r.ledgers = append(r.ledgers, agent.NewLedger(agent.Tokens, float64(o.runMaxTokens-tokens)))
	}
	return nil
}

func runBenchmark(ctx context.Context, term *terminal, cmd *cobra.Command, o runOptions) error {
	p, err := o.prepare(ctx, term, cmd)
	if err != nil {
		return err
	}
	defer p.close()
	for _, f := range p.plan.Findings {
		term.warn("%s", f)
	}
	if o.dryRun {
		if err := experiment.CheckSpec(o.out, p.plan.Spec); err != nil && !o.override {
			term.warn("this command would be refused: %v", err)
		}
		return p.showPlan(term, o.out)
	}
	if err := o.limitRun(p.researcher); err != nil {
		return err
	}
	p.researcher.describe(term)
	summary, err := p.run(ctx, term, o.out, experiment.Options{
		Concurrency: o.concurrency, Retry: o.retry, Override: o.override, Command: "goserini run",
		RunMaxCostUSD: o.runMaxCost, RunMaxTokens: o.runMaxTokens,
	})
	return p.concludeRun(term, o.out, summary, err)
}

// showPlan prints the specification for machines, and what to expect for people as well.
func (p *benchmarkRun) showPlan(term *terminal, out string) error {
	e, err := p.estimate(out)
	if err != nil {
		return err
	}
	e.show(term)
	return term.json(struct {
		Specification experiment.Spec `json:"specification"`
		Expected      estimate        `json:"expected"`
	}{p.plan.Spec, e})
}

func (p *benchmarkRun) run(ctx context.Context, term *terminal, out string, opts experiment.Options) (experiment.Summary, error) {
	if opts.Observe != nil {
		return experiment.Run(ctx, out, p.plan, opts)
	}
	watch := experiment.NewWatch(len(p.plan.Questions), time.Now(), p.known())
	if err := experiment.EachResult(out, func(rec trajectory.Record) error { watch.Add(rec, false); return nil }); err != nil {
		return experiment.Summary{}, err
	}
	view := newRunView(term, watch, p.plan.Private)
	opts.Observe = view.observe
	summary, err := experiment.Run(ctx, out, p.plan, opts)
	view.end()
	if summary.Ran > 0 {
		for _, line := range standingLines(term, watch.Standing(time.Now()))[1:] {
			term.say("%s", line)
		}
	}
	return summary, err
}

// concludeRun says what a run came to and chooses the exit code.
func (p *benchmarkRun) concludeRun(term *terminal, out string, s experiment.Summary, err error) error {
	done := s.Total - s.Unfinished
	for _, note := range s.Notes {
		term.warn("%s", note)
	}
	if err != nil && s.Total == 0 {
		return err // the directory was refused: the same command again comes no further
	}
	if errors.Is(err, experiment.ErrStop) {
		return withHint(err, "%d of %d questions have a result; the same command with a larger --run-max-cost or --run-max-tokens goes on", done, s.Total)
	}
	if err != nil {
		return withHint(err, "%d of %d questions have a result; the same command again goes on", done, s.Total)
	}
	term.say("%d questions: %d completed, %d timed out, %d failed (%d run now, %d kept)", s.Total, s.Completed, s.TimedOut, s.Failed, s.Ran, s.Kept)
	if shard := p.plan.Spec.Shard; !shard.IsZero() {
		term.hint("this is shard %s; when all are there: goserini merge SHARD_DIR... --out DIR", shard)
	} else {
		term.hint("next: goserini judge %s && goserini eval %s", shellQuote(out), shellQuote(out))
	}
	if len(s.FailedIDs) > 0 {
		return &failedQueriesError{fmt.Sprintf("%d of %d questions failed or timed out: %s; try them again with --retry failed,timeout",
			len(s.FailedIDs), s.Total, clip(strings.Join(s.FailedIDs, ", "), 400))}
	}
	return nil
}
