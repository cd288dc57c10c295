package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"goserini/internal/bm25"
	"goserini/internal/index"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/local"
)

// bm25Flags are the flags that choose k1 and b.
type bm25Flags struct {
	k1, b   float32
	setting string
}

func (f *bm25Flags) register(cmd *cobra.Command) {
	cmd.Flags().Float32Var(&f.k1, "k1", 0, "BM25 k1, at least 0")
	cmd.Flags().Float32Var(&f.b, "b", 0, "BM25 b, between 0 and 1")
	cmd.Flags().StringVar(&f.setting, "bm25", "", "a named setting: anserini (0.9, 0.4; the default where a benchmark names none), paper (25, 1), auto (by what the documents are like)")
}

// resolve returns the setting and where it came from. fallback is used when no flag chooses.
func (f *bm25Flags) resolve(cmd *cobra.Command, stats index.Stats, fallback func() (bm25.Params, string)) (bm25.Params, string, error) {
	k1Set, bSet := cmd.Flags().Changed("k1"), cmd.Flags().Changed("b")
	if (k1Set || bSet) && f.setting != "" {
		return bm25.Params{}, "", usagef(cmd, "give either --bm25 or --k1 and --b, not both")
	}
	p, source := fallback()
	switch f.setting {
	case "":
	case "anserini":
		p, source = bm25.Anserini, "--bm25 anserini"
	case "paper":
		p, source = bm25.Paper, "--bm25 paper"
	case "auto":
		p, source = chooseBM25(stats)
		source = "--bm25 auto: " + source
	default:
		return p, "", usagef(cmd, "--bm25 %q: want anserini, paper or auto", f.setting)
	}
	var flags []string
	if k1Set {
		p.K1, flags = f.k1, append(flags, "--k1")
	}
	if bSet {
		p.B, flags = f.b, append(flags, "--b")
	}
	if len(flags) > 0 {
		rest := ""
		if len(flags) == 1 {
			rest = ", the other from: " + source
		}
		source = strings.Join(flags, " ") + rest
	}
	if err := p.Validate(); err != nil {
		return p, "", usagef(cmd, "%w", err)
	}
	return p, source, nil
}

// chooseBM25 chooses by what documents are like.
func chooseBM25(s index.Stats) (bm25.Params, string) {
	return bm25.Choose(bm25.Collection{Tokens: s.Tokens, Postings: s.Postings, Length90: s.Lengths.P90})
}

func anseriniDefault() (bm25.Params, string) { return bm25.Anserini, "default: Anserini's" }

type searchOptions struct {
	dir          string
	hits         int
	bm25         bm25Flags
	retriever    retrieverFlag
	json         bool
	topics       string
	output       string
	outputFormat string
	tag          string
	threads      int
}

func newSearch(term *terminal) *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search --index DIR [--] QUERY",
		Short: "Query an index, or run a query file into a TREC run",
		Long: `Query an index: ranked hits with score, title and excerpt. Or run a query file
(--topics, TSV, JSONL or TREC) into a run file (--output).

A query is plain text, a bag of words. Put -- before a query that begins with a dash.`,
		Example: `  goserini search --index my.index "harbour survey 1911"
  goserini search --index my.index --topics queries.tsv --output run.txt`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.retriever.resolve(cmd, &o.dir); err != nil {
				return err
			}
			if o.dir+o.retriever.spec == "" {
				return usagef(cmd, "--index DIR is missing: name the folder of the index")
			}
			if o.topics != "" {
				if o.dir == "" {
					return usagef(cmd, "--topics needs an index: name it with --index")
				}
				if len(args) > 0 {
					return usagef(cmd, "give either a QUERY or --topics FILE, not both")
				}
				return runTopics(cmd.Context(), term, cmd, o)
			}
			if len(args) == 0 {
				return usagef(cmd, "QUERY is missing")
			}
			if o.retriever.spec != "" {
				return o.searchRemote(cmd.Context(), term, cmd, strings.Join(args, " "))
			}
			return runSearch(cmd.Context(), term, cmd, strings.Join(args, " "), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "index", "", "the folder of the index")
	f.IntVar(&o.hits, "hits", 0, "number of hits, at least 1 (default 10, with --topics 1000)")
	o.bm25.register(cmd)
	o.retriever.register(cmd)
	f.BoolVar(&o.json, "json", false, "print as JSON")
	f.StringVar(&o.topics, "topics", "", "a query file: TSV, JSONL or TREC")
	f.StringVar(&o.output, "output", "", "with --topics: the run file to write (- is stdout)")
	f.StringVar(&o.outputFormat, "output-format", "trec", "with --topics: trec (six columns, Anserini's rounded scores) or jsonl (raw scores)")
	f.StringVar(&o.tag, "tag", "goserini", "with --topics: the run's tag, one word")
	f.IntVar(&o.threads, "threads", 0, "with --topics: queries at once; 0 is one per processor")
	return cmd
}

// openIndex opens an index and lets the error carry its own advice.
func openIndex(dir string) (*index.Index, error) { return index.Open(dir) }

func (o *searchOptions) depth(cmd *cobra.Command, fallback int) (int, error) {
	if !cmd.Flags().Changed("hits") {
		return fallback, nil
	}
	if o.hits < 1 {
		return 0, usagef(cmd, "--hits %d: want at least 1", o.hits)
	}
	return o.hits, nil
}

// searchResult is the JSON form of a ranking.
type searchResult struct {
	Query string `json:"query"`
	// Retriever is given where no index was searched; the fields about BM25 are then empty.
	Retriever  string            `json:"retriever,omitempty"`
	Variant    string            `json:"bm25_variant"`
	Params     bm25.Params       `json:"bm25"`
	BM25Source string            `json:"bm25_source"`
	Analyzer   string            `json:"analyzer"`
	Terms      []index.QueryTerm `json:"terms"`
	Hits       []searchHit       `json:"hits"`
}

type searchHit struct {
	Rank    int     `json:"rank"`
	DocID   string  `json:"docid"`
	Score   float32 `json:"score"`
	Title   string  `json:"title,omitempty"`
	URL     string  `json:"url,omitempty"`
	Excerpt string  `json:"excerpt,omitempty"`
}

func runSearch(ctx context.Context, term *terminal, cmd *cobra.Command, query string, o searchOptions) error {
	depth, err := o.depth(cmd, 10)
	if err != nil {
		return err
	}
	ix, err := openIndex(o.dir)
	if err != nil {
		return err
	}
	defer ix.Close()
	params, source, err := o.bm25.resolve(cmd, ix.Stats(), anseriniDefault)
	if err != nil {
		return err
	}
	ranking, err := ix.Search(ctx, index.Query{Text: query, Params: params, Depth: depth})
	if err != nil {
		return err
	}
	result := searchResult{Query: query, Variant: bm25.Variant, Params: params, BM25Source: source,
		Analyzer: ix.Analyzer().Name(), Terms: ranking.Terms, Hits: make([]searchHit, 0, len(ranking.Hits))}
	if result.Hits, err = withExcerpts(ctx, ix, params, query, ranking, result.Hits); err != nil {
		return err
	}
	if o.json {
		return term.json(result)
	}
	showHits(term, result, o.dir)
	return nil
}

func withExcerpts(ctx context.Context, ix *index.Index, params bm25.Params, query string, ranking index.Ranking, hits []searchHit) ([]searchHit, error) {
	docids := make([]string, len(ranking.Hits))
	for i, h := range ranking.Hits {
		docids[i] = h.DocID
	}
	var excerpter retrieval.Excerpter = local.New(ix, params)
	excerpts, err := excerpter.Excerpts(ctx, query, docids)
	if err != nil {
		return nil, err
	}
	for i, h := range ranking.Hits {
		meta, err := ix.Meta(h.Ordinal)
		if err != nil {
			return nil, err
		}
		hits = append(hits, searchHit{Rank: i + 1, DocID: h.DocID, Score: h.Score, Title: meta.Title, URL: meta.URL, Excerpt: excerpts[i].Text})
	}
	return hits, nil
}

func showHits(term *terminal, r searchResult, dir string) {
	term.say("BM25 (%s), %s (%s), analyzer %s", r.Variant, r.Params, r.BM25Source, r.Analyzer)
	if len(r.Terms) == 0 {
		term.say("no searchable term is left of the query: it holds only stop words or punctuation")
		return
	}
	var absent []string
	for _, t := range r.Terms {
		if t.DF == 0 {
			absent = append(absent, t.Term)
		}
	}
	if len(absent) > 0 {
		term.say("in no document: %s", printable(strings.Join(absent, ", ")))
	}
	showRanking(term, r.Hits)
	if len(r.Hits) > 0 {
		term.hint("next: goserini read --index %s %s", shellQuote(dir), shellQuote(r.Hits[0].DocID))
	}
}

func showRanking(term *terminal, hits []searchHit) {
	for _, h := range hits {
		term.print("%3d  %s  %s\n", h.Rank, term.paint(cyan, printable(oneLine(h.DocID))), term.paint(dim, fmt.Sprintf("%.4f", h.Score)))
		if h.Title != "" {
			term.print("     %s\n", term.paint(bold, printable(oneLine(h.Title))))
		}
		if h.Excerpt != "" {
			term.print("     %s\n", printable(oneLine(h.Excerpt)))
		}
	}
}
