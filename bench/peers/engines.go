package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"goserini/internal/bm25"
)

// peer is an engine to compare with.
type peer struct {
	name, title string
	// index builds an index of the tokens for a setting, and serve is the command line that
	// answers queries from it.
	index func(ctx context.Context, p *part, setting bm25.Params, folder string) error
	serve func(ctx context.Context, p *part, setting bm25.Params, folder string) ([]string, error)
	// fixed says that an index holds for one setting only.
	fixed bool
	// ranks says that the engine can be timed without docids, too.
	ranks bool
}

var lucene = peer{
	name: "lucene", title: "Lucene " + luceneVersion, ranks: true,
	index: func(ctx context.Context, p *part, _ bm25.Params, folder string) error {
		java, err := p.tools.lucene(ctx)
		if err != nil {
			return err
		}
		return p.runAll(ctx, java, "index", p.tokens(), folder)
	},
	serve: func(ctx context.Context, p *part, s bm25.Params, folder string) ([]string, error) {
		java, err := p.tools.lucene(ctx)
		return append(java, "serve", folder, number(s.K1), number(s.B)), err
	},
}

var tantivy = peer{
	name: "tantivy", title: "tantivy 0.27", fixed: true,
	index: func(ctx context.Context, p *part, s bm25.Params, folder string) error {
		program, err := p.tools.tantivy(ctx, s)
		if err != nil {
			return err
		}
		return p.run(ctx, program, "index", p.tokens(), folder)
	},
	serve: func(ctx context.Context, p *part, s bm25.Params, folder string) ([]string, error) {
		program, err := p.tools.tantivy(ctx, s)
		return []string{program, "serve", folder, number(s.K1), number(s.B)}, err
	},
}

// pythonPeer is an engine behind a script of the folder python.
func pythonPeer(name, title, script string, fixed bool) peer {
	command := func(ctx context.Context, p *part) ([]string, error) {
		python, err := p.tools.python(ctx)
		return []string{python, filepath.Join(p.source, "python", script)}, err
	}
	return peer{
		name: name, title: title, fixed: fixed,
		index: func(ctx context.Context, p *part, s bm25.Params, folder string) error {
			argv, err := command(ctx, p)
			if err != nil {
				return err
			}
			return p.runAll(ctx, argv, "index", p.tokens(), folder, number(s.K1), number(s.B))
		},
		serve: func(ctx context.Context, p *part, s bm25.Params, folder string) ([]string, error) {
			argv, err := command(ctx, p)
			return append(argv, "serve", folder, number(s.K1), number(s.B)), err
		},
	}
}

var (
	bm25s = pythonPeer("bm25s", "bm25s 0.3.16 (numba)", "bm25s_peer.py", true)
	pisa  = pythonPeer("pisa", "PISA (pyterrier-pisa 0.4.9)", "pisa_peer.py", false)
)

func number(v float32) string { return fmt.Sprintf("%g", v) }

func (w *workspace) runAll(ctx context.Context, argv []string, more ...string) error {
	all := slices.Concat(argv, more)
	return w.run(ctx, all[0], all[1:]...)
}

// folder is where a peer keeps its index of a part.
func (p *part) folder(e peer, s bm25.Params) string {
	if e.fixed {
		return p.index(fmt.Sprintf("%s-k1=%g-b=%g", e.name, s.K1, s.B))
	}
	return p.index(e.name)
}

// wanted drops the peers that --only leaves out.
func (p *part) wanted(peers []peer) []peer {
	if p.only == "" {
		return peers
	}
	return slices.DeleteFunc(slices.Clone(peers), func(e peer) bool { return !among(p.only, e.name) })
}

// serving starts a peer over its index.
func (p *part) serving(ctx context.Context, e peer, s bm25.Params, queries []string) (*process, error) {
	argv, err := e.serve(ctx, p, s, p.folder(e, s))
	if err != nil {
		return nil, err
	}
	return p.start(ctx, e.name, append(argv, queries...))
}

// servingOurs starts our engine.
func (p *part) servingOurs(ctx context.Context, s bm25.Params, queries []string) (*process, error) {
	program, err := p.tools.goProgram(ctx, "./bench/peers/ours", "ours")
	if err != nil {
		return nil, err
	}
	return p.start(ctx, "goserini", append([]string{program, "serve", p.ours(), number(s.K1), number(s.B)}, queries...))
}

// usable says in an error what a query set's words cannot be.
func usable(argument string) error {
	if strings.ContainsAny(argument, "\n\t ") {
		return fmt.Errorf("the folder %q holds white space, which the engines' protocol cannot carry", argument)
	}
	return nil
}
