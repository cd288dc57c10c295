package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/benchmark"
	"goserini/internal/browsecompplus"
	"goserini/internal/exchange"
	"goserini/internal/experiment"
)

type importOptions struct {
	out       string
	benchmark string
	querySet  string
	format    string
	model     string
	canaryVar string
	plaintext bool
}

func newImport(term *terminal) *cobra.Command {
	var o importOptions
	cmd := &cobra.Command{
		Use:   "import PATH --out DIR",
		Short: "Make a run directory of a run that another program made",
		Long: `Make a run directory of: run files of the BrowseComp-Plus evaluator (a folder of *.json, or a .jsonl, also its
published reference runs, whose outputs are enciphered); a run directory of the reference implementation; or a TREC run.
Judge, eval, compare and report then treat it like any other.`,
		Example: "  goserini import official/gpt5.jsonl --benchmark browsecomp-plus --out DIR\n  goserini import bm25.trec --benchmark ./collection --out runs/bm25",
		Args:    exactly("PATH"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.out == "" {
				return usagef(cmd, "--out DIR is missing: name the run directory")
			}
			return runImport(term, args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "the run directory")
	f.StringVar(&o.benchmark, "benchmark", "", "the benchmark that was asked (default: what the run says of itself)")
	f.StringVar(&o.querySet, "query-set", "", "the query set that was asked (default: the smallest that holds all queries of the run)")
	f.StringVar(&o.format, "format", "", "browsecomp-plus, pi-serini or trec (default: recognised)")
	f.StringVar(&o.model, "model", "", "what to call the model (default: what the run says)")
	f.StringVar(&o.canaryVar, "canary-env", browsecompplus.CanaryVariable, "the environment variable with the password of enciphered outputs")
	f.BoolVar(&o.plaintext, "plaintext", false, "let a private benchmark's run directory lie outside the data directory")
	return cmd
}

func runImport(term *terminal, path string, o importOptions) error {
	opts := exchange.Options{Format: exchange.Format(o.format)}
	if canary := os.Getenv(o.canaryVar); canary != "" {
		key := browsecompplus.NewKey(canary)
		opts.Key = &key
	}
	var ids []string
	run, err := exchange.Read(path, opts, func(a exchange.Answered) error {
		ids = append(ids, a.Record.QueryID)
		return nil
	})
	if errors.Is(err, exchange.ErrEnciphered) {
		return withHint(err, "put the password into %s, or name the variable that has it with --canary-env", o.canaryVar)
	}
	if err != nil {
		return err
	}
	m, questions, err := importManifest(path, o, run, ids)
	if err != nil {
		return err
	}
	if m.Private {
		if err := checkPrivate(m.Spec.Benchmark, o.out, o.plaintext); err != nil {
			return err
		}
	}
	texts := map[string]string{}
	for _, q := range questions {
		texts[q.ID] = q.Text
	}
	opts.Question = func(id string) string { return texts[id] }
	b, err := experiment.Build(o.out, m)
	if err != nil {
		return err
	}
	defer b.Abort()
	if _, err := exchange.Read(path, opts, func(a exchange.Answered) error {
		if o.model != "" || a.Record.Model == "" {
			a.Record.Model = m.Spec.Model.Name
		}
		return b.Add(a.Record, a.Events)
	}); err != nil {
		return err
	}
	order := make([]string, len(questions))
	for i, q := range questions {
		order[i] = q.ID
	}
	if err := b.FinishOrdered(order); err != nil {
		return err
	}
	for _, note := range m.Imported.Notes {
		term.say("note: %s", note)
	}
	if missing := len(questions) - len(ids); missing > 0 {
		term.warn("%d of %d queries are not in the run: they count as not run", missing, len(questions))
	}
	term.say("%d queries of %s (%s) in %s", len(ids), path, run.Format, o.out)
	term.hint("next: goserini judge %s && goserini eval %s", shellQuote(o.out), shellQuote(o.out))
	return nil
}

// importManifest describes an imported run; without a benchmark its questions are the queries it has.
func importManifest(path string, o importOptions, run exchange.Run, ids []string) (experiment.Manifest, []experiment.Question, error) {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	model := o.model
	if model == "" {
		model = run.Model
	}
	if model == "" {
		model = name
	}
	program, err := json.Marshal(readBuildInfo())
	if err != nil {
		return experiment.Manifest{}, nil, fmt.Errorf("encode build info: %w", err)
	}
	now := time.Now().UTC()
	m := experiment.Manifest{
		Name: name, Program: program, Imported: &experiment.Imported{Format: string(run.Format), Path: path, Notes: run.Notes},
		Sessions: []experiment.Session{{StartedAt: now, EndedAt: &now, Concurrency: 1}},
	}
	m.Spec.Model.Name, m.Spec.Retrieval.Retriever = model, "imported"
	questions, err := importQuestions(&m, o, run, ids)
	if err != nil {
		return m, nil, err
	}
	m.Spec.Questions = len(questions)
	m.Spec.QuestionsHash, err = experiment.HashQuestions(questions)
	return m, questions, err
}

func importQuestions(m *experiment.Manifest, o importOptions, run exchange.Run, ids []string) ([]experiment.Question, error) {
	name := o.benchmark
	if name == "" && slices.Contains(benchmark.Names(), run.Benchmark) {
		name = run.Benchmark
	}
	if name == "" {
		m.Imported.Notes = append(m.Imported.Notes, "no benchmark is known, so there is nothing to judge and measure the run with; give --benchmark")
		questions := make([]experiment.Question, len(ids))
		for i, id := range ids {
			questions[i].ID = id
		}
		return questions, nil
	}
	b, err := benchmark.Load(name)
	if err != nil {
		return nil, err
	}
	set := o.querySet
	if set == "" {
		if set, err = b.SetOf(ids); err != nil {
			return nil, err
		}
	}
	asked, err := b.Questions(set)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	questions := make([]experiment.Question, len(asked))
	for i, q := range asked {
		have[q.ID] = true
		questions[i] = experiment.Question{ID: q.ID, Text: q.Text}
	}
	for _, id := range ids {
		if !have[id] {
			return nil, fmt.Errorf("query %q of the run is not in query set %s of benchmark %s", id, b.SetName(set), name)
		}
	}
	m.Spec.Benchmark, m.Spec.QuerySet, m.Private = b.Name, b.SetName(set), b.Private
	m.Findings = b.Findings(asked, nil)
	if m.Inputs, err = hashInputs(b.Files); err != nil {
		return nil, err
	}
	return questions, nil
}
