package enginebench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"goserini/internal/bench"
	"goserini/internal/bm25"
	"goserini/internal/index"
	"goserini/internal/trec"
)

// measured runs a command and returns what it prints and uses.
func measured(cmd *exec.Cmd) ([]byte, bench.Usage, error) {
	var out, diagnostics bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnostics
	usage, err := bench.Measure(cmd)
	if err != nil {
		return nil, usage, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(diagnostics.Bytes()))
	}
	return out.Bytes(), usage, nil
}

// Probe searches every query of a file on two threads in this process and returns what it
// holds in memory then.
func Probe(ctx context.Context, dir, topics string, params bm25.Params) (bench.Memory, error) {
	ix, err := index.Open(dir)
	if err != nil {
		return bench.Memory{}, err
	}
	defer ix.Close()
	queries, err := trec.ReadTopics(topics)
	if err != nil {
		return bench.Memory{}, err
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range 2 {
		g.Go(func() error {
			for i := next.Add(1); int(i) <= len(queries); i = next.Add(1) {
				if _, err := ix.Search(ctx, index.Query{Text: queries[i-1].Text, Params: params, Depth: 1000}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return bench.Memory{}, err
	}
	return bench.ReadMemory()
}

// processes measures what needs a process of its own.
func (m *measurement) processes(ctx context.Context) error {
	m.Say("starting processes")
	const perRound = 3
	query := m.queries[m.Sets[0]][0].Text
	var batch bench.Batch
	for range perRound * m.Rounds {
		_, usage, err := measured(exec.CommandContext(ctx, m.Binary, "search", "--index", m.dir, "--json", "--", query))
		if err != nil {
			return err
		}
		batch.Wall = append(batch.Wall, usage.Wall)
	}
	m.report.First = bench.P50(batch.Wall)
	scratch, err := os.MkdirTemp("", "enginebench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if err := WriteQueries(m.Corpus, m.Sets[:1], m.Queries, scratch); err != nil {
		return err
	}
	topics := filepath.Join(scratch, string(m.Sets[0])+".tsv")
	out, _, err := measured(exec.CommandContext(ctx, m.Binary, "bench", "probe", "--index", m.dir, "--topics", topics))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, &m.report.Memory); err != nil {
		return fmt.Errorf("read memory of the process: %w", err)
	}
	return nil
}

// cpuName is the processor's name where the system tells.
func cpuName() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
