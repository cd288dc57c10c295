package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"goserini/internal/atomicfile"
	"goserini/internal/benchmark"
	"goserini/internal/bm25"
	"goserini/internal/eval"
	"goserini/internal/index"
	"goserini/internal/trec"
	"goserini/internal/tune"
)

type tuneOptions struct {
	benchmark, querySet, judgments string
	index, topics, qrels           string
	k1, b                          string
	measure                        string
	svg                            string
	json                           bool
}

func newTune(term *terminal) *cobra.Command {
	var o tuneOptions
	cmd := &cobra.Command{
		Use:   "tune --benchmark B | tune --index DIR --topics FILE --qrels FILE",
		Short: "How much k1 and b matter: a grid of settings over judged queries",
		Long: `Rank judged queries at every setting of a grid of k1 and b, and say what tuning is worth
on queries it has not seen: the queries are cut into random halves, each half is measured at the
best setting of the other, and the gain has a 95 % bootstrap interval over the queries. A gain
whose interval holds zero is noise.

Means are over all judged queries of the set, rankings 1000 deep, as goserini eval -c computes them.
Of settings with equal means the lower k1 wins, then the lower b.`,
		Example: `  goserini tune --benchmark demo
  goserini tune --index my.index --topics queries.tsv --qrels qrels.txt --k1 0.4:4:0.4 --b 0:1:0.1 --svg grid.svg`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			return runTune(cmd.Context(), term, cmd, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.benchmark, "benchmark", "", "a built-in benchmark or a folder with a corpus, queries and judgments")
	f.StringVar(&o.querySet, "query-set", "", "a query set of the benchmark (default: its own default)")
	f.StringVar(&o.judgments, "judgments", "evidence", "with --benchmark: evidence or gold, where it has both")
	f.StringVar(&o.index, "index", "", "the folder of the index (with --benchmark: built and cached if not given)")
	f.StringVar(&o.topics, "topics", "", "a query file: TSV, JSONL or TREC")
	f.StringVar(&o.qrels, "qrels", "", "judgments: TREC (four columns) or BEIR (three)")
	f.StringVar(&o.k1, "k1", "", "values of k1: a list such as 0.9,4,25, or start:end:step (default "+valueList(tune.DefaultK1)+")")
	f.StringVar(&o.b, "b", "", "values of b, in the same way (default "+valueList(tune.DefaultB)+")")
	f.StringVarP(&o.measure, "measure", "m", "nDCG@10", "what settings are compared by: nDCG@10, R@100, R@1000, AP, RR@10, …")
	f.StringVar(&o.svg, "svg", "", "also write the grid as an image to this file")
	f.BoolVar(&o.json, "json", false, "print as JSON")
	return cmd
}

func (o tuneOptions) check(cmd *cobra.Command) error {
	switch {
	case o.benchmark == "" && o.index == "":
		return usagef(cmd, "name --benchmark B, or --index DIR with --topics FILE and --qrels FILE")
	case o.benchmark != "" && (o.topics != "" || o.qrels != ""):
		return usagef(cmd, "give either --benchmark or --topics and --qrels, not both")
	case o.benchmark == "" && (o.topics == "" || o.qrels == ""):
		return usagef(cmd, "--index needs --topics FILE and --qrels FILE: tuning needs judged queries")
	case o.benchmark == "" && o.querySet != "":
		return usagef(cmd, "--query-set needs --benchmark: other query files have no sets")
	case o.judgments != "evidence" && o.judgments != "gold":
		return usagef(cmd, "--judgments %q: want evidence or gold", o.judgments)
	}
	return nil
}

// resolve reads the grid and the measure.
func (o tuneOptions) resolve(cmd *cobra.Command) (tune.Options, error) {
	var out tune.Options
	k1, b := tune.DefaultK1, tune.DefaultB
	for _, flag := range []struct {
		name, text string
		into       *[]float32
	}{{"--k1", o.k1, &k1}, {"--b", o.b, &b}} {
		if flag.text == "" {
			continue
		}
		values, err := tune.ParseValues(flag.text)
		if err != nil {
			return out, usagef(cmd, "%s: %w", flag.name, err)
		}
		*flag.into = values
	}
	out.Grid = tune.NewGrid(k1, b)
	if err := out.Grid.Validate(); err != nil {
		return out, usagef(cmd, "%w", err)
	}
	measures, err := eval.ParseMeasures(o.measure)
	if err != nil {
		return out, usagef(cmd, "--measure: %w", err)
	}
	if len(measures) != 1 {
		return out, usagef(cmd, "--measure %q names %d measures: want one", o.measure, len(measures))
	}
	if err := measures[0].CheckPlaces(); err != nil {
		return out, usagef(cmd, "--measure: %w", err)
	}
	out.Measure = measures[0]
	return out, nil
}

func runTune(ctx context.Context, term *terminal, cmd *cobra.Command, o tuneOptions) error {
	options, err := o.resolve(cmd)
	if err != nil {
		return err
	}
	queries, ix, err := o.open(ctx, term)
	if err != nil {
		return err
	}
	defer ix.Close()
	auto, why := chooseBM25(ix.Stats())
	options.Named = []tune.NamedSetting{{Name: "default", Params: bm25.Anserini}, {Name: "paper", Params: bm25.Paper}, {Name: "auto", Params: auto}}
	options.Progress = func(done int) { term.progress("tuning: %d of %d queries", done, len(queries)) }
	result, err := tune.Run(ctx, ix, queries, options)
	term.endProgress()
	if err != nil {
		return err
	}
	if o.svg != "" {
		if err := atomicfile.Write(o.svg, []byte(tuneImage(result)), 0o644); err != nil {
			return fmt.Errorf("write image: %w", err)
		}
	}
	if o.json {
		return term.json(struct {
			*tune.Result
			Variant    string `json:"bm25_variant"`
			Analyzer   string `json:"analyzer"`
			Index      string `json:"index_fingerprint"`
			AutoReason string `json:"auto_reason"`
		}{result, bm25.Variant, ix.Analyzer().Name(), ix.Fingerprint(), why})
	}
	term.say("BM25 (%s), analyzer %s; auto: %s", bm25.Variant, ix.Analyzer().Name(), why)
	showTuning(term, result)
	return nil
}

// open returns the judged queries and the index.
func (o tuneOptions) open(ctx context.Context, term *terminal) ([]tune.Query, *index.Index, error) {
	if o.benchmark == "" {
		topics, err := trec.ReadTopics(o.topics)
		if err != nil {
			return nil, nil, err
		}
		qrels, err := trec.ReadQrels(o.qrels)
		if err != nil {
			return nil, nil, err
		}
		queries, err := judgedQueries(term, topics, qrels)
		if err != nil {
			return nil, nil, err
		}
		ix, err := openIndex(o.index)
		return queries, ix, err
	}
	b, err := benchmark.Load(o.benchmark)
	if err != nil {
		return nil, nil, err
	}
	questions, err := b.Questions(o.querySet)
	if err != nil {
		return nil, nil, err
	}
	var topics []trec.Topic
	for _, q := range questions {
		topics = append(topics, trec.Topic{ID: q.ID, Text: q.Text})
	}
	qrels, gold := b.Qrels()
	if o.judgments == "gold" {
		if gold == nil {
			return nil, nil, fmt.Errorf("benchmark %s has no judgments of gold documents: leave out --judgments", b.Name)
		}
		qrels = gold
	}
	queries, err := judgedQueries(term, topics, qrels)
	if err != nil {
		return nil, nil, err
	}
	ix, _, err := benchmarkIndex(ctx, term, b, o.index)
	return queries, ix, err
}

// judgedQueries keeps the topics that have judgments, and says how many have none.
func judgedQueries(term *terminal, topics []trec.Topic, qrels trec.Qrels) ([]tune.Query, error) {
	var queries []tune.Query
	for _, t := range topics {
		if grades, ok := qrels[t.ID]; ok {
			queries = append(queries, tune.Query{ID: t.ID, Text: t.Text, Grades: grades})
		}
	}
	if len(queries) == 0 {
		return nil, fmt.Errorf("none of %d queries has judgments: do the query ids of both files agree?", len(topics))
	}
	if without := len(topics) - len(queries); without > 0 {
		term.say("%s of %s queries have no judgments and are left out", count(without), count(len(topics)))
	}
	return queries, nil
}

func showTuning(term *terminal, r *tune.Result) {
	showHeat(term, r)
	term.print("\n")
	line := func(name string, p bm25.Params, m eval.Mean, note string) {
		text := fmt.Sprintf("%-8s k1=%-4g b=%-4g  %.4f  %.4f to %.4f  %s", name, p.K1, p.B, m.Value, m.Low, m.High, note)
		term.print("%s\n", strings.TrimRight(text, " "))
	}
	term.print("%-8s %-7s %-6s  %-6s  %s\n", "setting", "", "", r.Measure, "95 % interval")
	for _, n := range r.Named {
		line(n.Name, n.Params, n.Mean, "")
	}
	line("best", r.Best.Params, r.Best.Mean, "chosen by these very queries: flattering")
	cv := r.CrossValidated
	if cv == nil {
		term.say("one query cannot be cut into halves: what tuning is worth on others is unknown")
		return
	}
	term.print("%-8s %-7s %-6s  %.4f  %.4f to %.4f  each half at the other half's best, %d times\n", "tuned", "", "", cv.Mean.Value, cv.Mean.Low, cv.Mean.High, cv.Splits)
	term.print("\ngain on queries not tuned on:\n")
	for i, g := range cv.Gains {
		term.print("  over %-8s %+.4f  %+.4f to %+.4f  %s\n", g.Over, g.Gain.Value, g.Gain.Low, g.Gain.High, verdict(g, r.Gains[i]))
	}
	c := cv.Chosen[0]
	term.print("chosen most often: %s, by %d of %d halves\n", c.Params, c.Halves, 2*cv.Splits)
}

// verdict says in words what an interval means.
func verdict(unseen, seen tune.Gain) string {
	word := "real"
	switch {
	case unseen.Gain.High < 0:
		word = "tuning loses"
	case !unseen.Real():
		word = "noise: the interval holds zero"
	}
	return fmt.Sprintf("%s (on the queries tuned on: %+.4f)", word, seen.Gain.Value)
}

func valueList(values []float32) string {
	var out []string
	for _, v := range values {
		out = append(out, fmt.Sprintf("%g", v))
	}
	return strings.Join(out, ",")
}

// marks are the letters of named settings; * is the best.
var marks = map[string]string{"default": "d", "paper": "p", "auto": "a"}

// cellMarks returns the marks of a setting.
func cellMarks(r *tune.Result, p bm25.Params) string {
	var out strings.Builder
	for _, n := range r.Named {
		if n.Params == p {
			out.WriteString(marks[n.Name])
		}
	}
	if r.Best.Params == p {
		out.WriteByte('*')
	}
	return out.String()
}

// legend explains the marks, and names the settings that are not in the grid.
func legend(r *tune.Result) []string {
	lines := []string{"* best"}
	settings := r.Grid.Settings()
	for _, n := range r.Named {
		text := marks[n.Name] + " " + n.Name
		if !slices.Contains(settings, n.Params) {
			text += fmt.Sprintf(" (%g, %g), not in the grid: %.4f", n.Params.K1, n.Params.B, n.Mean.Value)
		}
		lines = append(lines, text)
	}
	return lines
}

// heatColours go from low to high: numbers of the 256-colour palette, dark to light.
var heatColours = []int{17, 18, 24, 30, 36, 71, 107, 143, 179, 215, 222, 229}

// showHeat prints the grid, coloured where the results go to a terminal.
func showHeat(term *terminal, r *tune.Result) {
	f, onTerminal := term.out.(*os.File)
	coloured := term.colour && onTerminal && isTerminal(f)
	low, high := r.Cells[0].Value, r.Cells[0].Value
	for _, c := range r.Cells {
		low, high = min(low, c.Value), max(high, c.Value)
	}
	const width = 10
	term.print("%s over %s judged queries at %d settings\n\n", r.Measure, count(r.Queries), len(r.Cells))
	head := fmt.Sprintf("%8s", "k1 \\ b")
	for _, b := range r.Grid.B {
		head += fmt.Sprintf("%-*s", width, fmt.Sprintf("  %g", b))
	}
	term.print("%s\n", strings.TrimRight(head, " "))
	for i, k1 := range r.Grid.K1 {
		term.print("%8s", fmt.Sprintf("%g", k1))
		row := ""
		for _, c := range r.Cells[i*len(r.Grid.B) : (i+1)*len(r.Grid.B)] {
			text := fmt.Sprintf("%-*s", width, fmt.Sprintf("  %.4f%s", c.Value, cellMarks(r, c.Params)))
			if coloured {
				text = heatColour(text, c.Value, low, high)
			}
			row += text
		}
		term.print("%s\n", strings.TrimRight(row, " "))
	}
	term.print("\n%8s%s\n", "", "  "+strings.Join(legend(r), ", "))
}

func heatColour(text string, v, low, high float64) string {
	i := 0
	if high > low {
		i = int((v - low) / (high - low) * float64(len(heatColours)-1))
	}
	ink := 15
	if i > len(heatColours)/2 {
		ink = 16
	}
	return fmt.Sprintf("\x1b[48;5;%d;38;5;%dm%s\x1b[0m", heatColours[i], ink, text)
}
