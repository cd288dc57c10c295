package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"goserini/internal/expectation"
	"goserini/internal/experiment"
)

// withCheck gives the eval command a check against an experiment file.
func withCheck(term *terminal, eval *cobra.Command) *cobra.Command {
	var file, condition string
	eval.Flags().StringVar(&file, "check", "", "for a run directory: an experiment file with expected values; any difference is an error")
	eval.Flags().StringVar(&condition, "condition", "", "with --check: the condition of the file (default: the one called as the run's folder, or the only one)")
	eval.Example += "\n  goserini eval runs/demo --check experiments/demo.toml"
	measure := eval.RunE
	eval.RunE = func(cmd *cobra.Command, args []string) error {
		if condition != "" && file == "" {
			return usagef(cmd, "--condition %q is a condition of an experiment file: --check FILE is missing", condition)
		}
		if file == "" {
			return measure(cmd, args)
		}
		if info, err := os.Stat(args[0]); err == nil && !info.IsDir() {
			return usagef(cmd, "--check compares a run directory, and %s is a file", args[0])
		}
		expected, err := expectation.Read(file)
		if err != nil {
			return err
		}
		if err := measure(cmd, args); err != nil {
			return err
		}
		return checkRun(term, args[0], expected, condition)
	}
	return eval
}

// checkRun compares a run directory and the scores that lie in it with what is expected.
func checkRun(term *terminal, dir string, expected expectation.File, name string) error {
	c, err := expected.Choose(name, filepath.Base(filepath.Clean(dir)))
	if err != nil {
		return err
	}
	m, err := experiment.ReadManifest(dir)
	if err != nil {
		return err
	}
	settings, err := experiment.Fields(m.Spec)
	if err != nil {
		return err
	}
	scores, err := os.ReadFile(filepath.Join(dir, experiment.ScoresFile))
	if err != nil {
		return fmt.Errorf("read scores: %w", err)
	}
	differences, err := c.Check(settings, scores)
	if err != nil {
		return err
	}
	for _, d := range differences {
		term.errorf("differs: %s", d)
	}
	if n := len(differences); n > 0 {
		return fmt.Errorf("%d of %d values are not as expected", n, len(c.Expect))
	}
	term.say("all %d values are as expected", len(c.Expect))
	return nil
}
