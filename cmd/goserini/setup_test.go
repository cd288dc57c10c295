package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"goserini/internal/benchmark"
	"goserini/internal/browsecompplus"
	"goserini/internal/hub/hubtest"
	"goserini/internal/index"
)

// command runs one command line in this process.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = mainWith(args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

// must is command for a command that has to succeed.
func must(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := command(t, args...)
	if code != exitDone {
		t.Fatalf("goserini %s: exit code %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
	}
	return stdout, stderr
}

const (
	testCanary     = "invented canary of the tests"
	secretQuestion = "Which marsupial smiles at the lighthouse keeper"
	secretAnswer   = "the quokka of Halmarin"
)

type hubDoc struct {
	DocID string `parquet:"docid"`
	Text  string `parquet:"text"`
}

type hubRow struct {
	QueryID  string   `parquet:"query_id"`
	Query    string   `parquet:"query"`
	Answer   string   `parquet:"answer"`
	Gold     []hubDoc `parquet:"gold_docs,list"`
	Evidence []hubDoc `parquet:"evidence_docs,list"`
}

func parquetFile[T any](t *testing.T, rows []T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// privateBenchmark is a benchmark in the form of BrowseComp-Plus on a stand-in of the hub: 1266
// questions so that its query sets can be drawn, of which all but the first ones find nothing.
func privateBenchmark(t *testing.T) (description, data string) {
	t.Helper()
	key := browsecompplus.NewKey(testCanary)
	doc := func(id string) []hubDoc { return []hubDoc{{key.Encrypt(id), key.Encrypt("x")}} }
	docs := []hubDoc{{"0", "---\ntitle: Keeper\n---\nAt the lighthouse a marsupial smiles: " + secretAnswer + "."}}
	var rows []hubRow
	for qid := 1; qid <= 1266; qid++ {
		relevant, found := 1+7*qid%11, 0
		found = 13 * qid % (relevant + 1)
		r := hubRow{QueryID: fmt.Sprint(qid), Query: key.Encrypt(fmt.Sprintf("%s %d?", secretQuestion, qid)), Answer: key.Encrypt(secretAnswer), Gold: doc("0")}
		for i := range relevant {
			id := fmt.Sprintf("%d-%d", qid, i)
			r.Evidence = append(r.Evidence, doc(id)...)
			text := "nothing of interest"
			if i < found {
				text = fmt.Sprintf("page %d", qid)
			}
			docs = append(docs, hubDoc{id, text})
		}
		rows = append(rows, r)
	}
	h := hubtest.New(t)
	h.Put("inv/questions", "data/test-00000-of-00001.parquet", parquetFile(t, rows))
	h.Put("inv/corpus", "data/train-00000-of-00001.parquet", parquetFile(t, docs))
	tmp := t.TempDir()
	for name, value := range map[string]string{"XDG_DATA_HOME": filepath.Join(tmp, "data"), "XDG_CACHE_HOME": filepath.Join(tmp, "cache"), "HF_HOME": filepath.Join(tmp, "hf"),
		"HF_HUB_CACHE": "", "HF_TOKEN": "", "HF_HUB_OFFLINE": "", "HF_ENDPOINT": h.URL, browsecompplus.CanaryVariable: testCanary} {
		t.Setenv(name, value)
	}
	sum := sha256.Sum256([]byte(testCanary))
	description = filepath.Join(tmp, "inv.toml")
	text := fmt.Sprintf(`
name = "inv"
title = "Invented"
private = true
convert = "browsecomp-plus"
canary_sha256 = "%s"
corpus = ["corpus/*.parquet"]
queries = ["queries.jsonl"]
answers = ["answers.jsonl"]
evidence = ["qrel_evidence.txt"]
gold = ["qrel_gold.txt"]
default_set = "q9"
set.q9.file = "sets/q9.txt"
set.q100.file = "sets/q100.txt"
expect.questions = 1266
expect.gold = 7
[[source]]
dataset = "inv/questions"
revision = "%s"
files = "data/*.parquet"
into = "source"
[[source]]
dataset = "inv/corpus"
files = "data/*.parquet"
into = "corpus"
`, hex.EncodeToString(sum[:4]), hubtest.DefaultCommit)
	if err := os.WriteFile(description, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return description, filepath.Join(tmp, "data", "goserini")
}

func wantText(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text)
		}
	}
}

func TestSetupAndRunOfAPrivateBenchmark(t *testing.T) {
	description, data := privateBenchmark(t)
	var logs strings.Builder
	say := func(stdout, stderr string) string {
		logs.WriteString(stdout + stderr)
		return stdout + stderr
	}

	out := say(must(t, "benchmarks", description))
	wantText(t, "benchmarks", out, "not set up: goserini setup", "private")
	out = say(must(t, "setup", description, "--dry-run"))
	wantText(t, "dry run", out, "to fetch", "inv/questions@0123456789ab/data/test-00000-of-00001.parquet -> source/", "then: decipher", "then: index", "then: draw", "in all")
	if _, err := os.Stat(data); err == nil {
		t.Fatal("the dry run wrote something")
	}
	t.Setenv(browsecompplus.CanaryVariable, "wrong")
	code, stdout, stderr := command(t, "setup", description)
	wantText(t, "wrong canary", say(stdout, stderr), "the canary is not the right one")
	if code != exitError {
		t.Errorf("got exit code %d", code)
	}
	t.Setenv(browsecompplus.CanaryVariable, testCanary)
	out = say(must(t, "setup", description))
	wantText(t, "setup", out, "is ready in", "1266 pairs of query and gold document, and the benchmark is known to have 7")
	out = say(must(t, "benchmarks", description))
	wantText(t, "benchmarks", out, "ready; 1266 questions, 1266 with answers; sets: all, q100, q9 (default q9); private")
	t.Setenv("HF_HUB_OFFLINE", "1")
	say(must(t, "setup", description)) // nothing is left to fetch

	// A build of the index that was stopped leaves its folder; the same command builds it.
	made := filepath.Join(data, "benchmarks", "inv", benchmark.IndexFolder)
	if err := os.Remove(filepath.Join(made, index.FileName)); err != nil {
		t.Fatal(err)
	}
	out = say(must(t, "setup", description))
	wantText(t, "setup after a stopped build", out, "indexed ", "is ready in")

	// Runs and exports hold the questions in plain text: not outside the data directory.
	outside := filepath.Join(t.TempDir(), "run")
	code, stdout, stderr = command(t, "run", "--benchmark", description, "--model", "builtin/lexical", "--out", outside)
	wantText(t, "run outside", say(stdout, stderr), "outside the data directory", filepath.Join(data, "runs"), "--plaintext")
	if code != exitError {
		t.Errorf("got exit code %d", code)
	}
	inside := filepath.Join(data, "runs", "a")
	say(must(t, "run", "--benchmark", description, "--model", "builtin/lexical", "--out", inside, "--limit", "2"))
	say(must(t, "status", inside))
	say(must(t, "judge", inside))
	say(must(t, "eval", inside))
	code, stdout, stderr = command(t, "export", inside, "--output", outside)
	wantText(t, "export outside", say(stdout, stderr), "outside the data directory")
	if code != exitError {
		t.Errorf("got exit code %d", code)
	}
	for _, args := range [][]string{
		{"report", inside, "--reveal", "--output", outside + ".html"},
		{"report", inside, "--reveal", "--format", "markdown", "--output", "-"},
		{"judge", inside, "--format", "browsecomp-plus", "--output", outside + "-official"},
	} {
		code, stdout, stderr = command(t, args...)
		wantText(t, strings.Join(args, " "), say(stdout, stderr), "outside the data directory", "--plaintext")
		if code != exitError {
			t.Errorf("%q: got exit code %d", args, code)
		}
	}
	say(must(t, "report", inside, "--output", outside+".html"))
	must(t, "report", inside, "--reveal")
	revealed, err := os.ReadFile(filepath.Join(inside, "report.html"))
	if err != nil || !strings.Contains(string(revealed), "marsupial smiles") {
		t.Errorf("a revealed report in the data directory shows no question (%v)", err)
	}
	must(t, "report", inside, "--reveal", "--plaintext", "--output", filepath.Join(t.TempDir(), "revealed.md"))
	say(must(t, "export", inside, "--output", outside, "--encrypt"))
	say(must(t, "export", inside, "--format", "trec", "--output", outside+".trec"))
	say(must(t, "import", outside, "--benchmark", description, "--out", filepath.Join(data, "runs", "back")))
	if _, err := os.Stat(filepath.Join(inside, ".gitignore")); err != nil {
		t.Error(err)
	}

	noSecrets(t, "the logs", logs.String())
	root := filepath.Dir(filepath.Dir(data))
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path == data {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(path)
		if strings.HasSuffix(path, "train-00000-of-00001.parquet") || strings.Contains(path, "blobs") {
			return err // the corpus is published plainly
		}
		noSecrets(t, path, string(b))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, path := range []string{outside, outside + ".trec", outside + ".html"} {
		_ = filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				b, _ := os.ReadFile(path)
				noSecrets(t, path, string(b))
			}
			return nil
		})
	}
}

func noSecrets(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range []string{"marsupial smiles", secretAnswer, testCanary} {
		if strings.Contains(text, secret) {
			t.Errorf("%s holds %q", where, secret)
		}
	}
}
