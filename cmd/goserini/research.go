package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/agent"
	"goserini/internal/bm25"
	"goserini/internal/controller"
	"goserini/internal/experiment"
	"goserini/internal/index"
	"goserini/internal/llm"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/local"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// researcher answers questions over one index with one model. It holds every resolved value.
type researcher struct {
	index      *index.Index
	retriever  retrieval.Retriever
	collection *collection
	params     bm25.Params
	bm25Source string
	tools      controller.Options
	profile    string
	model      model
	shorten    agent.Shortening
	maxOutput  int
	budget     agent.Budget
	ledgers    []*agent.Ledger
	knobs      knobFlags
	stream     func(llm.Delta)
}

// researchFlags are the flags of every command that runs the agent.
type researchFlags struct {
	bm25      bm25Flags
	retriever retrieverFlag
	model     modelFlags
	tools     toolFlags
	knobs     knobFlags
	timeout   time.Duration
	seconds   float64
	maxTurns  int
	maxCalls  int
	maxTokens int64
	maxCost   float64
	maxOutput int
	depth     int
}

// register registers all flags but those of the tools, which commands that serve choose otherwise.
func (f *researchFlags) register(cmd *cobra.Command) {
	f.bm25.register(cmd)
	f.retriever.register(cmd)
	fl := cmd.Flags()
	f.model.register(cmd)
	fl.DurationVar(&f.timeout, "timeout", agent.DefaultTimeout, "time budget of a question; at 0.7 of it the model is told to answer (0 is none)")
	fl.Float64Var(&f.seconds, "max-seconds", 0, "the same as --timeout, as a number of seconds")
	cmd.MarkFlagsMutuallyExclusive("timeout", "max-seconds")
	fl.IntVar(&f.maxTurns, "max-turns", 0, "most model responses for a question (0 is no limit)")
	fl.IntVar(&f.maxCalls, "max-calls", 0, "most tool calls for a question (0 is no limit)")
	fl.Int64Var(&f.maxTokens, "max-tokens", 0, "most tokens for a question (0 is no limit)")
	fl.Float64Var(&f.maxCost, "max-cost", 0, "most US dollars for a question (0 is no limit)")
	fl.IntVar(&f.maxOutput, "max-output-tokens", 0, "most tokens of one response (0 leaves it to the provider)")
	fl.IntVar(&f.depth, "depth", 1000, "hits that a search ranks and caches")
}

// researcher resolves the flags over an open index, or over the retriever they name where
// there is none. fallback gives k1 and b where no flag does.
func (f *researchFlags) researcher(cmd *cobra.Command, term *terminal, ix *index.Index, fallback func() (bm25.Params, string)) (*researcher, error) {
	if ix == nil {
		c, err := openRemote(f.retriever.spec, term.warn)
		if err != nil {
			return nil, err
		}
		r, err := f.over(cmd, term, c)
		if err != nil {
			c.close()
		}
		return r, err
	}
	params, source, err := f.bm25.resolve(cmd, ix.Stats(), fallback)
	if err != nil {
		return nil, err
	}
	return f.over(cmd, term, &collection{Retriever: local.New(ix, params), index: ix, params: params, source: source})
}

// over resolves the flags over an open collection.
func (f *researchFlags) over(cmd *cobra.Command, term *terminal, c *collection) (*researcher, error) {
	if f.depth < 1 {
		return nil, usagef(cmd, "--depth %d: want at least 1", f.depth)
	}
	m, err := f.model.open(cmd.Context(), cmd, term)
	if err != nil {
		return nil, err
	}
	tools, err := f.tools.options(cmd, f.depth)
	if err == nil {
		err = tools.Fits(c.Retriever)
	}
	if err != nil {
		return nil, err
	}
	shorten, err := f.model.shortening(cmd)
	if err != nil {
		return nil, err
	}
	if m.window == 0 && (shorten == agent.ShortenMask || shorten == agent.ShortenCompact) {
		return nil, usagef(cmd, "--shorten %s works by the size of the context window of %s, which is not known: --window TOKENS is missing", shorten, m.label)
	}
	if cmd.Flags().Changed("max-seconds") {
		f.timeout = time.Duration(f.seconds * float64(time.Second))
	}
	f.knobs.apply(&tools)
	r := &researcher{
		knobs: f.knobs, collection: c, index: c.index, retriever: c.Retriever, params: c.params, bm25Source: c.source,
		tools: tools, profile: f.tools.name(), model: m, shorten: shorten, maxOutput: f.maxOutput,
		budget: agent.Budget{Timeout: f.timeout, MaxTurns: f.maxTurns, MaxCalls: f.maxCalls, MaxTokens: f.maxTokens, MaxCostUSD: f.maxCost},
	}
	r.tools = controller.New(r.retriever, r.tools).Options()
	return r, nil
}

// close releases a retriever that is no index.
func (r *researcher) close() { r.collection.close() }

// exists says whether there is a document; nil where only reading it could tell.
func (r *researcher) exists() func(docid string) bool {
	if r.index == nil {
		return nil
	}
	return func(docid string) bool { _, ok := r.index.Lookup(docid); return ok }
}

// retrieval describes what is searched, for the manifest.
func (r *researcher) retrieval() experiment.Retrieval {
	if r.index == nil {
		return experiment.Retrieval{Retriever: r.collection.spec, Depth: r.tools.Depth}
	}
	return experiment.Retrieval{Retriever: "index", IndexFingerprint: r.index.Fingerprint(), Analyzer: r.index.Analyzer().Name(),
		Variant: bm25.Variant, BM25: r.params, BM25Source: r.bm25Source, Depth: r.tools.Depth}
}

// research answers one question.
func (r *researcher) research(ctx context.Context, q experiment.Question, emit func(trajectory.Event)) (trajectory.Record, error) {
	spent := newSpent(r.budget)
	options := r.tools
	options.Budget = spent.budget
	tools, companion := offered(r.retriever, options, q.Text)
	rec, err := agent.Run(ctx, agent.Question{ID: q.ID, Text: q.Text}, agent.Config{
		Prompt: r.knobs.prompt, System: r.knobs.system, ForbidTools: r.knobs.forbidTools, Retry: r.knobs.retry(),
		Client: r.model.client, Model: r.model.name, Label: r.model.label,
		Tools: tools, Companion: companion, Budget: r.budget, Effort: r.model.effort, MaxOutputTokens: r.maxOutput,
		Window: r.model.window, Shorten: r.shorten, Price: r.model.price, Ledgers: r.ledgers,
		Exists: r.exists(),
		Emit:   func(e trajectory.Event) { spent.event(e); emit(e) }, Stream: r.stream,
	})
	if errors.Is(err, agent.ErrRunBudget) {
		err = fmt.Errorf("%w: %w", experiment.ErrStop, err)
	}
	return rec, err
}

// plan makes the plan of a run over questions.
func (r *researcher) plan(name string, questions []experiment.Question) (experiment.Plan, error) {
	program, err := json.Marshal(readBuildInfo())
	if err != nil {
		return experiment.Plan{}, fmt.Errorf("encode build info: %w", err)
	}
	hash, err := experiment.HashQuestions(questions)
	if err != nil {
		return experiment.Plan{}, err
	}
	tools, _ := offered(r.retriever, r.tools, "")
	return experiment.Plan{
		Name: name, Program: program, Prices: r.model.priceDate, Questions: questions, Research: r.research,
		Spec: experiment.Spec{
			Questions: len(questions), QuestionsHash: hash,
			Retrieval: r.retrieval(),
			Tools: experiment.Tools{Profile: r.profile, Parts: r.tools.Navigator.Parts(), Options: r.tools, Hash: tool.Fingerprint(tools),
				NotebookHash: notebookOptions(r.tools).Hash()},
			Model: experiment.Model{Name: r.model.label, Effort: r.model.effort, MaxOutputTokens: r.maxOutput, PromptHash: agent.PromptHash(r.knobs.prompt), SystemHash: r.knobs.systemHash(), ForbidTools: r.knobs.forbidTools, Temperature: r.model.temperature,
				Window: r.model.window, Shortening: string(r.shorten)},
			Budget: experiment.Budget{TimeoutSeconds: r.budget.Timeout.Seconds(), MaxTurns: r.budget.MaxTurns, MaxCalls: r.budget.MaxCalls,
				MaxTokens: r.budget.MaxTokens, MaxCostUSD: r.budget.MaxCostUSD},
		},
	}, nil
}

// describe says in two lines what will answer and over what.
func (r *researcher) describe(term *terminal) {
	if r.index == nil {
		term.say("collection: %s", r.collection.spec)
	} else {
		s := r.index.Stats()
		term.say("collection: %s documents, %s tokens; BM25 (%s), %s (%s)", count(s.Documents), count(s.Tokens), bm25.Variant, r.params, r.bm25Source)
	}
	label := r.model.label
	if !r.model.isLanguageModel {
		label += " (a scripted policy, no language model)"
	}
	term.say("model: %s", label)
}
