package benchmark

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"goserini/internal/corpus"
	"goserini/internal/demo"
	"goserini/internal/trec"
)

// Names lists the built-in benchmarks.
func Names() []string { return []string{"demo"} }

// SetNames lists the query sets of a benchmark, "all" first.
func (b *Benchmark) SetNames() []string {
	names := []string{AllQuestions}
	for name := range b.QuerySets {
		names = append(names, name)
	}
	sort.Strings(names[1:])
	return names
}

// Load finds a benchmark by name, or by the path of a folder in one of two layouts:
// this project's (corpus.jsonl[.gz], queries.tsv, qrels.txt, and where there are any answers.jsonl,
// qrel_evidence.txt, qrel_gold.txt) or BEIR's (corpus.jsonl, queries.jsonl, qrels/*.tsv).
func Load(nameOrDir string) (*Benchmark, error) {
	if nameOrDir == "demo" {
		return loadDemo()
	}
	info, err := os.Stat(nameOrDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no benchmark and no folder %q: built in are %s; a folder needs a corpus and queries", nameOrDir, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("open benchmark: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("benchmark %s is a file: give the folder that holds the corpus and the queries", nameOrDir)
	}
	return loadDir(nameOrDir)
}

func loadDemo() (*Benchmark, error) {
	docs, err := demo.Documents()
	if err != nil {
		return nil, err
	}
	questions, err := demo.Questions()
	if err != nil {
		return nil, err
	}
	b := &Benchmark{
		Name: "demo", Title: "the embedded collection",
		Open:     func() (*corpus.Reader, error) { return corpus.FromDocuments(docs), nil },
		evidence: trec.Qrels{}, gold: trec.Qrels{},
	}
	for _, q := range questions {
		b.questions = append(b.questions, Question{ID: q.ID, Text: q.Text,
			Answer: &Answer{Text: q.Answer, Aliases: q.Aliases, Unanswerable: q.Unanswerable}})
		b.evidence[q.ID] = grades(q.Evidence)
		b.gold[q.ID] = grades(q.Gold)
	}
	return b, nil
}

func grades(docids []string) map[string]int {
	out := make(map[string]int, len(docids))
	for _, id := range docids {
		out[id] = 1
	}
	return out
}

// first returns the first of the names that exists in dir, or "".
func first(dir string, names ...string) string {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return ""
}

func loadDir(dir string) (*Benchmark, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open benchmark: %w", err)
	}
	b := &Benchmark{Name: dir, Title: filepath.Base(abs), Dir: dir, Files: map[string]string{}}
	find := func(role string, names ...string) string {
		path := first(dir, names...)
		if path != "" {
			b.Files[role] = path
		}
		return path
	}
	source := find("corpus", "corpus.jsonl", "corpus.jsonl.gz", "corpus.jsonl.zst", "corpus.tsv", "corpus.tsv.gz")
	b.Open = func() (*corpus.Reader, error) {
		if source == "" {
			return nil, fmt.Errorf("benchmark %s has no corpus.jsonl or corpus.jsonl.gz to index: give --index", dir)
		}
		return corpus.Open([]string{source}, corpus.Options{})
	}
	queries := find("queries", "queries.tsv", "queries.jsonl", "topics.tsv", "topics.txt")
	if queries == "" {
		return nil, fmt.Errorf("benchmark %s has no queries.tsv or queries.jsonl", dir)
	}
	if err := b.readQuestions(queries, find("answers", "answers.jsonl")); err != nil {
		return nil, err
	}
	return b, b.readQrels(find)
}

func (b *Benchmark) readQuestions(queries, answers string) error {
	topics, err := trec.ReadTopics(queries)
	if err != nil {
		return err
	}
	known := map[string]*Answer{}
	if answers != "" {
		if known, err = readAnswers(answers); err != nil {
			return err
		}
	}
	for _, t := range topics {
		b.questions = append(b.questions, Question{ID: t.ID, Text: t.Text, Answer: known[t.ID]})
	}
	return nil
}

func (b *Benchmark) readQrels(find func(role string, names ...string) string) error {
	evidence := find("evidence", "qrel_evidence.txt")
	gold := find("gold", "qrel_gold.txt", "qrel_golds.txt")
	all := find("qrels", "qrels.txt", "qrels/test.tsv", "qrels/dev.tsv", "qrels/train.tsv")
	if evidence == "" {
		evidence = all
	}
	if gold == "" && evidence != all {
		gold = all
	}
	var err error
	if evidence != "" {
		if b.evidence, err = trec.ReadQrels(evidence); err != nil {
			return err
		}
	}
	if gold != "" {
		if b.gold, err = trec.ReadQrels(gold); err != nil {
			return err
		}
	}
	return nil
}

// answerLine is one line of answers.jsonl.
type answerLine struct {
	QueryID      string   `json:"query_id"`
	Answer       *string  `json:"answer"`
	Aliases      []string `json:"aliases"`
	AnswerAlias  []string `json:"answer_aliases"`
	Unanswerable bool     `json:"unanswerable"`
}

func readAnswers(path string) (map[string]*Answer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	out := map[string]*Answer{}
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if strings.TrimSpace(line) == "" {
			continue
		}
		var a answerLine
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			return nil, fmt.Errorf("%s:%d: not a JSON object with query_id and answer: %w", path, n, err)
		}
		if a.QueryID == "" || a.Answer == nil && !a.Unanswerable {
			return nil, fmt.Errorf("%s:%d: needs the fields query_id and answer (or \"unanswerable\": true)", path, n)
		}
		if _, twice := out[a.QueryID]; twice {
			return nil, fmt.Errorf("%s:%d: a second answer for query %q: put other right answers into the field aliases", path, n, a.QueryID)
		}
		known := &Answer{Aliases: slices.Concat(a.Aliases, a.AnswerAlias), Unanswerable: a.Unanswerable}
		if a.Answer != nil {
			known.Text = *a.Answer
		}
		out[a.QueryID] = known
	}
	return out, nil
}
