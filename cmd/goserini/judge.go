package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"goserini/internal/atomicfile"
	"goserini/internal/benchmark"
	"goserini/internal/eval"
	"goserini/internal/experiment"
	"goserini/internal/jsonl"
	"goserini/internal/judge"
	"goserini/internal/trajectory"
)

func newJudge(term *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "judge RUN_DIR",
		Short:   "Decide which answers of a run are right",
		Long:    "Decide which answers of a run are right, without a model: builtin/exact compares normal forms,\nnumbers with units, dates and aliases, and says undecided where only a reader could tell.",
		Example: "  goserini judge runs/demo",
		Args:    exactly("RUN_DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runJudge(cmd.Context(), term, args[0])
		},
	}
	return cmd
}

func runJudge(ctx context.Context, term *terminal, dir string) error {
	m, err := experiment.ReadManifest(dir)
	if err != nil {
		return err
	}
	if m.Spec.Benchmark == "" {
		return fmt.Errorf("%s is a run over no benchmark, so no answer is known", dir)
	}
	_, questions, err := runQuestions(m)
	if err != nil {
		return err
	}
	if err := judgeRun(ctx, term, dir, questions, judge.Exact{}, 1); err != nil {
		return err
	}
	term.hint("next: goserini eval %s", shellQuote(dir))
	return nil
}

// judgeRun judges every record of a run directory and writes the verdicts into it.
func judgeRun(ctx context.Context, term *terminal, dir string, questions []benchmark.Question, j judge.Judge, _ int) error {
	records, err := experiment.ReadResults(dir)
	if err != nil {
		return err
	}
	byID := make(map[string]trajectory.Record, len(records))
	for _, r := range records {
		byID[r.QueryID] = r
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	judged, unknown := 0, 0
	for _, q := range questions {
		rec, ran := byID[q.ID]
		if q.Answer == nil {
			unknown++
			continue
		}
		if !ran {
			continue
		}
		v, err := j.Judge(ctx, judge.NewItem(rec, reference(q)))
		if err != nil {
			return fmt.Errorf("judge query %q: %w", q.ID, err)
		}
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("encode verdict of query %q: %w", q.ID, err)
		}
		judged++
	}
	if err := atomicfile.Write(filepath.Join(dir, experiment.VerdictsFile), buf.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write verdicts: %w", err)
	}
	term.say("%d answers judged by %s", judged, j.Name())
	if unknown > 0 {
		term.warn("%d questions have no known answer and were not judged", unknown)
	}
	return nil
}

func readVerdicts(dir string) ([]judge.Verdict, error) {
	var out []judge.Verdict
	_, err := jsonl.Read(filepath.Join(dir, experiment.VerdictsFile), 0, func(l jsonl.Line) error {
		var v judge.Verdict
		if err := l.Decode(&v); err != nil {
			return err
		}
		out = append(out, v)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read verdicts: %w", err)
	}
	return out, nil
}

// chooseJudge returns whose verdicts count.
func chooseJudge(dir, wanted string, verdicts []judge.Verdict) (string, error) {
	names := judge.Names(verdicts)
	switch {
	case wanted != "":
		for _, name := range names {
			if name == wanted {
				return name, nil
			}
		}
		return "", fmt.Errorf("%s has no verdicts of %q; it has those of: %s", dir, wanted, strings.Join(names, ", "))
	case len(names) > 1:
		return "", fmt.Errorf("%s has verdicts of several judges (%s): choose one with --judge", dir, strings.Join(names, ", "))
	case len(names) == 1:
		return names[0], nil
	}
	return "", nil
}

func showCalibration(term *terminal, c *eval.Calibration) {
	percent := func(v *float64) string {
		if v == nil {
			return "not defined"
		}
		return fmt.Sprintf("%.4g", *v)
	}
	term.print("calibration error     official form %s, strict form %s  (%d answers, %d without a stated confidence)\n", percent(c.Official), percent(c.Strict), c.N, c.Defaulted)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// reference is what the judge may know of a question.
func reference(q benchmark.Question) judge.Reference {
	if q.Answer == nil {
		return judge.Reference{}
	}
	return judge.Reference{Answer: q.Answer.Text, Aliases: q.Answer.Aliases, Unanswerable: q.Answer.Unanswerable}
}
