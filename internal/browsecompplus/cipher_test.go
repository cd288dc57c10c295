package browsecompplus

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

func TestDecryptReadsThePublishedForm(t *testing.T) {
	const plain, enciphered = "Quokka ☂ 42 — forty-two marsupials under one umbrella",
		"zkilRmopBmmSpXaHSwbdtVXzYPNJVfNf539gXLwl/ubqTaNMbTsG/mRDM8FZSVFQ4aZr/klE5h7y"
	key := NewKey("test-canary")
	got, err := key.Decrypt(enciphered)
	if err != nil || got != plain {
		t.Errorf("got %q, %v; want %q", got, err, plain)
	}
	if got := key.Encrypt(plain); got != enciphered {
		t.Errorf("Encrypt: got %s", got)
	}
}

func TestWrongCanaryIsRecognised(t *testing.T) {
	key := NewKey("test-canary")
	if err := key.Check("20287cf3"); !errors.Is(err, ErrWrongCanary) {
		t.Errorf("Check: got %v", err)
	}
	if err := key.Check(""); err != nil {
		t.Errorf("Check without a known beginning: got %v", err)
	}
	other := NewKey("test-canary\n").Encrypt("Quokka ☂ 42 — forty-two marsupials")
	_, err := key.Decrypt(other)
	if !errors.Is(err, ErrWrongCanary) || strings.Contains(err.Error(), other) {
		t.Errorf("Decrypt: got %v", err)
	}
	if _, err := key.Decrypt("not base64!"); err == nil || strings.Contains(err.Error(), "not base64!") {
		t.Errorf("Decrypt of plain text: got %v, want an error that does not repeat it", err)
	}
}

type rowDoc struct {
	DocID string `parquet:"docid"`
	Text  string `parquet:"text"`
	URL   string `parquet:"url"`
}

type row struct {
	QueryID  string   `parquet:"query_id"`
	Query    string   `parquet:"query"`
	Answer   string   `parquet:"answer"`
	Gold     []rowDoc `parquet:"gold_docs,list"`
	Negative []rowDoc `parquet:"negative_docs,list"`
	Evidence []rowDoc `parquet:"evidence_docs,list"`
}

// dataset writes rows as they are published.
func dataset(t *testing.T, key Key, queries []Query) string {
	t.Helper()
	docs := func(ids []string) (out []rowDoc) {
		for _, id := range ids {
			out = append(out, rowDoc{key.Encrypt(id), key.Encrypt("a long text"), key.Encrypt("https://example.org")})
		}
		return out
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	for _, q := range queries {
		if _, err := w.Write([]row{{q.ID, key.Encrypt(q.Text), key.Encrypt(q.Answer), docs(q.Gold), docs([]string{"900"}), docs(q.Evidence)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "test-00000-of-00001.parquet")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDatasetIsRead(t *testing.T) {
	key := NewKey("test-canary")
	want := []Query{
		{ID: "25", Text: "Which marsupial\tsmiles?", Answer: "the quokka", Evidence: []string{"7", "8"}, Gold: []string{"7"}},
		{ID: "30", Text: "Second?", Answer: "yes", Evidence: []string{"9"}, Gold: []string{"9"}},
	}
	path := dataset(t, key, want)
	got, err := ReadDataset([]string{path}, key)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := ReadDataset([]string{path}, NewKey("another")); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("with another canary: got %v", err)
	}
	if _, err := ReadDataset([]string{path, path}, key); err == nil || !strings.Contains(err.Error(), `query id "25" occurs twice`) {
		t.Errorf("the same rows twice: got %v", err)
	}
	doubled := dataset(t, key, []Query{{ID: "1", Text: "x", Answer: "y", Evidence: []string{"7", "7"}}})
	got, err = ReadDataset([]string{doubled}, key)
	if err != nil || len(got[0].Evidence) != 1 {
		t.Errorf("a docid twice: got %+v, %v", got, err)
	}
}

func FuzzDecrypt(f *testing.F) {
	f.Add("zkilRmopBmmSpXaHSwbdtVXzYPNJVfNf539gXLwl/ubqTaNMbTsG/mRDM8FZSVFQ4aZr/klE5h7y")
	f.Add("")
	f.Add("====")
	key := NewKey("test-canary")
	f.Fuzz(func(t *testing.T, text string) {
		plain, err := key.Decrypt(text)
		if err != nil {
			return
		}
		if again, err := key.Decrypt(key.Encrypt(plain)); err != nil || again != plain {
			t.Fatalf("%q does not come back: %q, %v", plain, again, err)
		}
	})
}
