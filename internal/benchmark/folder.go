package benchmark

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"goserini/internal/corpus"
	"goserini/internal/trec"
)

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

// loadFolder loads a folder by the names of its files.
func loadFolder(dir string) (*Benchmark, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open benchmark: %w", err)
	}
	b := &Benchmark{Name: dir, Title: filepath.Base(abs), Dir: dir, Files: map[string]string{}, QuerySets: map[string][]string{}}
	source := b.find("corpus", "corpus.jsonl", "corpus.jsonl.gz", "corpus.jsonl.zst", "corpus.tsv", "corpus.tsv.gz", "corpus.parquet")
	b.Open = func() (*corpus.Reader, error) {
		if source == "" {
			return nil, fmt.Errorf("benchmark %s has no corpus.jsonl or corpus.jsonl.gz to index: give --index", dir)
		}
		return openCorpus(dir, []string{source})
	}
	queries := b.find("queries", "queries.tsv", "queries.jsonl", "queries.jsonl.gz", "topics.tsv", "topics.txt")
	if queries == "" {
		return nil, fmt.Errorf("benchmark %s has no queries.tsv or queries.jsonl", dir)
	}
	var answers []string
	if path := b.find("answers", "answers.jsonl"); path != "" {
		answers = []string{path}
	}
	if err := b.readQuestions([]string{queries}, answers); err != nil {
		return nil, err
	}
	splits, err := filepath.Glob(filepath.Join(globSafe(dir), "qrels", "*.tsv"))
	if err != nil {
		return nil, fmt.Errorf("open benchmark: %w", err)
	}
	if len(splits) > 0 {
		return b, b.readSplits(splits)
	}
	return b, b.readFolderQrels()
}

// globSafe quotes what a pattern would read in a folder's name.
func globSafe(dir string) string {
	if os.PathSeparator == '\\' {
		return dir // there a pattern cannot be quoted, and * and ? are no names
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

func (b *Benchmark) find(role string, names ...string) string {
	path := first(b.Dir, names...)
	if path != "" {
		b.Files[role] = path
	}
	return path
}

// readFolderQrels reads the judgments of this project's layout. qrels.txt counts as evidence where
// that is not told apart, and as gold where only evidence is.
func (b *Benchmark) readFolderQrels() error {
	evidence := b.find("evidence", "qrel_evidence.txt")
	gold := b.find("gold", "qrel_gold.txt", "qrel_golds.txt")
	all := b.find("qrels", "qrels.txt")
	if evidence == "" {
		evidence = all
	}
	if gold == "" && evidence != all {
		gold = all
	}
	var err error
	if b.evidence, err = readQrels(listed(evidence)); err != nil {
		return err
	}
	b.gold, err = readQrels(listed(gold))
	return err
}

func listed(path string) []string {
	if path == "" {
		return nil
	}
	return []string{path}
}

// readSplits reads BEIR's judgments: each file is a split, and the queries it judges are a query
// set of its name. queries.jsonl holds those of all splits, so the default set is one of them:
// test, else dev, else train, else all.
func (b *Benchmark) readSplits(splits []string) error {
	b.evidence = trec.Qrels{}
	for _, path := range splits {
		name := strings.TrimSuffix(filepath.Base(path), ".tsv")
		qrels, err := trec.ReadQrels(path)
		if err != nil {
			return err
		}
		b.Files["qrels "+name] = path
		var ids []string
		for _, q := range b.questions {
			if _, judged := qrels[q.ID]; judged {
				ids = append(ids, q.ID)
			}
		}
		if len(ids) > 0 && name != AllQuestions {
			b.QuerySets[name] = ids
		}
		if err := merge(b.evidence, qrels, path); err != nil {
			return err
		}
	}
	for _, name := range slices.Backward([]string{"test", "dev", "train"}) {
		if _, ok := b.QuerySets[name]; ok {
			b.DefaultSet = name
		}
	}
	return nil
}
