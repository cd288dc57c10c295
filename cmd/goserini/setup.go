package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/benchmark"
	"goserini/internal/bm25"
	"goserini/internal/browsecompplus"
	"goserini/internal/fetch"
	"goserini/internal/hub"
	"goserini/internal/index"
	"goserini/internal/setup"
)

type setupOptions struct {
	dryRun  bool
	noIndex bool
	json    bool
}

func newSetup(term *terminal) *cobra.Command {
	var o setupOptions
	cmd := &cobra.Command{
		Use:   "setup BENCHMARK",
		Short: "Fetch, verify, decipher and index a benchmark",
		Long: `Fetch a benchmark's sources, verify them, bring them into this project's form and index the
documents, below the data directory. What is there is not fetched again, and an interrupted setup goes on
where it stopped.

From the Hugging Face hub files come into the cache that its own tools use. HF_TOKEN, HF_HOME, HF_ENDPOINT and
HF_HUB_OFFLINE mean what they mean there. BROWSECOMP_PLUS_CANARY holds the password of browsecomp-plus.`,
		Example: "  goserini setup browsecomp-plus --dry-run\n  goserini setup msmarco-v1-passage",
		Args:    exactly("BENCHMARK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSetup(cmd.Context(), term, args[0], o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.dryRun, "dry-run", false, "say what would be fetched and done, and stop")
	f.BoolVar(&o.noIndex, "no-index", false, "fetch and decipher only")
	f.BoolVar(&o.json, "json", false, "with --dry-run: print as JSON")
	return cmd
}

func runSetup(ctx context.Context, term *terminal, name string, o setupOptions) error {
	d, dir, err := benchmark.Describe(name)
	if err != nil {
		return err
	}
	if len(d.Sources) == 0 {
		term.say("benchmark %s needs no setup", d.Name)
		return nil
	}
	h, err := hub.FromEnvironment()
	if err != nil {
		return err
	}
	view := &fetchView{term: term, start: time.Now(), current: map[string]int64{}}
	h.Fetcher.Progress, h.Fetcher.Waiting = view.progress, view.waiting
	s := setup.New(d, dir, h, os.Getenv(browsecompplus.CanaryVariable))
	if !o.dryRun {
		if err := s.Ready(); err != nil {
			return err
		}
	}
	if h.Offline {
		term.say("HF_HUB_OFFLINE is set: of the hub's files only those in its cache are used")
	}
	plan, err := s.Plan(ctx)
	if err != nil {
		return err
	}
	if o.dryRun {
		return showSetup(term, plan, o.json)
	}
	view.total = plan.Missing()
	if err := s.Fetch(ctx, plan); err != nil {
		term.endProgress()
		return withHint(err, "goserini setup %s goes on where this stopped", shellQuote(name))
	}
	term.endProgress()
	if o.noIndex {
		term.say("fetched into %s", dir)
		return nil
	}
	return finishSetup(ctx, term, name, d, s)
}

func showSetup(term *terminal, p setup.Plan, asJSON bool) error {
	if asJSON {
		return term.json(p)
	}
	for _, it := range p.Items {
		state := size(it.Missing) + " to fetch"
		if it.Missing == 0 && it.Bytes > 0 {
			state = "there"
		} else if it.Missing < it.Bytes {
			state += " of " + size(it.Bytes)
		} else if it.Bytes == 0 {
			state = "size unknown"
		}
		if it.About && it.Missing > 0 {
			state = "about " + state
		}
		term.print("%-24s %s -> %s\n", state, printable(it.Source), printable(it.Into))
	}
	for _, step := range p.Steps {
		term.print("then: %s\n", printable(step))
	}
	term.print("%s to fetch in all\n", size(p.Missing()))
	return nil
}

// finishSetup indexes, draws the query sets and compares the counts.
func finishSetup(ctx context.Context, term *terminal, name string, d benchmark.Description, s *setup.Setup) error {
	b, err := benchmark.Load(name)
	if err != nil {
		return err
	}
	dir := filepath.Join(s.Dir(), benchmark.IndexFolder)
	if b.Index == "" {
		if err := buildSetupIndex(ctx, term, b, dir); err != nil {
			return withHint(err, "goserini setup %s goes on where this stopped", shellQuote(name))
		}
	}
	ix, err := openIndex(dir)
	if err != nil {
		return err
	}
	defer ix.Close()
	if s.ToDraw() {
		if err := drawSets(ctx, term, s, ix); err != nil {
			return err
		}
	}
	notes, err := s.CheckCounts(ix.Stats().Documents)
	if err != nil {
		return err
	}
	for _, note := range notes {
		term.warn("%s", note)
	}
	term.say("benchmark %s is ready in %s", d.Name, s.Dir())
	term.hint("next: goserini run --benchmark %s --model builtin/lexical --limit 10 --out DIR", shellQuote(name))
	return nil
}

func buildSetupIndex(ctx context.Context, term *terminal, b *benchmark.Benchmark, dir string) error {
	src, err := b.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	start := time.Now()
	stats, err := index.Build(ctx, dir, src, index.BuildOptions{Analyzer: b.Analyzer, Source: b.Name, Progress: showBuild(term)})
	term.endProgress()
	showReport(term, src.Report(), false)
	if err != nil {
		return err
	}
	term.say("indexed %s documents, %s tokens in %s", count(stats.Documents), count(stats.Tokens), duration(time.Since(start)))
	return nil
}

// drawSets ranks every question with Anserini's default, as the published query sets were made.
func drawSets(ctx context.Context, term *terminal, s *setup.Setup, ix *index.Index) error {
	n := 0
	err := s.DrawSets(func(query string) ([]string, error) {
		r, err := ix.Search(ctx, index.Query{Text: query, Params: bm25.Anserini, Depth: browsecompplus.SliceDepth})
		if err != nil {
			return nil, err
		}
		n++
		term.progress("ranking questions for the query sets: %d", n)
		docids := make([]string, len(r.Hits))
		for i, h := range r.Hits {
			docids[i] = h.DocID
		}
		return docids, nil
	})
	term.endProgress()
	return err
}

// fetchView shows how much has been fetched.
type fetchView struct {
	term  *terminal
	start time.Time
	total int64

	mu sync.Mutex
	// came is what this process has fetched, current how much of each file is there.
	came    int64
	current map[string]int64
}

func (v *fetchView) progress(url string, done, total int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if last, ok := v.current[url]; ok && done > last {
		v.came += done - last
	}
	v.current[url] = done
	of := ""
	if total > 0 {
		of = " of " + size(total)
	}
	rate := ""
	if s := time.Since(v.start).Seconds(); s > 1 && v.came > 0 {
		rate = ", " + size(int64(float64(v.came)/s)) + "/s"
		if left := v.total - v.came; left > 0 {
			rate += fmt.Sprintf(", %s remain, about %s", size(left), duration(time.Duration(float64(left)/float64(v.came)*s*float64(time.Second))))
		}
	}
	v.term.progress("%s: %s%s%s", fileOf(url), size(done), of, rate)
}

func (v *fetchView) waiting(url string, pause time.Duration, why error) {
	again := "trying again"
	if pause > 0 {
		again += " in " + duration(pause)
	}
	v.term.say("%s: %s; %s", fileOf(url), fetchCause(url, why), again)
}

// fetchCause leaves the address out of a message that names the file already.
func fetchCause(url string, err error) string {
	if s, ok := err.(*fetch.StatusError); ok { //nolint:errorlint // only what is not wrapped
		return fmt.Sprintf("the server answered %d", s.Status)
	}
	return printable(strings.TrimPrefix(err.Error(), "fetch "+url+": "))
}

func fileOf(url string) string {
	path, _, _ := strings.Cut(url, "?")
	return path[strings.LastIndexByte(path, '/')+1:]
}
