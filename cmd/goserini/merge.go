package main

import (
	"github.com/spf13/cobra"

	"goserini/internal/experiment"
)

func newMerge(term *terminal) *cobra.Command {
	var out string
	var partial, plaintext bool
	cmd := &cobra.Command{
		Use:   "merge SHARD_DIR... --out DIR",
		Short: "Join the shards of a run into one run directory",
		Long: `Join run directories that were made with --shard 1/n to n/n into one, as if one process had made it. They
must not differ in any setting. What --partial leaves out can be run in the new directory, with the command of
the whole run.`,
		Example: "  goserini merge runs/s1 runs/s2 runs/s3 runs/s4 --out runs/whole",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef(cmd, "--out DIR is missing: name the new run directory")
			}
			for _, dir := range args {
				if m, err := experiment.ReadManifest(dir); err == nil && m.Private {
					if err := checkPrivate(m.Spec.Benchmark, out, plaintext); err != nil {
						return err
					}
				}
			}
			m, err := experiment.Merge(out, args, partial)
			if err != nil {
				return err
			}
			for _, note := range m.Notes {
				term.warn("%s", note)
			}
			term.say("%d of %d questions have a result in %s", m.Results, m.Questions, out)
			term.hint("next: goserini judge %s && goserini eval %s", shellQuote(out), shellQuote(out))
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&out, "out", "", "the new run directory")
	f.BoolVar(&partial, "partial", false, "merge what is there, although shards are missing or unfinished")
	f.BoolVar(&plaintext, "plaintext", false, "let a private benchmark's run directory lie outside the data directory")
	return cmd
}
