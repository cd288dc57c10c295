// Command load measures a server under many clients at once: it builds an index of
// synthetic documents, starts `goserini serve` on loopback, and lets clients search, browse
// and read over MCP, first one, then many.
//
//	go build -o /tmp/goserini ./cmd/goserini
//	go run ./bench/load -program /tmp/goserini -documents 20000 -clients 32 -for 1m
//
// It prints the number of calls and of errors, the median and the 99th percentile of their
// times, and the server's resident memory every ten seconds; an error ends it with code 1.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"goserini/internal/corpus"
	"goserini/internal/index"
	"goserini/internal/synth"
)

func main() {
	program := flag.String("program", "goserini", "the program to measure")
	documents := flag.Int("documents", 20_000, "documents of the collection")
	shape := flag.String("shape", "long", "long or passages")
	clients := flag.Int("clients", 32, "clients at once")
	duration := flag.Duration("for", time.Minute, "how long they call; the single client calls for a sixth of it")
	dir := flag.String("index", "", "where to keep the index; one that is there is used again")
	build := flag.Bool("build-only", false, "make the index and stop")
	flag.Parse()
	if err := run(*program, *shape, *documents, *clients, *duration, *dir, *build); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(program, shapeName string, documents, clients int, duration time.Duration, dir string, buildOnly bool) error {
	shape, err := synth.ShapeByName(shapeName)
	if err != nil {
		return err
	}
	c := synth.Corpus{Shape: shape, Documents: documents}
	if dir == "" {
		temp, err := os.MkdirTemp("", "load-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		dir = filepath.Join(temp, "index")
	}
	if err := makeIndex(c, dir); err != nil {
		return err
	}
	if buildOnly {
		return nil
	}
	queries, err := c.Queries(synth.Short, 500)
	if err != nil {
		return err
	}
	s, err := startServer(program, dir)
	if err != nil {
		return err
	}
	defer s.stop()
	fmt.Printf("%d documents (%s), %s\n", documents, shape, dir)
	single := s.load(queries, 1, duration/6)
	single.print("1 client")
	many := s.load(queries, clients, duration)
	many.print(fmt.Sprintf("%d clients", clients))
	return errors.Join(single.failure, many.failure)
}

// makeIndex builds the index of a collection, a file at a time, unless it is there.
func makeIndex(c synth.Corpus, dir string) error {
	if ix, err := index.Open(dir); err == nil {
		return ix.Close()
	}
	temp, err := os.MkdirTemp("", "load-corpus-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	path := filepath.Join(temp, "corpus.jsonl")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	lines := json.NewEncoder(w)
	for i := range c.Documents {
		d := c.Document(i)
		if err := lines.Encode(map[string]string{"docid": d.ID, "title": d.Title, "text": d.Text}); err != nil {
			return err
		}
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		return err
	}
	src, err := corpus.Open([]string{path}, corpus.Options{})
	if err != nil {
		return err
	}
	defer src.Close()
	_, err = index.Build(context.Background(), dir, src, index.BuildOptions{Source: "synthetic"})
	return err
}

// server is the process that is measured.
type server struct {
	cmd *exec.Cmd
	url string
}

var addressForm = regexp.MustCompile(`listening on (http://\S+?)/ `)

func startServer(program, dir string) (*server, error) {
	s := &server{cmd: exec.Command(program, "serve", "--index", dir, "--listen", "127.0.0.1:0")}
	out, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := addressForm.FindStringSubmatch(lines.Text()); m != nil {
			s.url = m[1]
			go func() {
				for lines.Scan() {
					fmt.Fprintln(os.Stderr, "server:", lines.Text())
				}
			}()
			return s, nil
		}
		fmt.Fprintln(os.Stderr, "server:", lines.Text())
	}
	return nil, errors.New("the server did not start")
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
	}
}

// memory is the server's resident memory in bytes, 0 where it cannot be told.
func (s *server) memory() int64 {
	resp, err := http.Get(s.url + "/metrics")
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "process_resident_memory_bytes "); ok {
			f, _ := strconv.ParseFloat(rest, 64)
			return int64(f)
		}
	}
	return 0
}

// result is what clients saw.
type result struct {
	times   []time.Duration
	errors  int
	memory  []int64
	failure error
	took    time.Duration
}

func (r *result) print(who string) {
	slices.Sort(r.times)
	at := func(p float64) time.Duration {
		if len(r.times) == 0 {
			return 0
		}
		return r.times[min(int(p*float64(len(r.times))), len(r.times)-1)].Round(10 * time.Microsecond)
	}
	fmt.Printf("%s, %v: %d calls (%.0f/s), %d errors, median %v, p99 %v, worst %v\n",
		who, r.took.Round(time.Second), len(r.times), float64(len(r.times))/r.took.Seconds(), r.errors, at(.5), at(.99), at(1))
	var mib []string
	for _, m := range r.memory {
		mib = append(mib, strconv.FormatInt(m>>20, 10))
	}
	fmt.Printf("  resident memory, MiB, every 10 s: %s\n", strings.Join(mib, " "))
}

// load lets n clients call for a while.
func (s *server) load(queries []synth.Query, n int, d time.Duration) *result {
	r := &result{memory: []int64{s.memory()}}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for i := range n {
		wg.Go(func() {
			c := client{url: s.url + "/mcp", random: rand.New(rand.NewPCG(uint64(i), 1)), http: &http.Client{Transport: &http.Transport{}}}
			for ctx.Err() == nil {
				times, err := c.session(ctx, queries)
				mu.Lock()
				r.times = append(r.times, times...)
				if err != nil && ctx.Err() == nil {
					r.errors++
					r.failure = err
				}
				mu.Unlock()
			}
		})
	}
	ticker := time.NewTicker(10 * time.Second)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ticker.C:
			r.memory = append(r.memory, s.memory())
		case <-ctx.Done():
		}
	}
	wg.Wait()
	r.took = time.Since(start)
	return r
}

// client makes the calls of an agent.
type client struct {
	url    string
	random *rand.Rand
	http   *http.Client
	last   int
}

var (
	searchIDForm = regexp.MustCompile(`"search_id":("(?:[^"\\]|\\.)*")`)
	docidForm    = regexp.MustCompile(`(?m)^\d+\. docid=(\S+)`)
)

// session searches, browses, and reads two documents.
func (c *client) session(ctx context.Context, queries []synth.Query) ([]time.Duration, error) {
	var times []time.Duration
	call := func(tool string, args map[string]any) (string, error) {
		args["reason"] = "load"
		start := time.Now()
		text, err := c.call(ctx, tool, args)
		if err == nil {
			times = append(times, time.Since(start))
		}
		return text, err
	}
	found, err := call("search", map[string]any{"query": queries[c.random.IntN(len(queries))].Text})
	if err != nil {
		return times, err
	}
	if m := searchIDForm.FindStringSubmatch(found); m != nil {
		var id string
		if err := json.Unmarshal([]byte(m[1]), &id); err != nil {
			return times, err
		}
		page, err := call("read_search_results", map[string]any{"search_id": id, "offset": 6})
		if err != nil {
			return times, err
		}
		found += page
	}
	docids := docidForm.FindAllStringSubmatch(found, -1)
	for range min(2, len(docids)) {
		if _, err := call("read_document", map[string]any{"docid": docids[c.random.IntN(len(docids))][1], "offset": 1}); err != nil {
			return times, err
		}
	}
	return times, nil
}

func (c *client) call(ctx context.Context, tool string, args map[string]any) (string, error) {
	c.last++
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.last, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args}})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	resp, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	var answer struct {
		ID     int
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return "", fmt.Errorf("%s: HTTP %d: %.200s", tool, resp.StatusCode, text)
	}
	if resp.StatusCode != http.StatusOK || answer.Result.IsError || len(answer.Result.Content) != 1 || answer.ID != c.last {
		return "", fmt.Errorf("%s: HTTP %d: %.500s", tool, resp.StatusCode, text)
	}
	return answer.Result.Content[0].Text, nil
}
