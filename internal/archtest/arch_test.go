// Package archtest keeps the dependency direction of the project: imports point
// upstream, and a new edge is a reviewed line in the table below.
package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// table says which of our packages each package may import. Do not loosen a line to
// fix a build: ask first whether the code stands in the right package.
const table = `
atomicfile:
jsonl:
lazyregexp:
lockfile:
analysis:
bm25:
trec: lazyregexp
synth:
wordmask:
sharedtest:
trajectory: jsonl
corpus: jsonl
llm: trajectory lazyregexp
tool: trajectory
notebook: retrieval tool trajectory lazyregexp
index: analysis bm25 corpus atomicfile lockfile
retrieval: wordmask
retrieval/local: retrieval index bm25 analysis
retrieval/retrievaltest: retrieval
retrieval/remote: retrieval
retrieval/mock: retrieval
retrieval/httpjson: retrieval retrieval/remote
retrieval/anserini: retrieval retrieval/remote
retrieval/open: retrieval retrieval/remote retrieval/local retrieval/mock retrieval/httpjson retrieval/anserini index bm25
rpcserver: index bm25 analysis trec lazyregexp
mcpserver: retrieval tool trajectory lazyregexp
httpserver: retrieval retrieval/httpjson trajectory
controller: retrieval tool trajectory wordmask
answer: trajectory lazyregexp
agent: answer llm tool trajectory lazyregexp
eval: trec trajectory lazyregexp
judge: llm trajectory jsonl eval atomicfile lazyregexp
parquetfile: corpus
browsecompplus: parquetfile
userdir:
fetch: atomicfile
hub: atomicfile fetch lockfile lazyregexp
hub/hubtest:
benchmark: corpus trec bm25 demo parquetfile userdir lazyregexp
setup: atomicfile benchmark browsecompplus fetch hub parquetfile
demo: corpus trec
tune: bm25 eval index
bench:
enginebench: analysis atomicfile bench bm25 controller index retrieval retrieval/local synth trec tune
exchange: answer atomicfile browsecompplus experiment jsonl trajectory trec lazyregexp
experiment: lockfile agent atomicfile benchmark bm25 controller eval index jsonl judge llm retrieval retrieval/local trajectory lazyregexp
navbench: agent analysis benchmark bm25 controller eval index judge llm/lexical retrieval retrieval/local tool trajectory trec
report: benchmark chart experiment trajectory eval judge lazyregexp
report/reporttest: browsertest
chart:
browsertest:
expectation:
llm/wire: llm lazyregexp
llm/limit: llm trajectory
llm/openaichat: llm llm/wire trajectory
llm/openai: llm llm/wire trajectory
llm/anthropic: llm llm/wire trajectory lazyregexp
llm/ollama: llm llm/wire trajectory
llm/gemini: llm llm/wire trajectory
llm/script: llm trajectory
llm/lexical: llm analysis lazyregexp
llm/llmtest: llm trajectory
llm/record: llm atomicfile trajectory
llm/provider: llm llm/openaichat llm/openai llm/anthropic llm/ollama llm/gemini llm/script llm/lexical llm/record llm/limit llm/wire
`

// foreign says which packages may import a heavy or vendor-specific module, and why
// nobody else may.
var foreign = []struct{ module, allowed, reason string }{
	{"github.com/openai/openai-go", "llm/openai", "the core imports no provider SDK"},
	{"github.com/anthropics/anthropic-sdk-go", "llm/anthropic", "the core imports no provider SDK"},
	{"github.com/spf13/cobra", "cmd/goserini", "the command line stays at the edge"},
}

func TestImportsPointUpstream(t *testing.T) {
	allowed := parseTable(t)
	for pkg, imports := range sources(t) {
		if strings.HasPrefix(pkg, "cmd/") || strings.Contains(pkg, "/internal/") || strings.HasPrefix(pkg, "bench/") {
			continue
		}
		name, ok := strings.CutPrefix(pkg, "internal/")
		if !ok {
			continue
		}
		may, listed := allowed[name]
		if !listed {
			t.Errorf("package internal/%s is not in the dependency table", name)
			continue
		}
		for _, imp := range imports {
			dep, ours := strings.CutPrefix(imp, "goserini/internal/")
			if ours && !slices.Contains(may, dep) && !strings.HasPrefix(dep, name+"/internal/") {
				t.Errorf("internal/%s imports internal/%s, which the dependency table does not allow", name, dep)
			}
			if strings.HasPrefix(imp, "goserini/cmd") {
				t.Errorf("internal/%s imports %s: nothing imports cmd", name, imp)
			}
		}
	}
}

func TestForeignModulesStayInTheirPackage(t *testing.T) {
	for pkg, imports := range sources(t) {
		for _, f := range foreign {
			for _, imp := range imports {
				if strings.HasPrefix(imp, f.module) && pkg != f.allowed && pkg != "internal/"+f.allowed {
					t.Errorf("%s imports %s, allowed only in %s: %s", pkg, imp, f.allowed, f.reason)
				}
			}
		}
	}
}

func parseTable(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(table)) {
		name, deps, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			t.Fatalf("bad line in the dependency table: %q", line)
		}
		out[name] = strings.Fields(deps)
	}
	return out
}

// sources parses every non-test Go file below the module root and returns the imports of
// each package. It opens the files itself: an answer of the go command could come from a cache.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("cannot locate the module root")
	}
	root := filepath.Join(filepath.Dir(file), "..", "..")
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != root || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		if _, ok := out[pkg]; !ok {
			out[pkg] = nil
		}
		for _, spec := range f.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			out[pkg] = append(out[pkg], imp)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 10 {
		t.Fatalf("found only %d packages: the walk is broken", len(out))
	}
	return out
}
