package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"goserini/internal/expectation"
)

func TestTheManualsExampleIsAnExperiment(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "runs.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "```toml\n")
	text, _, _ = strings.Cut(text, "```")
	path := filepath.Join(t.TempDir(), "depth.toml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	e, err := readExperiment(path)
	if err != nil || len(e.conditions) != 2 {
		t.Fatalf("got %+v, %v", e, err)
	}
	for _, c := range e.conditions {
		cmd, given := newRun(newTerminal(nil, nil, nil)), newRun(newTerminal(nil, nil, nil))
		if err := e.apply(cmd, c, given.Flags()); err != nil {
			t.Error(err)
		}
		if depth := cmd.Flags().Lookup("depth").Value.String(); (c.name == "shallow") != (depth == "5") {
			t.Errorf("condition %s has depth %s", c.name, depth)
		}
	}
}

func TestFlagsOfTheCommandLineComeFirst(t *testing.T) {
	e := &experimentFile{path: "x.toml", settings: map[string]any{"k1": 2.0, "b": 0.5, "retry": []any{"failed", "timeout"}, "max_seconds": 20.0}}
	cmd, given := newRun(newTerminal(nil, nil, nil)), newRun(newTerminal(nil, nil, nil))
	for flag, value := range map[string]string{"bm25": "paper", "retry": "refusal", "timeout": "9s"} {
		if err := given.Flags().Set(flag, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.apply(cmd, experimentCondition{}, given.Flags()); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{"bm25": "paper", "k1": "0", "retry": "[refusal]", "timeout": "9s", "max-seconds": "0"} {
		if got := cmd.Flags().Lookup(flag).Value.String(); got != want {
			t.Errorf("--%s: got %s, want %s", flag, got, want)
		}
	}
}

// Every file in experiments can be run and checked; the benchmark need not be here for that.
func TestExperimentFilesAreWhole(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "experiments", "*.toml"))
	if err != nil || len(paths) < 3 {
		t.Fatalf("got %v, %v", paths, err)
	}
	for _, path := range paths {
		e, err := readExperiment(path)
		if err != nil {
			t.Error(err)
			continue
		}
		file, err := expectation.Read(path)
		if err != nil {
			t.Error(err)
			continue
		}
		conditions, err := e.choose(nil)
		if err != nil || len(conditions) != len(file.Conditions) {
			t.Errorf("%s: %d conditions to run, %d to check, %v", path, len(conditions), len(file.Conditions), err)
		}
		for _, c := range conditions {
			cmd, given := newRun(newTerminal(nil, nil, nil)), newRun(newTerminal(nil, nil, nil))
			if err := e.apply(cmd, c, given.Flags()); err != nil {
				t.Error(err)
			}
		}
	}
}
