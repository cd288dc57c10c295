package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/analysis"
	"goserini/internal/enginebench"
	"goserini/internal/synth"
)

// synthFlags describe a synthetic collection.
type synthFlags struct {
	shape     string
	documents string
	seed      uint64
	queries   int
}

func (f *synthFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.shape, "shape", "long", "long (web pages, 5,200 words on average) or passages (60 words)")
	fl.StringVar(&f.documents, "documents", "10k", "number of documents: 10k, 100k, 1M, 8.8M or any other")
	fl.Uint64Var(&f.seed, "seed", 0, "another seed gives another collection")
	fl.IntVar(&f.queries, "queries", 300, "queries in each set")
}

func (f *synthFlags) resolve(cmd *cobra.Command) (synth.Corpus, error) {
	shape, err := synth.ShapeByName(f.shape)
	if err != nil {
		return synth.Corpus{}, usagef(cmd, "--shape: %w", err)
	}
	n, err := parseCount(f.documents)
	if err != nil {
		return synth.Corpus{}, usagef(cmd, "--documents: %w", err)
	}
	if f.queries < 1 {
		return synth.Corpus{}, usagef(cmd, "--queries %d: want at least 1", f.queries)
	}
	return synth.Corpus{Shape: shape, Documents: n, Seed: f.seed}, nil
}

// parseCount reads a number such as 10000, 10k or 8.8M.
func parseCount(s string) (int, error) {
	text, factor := strings.ToLower(strings.TrimSpace(s)), 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "m": 1e6} {
		if rest, ok := strings.CutSuffix(text, suffix); ok {
			text, factor = rest, f
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if v *= factor; err != nil || !(v >= 1 && v <= 1e9) || v != float64(int(v+0.5)) {
		return 0, fmt.Errorf("%q is no number of documents: want 1 to a thousand million, such as 10k or 8.8M", s)
	}
	return int(v), nil
}

func newBenchCorpus(term *terminal) *cobra.Command {
	var f synthFlags
	var out, queries string
	var tokens bool
	cmd := &cobra.Command{
		Use:   "corpus --shape S --documents N --out FILE",
		Short: "Write a synthetic collection and its query sets",
		Long: `Write a synthetic collection as JSON lines: of any size, the same on every machine, and alike real
text in what the speed of an engine depends on. Query sets: ` + setNames() + `.`,
		Example: `  goserini bench corpus --shape long --documents 10k --out long.jsonl --queries-out queries`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.resolve(cmd)
			if err != nil {
				return err
			}
			if out == "" && queries == "" {
				return usagef(cmd, "name --out FILE for the collection or --queries-out DIR for its query sets")
			}
			if queries != "" {
				if err := enginebench.WriteQueries(c, synth.QuerySets, f.queries, queries); err != nil {
					return err
				}
			}
			if out == "" {
				return nil
			}
			return writeCorpus(cmd.Context(), term, c, out, tokens)
		},
	}
	f.register(cmd)
	cmd.Flags().StringVar(&out, "out", "", "the file to write")
	cmd.Flags().StringVar(&queries, "queries-out", "", "the folder for the query sets, a TSV file each")
	cmd.Flags().BoolVar(&tokens, "tokens", false, "write id, tab and the English terms with blanks between, for engines that are to index the same terms")
	return cmd
}

func setNames() string {
	var names []string
	for _, s := range synth.QuerySets {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func writeCorpus(ctx context.Context, term *terminal, c synth.Corpus, path string, tokens bool) error {
	start := time.Now()
	progress := func(done int) {
		term.progress("%s of %s documents, %s", count(done), count(c.Documents), duration(time.Since(start)))
	}
	var err error
	if tokens {
		english, e := analysis.ByName(analysis.Default)
		if e != nil {
			return e
		}
		err = enginebench.WriteDocuments(ctx, c, path, func(b *bytes.Buffer, d synth.Document) error {
			b.WriteString(d.ID)
			b.WriteByte('\t')
			enginebench.WriteTerms(b, english, d.Title+"\n"+d.Text)
			b.WriteByte('\n')
			return nil
		}, progress)
	} else {
		err = enginebench.WriteCorpus(ctx, c, path, progress)
	}
	term.endProgress()
	if err != nil {
		return err
	}
	term.say("%s documents in %s", count(c.Documents), duration(time.Since(start)))
	return nil
}
