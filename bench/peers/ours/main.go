// Command ours is this project's engine behind the protocol that all engines of the comparison
// speak; see README.md in the folder above.
//
//	ours serve INDEX K1 B SET=QUERIES ...
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"goserini/internal/bench"
	"goserini/internal/bm25"
	"goserini/internal/controller"
	"goserini/internal/index"
	"goserini/internal/retrieval/local"
	"goserini/internal/trec"
)

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ours:", err)
		os.Exit(1)
	}
}

// engine is an open index and the queries.
type engine struct {
	ix     *index.Index
	params bm25.Params
	sets   map[string][]trec.Topic
}

func serve(args []string) error {
	if len(args) < 5 || args[0] != "serve" {
		return errors.New("usage: ours serve INDEX K1 B SET=QUERIES ...")
	}
	e := &engine{sets: map[string][]trec.Topic{}}
	k1, err := strconv.ParseFloat(args[2], 32)
	if err != nil {
		return err
	}
	b, err := strconv.ParseFloat(args[3], 32)
	if err != nil {
		return err
	}
	e.params = bm25.Params{K1: float32(k1), B: float32(b)}
	for _, arg := range args[4:] {
		name, path, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("argument %q is no SET=QUERIES", arg)
		}
		if e.sets[name], err = trec.ReadTopics(path); err != nil {
			return err
		}
	}
	if e.ix, err = index.Open(args[1]); err != nil {
		return err
	}
	defer e.ix.Close()
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		answer, err := e.answer(context.Background(), strings.Fields(in.Text()))
		if err != nil {
			answer = "error " + err.Error()
		}
		fmt.Println(answer)
	}
	return in.Err()
}

func (e *engine) answer(ctx context.Context, command []string) (string, error) {
	if len(command) < 3 {
		return "", fmt.Errorf("command %q is unknown", command)
	}
	queries, ok := e.sets[command[1]]
	if !ok {
		return "", fmt.Errorf("there is no query set %q", command[1])
	}
	k, err := strconv.Atoi(command[2])
	if err != nil {
		return "", err
	}
	switch {
	case command[0] == "run" && len(command) == 3:
		return times(ctx, len(queries), func(ctx context.Context, i int) error {
			_, err := e.search(ctx, queries[i].Text, k)
			return err
		})
	case command[0] == "tool" && len(command) == 3:
		return times(ctx, len(queries), func(ctx context.Context, i int) error { return e.tool(ctx, queries[i].Text, k) })
	case command[0] == "load" && len(command) == 5:
		return e.load(ctx, queries, k, command[3], command[4])
	case command[0] == "hits" && len(command) == 4:
		return "ok", e.hits(ctx, queries, k, command[3])
	}
	return "", fmt.Errorf("command %q is unknown", command)
}

func (e *engine) search(ctx context.Context, text string, k int) (index.Ranking, error) {
	return e.ix.Search(ctx, index.Query{Text: text, Params: e.params, Depth: k})
}

// tool calls the agent's search tool: a ranking and its first page.
func (e *engine) tool(ctx context.Context, query string, k int) error {
	args, err := json.Marshal(map[string]string{"reason": "to measure", "query": query})
	if err != nil {
		return err
	}
	for _, t := range controller.New(local.New(e.ix, e.params), controller.Options{Depth: k}).Tools() {
		if t.Name == controller.SearchTool {
			r, err := t.Begin(args)(ctx)
			if err == nil && r.IsError {
				err = errors.New(r.Text)
			}
			return err
		}
	}
	return errors.New("there is no search tool")
}

// times runs tasks one by one and writes their times.
func times(ctx context.Context, n int, task func(context.Context, int) error) (string, error) {
	batch, err := bench.Each("ours", n, task).Run(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("times")
	for i, wall := range batch.Wall {
		var thread time.Duration
		if batch.Thread != nil {
			thread = batch.Thread[i]
		}
		fmt.Fprintf(&b, " %d:%d", wall.Nanoseconds(), thread.Nanoseconds())
	}
	return b.String(), nil
}

func (e *engine) load(ctx context.Context, queries []trec.Topic, k int, threads, seconds string) (string, error) {
	workers, err := strconv.Atoi(threads)
	if err != nil {
		return "", err
	}
	length, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return "", err
	}
	load, err := bench.ClosedLoop(ctx, workers, len(queries), time.Duration(length*float64(time.Second)), func(ctx context.Context, i int) error {
		_, err := e.search(ctx, queries[i].Text, k)
		return err
	})
	return fmt.Sprintf("load %g %g", load.PerSecond, load.P99), err
}

// hits writes the docids found for every query.
func (e *engine) hits(ctx context.Context, queries []trec.Topic, k int, path string) error {
	var b strings.Builder
	for _, q := range queries {
		r, err := e.search(ctx, q.Text, k)
		if err != nil {
			return err
		}
		b.WriteString(q.ID)
		sep := "\t"
		for _, h := range r.Hits {
			b.WriteString(sep + h.DocID)
			sep = " "
		}
		b.WriteByte('\n')
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
