package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"goserini/internal/benchmark"
	"goserini/internal/bm25"
	"goserini/internal/corpus"
	"goserini/internal/eval"
	"goserini/internal/index"
	"goserini/internal/trec"
	"goserini/internal/tune"
)

// scores are the two measures that settings are judged by.
type scores struct{ ndcg, recall float64 }

// collection is a test collection and how every setting of interest does on it.
type collection struct {
	name    string
	queries int
	stats   index.Stats
	scores  map[bm25.Params]scores
	// byQuery are what the scores are means of.
	byQuery map[bm25.Params]queryScores
	// origin says what documents and queries are and where they come from, where the folder has it.
	origin string
}

// queryScores are the measures of every query, in the same order for every setting.
type queryScores struct{ ndcg, recall []float64 }

// grid is what the best possible setting is looked for in.
var grid = tune.NewGrid(tune.DefaultK1, tune.DefaultB)

// settings are all settings that collections are searched with.
func settings() []bm25.Params {
	all := append(grid.Settings(), bm25.Anserini, bm25.Paper, lucene)
	for _, highK1 := range highK1s {
		for i := range steps + 1 {
			all = append(all, step(highK1, float64(i)/float64(steps)))
		}
	}
	distinct := map[bm25.Params]bool{}
	for _, p := range all {
		distinct[p] = true
	}
	return slices.Collect(maps.Keys(distinct))
}

func load(ctx context.Context, dir string) (*collection, error) {
	topics, err := trec.ReadTopics(filepath.Join(dir, "queries.tsv"))
	if err != nil {
		return nil, err
	}
	qrels, err := trec.ReadQrels(filepath.Join(dir, "qrels.txt"))
	if err != nil {
		return nil, err
	}
	var queries []tune.Query
	for _, t := range topics {
		queries = append(queries, tune.Query{ID: t.ID, Text: t.Text, Grades: qrels[t.ID]})
	}
	path := filepath.Join(dir, "corpus.jsonl.gz")
	name, err := indexName(path)
	if err != nil {
		return nil, err
	}
	c, err := measure(ctx, name, queries, func() (*corpus.Reader, error) {
		return corpus.Open([]string{path}, corpus.Options{})
	})
	if err != nil {
		return nil, err
	}
	c.name = filepath.Base(dir)
	origin, err := os.ReadFile(filepath.Join(dir, "origin.txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	c.origin = string(origin)
	return c, nil
}

// indexName tells the indexes of other contents of a folder apart.
func indexName(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s-%x", filepath.Base(filepath.Dir(path)), h.Sum(nil)[:6]), nil
}

// loadAll measures every collection in a folder, by name.
func loadAll(ctx context.Context, data string) ([]*collection, error) {
	paths, err := filepath.Glob(filepath.Join(data, "*", "corpus.jsonl.gz"))
	if err != nil {
		return nil, err
	}
	sort.Strings(paths)
	var all []*collection
	for _, path := range paths {
		c, err := load(ctx, filepath.Dir(path))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(filepath.Dir(path)), err)
		}
		fmt.Fprintf(os.Stderr, "%s: %d queries\n", c.name, c.queries)
		all = append(all, c)
	}
	return all, nil
}

func loadDemo(ctx context.Context) (*collection, error) {
	b, err := benchmark.Load("demo")
	if err != nil {
		return nil, err
	}
	questions, err := b.Questions("")
	if err != nil {
		return nil, err
	}
	qrels, _ := b.Qrels()
	var queries []tune.Query
	for _, q := range questions {
		queries = append(queries, tune.Query{ID: q.ID, Text: q.Text, Grades: qrels[q.ID]})
	}
	return measure(ctx, "demo", queries, b.Open)
}

// measure searches with every setting. Queries without relevant documents tell nothing about
// settings and are left out.
func measure(ctx context.Context, name string, queries []tune.Query, source func() (*corpus.Reader, error)) (*collection, error) {
	ix, err := openIndex(ctx, name, source)
	if err != nil {
		return nil, err
	}
	defer ix.Close()
	queries = slices.DeleteFunc(queries, func(q tune.Query) bool {
		return len(q.Grades) == 0 || slices.Max(slices.Collect(maps.Values(q.Grades))) < 1
	})
	measures, err := eval.ParseMeasureList([]string{"nDCG@10", "R@100"})
	if err != nil {
		return nil, err
	}
	all := settings()
	values, err := tune.Evaluate(ctx, ix, queries, all, measures, nil)
	if err != nil {
		return nil, err
	}
	c := &collection{name: name, queries: len(queries), stats: ix.Stats(), scores: map[bm25.Params]scores{}, byQuery: map[bm25.Params]queryScores{}}
	for i, p := range all {
		c.scores[p] = scores{ndcg: mean(values[0][i]), recall: mean(values[1][i])}
		c.byQuery[p] = queryScores{values[0][i], values[1][i]}
	}
	return c, nil
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// openIndex opens the index kept of a collection, building it if there is none of this format.
func openIndex(ctx context.Context, name string, source func() (*corpus.Reader, error)) (*index.Index, error) {
	root := os.Getenv("GOSERINI_BENCH_DIR")
	if root == "" {
		root = filepath.Join(os.TempDir(), "goserini-bench")
	}
	dir := filepath.Join(root, "collections", fmt.Sprintf("%s-%d", name, index.FormatVersion))
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
			return nil, err
		}
		src, err := source()
		if err != nil {
			return nil, err
		}
		defer src.Close()
		if _, err := index.Build(ctx, dir, src, index.BuildOptions{}); err != nil {
			return nil, err
		}
	}
	return index.Open(dir)
}

// statistics are the statistics that the rule sees.
func (c *collection) statistics() bm25.Collection {
	return bm25.Collection{Tokens: c.stats.Tokens, Postings: c.stats.Postings, Length90: c.stats.Lengths.P90}
}

// better is the better of the two fixed settings, measure by measure.
func (c *collection) better() scores {
	a, p := c.scores[bm25.Anserini], c.scores[bm25.Paper]
	return scores{ndcg: max(a.ndcg, p.ndcg), recall: max(a.recall, p.recall)}
}

// shortfall is how far a setting stays behind the better of the two fixed settings in the
// measure where it stays behind most; 0 if in none.
func (c *collection) shortfall(p bm25.Params) float64 {
	have, want := c.scores[p], c.better()
	return max(want.ndcg-have.ndcg, want.recall-have.recall, 0)
}

// bestOfGrid is the setting of the grid with the highest nDCG@10.
func (c *collection) bestOfGrid() bm25.Params {
	var best bm25.Params
	for i, p := range grid.Settings() {
		if i == 0 || c.scores[p].ndcg > c.scores[best].ndcg+1e-12 {
			best = p
		}
	}
	return best
}
