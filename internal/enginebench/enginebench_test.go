package enginebench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"goserini/internal/analysis"
	"goserini/internal/corpus"
	"goserini/internal/synth"
)

func TestCorpusIsWrittenInOrderWhateverTheNumberOfWorkers(t *testing.T) {
	c := synth.Corpus{Shape: synth.Passages, Documents: 150}
	path := filepath.Join(t.TempDir(), "c.jsonl")
	last := 0
	if err := WriteCorpus(t.Context(), c, path, func(done int) { last = done }); err != nil {
		t.Fatal(err)
	}
	if last != c.Documents {
		t.Errorf("progress ended at %d", last)
	}
	r, err := corpus.Open([]string{path}, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range c.Documents {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		got, err := rec.Document()
		if err != nil {
			t.Fatal(err)
		}
		if want := c.Document(i); got.DocID != want.ID || got.Title != want.Title || got.Text != want.Text {
			t.Fatalf("document %d is %q, want %q", i, got.DocID, want.ID)
		}
	}
}

func TestAFailureLeavesNoFile(t *testing.T) {
	c := synth.Corpus{Shape: synth.Passages, Documents: 1000}
	path := filepath.Join(t.TempDir(), "c")
	broken := errors.New("broken")
	err := WriteDocuments(t.Context(), c, path, func(_ *bytes.Buffer, d synth.Document) error {
		if d.ID == "p-500" {
			return broken
		}
		return nil
	}, nil)
	if !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := WriteCorpus(ctx, c, path, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error after cancelling is %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file")
	}
}

func TestTermsAreWordsToEveryEngine(t *testing.T) {
	english, err := analysis.ByName(analysis.Default)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	WriteTerms(&b, english, "The harbour’s Café, running 3.14 miles")
	if got, want := b.String(), "harbour cafqc3qa9 run 3q2e14 mile"; got != want {
		t.Errorf("terms are %q, want %q", got, want)
	}
	if strings.Contains(b.String(), "  ") {
		t.Error("two blanks in a row")
	}
}
