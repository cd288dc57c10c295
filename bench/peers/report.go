package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"goserini/internal/bench"
	"goserini/internal/bm25"
	"goserini/internal/enginebench"
	"goserini/internal/synth"
)

// results are those of a part, nil where nothing is known.
type results struct {
	engine *enginebench.Report
	search []comparison
	start  *comparison
	tool   *comparison
	build  *builds
}

func (p *part) results() (results, error) {
	var r results
	for name, into := range map[string]any{"engine": &r.engine, "search": &r.search, "start": &r.start, "tool": &r.tool, "build": &r.build} {
		data, err := os.ReadFile(p.path("results", p.name(), name+".json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(data, into)
		}
		if err != nil {
			return r, fmt.Errorf("read results: %w", err)
		}
	}
	return r, nil
}

// line is a line of the table of targets.
type line struct {
	what, peer, where string
	target, have      string
	met               bool
}

// bound is a target: at most or at least a number.
type bound struct {
	value   float64
	atLeast bool
}

func atMost(v float64) bound  { return bound{v, false} }
func atLeast(v float64) bound { return bound{v, true} }

func (b bound) String() string {
	if b.atLeast {
		return fmt.Sprintf("≥ %.3g", b.value)
	}
	return fmt.Sprintf("≤ %.3g", b.value)
}

// meets compares the whole interval with the target: one that crosses the bar does not meet it.
func (b bound) meets(i bench.Interval) bool {
	if b.atLeast {
		return i.Low >= b.value
	}
	return i.High <= b.value
}

func exactly(v float64) bench.Interval { return bench.Interval{Value: v, Low: v, High: v} }

// table collects lines.
type table struct{ lines []line }

func (t *table) add(what, peer, where string, b bound, have bench.Interval, format func(bench.Interval) string) {
	t.lines = append(t.lines, line{what, peer, where, b.String(), format(have), b.meets(have)})
}

func asRatio(i bench.Interval) string {
	if i.Low == i.High {
		return fmt.Sprintf("%.3g", i.Value)
	}
	return fmt.Sprintf("%.3g (%.3g to %.3g)", i.Value, i.Low, i.High)
}

func asMB(i bench.Interval) string { return fmt.Sprintf("%.1f MB", i.Value) }

func asMillis(v bench.Interval) string { return fmt.Sprintf("%.1f ms", v.Value) }

func asMicros(i bench.Interval) string { return fmt.Sprintf("%.0f µs", i.Value) }

// compared adds a line for each query set.
func (t *table) compared(r results, what, where string, e peer, k int, setting bm25.Params, targets map[synth.QuerySet]float64) {
	for _, set := range sets {
		target, ok := targets[set]
		if !ok {
			continue
		}
		c, err := find(r.search, e.name, set, k, setting)
		if err != nil {
			continue
		}
		title := e.title
		if c.Statistic == "mean" {
			title += ", by the mean"
		}
		if c.Overlap < 0.97 {
			title += fmt.Sprintf(", finds other documents (overlap %.2f)", c.Overlap)
		}
		t.add(fmt.Sprintf("%s, %s queries", what, set), title, where, atMost(target), c.Ratio, asRatio)
	}
}

func all(v float64) map[synth.QuerySet]float64 {
	return map[synth.QuerySet]float64{synth.Short: v, synth.Medium: v, synth.Verbose: v}
}

// targets makes the table of the targets.
func targets(long, passages results, longName, passagesName string) []line {
	var t table
	by := func(short, medium, verbose float64) map[synth.QuerySet]float64 {
		return map[synth.QuerySet]float64{synth.Short: short, synth.Medium: medium, synth.Verbose: verbose}
	}
	t.compared(long, "top 1000, k1=25 b=1", longName, lucene, 1000, bm25.Paper, by(0.4, 0.25, 0.2))
	t.compared(long, "top 1000, k1=25 b=1", longName, tantivy, 1000, bm25.Paper, by(0.25, 0.12, 0.1))
	t.compared(long, "top 10, k1=0.9 b=0.4", longName, lucene, 10, bm25.Anserini, map[synth.QuerySet]float64{synth.Short: 1})
	t.compared(passages, "top 1000, k1=0.9 b=0.4", passagesName, lucene, 1000, bm25.Anserini, all(0.5))
	t.compared(passages, "top 1000, k1=0.9 b=0.4", passagesName, pisa, 1000, bm25.Anserini, all(1))
	t.compared(passages, "top 1000, k1=0.9 b=0.4", passagesName, bm25s, 1000, bm25.Anserini, all(1.0/6))
	t.built(long, longName)
	t.built(passages, passagesName)
	if long.start != nil {
		t.add("start to first result, warm", "JVM and "+lucene.title, longName, atMost(0.02), long.start.Ratio, asRatio)
	}
	if long.tool != nil {
		t.add("`search` tool call, short queries", "the work of the paper's server, on Anserini 2.3.0", longName, atMost(0.02), long.tool.Ratio, asRatio)
	}
	t.alone(long, longName)
	return t.lines
}

func (t *table) built(r results, where string) {
	b := r.build
	if b == nil {
		return
	}
	t.add("build, text stored, MB/s", "Anserini 2.3.0 (Lucene 10), two threads, -storeRaw", where, atLeast(4), b.ratio(), asRatio)
	t.add("index bytes / text bytes, with text", "–", where, atMost(0.45), exactly(float64(b.OurBytes)/float64(b.TextBytes)), asRatio)
	var peak int64
	for _, u := range b.Ours {
		peak = max(peak, u.Peak)
	}
	t.add("peak memory of the build", "–", where, atMost(750), exactly(float64(peak)/1e6), asMB)
}

// alone adds what is held against nobody else.
func (t *table) alone(r results, where string) {
	e := r.engine
	if e == nil {
		return
	}
	for _, s := range e.Searches {
		if s.Depth == 1000 && s.Params == bm25.Paper && s.Set != synth.Adversarial {
			t.add(fmt.Sprintf("p99 / p50, top 1000, %s queries", s.Set), "own", where, atMost(3), exactly(s.P99/s.P50), asRatio)
		}
	}
	for _, l := range e.Loads {
		if l.Set != synth.Adversarial {
			t.add(fmt.Sprintf("queries per second, 2 threads / 1, %s queries", l.Set), "own", where, atLeast(1.8), exactly(l.Two.PerSecond/l.One.PerSecond), asRatio)
		}
	}
	t.add("anonymous memory of a searching process", "–", where, atMost(40), exactly(float64(e.Memory.Anonymous)/1e6), asMB)
	t.add("grid of 24 settings", "own 24 searches", where, atMost(0.2), e.Grid.Ratio, asRatio)
	t.add("five excerpts of 32 KB documents", "decode and scan", where, atMost(0.3), e.Excerpts.Ratio, asRatio)
	t.add("a navigator's page of ten documents of 32 KB, p50", "–", where, atMost(1), exactly(e.Page.P50*1e3), asMillis)
	t.add("200 lines of a stored document, p50", "–", where, atMost(60), exactly(e.Lines.P50*1e6), asMicros)
}

func (w *workspace) report(out io.Writer) error {
	var long, passages results
	var longName, passagesName string
	var machine enginebench.Machine
	var date time.Time
	var others []*part
	for _, p := range w.parts() {
		r, err := p.results()
		if err != nil {
			return err
		}
		if p.corpus.Shape == synth.Long {
			long, longName = r, fmt.Sprintf("%s long documents", grouped(p.corpus.Documents))
		} else {
			passages, passagesName = r, fmt.Sprintf("%s passages", grouped(p.corpus.Documents))
		}
		if r.engine != nil && r.engine.Date.After(date) {
			machine, date = r.engine.Machine, r.engine.Date
		}
		others = append(others, p)
	}
	p := func(format string, args ...any) { fmt.Fprintf(out, format, args...) }
	p("# Performance\n\nMeasured on %s, %s %s with %d processors (%s), %s, by\n\n```\n%s > docs/performance.md\n```\n\n",
		date.Format(time.DateOnly), machine.OS, machine.Arch, machine.Cores, machine.CPU, machine.Go, strings.Join(append([]string{"go run ./bench/peers"}, os.Args[1:]...), " "))
	p(reading, w.repeated())
	p("## Targets\n\n| what | against | over | target | measured | |\n| --- | --- | --- | ---: | ---: | --- |\n")
	for _, l := range targets(long, passages, longName, passagesName) {
		verdict := "met"
		if !l.met {
			verdict = "**missed**"
		}
		p("| %s | %s | %s | %s | %s | %s |\n", l.what, l.peer, l.where, l.target, l.have, verdict)
	}
	for _, part := range others {
		r, err := part.results()
		if err != nil {
			return err
		}
		part.details(p, r)
	}
	notes, err := os.ReadFile(filepath.Join(w.source, "notes.md"))
	if err == nil {
		p("\n%s", notes)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

const reading = `Times and sizes are ours / theirs, rates ours / theirs as well: small is good for the former, large for the latter. Every ratio is the
median over rounds in which all engines took turns, with a 95 %% bootstrap interval over rounds and queries; a target counts as met only
if the whole interval meets it. %s Results are kept, so a part may have been measured with other flags than these, which the end of this page then says. Engines search in their own processes, one
thread, one segment, the same terms; before anything is timed, what they find is compared. How exactly: [bench/peers](../bench/peers/README.md).

Absolute times are those of this machine on that day and compare with nothing else.

`

// repeated says which rounds do not count.
func (o options) repeated() string {
	if o.tolerance == 0 {
		return "Every round counts, however noisy the machine was."
	}
	return fmt.Sprintf("Rounds in which a canary moved by more than %.0f %% were repeated.", 100*o.tolerance)
}

// details prints everything that was measured on a part.
func (p *part) details(print func(string, ...any), r results) {
	print("\n## %s %s\n\n", grouped(p.corpus.Documents), p.corpus.Shape)
	if len(r.search) > 0 {
		print("| queries | k | k1, b | peer | | ours | theirs | ratio | of processor time | theirs without docids | ratio | overlap |\n| --- | ---: | --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
		for _, c := range r.search {
			ranking, rankingRatio := "", ""
			if c.Ranking > 0 {
				ranking, rankingRatio = seconds(c.Ranking), asRatio(c.RankingRatio)
			}
			print("| %s | %d | %g, %g | %s | %s | %s | %s | %s | %s | %s | %s | %.3f |\n", c.Set, c.K, c.Params.K1, c.Params.B, c.Peer, c.Statistic,
				seconds(c.Ours), seconds(c.Theirs), asRatio(c.Ratio), asRatio(c.ThreadRatio), ranking, rankingRatio, c.Overlap)
		}
		print("\n")
	}
	if e := r.engine; e != nil {
		print("Our engine alone (`goserini bench engine`):\n\n| queries | k | k1, b | postings | p50 | p95 | p99 | ns / posting |\n| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n")
		for _, s := range e.Searches {
			print("| %s | %d | %g, %g | %.0f | %s | %s | %s | %.2f |\n", s.Set, s.Depth, s.Params.K1, s.Params.B, s.Postings, seconds(s.P50), seconds(s.P95), seconds(s.P99), s.NanosPerPosting)
		}
		print("\n| queries, closed loop | 1 thread | 2 threads | p99 of 2 |\n| --- | ---: | ---: | ---: |\n")
		for _, l := range e.Loads {
			print("| %s | %.0f /s | %.0f /s | %s |\n", l.Set, l.One.PerSecond, l.Two.PerSecond, seconds(l.Two.P99))
		}
		print("\nOpen %s; start to result %s; search tool %s (p99 %s); 200 lines %s (p99 %s); five excerpts %s (decode and scan %s); five passages where the index says the words stand %s (where they are sought in the whole text %s); a navigator's page of ten %s (p99 %s);\n",
			seconds(e.Open), seconds(e.First), seconds(e.Tool.P50), seconds(e.Tool.P99), seconds(e.Lines.P50), seconds(e.Lines.P99),
			seconds(e.Excerpts.Fast.P50), seconds(e.Excerpts.Plain.P50), seconds(e.Passages.Fast.P50), seconds(e.Passages.Plain.P50), seconds(e.Page.P50), seconds(e.Page.P99))
		print("ranks under 24 settings %s (24 searches %s). Anonymous memory %.1f MB, mapped files %.1f MB. %d rounds repeated, %d kept though the machine changed.\n\n",
			seconds(e.Grid.Fast.P50), seconds(e.Grid.Plain.P50), float64(e.Memory.Anonymous)/1e6, float64(e.Memory.File)/1e6, e.Discarded, e.Unquiet)
		var parts []string
		for _, part := range e.Build.Parts {
			parts = append(parts, fmt.Sprintf("%s %.1f MB", part.Name, float64(part.Bytes)/1e6))
		}
		print("Index: %.1f MB for %.1f MB of text, %s tokens, %s postings: %s.\n", float64(e.Build.IndexBytes)/1e6, float64(e.Build.TextBytes)/1e6,
			grouped(int(e.Build.Tokens)), grouped(int(e.Build.Postings)), strings.Join(parts, ", "))
	}
	if b := r.build; b != nil {
		print("\nBuilds: ")
		for i, u := range b.Ours {
			t := b.Theirs[i]
			print("ours %.1f s wall, %.1f s processor, %.0f MB at most, %.1f MB/s; Anserini %.1f s, %.1f s, %.0f MB, %.1f MB/s. ", u.Wall.Seconds(), u.CPU.Seconds(),
				float64(u.Peak)/1e6, float64(b.TextBytes)/1e6/u.Wall.Seconds(), t.Wall.Seconds(), t.CPU.Seconds(), float64(t.Peak)/1e6, float64(b.TextBytes)/1e6/t.Wall.Seconds())
		}
		print("Index sizes: ours %.1f MB, Anserini %.1f MB.\n", float64(b.OurBytes)/1e6, float64(b.TheirBytes)/1e6)
	}
}

func seconds(s float64) string {
	switch {
	case s < 1e-3:
		return fmt.Sprintf("%.0f µs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.2f ms", s*1e3)
	}
	return fmt.Sprintf("%.2f s", s)
}

func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
