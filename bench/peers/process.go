package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"goserini/internal/bench"
	"goserini/internal/synth"
)

// process is a running engine.
type process struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	// ranks says that it can be timed without docids, too.
	ranks bool
}

// start starts an engine and waits until it is ready.
func (w *workspace) start(ctx context.Context, name string, argv []string) (*process, error) {
	cmd := w.command(ctx, argv[0], argv[1:]...)
	cmd.Stdout = nil
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	if line, err := p.line(); err != nil || line != "ready" {
		p.stop()
		return nil, fmt.Errorf("start %s: it said %q, %w", name, line, errors.Join(err, errors.New("want ready")))
	}
	return p, nil
}

// stop closes its input, at which every engine ends.
func (p *process) stop() {
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		say("%s: %v", p.name, err)
	}
}

func (p *process) line() (string, error) {
	line, err := p.out.ReadString('\n')
	return strings.TrimSuffix(line, "\n"), err
}

// ask sends a command and returns the fields of the answer.
func (p *process) ask(kind string, format string, args ...any) ([]string, error) {
	if _, err := fmt.Fprintf(p.in, format+"\n", args...); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	line, err := p.line()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	fields := strings.Fields(line)
	if len(fields) == 0 || fields[0] != kind && fields[0] != "total" {
		return nil, fmt.Errorf("%s: %s", p.name, line)
	}
	return fields, nil
}

// contestant runs a command over a query set.
func (p *process) contestant(command string, set synth.QuerySet, k int) bench.Contestant {
	return bench.Contestant{Name: p.name, Run: func(context.Context) (bench.Batch, error) {
		fields, err := p.ask("times", "%s %s %d", command, set, k)
		if err != nil {
			return bench.Batch{}, err
		}
		return parseBatch(fields)
	}}
}

// parseBatch reads "times WALL:THREAD ..." or "total N WALL THREAD", all in nanoseconds.
func parseBatch(fields []string) (bench.Batch, error) {
	var b bench.Batch
	if fields[0] == "total" {
		if len(fields) != 4 {
			return b, fmt.Errorf("answer %q has %d fields, want 4", fields, len(fields))
		}
		var v [3]int64
		for i := range v {
			var err error
			if v[i], err = strconv.ParseInt(fields[i+1], 10, 64); err != nil {
				return b, err
			}
		}
		n := max(v[0], 1)
		return bench.Batch{Wall: []time.Duration{time.Duration(v[1] / n)}, Thread: []time.Duration{time.Duration(v[2] / n)}}, nil
	}
	for _, field := range fields[1:] {
		var wall, thread int64
		if _, err := fmt.Sscanf(field, "%d:%d", &wall, &thread); err != nil {
			return b, fmt.Errorf("time %q: %w", field, err)
		}
		b.Wall, b.Thread = append(b.Wall, time.Duration(wall)), append(b.Thread, time.Duration(thread))
	}
	return b, nil
}

// hits returns what an engine finds, by query.
func (p *process) hits(set synth.QuerySet, k int, path string) (map[string][]string, error) {
	if _, err := p.ask("ok", "hits %s %d %s", set, k, path); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	found := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		id, docids, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		found[id] = strings.Fields(docids)
	}
	return found, nil
}

// overlap is the mean share of documents that both found, over the queries.
func overlap(a, b map[string][]string) float64 {
	var sum float64
	for id, docids := range a {
		in := map[string]bool{}
		for _, d := range docids {
			in[d] = true
		}
		common := 0
		for _, d := range b[id] {
			if in[d] {
				common++
			}
		}
		if most := max(len(docids), len(b[id])); most > 0 {
			sum += float64(common) / float64(most)
		} else {
			sum++
		}
	}
	return sum / float64(max(len(a), 1))
}
