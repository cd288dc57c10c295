// Command peers compares the engine with Lucene, tantivy, PISA, bm25s and Anserini and prints
// docs/performance.md. README.md beside it says how.
//
//	go run ./bench/peers > docs/performance.md
//	go run ./bench/peers -long 2000 -passages 0 -rounds 2     a quick look
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	dir            string
	long, passages int
	queries        int
	rounds         int
	tolerance      float64
	warm, load     time.Duration
	again          string
	only           string
	prepareOnly    bool
	reportOnly     bool
}

func run(ctx context.Context) error {
	o := options{dir: os.Getenv("GOSERINI_BENCH_DIR")}
	if o.dir == "" {
		o.dir = filepath.Join(os.TempDir(), "goserini-bench")
	}
	flag.StringVar(&o.dir, "dir", o.dir, "where programs, collections, indexes and results are kept ($GOSERINI_BENCH_DIR)")
	flag.IntVar(&o.long, "long", 100_000, "number of long documents; 0 leaves the part out")
	flag.IntVar(&o.passages, "passages", 8_800_000, "number of passages; 0 leaves the part out")
	flag.IntVar(&o.queries, "queries", 300, "queries in each set")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds that count")
	flag.Float64Var(&o.tolerance, "tolerance", 0.1, "how far the canary may move in a round that counts; 0 accepts every round")
	flag.DurationVar(&o.warm, "warm", 30*time.Second, "how long engines are warmed up at most, for each query set")
	flag.DurationVar(&o.load, "load", 20*time.Second, "how long closed loops run")
	flag.StringVar(&o.again, "again", "", "results to measure again: all, or some of start,search,tool,build,engine with commas")
	flag.StringVar(&o.only, "only", "", "engines to compare with, with commas (default all)")
	flag.BoolVar(&o.prepareOnly, "prepare", false, "only build programs, collections and indexes")
	flag.BoolVar(&o.reportOnly, "report", false, "only print what has been measured")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	root, err := repository()
	if err != nil {
		return err
	}
	w, err := newWorkspace(root, o)
	if err != nil {
		return err
	}
	defer w.close()
	if o.reportOnly {
		return w.report(os.Stdout)
	}
	for _, p := range w.parts() {
		if err := p.prepare(ctx); err != nil {
			return err
		}
	}
	if o.prepareOnly {
		return nil
	}
	for _, p := range w.parts() {
		if err := p.measure(ctx); err != nil {
			return err
		}
	}
	return w.report(os.Stdout)
}

// repository finds the root of the project above the working folder.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("run this inside the project")
		}
		dir = parent
	}
}

// among tells whether a name is in a list with commas, or the list is all.
func among(list, name string) bool {
	for item := range strings.SplitSeq(list, ",") {
		if item == name || item == "all" {
			return true
		}
	}
	return false
}
