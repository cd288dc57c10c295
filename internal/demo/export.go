package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Export writes the collection into a new or existing folder as a benchmark: corpus.jsonl
// (id, title, text), queries.tsv, answers.jsonl, qrels.txt, qrel_evidence.txt and
// qrel_gold.txt. Files of these names are replaced.
func Export(dir string) error {
	docs, err := Documents()
	if err != nil {
		return err
	}
	questions, err := Questions()
	if err != nil {
		return err
	}
	out := map[string]*bytes.Buffer{}
	for _, name := range []string{"corpus.jsonl", "queries.tsv", "answers.jsonl", "qrels.txt", "qrel_evidence.txt", "qrel_gold.txt"} {
		out[name] = new(bytes.Buffer)
	}
	articles := json.NewEncoder(out["corpus.jsonl"])
	articles.SetEscapeHTML(false)
	for _, d := range docs {
		if err := articles.Encode(corpusLine{d.DocID, d.Title, d.Text}); err != nil {
			return fmt.Errorf("export document %s: %w", d.DocID, err)
		}
	}
	answers := json.NewEncoder(out["answers.jsonl"])
	answers.SetEscapeHTML(false)
	for _, q := range questions {
		if err := answers.Encode(answerLine{q.ID, q.Text, q.Answer, q.Aliases, q.Unanswerable}); err != nil {
			return fmt.Errorf("export question %s: %w", q.ID, err)
		}
		fmt.Fprintf(out["queries.tsv"], "%s\t%s\n", q.ID, q.Text)
		writeQrels(out["qrels.txt"], q.ID, q.Evidence)
		writeQrels(out["qrel_evidence.txt"], q.ID, q.Evidence)
		writeQrels(out["qrel_gold.txt"], q.ID, q.Gold)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("export the embedded collection: %w", err)
	}
	for name, text := range out {
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o644); err != nil {
			return fmt.Errorf("export the embedded collection: %w", err)
		}
	}
	return nil
}

type corpusLine struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

func writeQrels(b *bytes.Buffer, queryID string, docids []string) {
	for _, id := range docids {
		fmt.Fprintf(b, "%s 0 %s 1\n", queryID, id)
	}
}
