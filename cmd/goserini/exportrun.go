package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"goserini/internal/atomicfile"
	"goserini/internal/browsecompplus"
	"goserini/internal/exchange"
	"goserini/internal/experiment"
)

type exportOptions struct {
	format    string
	output    string
	retrieved string
	set       string
	tag       string
	encrypt   bool
	plaintext bool
}

func newExport(term *terminal) *cobra.Command {
	var o exportOptions
	cmd := &cobra.Command{
		Use:   "export RUN_DIR --format F --output PATH",
		Short: "Write a run in a form that other programs read",
		Long: `Write a run directory as:
  browsecomp-plus   one JSON file a query, as the official evaluator of BrowseComp-Plus reads them
  trec              six columns: the documents of a set in the order in which they first appeared
  openai-messages   one JSON object a line: the conversation as Chat Completions has it`,
		Example: "  goserini export runs/a --format browsecomp-plus --output official/a\n  goserini export runs/a --format trec --set surfaced --output a.trec",
		Args:    exactly("RUN_DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.output == "" {
				return usagef(cmd, "--output PATH is missing")
			}
			return runExport(cmd, term, args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "browsecomp-plus", "browsecomp-plus, trec or openai-messages")
	f.StringVar(&o.output, "output", "", "a folder for browsecomp-plus, a file for the others (- is stdout)")
	f.StringVar(&o.retrieved, "retrieved", "previewed", "for browsecomp-plus, what counts as retrieved: previewed (shown to the model) or surfaced (all ranked)")
	f.StringVar(&o.set, "set", "surfaced", "for trec: surfaced, previewed, opened or cited")
	f.StringVar(&o.tag, "tag", "goserini", "for trec: the last column")
	f.BoolVar(&o.encrypt, "encrypt", false, "for browsecomp-plus: encipher what was asked and said with the canary in "+browsecompplus.CanaryVariable)
	f.BoolVar(&o.plaintext, "plaintext", false, "let the text of a private benchmark's run leave the data directory")
	return cmd
}

func runExport(cmd *cobra.Command, term *terminal, dir string, o exportOptions) error {
	m, err := experiment.ReadManifest(dir)
	if err != nil {
		return err
	}
	if m.Private && o.format != "trec" && !o.encrypt {
		if err := checkPrivate(m.Spec.Benchmark, o.output, o.plaintext); err != nil {
			return err
		}
	}
	switch o.format {
	case "browsecomp-plus":
		return exportOfficial(cmd, term, dir, o)
	case "trec":
		return exportFile(term, o.output, 0o644, func(w io.Writer) error {
			n, err := exchange.WriteTREC(w, dir, exchange.Set(o.set), o.tag)
			if err == nil {
				term.say("%d queries", n)
			}
			return err
		})
	case "openai-messages":
		mode := fs.FileMode(0o644)
		if m.Private {
			mode = 0o600
		}
		return exportFile(term, o.output, mode, func(w io.Writer) error {
			n, without, err := exchange.WriteMessages(w, dir)
			if err == nil && without > 0 {
				term.warn("%d queries have no trajectory and are left out", without)
			}
			if err == nil {
				term.say("%d queries", n)
			}
			return err
		})
	}
	return usagef(cmd, "--format %q: want browsecomp-plus, trec or openai-messages", o.format)
}

func exportOfficial(cmd *cobra.Command, term *terminal, dir string, o exportOptions) error {
	opts := exchange.OfficialOptions{Retrieved: exchange.Set(o.retrieved)}
	if opts.Retrieved != exchange.Previewed && opts.Retrieved != exchange.Surfaced {
		return usagef(cmd, "--retrieved %q: want previewed or surfaced", o.retrieved)
	}
	if o.encrypt {
		canary := os.Getenv(browsecompplus.CanaryVariable)
		if canary == "" {
			return fmt.Errorf("--encrypt needs the canary sentence in %s", browsecompplus.CanaryVariable)
		}
		key := browsecompplus.NewKey(canary)
		opts.Key = &key
	}
	if existing, err := os.ReadDir(o.output); err == nil && len(existing) > 0 {
		return fmt.Errorf("%s is not empty: the evaluator reads every *.json in a folder, so use a new one", o.output)
	}
	n, err := exchange.WriteOfficial(o.output, dir, opts)
	if err != nil {
		return err
	}
	term.say("%d queries in %s; retrieved_docids are the %s documents", n, o.output, o.retrieved)
	return nil
}

// exportFile writes a file completely or not at all; - is stdout.
func exportFile(term *terminal, path string, mode fs.FileMode, write func(io.Writer) error) error {
	if path == "-" {
		return write(term.out)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("export run: %w", err)
	}
	f, err := atomicfile.Create(path, mode)
	if err != nil {
		return fmt.Errorf("export run: %w", err)
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}
