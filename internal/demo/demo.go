// Package demo holds the embedded collection: articles about an invented country, the
// Halmarin Reach, with twelve questions about it, their answers and judgments.
//
// Everything in it is made up, so that no model and no reader can answer from memory.
// Nine questions need two or three articles each; to three more the collection names a
// near miss but holds no answer. [Export] writes it all in the layout of a benchmark
// folder, for use with the commands that read one.
package demo

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"goserini/internal/corpus"
	"goserini/internal/trec"
)

//go:embed collection/*.md questions.jsonl qrel_evidence.txt qrel_gold.txt
var files embed.FS

// Question is one question about the collection.
type Question struct {
	ID, Text string
	// Answer is empty and Unanswerable true where the collection does not hold an answer.
	Answer string
	// Aliases are other texts that are equally right.
	Aliases      []string
	Unanswerable bool
	// Evidence are the docids needed to find the answer; Gold those among them that contain
	// it. An unanswerable question has the near misses as evidence and no gold.
	Evidence, Gold []string
}

// Documents returns the articles in the order of their docids. An article's docid is the
// name of its file without the extension.
func Documents() ([]corpus.Document, error) {
	entries, err := files.ReadDir("collection")
	if err != nil {
		return nil, fmt.Errorf("embedded collection: %w", err)
	}
	docs := make([]corpus.Document, 0, len(entries))
	for _, e := range entries {
		doc, err := article(e.Name())
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// article reads one file: a heading "# Title", a blank line, and the text.
func article(name string) (corpus.Document, error) {
	data, err := files.ReadFile(path.Join("collection", name))
	if err != nil {
		return corpus.Document{}, fmt.Errorf("embedded collection: %w", err)
	}
	heading, text, _ := strings.Cut(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	title, ok := strings.CutPrefix(heading, "# ")
	if !ok {
		return corpus.Document{}, fmt.Errorf("embedded collection: %s does not begin with a heading", name)
	}
	return corpus.Document{DocID: strings.TrimSuffix(name, ".md"), Title: title, Text: strings.Trim(text, "\n")}, nil
}

// Questions returns the questions in their order.
func Questions() ([]Question, error) {
	evidence, err := judgments("qrel_evidence.txt")
	if err != nil {
		return nil, err
	}
	gold, err := judgments("qrel_gold.txt")
	if err != nil {
		return nil, err
	}
	data, err := files.ReadFile("questions.jsonl")
	if err != nil {
		return nil, fmt.Errorf("embedded collection: %w", err)
	}
	var out []Question
	for line := range bytes.Lines(data) {
		var a answerLine
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, fmt.Errorf("embedded collection: questions.jsonl line %d: %w", len(out)+1, err)
		}
		out = append(out, Question{
			ID: a.QueryID, Text: a.Question, Answer: a.Answer, Aliases: a.Aliases, Unanswerable: a.Unanswerable,
			Evidence: evidence[a.QueryID], Gold: gold[a.QueryID],
		})
	}
	return out, nil
}

// Qrels returns the judgments of evidence documents and of gold documents.
func Qrels() (evidence, gold trec.Qrels, err error) {
	questions, err := Questions()
	if err != nil {
		return nil, nil, err
	}
	evidence, gold = trec.Qrels{}, trec.Qrels{}
	for _, q := range questions {
		evidence[q.ID], gold[q.ID] = relevant(q.Evidence), relevant(q.Gold)
	}
	return evidence, gold, nil
}

func relevant(docids []string) map[string]int {
	out := make(map[string]int, len(docids))
	for _, id := range docids {
		out[id] = 1
	}
	return out
}

// judgments reads an embedded qrels file and keeps the order of its lines, which is the
// order in which a reader comes from one document to the next.
func judgments(name string) (map[string][]string, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("embedded collection: %w", err)
	}
	if _, err := trec.ParseQrels(bytes.NewReader(data), name); err != nil {
		return nil, fmt.Errorf("embedded collection: %w", err)
	}
	out := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		out[f[0]] = append(out[f[0]], f[2])
	}
	return out, nil
}

// answerLine is a line of questions.jsonl, and of answers.jsonl as [Export] writes it.
type answerLine struct {
	QueryID      string   `json:"query_id"`
	Question     string   `json:"question"`
	Answer       string   `json:"answer"`
	Aliases      []string `json:"aliases,omitempty"`
	Unanswerable bool     `json:"unanswerable,omitempty"`
}
