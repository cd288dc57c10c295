// Command collections indexes, searches and scores every collection of a folder with the
// goserini binary and prints docs/collections.md.
//
//	go run ./bench/collections --goserini bin/goserini --data ../shared/data --more DIR > docs/collections.md
//
// DIR has further collections, as bench/independent makes them. Without --more their table is left out.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
)

var settings = []struct{ name, k1, b string }{{"0.9, 0.4", "0.9", "0.4"}, {"25, 1", "25", "1"}}

func main() {
	goserini := flag.String("goserini", "bin/goserini", "the binary")
	data := flag.String("data", "../shared/data", "the folder of collections")
	more := flag.String("more", "", "a folder of further collections, as bench/independent makes")
	flag.Parse()
	if err := run(*goserini, *data, *more); err != nil {
		fmt.Fprintln(os.Stderr, "collections:", err)
		os.Exit(1)
	}
}

func run(goserini, data, more string) error {
	fmt.Print(head)
	if err := table(goserini, data); err != nil || more == "" {
		return err
	}
	fmt.Print(moreHead)
	return table(goserini, more)
}

// table prints a line for each collection in a folder.
func table(goserini, data string) error {
	folders, err := filepath.Glob(filepath.Join(data, "*", "corpus.jsonl.gz"))
	if err != nil {
		return err
	}
	if len(folders) == 0 {
		return fmt.Errorf("no collection in %s", data)
	}
	sort.Strings(folders)
	fmt.Print(columns)
	scratch, err := os.MkdirTemp("", "collections")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	for _, corpus := range folders {
		dir := filepath.Dir(corpus)
		if err := row(goserini, dir, filepath.Join(scratch, filepath.Base(dir))); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(dir), err)
		}
	}
	return nil
}

const head = `# BM25 over real collections

Each collection indexed, searched to depth 1000 and scored with the program's own commands; means over all judged queries
(` + "`-c`" + `, so that a judged query without relevant documents counts 0). Made by ` + "`make build && go run ./bench/collections --more DIR > docs/collections.md`" + `.

`

// moreHead is what stands before the collections of --more.
const moreHead = `
Collections out of DIR, which ` + "`bench/independent`" + ` makes out of packages; what they are is in [bm25-parameters.md](bm25-parameters.md).

`

const columns = `| collection | documents | tokens a document | nDCG@10 (0.9, 0.4) | R@1000 (0.9, 0.4) | nDCG@10 (25, 1) | R@1000 (25, 1) |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
`

// row prints one line of the table.
func row(goserini, dir, scratch string) error {
	out, err := command(goserini, "index", filepath.Join(dir, "corpus.jsonl.gz"), "--index", scratch, "--json")
	if err != nil {
		return err
	}
	var stats struct {
		Documents, Tokens int64
		WithTokens        int64 `json:"documents_with_tokens"`
	}
	if err := json.Unmarshal(out, &stats); err != nil {
		return err
	}
	fmt.Printf("| %s | %d | %.0f |", filepath.Base(dir), stats.Documents, float64(stats.Tokens)/float64(stats.WithTokens))
	for _, s := range settings {
		ndcg, recall, err := score(goserini, dir, scratch, s.k1, s.b)
		if err != nil {
			return err
		}
		fmt.Printf(" %.4f | %.4f |", ndcg, recall)
	}
	fmt.Println()
	return nil
}

func score(goserini, dir, index, k1, b string) (ndcg, recall float64, err error) {
	run := index + ".run"
	if _, err := command(goserini, "search", "--index", index, "--topics", filepath.Join(dir, "queries.tsv"), "--output", run, "--k1", k1, "--b", b); err != nil {
		return 0, 0, err
	}
	out, err := command(goserini, "eval", "--qrels", filepath.Join(dir, "qrels.txt"), run, "-c", "-m", "nDCG@10", "-m", "R@1000", "--format", "trec_eval")
	if err != nil {
		return 0, 0, err
	}
	for line := range bytes.Lines(out) {
		var name, scope string
		var value float64
		if _, err := fmt.Sscan(string(line), &name, &scope, &value); err != nil {
			return 0, 0, fmt.Errorf("read score %q: %w", line, err)
		}
		switch name {
		case "ndcg_cut_10":
			ndcg = value
		case "recall_1000":
			recall = value
		}
	}
	return ndcg, recall, nil
}

func command(name string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %v: %w\n%s", name, args, err, stderr.Bytes())
	}
	return out, nil
}
