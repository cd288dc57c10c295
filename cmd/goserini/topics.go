package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"goserini/internal/atomicfile"
	"goserini/internal/bm25"
	"goserini/internal/index"
	"goserini/internal/trec"
)

func runTopics(ctx context.Context, term *terminal, cmd *cobra.Command, o searchOptions) error {
	if o.output == "" {
		return usagef(cmd, "--output FILE is missing: name the run file to write, or - for stdout")
	}
	depth, err := o.depth(cmd, 1000)
	if err != nil {
		return err
	}
	topics, err := trec.ReadTopics(o.topics)
	if err != nil {
		return err
	}
	ix, err := openIndex(o.dir)
	if err != nil {
		return err
	}
	defer ix.Close()
	params, source, err := o.bm25.resolve(cmd, ix.Stats(), anseriniDefault)
	if err != nil {
		return err
	}
	term.say("BM25 (%s), %s (%s), analyzer %s, %s queries, depth %d", bm25.Variant, params, source, ix.Analyzer().Name(), count(len(topics)), depth)
	start := time.Now()
	rankings, err := searchTopics(ctx, term, ix, topics, params, depth, o.threads)
	term.endProgress()
	if err != nil {
		return err
	}
	if err := writeRun(term, o, topics, rankings); err != nil {
		return err
	}
	empty := 0
	for _, r := range rankings {
		if len(r) == 0 {
			empty++
		}
	}
	if empty > 0 {
		term.warn("%d of %d queries found nothing: a run file has no line for them, so evaluate it with -c", empty, len(topics))
	}
	term.say("%s queries in %s", count(len(topics)), duration(time.Since(start)))
	return nil
}

// searchTopics runs all queries over one shared index, several at once, and returns the
// rankings in the order of the topics.
func searchTopics(ctx context.Context, term *terminal, ix *index.Index, topics []trec.Topic, params bm25.Params, depth, threads int) ([][]trec.ScoredDoc, error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	rankings := make([][]trec.ScoredDoc, len(topics))
	var done atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(threads)
	for i, topic := range topics {
		g.Go(func() error {
			r, err := ix.Search(ctx, index.Query{Text: topic.Text, Params: params, Depth: depth})
			if err != nil {
				return fmt.Errorf("query %q (line %d): %w", topic.ID, topic.Line, err)
			}
			rankings[i] = make([]trec.ScoredDoc, len(r.Hits))
			for j, h := range r.Hits {
				rankings[i][j] = trec.ScoredDoc{DocID: h.DocID, Score: h.Score}
			}
			term.progress("searching: %d of %d queries", done.Add(1), len(topics))
			return nil
		})
	}
	return rankings, g.Wait()
}

func writeRun(term *terminal, o searchOptions, topics []trec.Topic, rankings [][]trec.ScoredDoc) (err error) {
	var w io.Writer = term.out
	if o.output != "-" {
		f, err := atomicfile.Create(o.output, 0o644)
		if err != nil {
			return fmt.Errorf("create run file: %w", err)
		}
		defer f.Abort()
		if err := writeRankings(f, o, topics, rankings); err != nil {
			return err
		}
		return f.Commit()
	}
	return writeRankings(w, o, topics, rankings)
}

func writeRankings(w io.Writer, o searchOptions, topics []trec.Topic, rankings [][]trec.ScoredDoc) error {
	var out trec.RankingWriter
	switch o.outputFormat {
	case "trec":
		rw, err := trec.NewRunWriter(w, o.tag)
		if err != nil {
			return err
		}
		out = rw
	case "jsonl":
		out = trec.NewJSONRunWriter(w)
	default:
		return &usageError{err: fmt.Errorf("--output-format %q: want trec or jsonl", o.outputFormat)}
	}
	for i, topic := range topics {
		if err := out.Write(topic.ID, rankings[i]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// fileExists tells whether a path names anything.
func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
