package oracle_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"goserini/internal/synth"
)

// TestSyntheticRankingsEqualLiveLucene runs 2,000 random queries over a synthetic
// collection: 5,000 long documents, or as $GOSERINI_ORACLE_DOCUMENTS and
// $GOSERINI_ORACLE_SHAPE say.
func TestSyntheticRankingsEqualLiveLucene(t *testing.T) {
	requireLucene(t)
	documents := 5000
	if n := os.Getenv("GOSERINI_ORACLE_DOCUMENTS"); n != "" {
		var err error
		if documents, err = strconv.Atoi(n); err != nil {
			t.Fatalf("GOSERINI_ORACLE_DOCUMENTS: %v", err)
		}
	}
	shape := synth.Long
	if name := os.Getenv("GOSERINI_ORACLE_SHAPE"); name != "" {
		var err error
		if shape, err = synth.ShapeByName(name); err != nil {
			t.Fatalf("GOSERINI_ORACLE_SHAPE: %v", err)
		}
	}
	collection := synth.Corpus{Shape: shape, Documents: documents, Seed: 7}
	corpusPath := filepath.Join(t.TempDir(), "corpus.jsonl")
	writeLines(t, corpusPath, func(out *bufio.Writer) error {
		encoder := json.NewEncoder(out)
		for i := range documents {
			d := collection.Document(i)
			if err := encoder.Encode(map[string]string{"id": d.ID, "title": d.Title, "text": d.Text}); err != nil {
				return err
			}
		}
		return nil
	})
	topicsPath := filepath.Join(t.TempDir(), "queries.tsv")
	writeLines(t, topicsPath, func(out *bufio.Writer) error {
		for _, set := range synth.QuerySets {
			queries, err := collection.Queries(set, 2000/len(synth.QuerySets))
			if err != nil {
				return err
			}
			for _, q := range queries {
				fmt.Fprintf(out, "%s-%s\t%s\n", set, q.ID, q.Text)
			}
		}
		return nil
	})
	compareLive(t, corpusPath, topicsPath)
}

func writeLines(t *testing.T, path string, write func(*bufio.Writer) error) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	if err := write(out); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
}
