package eval

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"goserini/internal/sharedtest"
	"goserini/internal/trec"
)

// The goldens are what the real trec_eval printed. To make them anew, and to compare
// with a live trec_eval on fresh random runs, see bench/treceval.
var (
	update  = flag.Bool("update", false, "rewrite goldens; those of trec_eval need GOSERINI_TREC_EVAL")
	program = os.Getenv("GOSERINI_TREC_EVAL")
)

// trecMeasures are asked of trec_eval and of this package alike.
var trecMeasures = []string{
	"num_q", "num_ret", "num_rel", "num_rel_ret", "map", "Rprec", "recip_rank", "P.1,5,30", "recall.5,1000",
	"ndcg", "ndcg_cut.3,10", "map_cut.5,10", "success.1,5,10",
}

// trecFlags are the option sets compared.
var trecFlags = []string{"", "-c", "-q", "-c -q -n", "-l 2", "-c -l 3 -M 5", "-M 10"}

// runTrecEval asks the real program.
func runTrecEval(tb testing.TB, flags, qrels, run string) string {
	tb.Helper()
	dir := tb.TempDir()
	qrelsPath, runPath := filepath.Join(dir, "qrels"), filepath.Join(dir, "run")
	for path, text := range map[string]string{qrelsPath: qrels, runPath: run} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	args := strings.Fields(flags)
	for _, m := range trecMeasures {
		args = append(args, "-m", m)
	}
	cmd := exec.Command(program, append(args, qrelsPath, runPath)...)
	cmd.Env = []string{"TMPDIR=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("%s %s: %v\n%s", program, flags, err, out)
	}
	return string(out)
}

// runOurs prints the same in the same form.
func runOurs(tb testing.TB, flags, qrels, run string) string {
	tb.Helper()
	q, err := trec.ParseQrels(strings.NewReader(qrels), "qrels")
	if err != nil {
		tb.Fatal(err)
	}
	r, err := trec.ParseRun(strings.NewReader(run), "run")
	if err != nil {
		tb.Fatal(err)
	}
	measures, err := ParseMeasureList(trecMeasures)
	if err != nil {
		tb.Fatal(err)
	}
	opts, view := parseFlags(tb, flags)
	s, err := EvaluateRun(q, r, measures, opts)
	if err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteTrecEval(&b, s, view); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func parseFlags(tb testing.TB, flags string) (opts RunOptions, view View) {
	opts.Bootstrap = Bootstrap{Resamples: 1}
	words := strings.Fields(flags)
	number := func(i int) int {
		n, err := strconv.Atoi(words[i+1])
		if err != nil {
			tb.Fatal(err)
		}
		return n
	}
	for i, w := range words {
		switch w {
		case "-c":
			opts.Complete = true
		case "-q":
			view.PerQuery = true
		case "-n":
			view.NoSummary = true
		case "-l":
			opts.Level = number(i)
		case "-M":
			opts.Depth = number(i)
		}
	}
	return opts, view
}

// chooser draws numbers from 0 to n-1.
type chooser func(n int) int

// scores are few and many of them fall together as float32 values.
var tiedScores = []string{
	"1", "1.0", "1e0", "0.99999999", "0.5", "0.50000001", "-3", "-3.00", "0", "-0", "7.25", "16777216", "16777217", "1e-9", "2.0e-9",
}

// randomCase makes judgments and a run full of ties, unjudged documents, negative grades, queries
// that only one side has, and lines out of order.
func randomCase(choose chooser) (qrels, run string) {
	var q, r []string
	docs := 2 + choose(40)
	for query := range 2 + choose(6) {
		id := fmt.Sprint(query * 7)
		judged := query == 0 || choose(5) > 0
		ran := query == 0 || choose(5) > 0
		for doc := range docs {
			docid := docID(doc)
			if judged && (choose(3) > 0 || doc == 0) {
				grade := choose(6) - 2
				if doc == 0 {
					grade = max(grade, 0) // trec_eval fails on queries that have only negative grades
				}
				q = append(q, fmt.Sprintf("%s 0 %s %d\n", id, docid, grade))
			}
			if ran && (choose(4) > 0 || doc == 0) {
				r = append(r, fmt.Sprintf("%s Q0 %s %d %s tag\n", id, docid, doc, tiedScores[choose(len(tiedScores))]))
			}
		}
	}
	for i := range r {
		j := choose(i + 1)
		r[i], r[j] = r[j], r[i]
	}
	return strings.Join(q, ""), strings.Join(r, "")
}

// docID is unique for its number, in forms whose byte order is not the numeric order.
func docID(n int) string {
	return fmt.Sprintf([]string{"%d", "d%d", "D%d", "doc-%03d", "é%d"}[n%5], n)
}

func TestRandomRunsScoreAsTrecEvalScoresThem(t *testing.T) {
	const cases = 12
	for n := range cases {
		dir := filepath.Join("testdata", "treceval", fmt.Sprintf("random-%02d", n))
		if *update && program != "" {
			qrels, run := randomCase(rand.New(rand.NewPCG(uint64(n), 7)).IntN)
			write(t, filepath.Join(dir, "qrels"), qrels)
			write(t, filepath.Join(dir, "run"), run)
			for _, flags := range trecFlags {
				write(t, outputFile(dir, flags), runTrecEval(t, flags, qrels, run))
			}
		}
		for _, flags := range trecFlags {
			t.Run(filepath.Base(dir)+" "+flags, func(t *testing.T) {
				got := runOurs(t, flags, read(t, filepath.Join(dir, "qrels")), read(t, filepath.Join(dir, "run")))
				if diff := cmp.Diff(read(t, outputFile(dir, flags)), got); diff != "" {
					t.Errorf("-trec_eval +ours:\n%s", diff)
				}
			})
		}
	}
}

// outputFile holds what trec_eval printed with the flags.
func outputFile(dir, flags string) string {
	return filepath.Join(dir, "output"+strings.ReplaceAll(flags, " ", "")+".txt")
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func read(tb testing.TB, path string) string {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// TestLiveTrecEvalAgrees draws new runs each time; it needs the program.
func TestLiveTrecEvalAgrees(t *testing.T) {
	if program == "" {
		t.Skip("GOSERINI_TREC_EVAL does not name a trec_eval: see bench/treceval")
	}
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		qrels, run := randomCase(rand.New(rand.NewPCG(seed, 1)).IntN)
		flags := rapid.SampledFrom(trecFlags).Draw(rt, "flags")
		if diff := cmp.Diff(runTrecEval(t, flags, qrels, run), runOurs(t, flags, qrels, run)); diff != "" {
			rt.Fatalf("flags %q (-trec_eval +ours):\n%s\nqrels:\n%s\nrun:\n%s", flags, diff, qrels, run)
		}
	})
}

// collectionRun ranks, for each judged query, judged and made-up documents with tied scores.
func collectionRun(qrels trec.Qrels, choose chooser) string {
	ids := make([]string, 0, len(qrels))
	for id := range qrels {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var b strings.Builder
	for _, id := range ids {
		if choose(20) == 0 {
			continue
		}
		docs := make([]string, 0, len(qrels[id]))
		for doc := range qrels[id] {
			docs = append(docs, doc)
		}
		slices.Sort(docs)
		for n := range 30 {
			docs = append(docs, fmt.Sprintf("none-%d", n))
		}
		for n, doc := range docs {
			if choose(3) > 0 {
				fmt.Fprintf(&b, "%s Q0 %s %d %s tag\n", id, doc, n, tiedScores[choose(len(tiedScores))])
			}
		}
	}
	return b.String()
}

func TestRunsOverEveryCollectionScoreAsTrecEvalScoresThem(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(sharedtest.Path(t, "data"), "*", "qrels.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no collections: %v", err)
	}
	const flags = "-c"
	for _, path := range paths {
		name := filepath.Base(filepath.Dir(path))
		q, err := trec.ReadQrels(path)
		if err != nil {
			t.Fatal(err)
		}
		qrels := plainQrels(q)
		run := collectionRun(q, rand.New(rand.NewPCG(11, 13)).IntN)
		golden := filepath.Join("testdata", "treceval", "collections", name+".txt")
		if *update && program != "" {
			write(t, golden, runTrecEval(t, flags, qrels, run))
		}
		if diff := cmp.Diff(read(t, golden), runOurs(t, flags, qrels, run)); diff != "" {
			t.Errorf("%s (-trec_eval +ours):\n%s", name, diff)
		}
	}
}

// plainQrels writes judgments in the four columns that trec_eval reads.
func plainQrels(q trec.Qrels) string {
	var lines []string
	for id, grades := range q {
		for doc, grade := range grades {
			lines = append(lines, fmt.Sprintf("%s 0 %s %d\n", id, doc, grade))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
