package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/experiment"
	"goserini/internal/llm"
)

type statusOptions struct {
	json   bool
	follow bool
	prices []string
}

func newStatus(term *terminal) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status RUN_DIR...",
		Short: "How runs stand, also while another process works on them",
		Long: `Read from run directories how far they have come: progress, rate, time left, right answers where
they are known, what became of the evidence, tokens, cost and failures.`,
		Example: "  goserini status runs/a runs/b\n  goserini status runs/a --follow",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.follow && (len(args) > 1 || o.json) {
				return usagef(cmd, "--follow shows one run directory, and not as JSON")
			}
			if o.follow {
				return followStatus(cmd.Context(), term, args[0], o)
			}
			return showStatus(term, args, o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print as JSON")
	f.BoolVar(&o.follow, "follow", false, "go on until no process works on the run")
	f.StringArrayVar(&o.prices, "prices", nil, "a price table that overrides the built-in one (repeatable)")
	return cmd
}

// statusKnown is what the benchmark of a run knows of its questions; a benchmark that is not here
// leaves it out.
func statusKnown(term *terminal, dir string, prices *llm.Prices) (experiment.Known, error) {
	m, err := experiment.ReadManifest(dir)
	if err != nil {
		return experiment.Known{}, err
	}
	k := experiment.Known{Price: costAt(prices, m)}
	if m.Spec.Benchmark == "" {
		return k, nil
	}
	b, questions, err := runQuestions(m)
	if err != nil {
		term.warn("%s: no accuracy and recall: %v", dir, err)
		return k, nil
	}
	k.Answers = knownAnswers(questions)
	k.Evidence, _ = b.Qrels()
	return k, nil
}

func readStatus(term *terminal, dir string, o statusOptions) (experiment.Status, error) {
	prices, err := llm.LoadPrices(o.prices...)
	if err != nil {
		return experiment.Status{}, err
	}
	known, err := statusKnown(term, dir, prices)
	if err != nil {
		return experiment.Status{}, err
	}
	return experiment.ReadStatus(dir, known)
}

func showStatus(term *terminal, dirs []string, o statusOptions) error {
	var list []experiment.Status
	for _, dir := range dirs {
		st, err := readStatus(term, dir, o)
		if err != nil {
			return err
		}
		list = append(list, st)
	}
	if o.json {
		return term.json(list)
	}
	for _, st := range list {
		for _, line := range statusLines(term, st) {
			term.print("%s\n", line)
		}
	}
	return nil
}

func statusLines(term *terminal, st experiment.Status) []string {
	state := "not running"
	switch {
	case st.Owner != nil:
		state = "in work: " + st.Owner.String()
	case st.Finished:
		state = "finished"
	}
	head := term.paint(bold, printable(st.Dir)) + "  " + printable(st.Model)
	if !st.Shard.IsZero() {
		head += ", shard " + st.Shard.String()
	}
	return append([]string{head + "  " + printable(state)}, standingLines(term, st.Standing)...)
}

// followStatus shows a run until nobody works on it any more.
func followStatus(ctx context.Context, term *terminal, dir string, o statusOptions) error {
	for {
		st, err := readStatus(term, dir, o)
		if err != nil {
			return err
		}
		lines := statusLines(term, st)
		if st.Owner == nil {
			term.endProgress()
			for _, line := range lines {
				term.print("%s\n", line)
			}
			return nil
		}
		wait := 2 * time.Second
		if term.live {
			term.panel(lines)
		} else {
			wait = 30 * time.Second
			for _, line := range lines {
				term.print("%s\n", line)
			}
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			term.endProgress()
			return ctx.Err()
		}
	}
}
