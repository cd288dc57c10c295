// Command bm25auto derives and judges the rule behind --bm25 auto and prints
// docs/bm25-parameters.md.
//
//	go run ./bench/bm25auto --data ../shared/data > docs/bm25-parameters.md
//
// The rule is fitted to all collections but one and judged on the one left out, in turn. If
// the constants fitted to all collections are not those in internal/bm25, that is an error.
// Indexes are kept in $GOSERINI_BENCH_DIR, or in goserini-bench in the folder for temporary files.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"

	"goserini/internal/bm25"
)

func main() {
	data := flag.String("data", "../shared/data", "the folder of collections")
	flag.Parse()
	if err := run(context.Background(), *data); err != nil {
		fmt.Fprintln(os.Stderr, "bm25auto:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, data string) error {
	folders, err := filepath.Glob(filepath.Join(data, "*", "corpus.jsonl.gz"))
	if err != nil {
		return err
	}
	if len(folders) < 3 {
		return fmt.Errorf("%d collections in %s: want at least three", len(folders), data)
	}
	sort.Strings(folders)
	var collections []*collection
	for _, path := range folders {
		c, err := load(ctx, filepath.Dir(path))
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(filepath.Dir(path)), err)
		}
		fmt.Fprintf(os.Stderr, "%s: %d queries\n", c.name, c.queries)
		collections = append(collections, c)
	}
	demo, err := loadDemo(ctx)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	report(os.Stdout, collections, demo)
	return checkConstants(collections)
}

// checkConstants compares the program's constants with those fitted to all collections.
func checkConstants(collections []*collection) error {
	fitted, _ := shipped.fit(collections)
	if d := math.Abs(fitted.From-bm25.Repetition.From) + math.Abs(fitted.To-bm25.Repetition.To); d > 1e-9 {
		return fmt.Errorf("internal/bm25 has the ramp %v, fitted is %v", bm25.Repetition, fitted)
	}
	return nil
}
