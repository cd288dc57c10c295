package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"goserini/internal/bm25"
	"goserini/internal/index"
)

func newShow(term *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Look into an index, a trajectory or a run",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newShowIndex(term), newShowTrajectory(term), newShowRun(term))
	return cmd
}

type showIndexOptions struct {
	verify bool
	term   string
	json   bool
}

func newShowIndex(term *terminal) *cobra.Command {
	var o showIndexOptions
	cmd := &cobra.Command{
		Use:   "index DIR",
		Short: "Documents, terms, lengths, bytes and checksums of an index",
		Example: `  goserini show index my.index --verify
  goserini show index my.index --term harbour`,
		Args: exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runShowIndex(cmd.Context(), term, args[0], o)
		},
	}
	cmd.Flags().BoolVar(&o.verify, "verify", false, "read the whole index and check every checksum")
	cmd.Flags().StringVar(&o.term, "term", "", "look a word up: the terms it becomes and their document frequencies")
	cmd.Flags().BoolVar(&o.json, "json", false, "print as JSON")
	return cmd
}

// indexReport is the JSON form of what is in an index.
type indexReport struct {
	index.Stats
	AverageLength float64           `json:"average_length"`
	Fingerprint   string            `json:"fingerprint"`
	Verified      bool              `json:"verified,omitempty"`
	Terms         []index.QueryTerm `json:"looked_up,omitempty"`
	AutoBM25      bm25.Params       `json:"bm25_auto"`
	AutoReason    string            `json:"bm25_auto_reason"`
}

func runShowIndex(ctx context.Context, term *terminal, dir string, o showIndexOptions) error {
	ix, err := openIndex(dir)
	if err != nil {
		return err
	}
	defer ix.Close()
	stats := ix.Stats()
	r := indexReport{Stats: stats, AverageLength: stats.AverageLength(), Fingerprint: ix.Fingerprint()}
	r.AutoBM25, r.AutoReason = chooseBM25(stats)
	if o.term != "" {
		ranking, err := ix.Search(ctx, index.Query{Text: o.term, Params: bm25.Anserini, Depth: 1})
		if err != nil {
			return err
		}
		r.Terms = ranking.Terms
	}
	if o.verify {
		if err := ix.Verify(ctx); err != nil {
			return err
		}
		r.Verified = true
	}
	if o.json {
		return term.json(r)
	}
	r.show(term)
	return nil
}

func (r indexReport) show(term *terminal) {
	line := func(name, format string, args ...any) { term.print("%-22s %s\n", name, fmt.Sprintf(format, args...)) }
	line("documents", "%s (%s with tokens)", count(r.Documents), count(r.WithTokens))
	line("tokens", "%s, %.1f a document", count(r.Tokens), r.AverageLength)
	line("terms", "%s", count(r.Stats.Terms))
	line("postings", "%s", count(r.Postings))
	d := r.Lengths
	line("length min/p50/p90/max", "%s / %s / %s / %s tokens", count(d.Min), count(d.P50), count(d.P90), count(d.Max))
	if p := r.Passages; p != nil {
		line("passages", "%s (%s with tokens)", count(p.Passages), count(p.WithTokens))
		line("  tokens", "%s, %.1f a passage", count(p.Tokens), p.AverageLength())
		line("  terms, postings", "%s, %s", count(p.Terms), count(p.Postings))
		line("  length min/p50/p90/max", "%s / %s / %s / %s tokens", count(p.Lengths.Min), count(p.Lengths.P50), count(p.Lengths.P90), count(p.Lengths.Max))
	}
	line("analyzer", "%s", r.Analyzer)
	line("text", "%s", size(r.TextBytes))
	line("index", "%s, format %d", size(r.Bytes), r.FormatVersion)
	for _, p := range r.Parts {
		line("  "+p.Name, "%s", size(p.Bytes))
	}
	if r.Unsegmented > 0 {
		line("unsegmented", "%s documents are mostly in scripts this analyzer cannot cut into words", count(r.Unsegmented))
	}
	line("source", "%s", printable(r.Source))
	line("fingerprint", "%s", r.Fingerprint)
	line("--bm25 auto", "%s: %s", r.AutoBM25, r.AutoReason)
	for _, t := range r.Terms {
		line("term "+printable(t.Term), "in %s documents", count(t.DF))
	}
	if r.Verified {
		line("checksums", "all verified")
	}
}

func newShowTrajectory(term *terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "trajectory FILE",
		Short:   "What happened for one question, step by step",
		Example: `  goserini show trajectory runs/demo/trajectories/q1.jsonl`,
		Args:    exactly("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			return runShowTrajectory(term, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the events as one JSON array")
	return cmd
}

func newShowRun(term *terminal) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "run DIR",
		Short:   "Settings, progress and results of a run directory",
		Example: `  goserini show run runs/demo`,
		Args:    exactly("DIR"),
		RunE: func(_ *cobra.Command, args []string) error {
			return runShowRun(term, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}
