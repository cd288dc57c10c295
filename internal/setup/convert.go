package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"goserini/internal/atomicfile"
	"goserini/internal/benchmark"
	"goserini/internal/browsecompplus"
	"goserini/internal/parquetfile"
)

// What is deciphered lies in these files of the benchmark's folder, readable for the user alone.
const (
	queriesFile  = "queries.jsonl"
	answersFile  = "answers.jsonl"
	evidenceFile = "qrel_evidence.txt"
	goldFile     = "qrel_gold.txt"
)

// secret is the mode of files with deciphered text.
const secret = 0o600

// convert deciphers the published dataset.
func (s *Setup) convert() error {
	key, err := s.key()
	if err != nil {
		return err
	}
	paths, err := s.published()
	if err != nil {
		return err
	}
	queries, err := browsecompplus.ReadDataset(paths, key)
	if err != nil {
		return fmt.Errorf("decipher benchmark %s: %w", s.description.Name, err)
	}
	var asked, answers, evidence, gold bytes.Buffer
	for _, q := range queries {
		if err := line(&asked, map[string]string{"query_id": q.ID, "query": q.Text}); err != nil {
			return err
		}
		if err := line(&answers, map[string]string{"query_id": q.ID, "answer": q.Answer}); err != nil {
			return err
		}
		for _, docid := range q.Evidence {
			fmt.Fprintf(&evidence, "%s 0 %s 1\n", q.ID, docid)
		}
		for _, docid := range q.Gold {
			fmt.Fprintf(&gold, "%s 0 %s 1\n", q.ID, docid)
		}
	}
	for _, f := range []struct {
		name    string
		content []byte
	}{{goldFile, gold.Bytes()}, {evidenceFile, evidence.Bytes()}, {answersFile, answers.Bytes()}, {queriesFile, asked.Bytes()}} {
		if err := atomicfile.Write(filepath.Join(s.dir, f.name), f.content, secret); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
	}
	return nil
}

// published are the fetched files that are not the corpus.
func (s *Setup) published() ([]string, error) {
	var paths []string
	for _, src := range s.description.Sources {
		if src.Dataset == "" || slices.ContainsFunc(s.description.Corpus, func(c string) bool { return filepath.ToSlash(filepath.Dir(c)) == src.Into }) {
			continue
		}
		dir := filepath.Join(s.dir, filepath.FromSlash(src.Into))
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("decipher benchmark: %w", err)
		}
		for _, e := range entries {
			if parquetfile.Is(e.Name()) {
				paths = append(paths, filepath.Join(dir, e.Name()))
			}
		}
	}
	return paths, nil
}

func line(b *bytes.Buffer, v map[string]string) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Ranking gives the docids that a baseline finds for a query, best first.
type Ranking func(query string) ([]string, error)

// ToDraw reports whether there are query sets to be drawn.
func (s *Setup) ToDraw() bool { return s.toDraw() }

// DrawSets draws the query sets that depend on how hard a baseline ranking finds the questions.
func (s *Setup) DrawSets(baseline Ranking) error {
	b, err := benchmark.LoadFrom(s.description, s.dir)
	if err != nil {
		return err
	}
	questions, err := b.Questions(benchmark.AllQuestions)
	if err != nil {
		return err
	}
	evidence, _ := b.Qrels()
	judged := make([]browsecompplus.Judged, len(questions))
	for i, q := range questions {
		ranked, err := baseline(q.Text)
		if err != nil {
			return fmt.Errorf("rank for query %s: %w", q.ID, err)
		}
		judged[i] = judge(q.ID, evidence[q.ID], ranked)
	}
	sets, err := browsecompplus.Slices(judged)
	if err != nil {
		return err
	}
	for name, set := range s.description.Sets {
		ids, ok := sets[name]
		if !ok || set.File == "" {
			continue
		}
		path := filepath.Join(s.dir, filepath.FromSlash(set.File))
		if err := s.makeDir(filepath.Dir(path)); err != nil {
			return err
		}
		var b bytes.Buffer
		for _, id := range ids {
			fmt.Fprintln(&b, id)
		}
		if err := atomicfile.Write(path, b.Bytes(), secret); err != nil {
			return fmt.Errorf("write query set %s: %w", name, err)
		}
	}
	return nil
}

func judge(id string, grades map[string]int, ranked []string) browsecompplus.Judged {
	j := browsecompplus.Judged{ID: id}
	for _, grade := range grades {
		if grade > 0 {
			j.Relevant++
		}
	}
	for _, docid := range ranked[:min(len(ranked), browsecompplus.SliceDepth)] {
		if grades[docid] > 0 {
			j.Found++
		}
	}
	return j
}
