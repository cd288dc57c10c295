package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"goserini/internal/atomicfile"
	"goserini/internal/benchmark"
	"goserini/internal/navbench"
)

type benchNavigationOptions struct {
	collections   []string
	all           string
	limit         int
	research      int
	researchParts bool
	parts         int
	workers       int
	markdown      string
	examples      string
	json          bool
}

func newBenchNavigation(term *terminal) *cobra.Command {
	var o benchNavigationOptions
	cmd := &cobra.Command{
		Use:   "navigation --collection DIR | --all FOLDER",
		Short: "How much of the evidence the tools show: paper against navigator",
		Long: `Measure, without any language model, how much of the evidence the tools of the paper and those
of the navigator show, and each part of the navigator alone: the answer in excerpts, evidence by
tokens of tool output, tokens until the answer's line has been shown, and what builtin/lexical
makes of it. docs/navigation.md has the definitions and the table.

A collection is a folder with a corpus, queries, judgments and answers, or the name of a built-in
benchmark.`,
		Example: `  goserini bench navigation --collection demo
  goserini bench navigation --all ../collections --markdown docs/navigation.md
  goserini bench navigation --examples docs/navigation-examples.md`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.workers < 1 || o.limit < 0 {
				return usagef(cmd, "--workers %d, --limit %d: want at least 1 and 0", o.workers, o.limit)
			}
			if o.examples != "" {
				return writeExamples(cmd.Context(), term, o.examples)
			}
			if err := o.addAll(); err != nil {
				return err
			}
			if len(o.collections) == 0 {
				return usagef(cmd, "name --collection DIR, which may be repeated, or --all FOLDER")
			}
			return runBenchNavigation(cmd.Context(), term, o)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.collections, "collection", nil, "a folder with a corpus, queries, judgments and answers, or a built-in benchmark; may be repeated")
	f.StringVar(&o.all, "all", "", "every folder in this one that has answers.jsonl")
	f.IntVar(&o.limit, "limit", 0, "at most this many questions a collection, evenly spread (0 is all)")
	f.IntVar(&o.research, "lexical", 0, "at most this many questions a collection for builtin/lexical (0 is all, -1 none)")
	f.BoolVar(&o.researchParts, "lexical-parts", false, "let builtin/lexical answer with each part alone, too")
	f.IntVar(&o.parts, "parts-limit", 0, "at most this many questions a collection for each part alone or when asked (0 is all)")
	f.IntVar(&o.workers, "workers", 1, "questions at once")
	f.StringVar(&o.markdown, "markdown", "", "write the tables to this file, whose notes are kept, after each collection")
	f.StringVar(&o.examples, "examples", "", "write the same search in both profiles to this file, and nothing else")
	f.BoolVar(&o.json, "json", false, "print as JSON")
	return cmd
}

// addAll adds the collections of a folder in order of their names.
func (o *benchNavigationOptions) addAll() error {
	if o.all == "" {
		return nil
	}
	entries, err := os.ReadDir(o.all)
	if err != nil {
		return fmt.Errorf("list collections: %w", err)
	}
	n := len(o.collections)
	for _, e := range entries {
		dir := filepath.Join(o.all, e.Name())
		if fileExists(filepath.Join(dir, "answers.jsonl")) {
			o.collections = append(o.collections, dir)
		}
	}
	if len(o.collections) == n {
		return fmt.Errorf("no folder in %s has answers.jsonl", o.all)
	}
	slices.Sort(o.collections[n:])
	return nil
}

func runBenchNavigation(ctx context.Context, term *terminal, o benchNavigationOptions) error {
	var reports []navbench.Report
	for _, name := range o.collections {
		report, err := o.measure(ctx, term, name)
		term.endProgress()
		if err != nil {
			return err
		}
		for _, skipped := range report.Skipped {
			term.warn("not measured: %s", skipped)
		}
		reports = append(reports, report)
		for _, t := range navbench.Targets(report) {
			outcome := "missed"
			if t.Met {
				outcome = "met"
			}
			term.say("%s: %s: %s: %s", t.Collection, t.Wanted, t.Got, outcome)
		}
		if o.markdown != "" {
			if err := writeNavigation(o.markdown, navbenchMarkdown(reports, o, o.markdown)); err != nil {
				return err
			}
		}
	}
	if o.json {
		b, err := json.MarshalIndent(reports, "", "  ")
		if err != nil {
			return fmt.Errorf("encode reports: %w", err)
		}
		term.print("%s\n", b)
		return nil
	}
	if o.markdown == "" {
		term.print("%s", navbenchMarkdown(reports, o, ""))
	}
	return nil
}

func (o benchNavigationOptions) measure(ctx context.Context, term *terminal, name string) (navbench.Report, error) {
	b, err := benchmark.Load(name)
	if err != nil {
		return navbench.Report{}, err
	}
	ix, _, err := benchmarkIndexOf(ctx, term, b, "", true)
	if err != nil {
		return navbench.Report{}, err
	}
	defer ix.Close()
	params, reason := chooseBM25(ix.Stats())
	c, err := navbench.Load(b, ix, navbench.Setting{Params: params, Reason: reason}, o.limit)
	if err != nil {
		return navbench.Report{}, err
	}
	variants, err := navbench.Variants()
	if err != nil {
		return navbench.Report{}, err
	}
	term.say("%s: %d questions", b.Title, c.Questions())
	return navbench.Measure(ctx, c, variants, navbench.Options{
		Workers: o.workers, Research: o.research, ResearchParts: o.researchParts, Parts: o.parts,
		Progress: func(what string, done, of int) { term.progress("%s: %s: %d of %d", b.Title, what, done, of) },
	})
}

// navbenchMarkdown is the page with the command that makes it.
func navbenchMarkdown(reports []navbench.Report, o benchNavigationOptions, path string) string {
	command := "goserini bench navigation"
	if o.all != "" {
		command += " --all FOLDER"
	} else {
		for _, name := range o.collections {
			command += " --collection " + filepath.Base(name)
		}
	}
	if o.limit > 0 {
		command += fmt.Sprintf(" --limit %d", o.limit)
	}
	if o.research != 0 {
		command += fmt.Sprintf(" --lexical %d", o.research)
	}
	if o.researchParts {
		command += " --lexical-parts"
	}
	if o.parts > 0 {
		command += fmt.Sprintf(" --parts-limit %d", o.parts)
	}
	if path != "" {
		command += " --markdown docs/" + filepath.Base(path)
	}
	notes := ""
	if old, err := os.ReadFile(path); err == nil {
		notes = navbench.Notes(string(old))
	}
	return navbench.Markdown(reports, command, notes)
}

func writeNavigation(path, page string) error { return atomicfile.Write(path, []byte(page), 0o644) }

// writeExamples writes the page of examples over the embedded collection.
func writeExamples(ctx context.Context, term *terminal, path string) error {
	b, err := benchmark.Load("demo")
	if err != nil {
		return err
	}
	ix, _, err := benchmarkIndex(ctx, term, b, "")
	if err != nil {
		return err
	}
	defer ix.Close()
	params, _ := chooseBM25(ix.Stats())
	page, err := navbench.Examples(ctx, ix, params)
	if err != nil {
		return err
	}
	if old, err := os.ReadFile(path); err == nil && string(old) == page {
		return nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return writeNavigation(path, strings.TrimRight(page, "\n")+"\n")
}
