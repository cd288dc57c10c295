package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"goserini/internal/atomicfile"
	"goserini/internal/benchmark"
	"goserini/internal/eval"
	"goserini/internal/experiment"
	"goserini/internal/judge"
	runreport "goserini/internal/report"
)

type reportOptions struct {
	format    string
	output    string
	reveal    bool
	plaintext bool
	paper     bool
	judge     string
	prices    []string
	// maxSize is in megabytes.
	maxSize float64
}

func newReport(term *terminal) *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report RUN_DIR...",
		Short: "Write what runs came to as one HTML file, or as Markdown",
		Long: `Write what one or several runs came to: figures with their intervals, where evidence was lost, charts
with their data, and every question with its answer, its citations and its steps.

The HTML file needs nothing else: no network, no server, and no script to be read. It stays below
--max-size for each run by shortening what tools returned; every gap says its size.

Where a benchmark keeps its questions and answers out of public files, so does the report, unless
--reveal is given; such a report stays in the data directory, unless --plaintext is given as well.`,
		Example: `  goserini report runs/demo
  goserini report runs/a runs/b --output compared.html
  goserini report runs/demo --format markdown --output -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("RUN_DIR is missing")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, term, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "", "html or markdown (default: as --output ends, else html)")
	f.StringVarP(&o.output, "output", "o", "", "the file to write, - for the result stream (default: report.html or report.md in the one RUN_DIR)")
	f.BoolVar(&o.reveal, "reveal", false, "show questions and answers that the benchmark keeps out of public files")
	f.BoolVar(&o.plaintext, "plaintext", false, "with --reveal: let the texts of a private benchmark leave the data directory")
	f.BoolVar(&o.paper, "paper", false, "show the paper's figures beside those of the runs (always for BrowseComp-Plus)")
	f.StringVar(&o.judge, "judge", "", "whose verdicts count (default: the only ones there)")
	f.StringArrayVar(&o.prices, "prices", nil, "a price table that overrides the built-in one, repeatable")
	f.Float64Var(&o.maxSize, "max-size", runreport.DefaultMaxBytes/1e6, "megabytes of HTML for each run")
	return cmd
}

func (o reportOptions) run(cmd *cobra.Command, term *terminal, dirs []string) error {
	format, path, err := o.destination(cmd, dirs)
	if err != nil {
		return err
	}
	if !(o.maxSize > 0 && o.maxSize <= 2000) {
		return usagef(cmd, "--max-size %g: want megabytes, above 0 and at most 2000", o.maxSize)
	}
	var runs []runreport.Run
	for i, dir := range dirs {
		run, err := o.open(term, dir)
		if err != nil {
			return err
		}
		if run.Redact && o.reveal {
			if err := checkPrivate(run.Manifest.Spec.Benchmark, path, o.plaintext); err != nil {
				return err
			}
			run.Redact = false
		}
		run.Name = runNames(dirs)[i]
		o.paper = o.paper || runreport.IsPaperBenchmark(run.Manifest.Spec.Benchmark)
		runs = append(runs, run)
	}
	write := runreport.HTML
	if format == "markdown" {
		write = runreport.Markdown
	}
	doc, err := write(runs, runreport.Options{Paper: o.paper, MaxBytes: int(o.maxSize * 1e6)})
	if err != nil {
		return err
	}
	for _, note := range doc.Notes {
		term.warn("%s", note)
	}
	if path == "-" {
		term.print("%s", doc.Bytes)
		return nil
	}
	if err := atomicfile.Write(path, doc.Bytes, 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	term.say("%s, %s", path, size(int64(len(doc.Bytes))))
	return nil
}

// destination decides on the format and the file.
func (o reportOptions) destination(cmd *cobra.Command, dirs []string) (format, path string, err error) {
	format, path = o.format, o.output
	if format == "" {
		format = "html"
		if ext := strings.ToLower(filepath.Ext(path)); ext == ".md" || ext == ".markdown" {
			format = "markdown"
		}
	}
	if format == "md" {
		format = "markdown"
	}
	if format != "html" && format != "markdown" {
		return "", "", usagef(cmd, "--format %q: want html or markdown", o.format)
	}
	if path != "" {
		return format, path, nil
	}
	if len(dirs) > 1 {
		return "", "", usagef(cmd, "a report of several runs needs --output FILE")
	}
	name := "report.html"
	if format == "markdown" {
		name = "report.md"
	}
	return format, filepath.Join(dirs[0], name), nil
}

// open reads and scores one run directory. A private one is to be redacted.
func (o reportOptions) open(term *terminal, dir string) (runreport.Run, error) {
	run := runreport.Run{Dir: dir}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return run, fmt.Errorf("%s is a file: give the run directory", dir)
	}
	var err error
	if run.Manifest, err = experiment.ReadManifest(dir); err != nil {
		return run, err
	}
	in, err := evalInput(term, dir, run.Manifest, o.judge, o.prices)
	if err != nil {
		return run, err
	}
	if run.Scores, err = eval.Evaluate(in); err != nil {
		return run, err
	}
	run.Records, run.Redact = in.Records, run.Manifest.Private
	if run.Manifest.Spec.Benchmark != "" {
		var b *benchmark.Benchmark
		if b, run.Questions, err = runQuestions(run.Manifest); err != nil {
			return run, err
		}
		run.Redact = run.Redact || b.Private
	}
	all, err := judge.ReadVerdicts(filepath.Join(dir, experiment.VerdictsFile))
	if err != nil {
		return run, err
	}
	for _, v := range all {
		if v.Judge == in.Judge {
			run.Verdicts = append(run.Verdicts, v)
		}
	}
	return run, nil
}

// runNames calls runs by their folders, or by their whole paths where folders have one name.
func runNames(dirs []string) []string {
	seen := map[string]int{}
	for _, dir := range dirs {
		seen[filepath.Base(filepath.Clean(dir))]++
	}
	names := make([]string, len(dirs))
	for i, dir := range dirs {
		names[i] = filepath.Base(filepath.Clean(dir))
		if seen[names[i]] > 1 {
			names[i] = filepath.Clean(dir)
		}
	}
	return names
}
