// Command lexical runs the policy builtin/lexical over every collection of a folder that has answers, with
// the goserini binary, and prints docs/lexical-results.md.
//
//	make build && go run ./bench/lexical --limit 100 > docs/lexical-results.md
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
	limit          int
	concurrency    int
	profile        string
}

func main() {
	var o options
	flag.StringVar(&o.goserini, "goserini", "bin/goserini", "the binary")
	flag.StringVar(&o.data, "data", "../shared/data", "the folder of collections")
	flag.IntVar(&o.limit, "limit", 0, "questions of each collection (0 is all)")
	flag.IntVar(&o.concurrency, "concurrency", 2, "questions at once")
	flag.StringVar(&o.profile, "profile", "paper", "the tools")
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
	sort.Strings(answers)
	scratch, err := os.MkdirTemp("", "lexical")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	fmt.Print(o.head())
	for _, path := range answers {
		dir := filepath.Dir(path)
		name := filepath.Base(dir)
		s, err := o.collection(dir, filepath.Join(scratch, name))
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
	return fmt.Sprintf(`# What the policy without a language model comes to

`+"`builtin/lexical`"+` over every collection with answers: %s. It is a floor for what a model should reach, and a test of the
whole way from question to score. Made by `+"`%s > docs/lexical-results.md`"+`.

- *right* are answers that `+"`builtin/exact`"+` finds equal to a known one, *unclear* those it cannot decide on: a paragraph against a
  paragraph takes a reader. Long answers (covidqa, qmsum, squality, medquad-liveqa, most of sec10q) are beyond it by design.
- Recall is the mean over all questions of the share of relevant documents that were surfaced (in a ranking), previewed (their excerpt
  shown), opened and cited; *evidence* and *gold* where a collection tells the two apart, else the one kind of judgment it has.
- *calls* and *seconds* are means for a question; the seconds are those of a busy machine and only tell the order of magnitude.

| collection | questions | right | unclear | evidence: surfaced | previewed | opened | cited | gold: surfaced | previewed | opened | cited | calls | seconds |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
`, limit, command)
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

// scores is what is read of goserini eval --json.
type scores struct {
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

func (o options) collection(dir, scratch string) (scores, error) {
	var s scores
	args := []string{"run", "--benchmark", dir, "--model", "builtin/lexical", "--profile", o.profile, "--out", scratch,
		"--limit", fmt.Sprint(o.limit), "--concurrency", fmt.Sprint(o.concurrency)}
	if _, err := command(o.goserini, args...); err != nil {
		return s, err
	}
	if _, err := command(o.goserini, "judge", scratch); err != nil {
		return s, err
	}
	out, err := command(o.goserini, "eval", scratch, "--json")
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(out, &s); err != nil {
		return s, fmt.Errorf("read scores: %w", err)
	}
	return s, os.RemoveAll(scratch)
}

func (s scores) row(name string) string {
	cells := []string{name, fmt.Sprint(s.Queries), "", ""}
	if a := s.Accuracy; a != nil {
		cells[2], cells[3] = percent(a.Correct, s.Queries), percent(a.Undecided, s.Queries)
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
