package main

import "github.com/spf13/cobra"

func newBench(term *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure this program itself",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBenchCorpus(term), newBenchEngine(term), newBenchProbe(term), newBenchNavigation(term))
	return cmd
}
