package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"goserini/internal/bench"
	"goserini/internal/bm25"
	"goserini/internal/enginebench"
	"goserini/internal/index"
	"goserini/internal/synth"
)

// prepare makes the collection and all indexes of a part.
func (p *part) prepare(ctx context.Context) error {
	if err := usable(p.dir); err != nil {
		return err
	}
	if err := p.writeText(ctx); err != nil {
		return err
	}
	goserini, err := p.tools.goProgram(ctx, "./cmd/goserini", "goserini")
	if err != nil {
		return err
	}
	if err := p.once(p.ours(), func(partial string) error { return p.run(ctx, goserini, "index", p.text(), "--index", partial) }); err != nil {
		return err
	}
	for _, c := range p.contests() {
		for _, e := range p.wanted(c.peers) {
			err := p.once(p.folder(e, c.setting), func(partial string) error {
				if err := p.writeTokens(ctx); err != nil {
					return err
				}
				return e.index(ctx, p, c.setting, partial)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// measure measures what is asked for and not yet known.
func (p *part) measure(ctx context.Context) error {
	if _, err := saved(p.workspace, p.name(), "engine", func() (*enginebench.Report, error) { return p.engine(ctx) }); err != nil {
		return err
	}
	if _, err := saved(p.workspace, p.name(), "search", func() ([]comparison, error) { return p.search(ctx) }); err != nil {
		return err
	}
	if p.corpus.Shape == synth.Long && (p.only == "" || among(p.only, "lucene")) {
		if _, err := saved(p.workspace, p.name(), "start", func() (comparison, error) { return p.first(ctx) }); err != nil {
			return err
		}
	}
	if p.only != "" && !among(p.only, "anserini") {
		return nil
	}
	// Building leaves the index that the other search tool needs.
	if _, err := saved(p.workspace, p.name(), "build", func() (builds, error) { return p.build(ctx) }); err != nil {
		return err
	}
	if p.corpus.Shape == synth.Long {
		if _, err := saved(p.workspace, p.name(), "tool", func() (comparison, error) { return p.tool(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// engine measures our engine by itself.
func (p *part) engine(ctx context.Context) (*enginebench.Report, error) {
	goserini, err := p.tools.goProgram(ctx, "./cmd/goserini", "goserini")
	if err != nil {
		return nil, err
	}
	cmd := p.command(ctx, goserini, "bench", "engine", "--shape", string(p.corpus.Shape), "--documents", fmt.Sprint(p.corpus.Documents),
		"--index", p.ours(), "--queries", fmt.Sprint(p.queries), "--rounds", fmt.Sprint(p.rounds), "--tolerance", fmt.Sprint(p.tolerance),
		"--load", p.load.String(), "--json")
	cmd.Stdout = nil
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("goserini bench engine: %w", err)
	}
	var r enginebench.Report
	return &r, json.Unmarshal(out, &r)
}

// timed makes a contestant of a program that is started some times a round.
func timed(name string, times int, command func(context.Context) *exec.Cmd) bench.Contestant {
	return bench.Contestant{Name: name, Run: func(ctx context.Context) (bench.Batch, error) {
		var b bench.Batch
		for range times {
			cmd := command(ctx)
			cmd.Stdout, cmd.Stderr = nil, nil
			u, err := bench.Measure(cmd)
			if err != nil {
				return b, fmt.Errorf("%v: %w", cmd.Args, err)
			}
			b.Wall, b.Thread = append(b.Wall, u.Wall), append(b.Thread, u.CPU)
		}
		return b, nil
	}}
}

// first compares the time from the start of a process to its first result and its end.
func (p *part) first(ctx context.Context) (comparison, error) {
	const times = 3
	query, terms, err := p.firstQuery()
	if err != nil {
		return comparison{}, err
	}
	goserini, err := p.tools.goProgram(ctx, "./cmd/goserini", "goserini")
	if err != nil {
		return comparison{}, err
	}
	java, err := p.tools.lucene(ctx)
	if err != nil {
		return comparison{}, err
	}
	s := bm25.Paper
	r, err := bench.Interleave(ctx, []bench.Contestant{
		timed("goserini", times, func(ctx context.Context) *exec.Cmd {
			return p.command(ctx, goserini, "search", "--index", p.ours(), "--json", "--k1", number(s.K1), "--b", number(s.B), "--", query)
		}),
		timed("lucene", times, func(ctx context.Context) *exec.Cmd {
			return p.command(ctx, java[0], append(java[1:len(java):len(java)], "first", p.folder(lucene, s), number(s.K1), number(s.B), terms)...)
		}),
	}, bench.Plan{Rounds: p.rounds, Tolerance: p.tolerance, Say: say})
	if err != nil {
		return comparison{}, err
	}
	c := comparison{Set: synth.Short, K: 10, Params: s, Peer: "lucene", Discarded: r.Discarded, Unquiet: r.Unquiet}
	c.relate(r.Batches[0], r.Batches[1])
	return c, nil
}

// tool compares calls of the agent's search tool.
func (p *part) tool(ctx context.Context) (comparison, error) {
	text, _, err := p.queryFiles()
	if err != nil {
		return comparison{}, err
	}
	java, err := p.tools.server(ctx)
	if err != nil {
		return comparison{}, err
	}
	s := bm25.Paper
	ours, err := p.servingOurs(ctx, s, text)
	if err != nil {
		return comparison{}, err
	}
	defer ours.stop()
	server, err := p.start(ctx, "anserini", append(append(java, "serve", p.index("anserini"), number(s.K1), number(s.B)), text...))
	if err != nil {
		return comparison{}, err
	}
	defer server.stop()
	set := synth.Short
	r, err := bench.Interleave(ctx, []bench.Contestant{ours.contestant("tool", set, 1000), server.contestant("tool", set, 1000)},
		bench.Plan{Rounds: min(p.rounds, 3), Tolerance: p.tolerance, Say: say})
	if err != nil {
		return comparison{}, err
	}
	c := comparison{Set: set, K: 1000, Params: s, Peer: "anserini", Discarded: r.Discarded, Unquiet: r.Unquiet}
	c.relate(r.Batches[0], r.Batches[1])
	return c, nil
}

// builds are builds of indexes with stored text, side by side.
type builds struct {
	TextBytes int64         `json:"text_bytes"`
	Ours      []bench.Usage `json:"ours"`
	Theirs    []bench.Usage `json:"peer"`
	// OurBytes and TheirBytes are the sizes of the indexes.
	OurBytes   int64 `json:"our_index_bytes"`
	TheirBytes int64 `json:"peer_index_bytes"`
}

func (p *part) build(ctx context.Context) (builds, error) {
	var b builds
	goserini, err := p.tools.goProgram(ctx, "./cmd/goserini", "goserini")
	if err != nil {
		return b, err
	}
	jar, err := p.tools.anserini(ctx)
	if err != nil {
		return b, err
	}
	home, err := p.tools.java()
	if err != nil {
		return b, err
	}
	rounds := 2
	if p.corpus.Shape == synth.Passages {
		rounds = 1
	}
	ours, theirs := p.path("indexes", p.name(), "build-ours"), p.path("indexes", p.name(), "build-anserini")
	defer os.RemoveAll(ours)
	defer os.RemoveAll(theirs)
	for range rounds {
		for _, folder := range []string{ours, theirs} {
			if err := os.RemoveAll(folder); err != nil {
				return b, err
			}
		}
		say("building with goserini")
		var out bytes.Buffer
		cmd := p.command(ctx, goserini, "index", p.text(), "--index", ours, "--json")
		cmd.Stdout = &out
		usage, err := bench.Measure(cmd)
		if err != nil {
			return b, fmt.Errorf("goserini index: %w", err)
		}
		b.Ours = append(b.Ours, usage)
		var stats index.Stats
		if err := json.Unmarshal(out.Bytes(), &stats); err != nil {
			return b, err
		}
		b.TextBytes, b.OurBytes = stats.TextBytes, stats.Bytes
		say("building with Anserini")
		usage, err = bench.Measure(p.command(ctx, filepath.Join(home, "bin", "java"), "-Xmx4g", "-Djava.io.tmpdir="+p.scratch, "-cp", jar,
			"io.anserini.index.IndexCollection", "-collection", "JsonCollection", "-generator", "DefaultLuceneDocumentGenerator",
			"-input", p.textFolder(), "-index", theirs, "-threads", "2", "-storeRaw"))
		if err != nil {
			return b, fmt.Errorf("anserini: %w", err)
		}
		b.Theirs = append(b.Theirs, usage)
	}
	if b.TheirBytes, err = folderBytes(theirs); err != nil {
		return b, err
	}
	kept := p.index("anserini")
	if err := os.RemoveAll(kept); err != nil {
		return b, err
	}
	return b, os.Rename(theirs, kept)
}

func folderBytes(dir string) (int64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return 0, err
		}
		sum += info.Size()
	}
	return sum, nil
}

// ratio is how many times as fast ours builds, in wall time.
func (b builds) ratio() bench.Interval {
	batches := func(usages []bench.Usage) []bench.Batch {
		var all []bench.Batch
		for _, u := range usages {
			all = append(all, bench.Batch{Wall: []time.Duration{u.Wall}})
		}
		return all
	}
	return bench.Ratio(batches(b.Theirs), batches(b.Ours), bench.Mean)
}
