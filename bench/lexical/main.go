// Command lexical runs the policy builtin/lexical over the embedded collection and every collection of a folder
// that has answers, with the goserini binary, and prints docs/lexical-results.md.
//
//	make build && go run ./bench/lexical 2wiki101 > docs/lexical-results.md
//
// Collections named as arguments have questions and no answers. With --out the run directories are kept,
// and the same command again goes on where it was stopped.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

type options struct {
	goserini, data string
	out            string
	limit          int
	concurrency    int
	profile        string
	bm25           string
}

func main() {
	var o options
	flag.StringVar(&o.goserini, "goserini", "bin/goserini", "the binary")
	flag.StringVar(&o.data, "data", "../shared/data", "the folder of collections")
	flag.StringVar(&o.out, "out", "", "keep the run directories here and go on with what is there (default: a temporary folder)")
	flag.IntVar(&o.limit, "limit", 0, "questions of each collection (0 is all)")
	flag.IntVar(&o.concurrency, "concurrency", 2, "questions at once")
	flag.StringVar(&o.profile, "profile", "paper", "the tools")
	flag.StringVar(&o.bm25, "bm25", "auto", "the setting, as goserini run takes it")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "lexical:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	answers, err := filepath.Glob(filepath.Join(o.data, "*", "answers.jsonl"))
	if err != nil {
		return err
	}
	if len(answers) == 0 {
		return fmt.Errorf("no collection with answers in %s", o.data)
	}
	var others []string
	for _, name := range flag.Args() {
		others = append(others, filepath.Join(o.data, name, "queries.tsv"))
	}
	runs := o.out
	if runs == "" {
		if runs, err = os.MkdirTemp("", "lexical"); err != nil {
			return err
		}
		defer os.RemoveAll(runs)
	}
	benchmarks := []string{"demo"}
	for _, path := range append(answers, others...) {
		benchmarks = append(benchmarks, filepath.Dir(path))
	}
	sort.Strings(benchmarks[1:])
	fmt.Print(o.head())
	for _, benchmark := range benchmarks {
		name := filepath.Base(benchmark)
		s, err := o.collection(benchmark, filepath.Join(runs, name))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println(s.row(name))
	}
	return nil
}

func (o options) head() string {
	limit := "all questions of each collection"
	if o.limit > 0 {
		limit = fmt.Sprintf("the first %d questions of each collection, where it has more", o.limit)
	}
	command := "make build && go run ./bench/lexical"
	if o.limit > 0 {
		command += fmt.Sprintf(" --limit %d", o.limit)
	}
	if o.bm25 != "auto" {
		command += " --bm25 " + o.bm25
	}
	for _, name := range flag.Args() {
		command += " " + name
	}
	return fmt.Sprintf(`# What the policy without a language model comes to

`+"`builtin/lexical`"+` over the embedded collection and every other one with questions: %s. It is a floor for what a model should reach, and a test of the
whole way from question to score. Made by `+"`%s > docs/lexical-results.md`"+`.

- *right* are answers that `+"`builtin/exact`"+` finds equal to a known one, *unclear* those it cannot decide on: a paragraph against a
  paragraph takes a reader; both are empty where no answers are known. Long answers (covidqa, qmsum, squality, medquad-liveqa, most of sec10q) are beyond it by design.
- Recall is the mean over all questions of the share of relevant documents that were surfaced (in a ranking), previewed (their excerpt
  shown), opened and cited; *evidence* and *gold* where a collection tells the two apart, else the one kind of judgment it has.
- *k1, b* are those of `+"`--bm25 %s`"+`.
- *calls* and *seconds* are means for a question; the seconds are those of a busy machine and only tell the order of magnitude.

| collection | questions | k1, b | right | unclear | evidence: surfaced | previewed | opened | cited | gold: surfaced | previewed | opened | cited | calls | seconds |
| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
`, limit, command, o.bm25)
}

type mean struct {
	Value float64 `json:"value"`
}

type recall struct {
	Macro *mean `json:"macro"`
}

type coverage struct {
	Surfaced, Previewed, Opened, Cited recall
}

// scores is what is read of goserini eval --json and, for the parameters, of the run's manifest.
type scores struct {
	k1, b float64

	Queries  int `json:"queries"`
	Accuracy *struct {
		Correct   int `json:"correct"`
		Undecided int `json:"undecided"`
	} `json:"accuracy"`
	Evidence *coverage `json:"evidence"`
	Gold     *coverage `json:"gold"`
	Effort   struct {
		ToolCalls      *mean `json:"tool_calls"`
		ElapsedSeconds *mean `json:"elapsed_seconds"`
	} `json:"effort"`
}

func (o options) collection(benchmark, run string) (scores, error) {
	var s scores
	args := []string{"run", "--benchmark", benchmark, "--model", "builtin/lexical", "--profile", o.profile, "--bm25", o.bm25, "--out", run,
		"--limit", fmt.Sprint(o.limit), "--concurrency", fmt.Sprint(o.concurrency)}
	if _, err := command(o.goserini, args...); err != nil {
		return s, err
	}
	if _, err := command(o.goserini, "judge", run); err != nil {
		return s, err
	}
	out, err := command(o.goserini, "eval", run, "--json")
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(out, &s); err != nil {
		return s, fmt.Errorf("read scores: %w", err)
	}
	return s, s.readParameters(filepath.Join(run, "manifest.json"))
}

func (s *scores) readParameters(manifest string) error {
	data, err := os.ReadFile(manifest)
	if err != nil {
		return err
	}
	var m struct {
		Spec struct {
			Retrieval struct {
				BM25 struct{ K1, B float64 } `json:"bm25"`
			} `json:"retrieval"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("read %s: %w", manifest, err)
	}
	s.k1, s.b = m.Spec.Retrieval.BM25.K1, m.Spec.Retrieval.BM25.B
	return nil
}

func (s scores) row(name string) string {
	cells := []string{name, fmt.Sprint(s.Queries), fmt.Sprintf("%g, %g", s.k1, s.b), "", ""}
	if a := s.Accuracy; a != nil {
		cells[3], cells[4] = percent(a.Correct, s.Queries), percent(a.Undecided, s.Queries)
	}
	for _, c := range []*coverage{s.Evidence, s.Gold} {
		if c == nil {
			cells = append(cells, "", "", "", "")
			continue
		}
		for _, r := range []recall{c.Surfaced, c.Previewed, c.Opened, c.Cited} {
			cells = append(cells, number(r.Macro, "%.3f"))
		}
	}
	cells = append(cells, number(s.Effort.ToolCalls, "%.1f"), number(s.Effort.ElapsedSeconds, "%.2f"))
	return "| " + strings.Join(cells, " | ") + " |"
}

func percent(n, of int) string { return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(max(of, 1))) }

func number(m *mean, format string) string {
	if m == nil {
		return ""
	}
	return fmt.Sprintf(format, m.Value)
}

func command(name string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %v: %w\n%s", name, args, err, stderr.Bytes())
	}
	return out, nil
}
