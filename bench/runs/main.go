// Command runs measures how well a run uses a model server: many questions of many turns against
// a simulated server of the Chat Completions form, in a process of its own, whose think times are drawn
// from a lognormal distribution. It prints how long the run took, how long the server alone would have
// needed for the same think times at the same concurrency, and the most memory the process held beside the
// index.
//
//	go run ./bench/runs --questions 830 --turns 20 --concurrency 64 --mean 1s
//
// Think times are scaled: real models take several seconds a turn, which makes everything that is not the
// server's matter less than here.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"goserini/internal/agent"
	"goserini/internal/bench"
	"goserini/internal/bm25"
	"goserini/internal/controller"
	"goserini/internal/corpus"
	"goserini/internal/experiment"
	"goserini/internal/index"
	"goserini/internal/llm/openaichat"
	"goserini/internal/retrieval/local"
	"goserini/internal/synth"
	"goserini/internal/trajectory"
)

type options struct {
	Questions   int           `json:"questions"`
	Turns       int           `json:"turns"`
	Concurrency int           `json:"concurrency"`
	Mean        time.Duration `json:"mean_think_ns"`
	Spread      float64       `json:"spread"`
	Documents   int           `json:"documents"`
	Seed        uint64        `json:"seed"`
	dir         string
	profile     string
	serve       bool
}

func main() {
	var o options
	flag.IntVar(&o.Questions, "questions", 830, "questions of the run")
	flag.IntVar(&o.Turns, "turns", 20, "model responses for each, the answer included")
	flag.IntVar(&o.Concurrency, "concurrency", 64, "questions at once")
	flag.DurationVar(&o.Mean, "mean", time.Second, "mean think time of the server")
	flag.Float64Var(&o.Spread, "spread", 0.6, "standard deviation of the logarithm of think times")
	flag.IntVar(&o.Documents, "documents", 2000, "documents of the collection, of the length of web pages")
	flag.Uint64Var(&o.Seed, "seed", 1, "seed of think times and texts")
	flag.StringVar(&o.dir, "dir", "", "where index and run go (default: a folder that is removed)")
	flag.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile of the run here")
	flag.BoolVar(&o.serve, "serve", false, "be the server")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "runs:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	think := thinker{mean: o.Mean, spread: o.Spread, seed: o.Seed}
	if o.serve {
		return serve(think, o.Turns, o.Seed)
	}
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "runs")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	ix, err := buildIndex(o)
	if err != nil {
		return err
	}
	defer ix.Close()
	url, stop, err := startServer()
	if err != nil {
		return err
	}
	defer stop()
	return measure(o, think, ix, url)
}

// buildIndex makes an index of invented documents.
func buildIndex(o options) (*index.Index, error) {
	docs := synth.Corpus{Shape: synth.Long, Documents: o.Documents, Seed: o.Seed}
	src := corpus.FromSequence("invented", func(yield func(corpus.Document, error) bool) {
		for i := range o.Documents {
			d := docs.Document(i)
			if !yield(corpus.Document{DocID: d.ID, Title: d.Title, Text: d.Text}, nil) {
				return
			}
		}
	})
	defer src.Close()
	dir := filepath.Join(o.dir, "index")
	if _, err := index.Build(context.Background(), dir, src, index.BuildOptions{}); err != nil {
		return nil, err
	}
	return index.Open(dir)
}

// startServer starts this program as the server and returns its address.
func startServer() (url string, stop func(), err error) {
	exe, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(exe, append([]string{"--serve"}, os.Args[1:]...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill() // it has nothing to save
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("start server: %w", err)
	}
	return strings.TrimSpace(line), stop, nil
}

// result is what is printed.
type result struct {
	Options options `json:"options"`
	// Seconds is how long the run took, Ideal how long the think times alone take.
	Seconds float64 `json:"seconds"`
	Ideal   float64 `json:"ideal_seconds"`
	// Throughput is Ideal over Seconds: the share of what the server allows that the run used.
	Throughput float64 `json:"throughput_share"`
	Calls      int     `json:"model_calls"`
	Tools      int     `json:"tool_calls"`
	Failed     int     `json:"failed"`
	// PeakMB is the most anonymous memory in megabytes, BeforeMB what was held before the run began.
	PeakMB   float64 `json:"peak_mb"`
	BeforeMB float64 `json:"before_mb"`
}

func measure(o options, think thinker, ix *index.Index, url string) error {
	plan, err := plan(o, ix, url)
	if err != nil {
		return err
	}
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	memory := watchMemory()
	r := result{Options: o, Ideal: think.ideal(o).Seconds()}
	var mu sync.Mutex
	start := time.Now()
	summary, err := experiment.Run(context.Background(), filepath.Join(o.dir, "run"), plan, experiment.Options{
		Concurrency: o.Concurrency,
		Observe: func(n experiment.Notice) {
			if n.Record == nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			r.Calls += n.Record.Tries
			r.Tools += n.Record.ExecutedCalls
			if n.Done%100 == 0 {
				fmt.Fprintf(os.Stderr, "%d of %d questions after %.0f s\n", n.Done, n.Total, time.Since(start).Seconds())
			}
		},
	})
	if err != nil {
		return err
	}
	r.Seconds = time.Since(start).Seconds()
	r.Throughput = r.Ideal / r.Seconds
	r.Failed = summary.Failed + summary.TimedOut
	r.BeforeMB, r.PeakMB = memory.stop()
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

func plan(o options, ix *index.Index, url string) (experiment.Plan, error) {
	client, err := openaichat.New(openaichat.Config{Provider: "simulated", BaseURL: url})
	if err != nil {
		return experiment.Plan{}, err
	}
	retriever := local.New(ix, bm25.Paper)
	questions := make([]experiment.Question, o.Questions)
	for i := range questions {
		questions[i] = experiment.Question{ID: fmt.Sprintf("q%04d", i), Text: fmt.Sprintf("%s%d?", questionStem, i)}
	}
	return experiment.Plan{
		Name: "simulated", Questions: questions, Spec: experiment.Spec{Questions: len(questions)},
		Research: func(ctx context.Context, q experiment.Question, emit func(trajectory.Event)) (trajectory.Record, error) {
			return agent.Run(ctx, agent.Question{ID: q.ID, Text: q.Text}, agent.Config{
				Client: client, Model: "simulated", Tools: controller.New(retriever, controller.Options{}).Tools(), Emit: emit,
			})
		},
	}, nil
}

// memoryWatch samples how much memory the process holds.
type memoryWatch struct {
	before, peak int64
	end          chan struct{}
	done         sync.WaitGroup
}

func watchMemory() *memoryWatch {
	w := &memoryWatch{end: make(chan struct{})}
	if m, err := bench.ReadMemory(); err == nil {
		w.before, w.peak = m.Anonymous, m.Anonymous
	}
	w.done.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-w.end:
				return
			case <-tick.C:
			}
			if m, err := bench.ReadMemory(); err == nil {
				w.peak = max(w.peak, m.Anonymous)
			}
		}
	})
	return w
}

// stop returns megabytes.
func (w *memoryWatch) stop() (before, peak float64) {
	close(w.end)
	w.done.Wait()
	return float64(w.before) / 1e6, float64(w.peak) / 1e6
}
