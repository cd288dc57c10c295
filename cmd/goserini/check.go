package main

import (
	"fmt"
	"os"
	"path/filepath"

	"goserini/internal/expectation"
	"goserini/internal/experiment"
)

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
