package benchmark

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
	"goserini/internal/demo"
	"goserini/internal/parquetfile"
)

// NotSetUpError says that a benchmark has to be fetched first.
type NotSetUpError struct {
	Name string
	Err  error
}

func (e *NotSetUpError) Error() string {
	return fmt.Sprintf("benchmark %s is not set up (%v): fetch it with goserini setup %s", e.Name, e.Err, e.Name)
}

func (e *NotSetUpError) Unwrap() error { return e.Err }

// Load finds a benchmark by its built-in name, by the path of a description, or by the path of a
// folder in one of two layouts: this project's (corpus.jsonl[.gz], queries.tsv, qrels.txt, and where
// there are any answers.jsonl, qrel_evidence.txt, qrel_gold.txt) or BEIR's (corpus.jsonl,
// queries.jsonl, qrels/*.tsv).
func Load(nameOrPath string) (*Benchmark, error) {
	if nameOrPath == "demo" {
		return loadDemo()
	}
	if slices.Contains(Names(), nameOrPath) {
		return loadDescribed(nameOrPath)
	}
	info, err := os.Stat(nameOrPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no benchmark and no folder %q: built in are %s; a folder needs a corpus and queries", nameOrPath, strings.Join(Names(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("open benchmark: %w", err)
	}
	if info.IsDir() {
		return loadFolder(nameOrPath)
	}
	return loadDescribed(nameOrPath)
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
	d, _, err := Describe("demo")
	if err != nil {
		return nil, err
	}
	b := &Benchmark{
		Name: d.Name, Title: d.Title, Judge: d.Judge,
		Open: func() (*corpus.Reader, error) { return corpus.FromDocuments(docs), nil },
	}
	if b.evidence, b.gold, err = demo.Qrels(); err != nil {
		return nil, err
	}
	for _, q := range questions {
		b.questions = append(b.questions, Question{ID: q.ID, Text: q.Text,
			Answer: &Answer{Text: q.Answer, Aliases: q.Aliases, Unanswerable: q.Unanswerable}})
	}
	return b, nil
}

// loadDescribed loads what a description names.
func loadDescribed(nameOrFile string) (*Benchmark, error) {
	d, dir, err := Describe(nameOrFile)
	if err != nil {
		return nil, err
	}
	return load(nameOrFile, d, dir)
}

// LoadFrom loads a benchmark from its description and its folder.
func LoadFrom(d Description, dir string) (*Benchmark, error) { return load(d.Name, d, dir) }

func load(nameOrFile string, d Description, dir string) (*Benchmark, error) {
	b := &Benchmark{Name: nameOrFile, Title: d.Title, Dir: dir, Files: map[string]string{}, Analyzer: d.Analyzer, Judge: d.Judge,
		Private: d.Private, DefaultSet: d.DefaultSet, QuerySets: map[string][]string{}}
	if d.K1 != nil {
		b.BM25 = &bm25.Params{K1: *d.K1, B: *d.B}
		if err := b.BM25.Validate(); err != nil {
			return nil, fmt.Errorf("benchmark %s: %w", nameOrFile, err)
		}
	}
	if len(d.Sources) > 0 && Indexed(dir) {
		b.Index = filepath.Join(dir, IndexFolder)
	}
	err := b.read(d)
	if errors.Is(err, fs.ErrNotExist) && len(d.Sources) > 0 {
		return nil, &NotSetUpError{Name: nameOrFile, Err: err}
	}
	if err != nil {
		return nil, fmt.Errorf("benchmark %s: %w", nameOrFile, err)
	}
	return b, nil
}

// IndexFolder is where setup puts the index in a benchmark's folder.
const IndexFolder = "index"

// Indexed reports whether a benchmark's folder has an index. A build that was stopped leaves the
// index's folder, but not its file, which gets its name last.
func Indexed(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, IndexFolder, "index.goserini"))
	return err == nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (b *Benchmark) read(d Description) error {
	queries, err := b.files("queries", d.Queries)
	if err != nil {
		return err
	}
	if len(queries) == 0 {
		return errors.New("the description names no queries")
	}
	answers, err := b.files("answers", d.Answers)
	if err != nil {
		return err
	}
	if err := b.readQuestions(queries, answers); err != nil {
		return err
	}
	if err := b.readSets(d); err != nil {
		return err
	}
	if err := b.readJudgments(d); err != nil {
		return err
	}
	b.Open = func() (*corpus.Reader, error) {
		sources, err := paths(b.Dir, d.Corpus)
		if errors.Is(err, fs.ErrNotExist) && len(d.Sources) > 0 {
			return nil, &NotSetUpError{Name: b.Name, Err: err}
		}
		if err != nil {
			return nil, fmt.Errorf("benchmark %s: corpus: %w", b.Name, err)
		}
		return openCorpus(b.Name, sources)
	}
	// A corpus that is one file counts among the inputs; otherwise it is known by its index.
	if sources, err := paths(b.Dir, d.Corpus); err == nil && b.Index == "" && len(sources) == 1 && !isDir(sources[0]) {
		b.Files["corpus"] = sources[0]
	}
	return nil
}

// files resolves the paths of a role and notes them as inputs.
func (b *Benchmark) files(role string, patterns []string) ([]string, error) {
	found, err := paths(b.Dir, patterns)
	if err != nil {
		return nil, err
	}
	for i, path := range found {
		key := role
		if i > 0 {
			key = fmt.Sprintf("%s %d", role, i+1)
		}
		b.Files[key] = path
	}
	return found, nil
}

func (b *Benchmark) readJudgments(d Description) error {
	evidence, err := b.files("evidence", d.Evidence)
	if err != nil {
		return err
	}
	if b.evidence, err = readQrels(evidence); err != nil {
		return err
	}
	for _, judged := range b.evidence {
		for docid, grade := range judged {
			if grade < d.EvidenceGrade {
				judged[docid] = 0
			}
		}
	}
	gold, err := b.files("gold", d.Gold)
	if err != nil {
		return err
	}
	b.gold, err = readQrels(gold)
	return err
}

// openCorpus opens documents for indexing, from Parquet files or whatever the corpus reader knows.
func openCorpus(name string, sources []string) (*corpus.Reader, error) {
	if len(sources) == 0 {
		return nil, fmt.Errorf("benchmark %s has no corpus to index: give --index", name)
	}
	if !slices.ContainsFunc(sources, parquetfile.Is) {
		return corpus.Open(sources, corpus.Options{})
	}
	if slices.ContainsFunc(sources, func(s string) bool { return !parquetfile.Is(s) }) {
		return nil, fmt.Errorf("benchmark %s: the corpus is partly Parquet files and partly not", name)
	}
	return corpus.FromSequence(name, parquetfile.Documents(sources)), nil
}
