// Command bm25auto derives and judges the rule behind --bm25 auto and prints
// docs/bm25-parameters.md.
//
//	go run ./bench/bm25auto --data ../shared/data --independent DIR > docs/bm25-parameters.md
//
// The rule is fitted to all collections but one and judged on the one left out, in turn; then, as it is in the program, on
// those of DIR, which bench/independent makes. Without --independent that part says that it is missing. If
// the constants fitted to all collections are not those in internal/bm25, that is an error.
// Indexes are kept in $GOSERINI_BENCH_DIR, or in goserini-bench in the folder for temporary files.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"

	"goserini/internal/bm25"
)

func main() {
	data := flag.String("data", "../shared/data", "the folder of collections")
	independent := flag.String("independent", "", "a folder of collections to judge the rule on that have no part in fitting it, as bench/independent makes")
	flag.Parse()
	if err := run(context.Background(), *data, *independent); err != nil {
		fmt.Fprintln(os.Stderr, "bm25auto:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, data, independent string) error {
	collections, err := loadAll(ctx, data)
	if err != nil {
		return err
	}
	if len(collections) < 3 {
		return fmt.Errorf("%d collections in %s: want at least three", len(collections), data)
	}
	var others []*collection
	if independent != "" {
		if others, err = loadAll(ctx, independent); err != nil {
			return err
		}
		if len(others) == 0 {
			return fmt.Errorf("no collection in %s", independent)
		}
	}
	demo, err := loadDemo(ctx)
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	report(os.Stdout, collections, demo, others)
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
