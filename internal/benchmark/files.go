package benchmark

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"goserini/internal/trec"
)

func (b *Benchmark) readQuestions(queries, answers []string) error {
	known := map[string]*Answer{}
	for _, path := range answers {
		if err := readAnswers(path, known); err != nil {
			return err
		}
	}
	seen := map[string]string{}
	for _, path := range queries {
		topics, err := trec.ReadTopics(path)
		if err != nil {
			return err
		}
		for _, t := range topics {
			if other, twice := seen[t.ID]; twice {
				return fmt.Errorf("%s:%d: query id %q is also in %s", path, t.Line, t.ID, other)
			}
			seen[t.ID] = path
			b.questions = append(b.questions, Question{ID: t.ID, Text: t.Text, Answer: known[t.ID]})
		}
	}
	for id := range known {
		if _, asked := seen[id]; !asked {
			b.strayAnswers = append(b.strayAnswers, id)
		}
	}
	slices.Sort(b.strayAnswers)
	return nil
}

// answerLine is one line of answers.jsonl.
type answerLine struct {
	QueryID      id       `json:"query_id"`
	Answer       *string  `json:"answer"`
	Aliases      []string `json:"aliases"`
	AnswerAlias  []string `json:"answer_aliases"`
	Unanswerable bool     `json:"unanswerable"`
}

// id is a query id: a text, or a number whose digits are kept, as topics have it.
type id string

// UnmarshalJSON takes a string or a number.
func (i *id) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*i = id(s)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return errors.New("query_id is neither a text nor a number")
	}
	*i = id(n)
	return nil
}

// readAnswers adds the answers of a file.
func readAnswers(path string, known map[string]*Answer) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read answers: %w", err)
	}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		n++
		if strings.TrimSpace(line) == "" {
			continue
		}
		var a answerLine
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			return fmt.Errorf("%s:%d: not a JSON object with query_id and answer: %w", path, n, err)
		}
		if a.QueryID == "" || a.Answer == nil && !a.Unanswerable {
			return fmt.Errorf("%s:%d: needs the fields query_id and answer (or \"unanswerable\": true)", path, n)
		}
		if _, twice := known[string(a.QueryID)]; twice {
			return fmt.Errorf("%s:%d: a second answer for query %q: put other right answers into the field aliases", path, n, a.QueryID)
		}
		answer := &Answer{Aliases: slices.Concat(a.Aliases, a.AnswerAlias), Unanswerable: a.Unanswerable}
		if a.Answer != nil {
			answer.Text = *a.Answer
		}
		known[string(a.QueryID)] = answer
	}
	return nil
}

// readQrels reads judgments from several files as one, nil from none.
func readQrels(files []string) (trec.Qrels, error) {
	var all trec.Qrels
	for _, path := range files {
		qrels, err := trec.ReadQrels(path)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = qrels
			continue
		}
		if err := merge(all, qrels, path); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// merge adds judgments read from path.
func merge(into, qrels trec.Qrels, path string) error {
	for query, judged := range qrels {
		if into[query] == nil {
			into[query] = map[string]int{}
		}
		for docid, grade := range judged {
			if old, twice := into[query][docid]; twice && old != grade {
				return fmt.Errorf("%s: document %q of query %q is judged %d here and %d in another file", path, docid, query, grade, old)
			}
			into[query][docid] = grade
		}
	}
	return nil
}

// readSets reads the query sets of a description. Where there is something to be set up, a set may
// have no file yet: setup draws some only after the index is built.
func (b *Benchmark) readSets(d Description) error {
	for name, s := range d.Sets {
		ids := s.IDs
		if s.File != "" {
			var err error
			path := filepath.Join(b.Dir, s.File)
			ids, err = readIDs(path)
			if errors.Is(err, fs.ErrNotExist) && len(d.Sources) > 0 {
				b.toDraw = append(b.toDraw, name)
				continue
			}
			if err != nil {
				return err
			}
			b.Files["set "+name] = path
		}
		if len(ids) == 0 {
			return fmt.Errorf("query set %q is empty", name)
		}
		seen := map[string]bool{}
		for _, id := range ids {
			if seen[id] {
				return fmt.Errorf("query set %q names query %q twice", name, id)
			}
			seen[id] = true
		}
		b.QuerySets[name] = ids
	}
	return nil
}

// readIDs reads one id a line; what follows a tab is passed over, so that topics in TSV do.
func readIDs(path string) ([]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read query set: %w", err)
	}
	var ids []string
	for line := range strings.Lines(string(b)) {
		id, _, _ := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		if strings.TrimSpace(id) != "" {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
