package enginebench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"goserini/internal/bench"
	"goserini/internal/bm25"
	"goserini/internal/controller"
	"goserini/internal/index"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/local"
	"goserini/internal/synth"
	"goserini/internal/tune"
)

// measurement is a run of all measurements in this process.
type measurement struct {
	Config
	dir     string
	ix      *index.Index
	queries map[synth.QuerySet][]synth.Query
	report  *Report
}

func newMeasurement(c Config, dir string, r *Report) (*measurement, error) {
	m := &measurement{Config: c, dir: dir, report: r, queries: map[synth.QuerySet][]synth.Query{}}
	for _, set := range c.Sets {
		queries, err := c.Corpus.Queries(set, c.Queries)
		if err != nil {
			return nil, err
		}
		m.queries[set] = queries
	}
	var err error
	m.ix, err = index.Open(dir)
	return m, err
}

// turns lets contestants take turns and notes how quiet the machine was.
func (m *measurement) turns(ctx context.Context, contestants ...bench.Contestant) ([][]bench.Batch, error) {
	r, err := bench.Interleave(ctx, contestants, bench.Plan{Rounds: m.Rounds, Tolerance: m.Tolerance})
	m.report.Discarded += r.Discarded
	m.report.Unquiet += r.Unquiet
	return r.Batches, err
}

func (m *measurement) open(ctx context.Context) error {
	m.Say("opening")
	batches, err := m.turns(ctx, bench.Each("open", 20, func(context.Context, int) error {
		ix, err := index.Open(m.dir)
		if err != nil {
			return err
		}
		return ix.Close()
	}))
	if err == nil {
		m.report.Open = bench.Of(batches[0], bench.P50)
	}
	return err
}

func (m *measurement) search(ctx context.Context, text string, params bm25.Params, depth int) (index.Ranking, error) {
	return m.ix.Search(ctx, index.Query{Text: text, Params: params, Depth: depth})
}

func (m *measurement) searches(ctx context.Context) error {
	for _, set := range m.Sets {
		postings, err := m.postings(ctx, set)
		if err != nil {
			return err
		}
		for _, params := range m.Settings {
			for _, depth := range m.Depths {
				m.Say("searching: %s, k=%d, %s", set, depth, params)
				queries := m.queries[set]
				batches, err := m.turns(ctx, bench.Each("search", len(queries), func(ctx context.Context, i int) error {
					_, err := m.search(ctx, queries[i].Text, params, depth)
					return err
				}))
				if err != nil {
					return err
				}
				m.report.Searches = append(m.report.Searches, Search{Set: set, Queries: len(queries), Depth: depth, Params: params, Postings: postings,
					Latency: latency(batches[0]), Thread: latency(bench.OnThread(batches[0])), NanosPerPosting: bench.Of(batches[0], bench.Mean) * 1e9 / max(postings, 1)})
			}
		}
	}
	return nil
}

// postings is the mean number of postings of a set's queries.
func (m *measurement) postings(ctx context.Context, set synth.QuerySet) (float64, error) {
	var sum int
	for _, q := range m.queries[set] {
		r, err := m.search(ctx, q.Text, m.Settings[0], 1)
		if err != nil {
			return 0, err
		}
		for _, t := range r.Terms {
			sum += t.DF
		}
	}
	return float64(sum) / float64(len(m.queries[set])), nil
}

func (m *measurement) loads(ctx context.Context) error {
	for _, set := range m.Sets {
		queries := m.queries[set]
		l := Load{Set: set}
		for workers, into := range map[int]*bench.Load{1: &l.One, 2: &l.Two} {
			m.Say("closed loop: %s, %d threads", set, workers)
			load, err := bench.ClosedLoop(ctx, workers, len(queries), m.Load, func(ctx context.Context, i int) error {
				_, err := m.search(ctx, queries[i].Text, m.Settings[0], m.Depths[0])
				return err
			})
			if err != nil {
				return err
			}
			*into = load
		}
		m.report.Loads = append(m.report.Loads, l)
	}
	return nil
}

// tool calls the agent's search tool.
func (m *measurement) tool(ctx context.Context) error {
	m.Say("search tool")
	queries := m.queries[m.Sets[0]]
	retriever := local.New(m.ix, m.Settings[0])
	batches, err := m.turns(ctx, bench.Each("tool", len(queries), func(ctx context.Context, i int) error {
		return callSearch(ctx, retriever, controller.Options{}, queries[i].Text)
	}))
	if err == nil {
		m.report.Tool = latency(batches[0])
	}
	return err
}

// callSearch calls the search tool of a conversation that has just begun.
func callSearch(ctx context.Context, retriever retrieval.Retriever, options controller.Options, query string) error {
	args, err := json.Marshal(map[string]string{"reason": "to measure", "query": query})
	if err != nil {
		return err
	}
	for _, t := range controller.New(retriever, options).Tools() {
		if t.Name == controller.SearchTool {
			r, err := t.Begin(args)(ctx)
			if err == nil && r.IsError {
				err = fmt.Errorf("query %q: %s", query, r.Text)
			}
			return err
		}
	}
	return errors.New("there is no search tool")
}

// lines reads 200 lines of random documents, from a random line.
func (m *measurement) lines(ctx context.Context) error {
	m.Say("line ranges")
	const reads, limit = 500, 200
	r := rand.New(rand.NewPCG(m.Corpus.Seed, 3))
	type place struct {
		ord    index.Ordinal
		offset int
	}
	places := make([]place, reads)
	for i := range places {
		ord := index.Ordinal(r.IntN(int(m.ix.Stats().Documents)))
		meta, err := m.ix.Meta(ord)
		if err != nil {
			return err
		}
		places[i] = place{ord, 1 + r.IntN(meta.Lines)}
	}
	batches, err := m.turns(ctx, bench.Each("lines", reads, func(_ context.Context, i int) error {
		_, err := m.ix.Lines(places[i].ord, places[i].offset, limit)
		return err
	}))
	if err == nil {
		m.report.Lines = latency(batches[0])
	}
	return err
}

// page is documents found for a query.
type page struct {
	query  string
	docids []string
	ords   []index.Ordinal
}

// pages picks for each query the best documents of about 32 KB, and others where there are too
// few.
func (m *measurement) pages(ctx context.Context, size int) ([]page, error) {
	const low, high = 16 << 10, 64 << 10
	var pages []page
	for _, q := range m.queries[m.Sets[0]] {
		r, err := m.search(ctx, q.Text, m.Settings[0], 1000)
		if err != nil {
			return nil, err
		}
		p, others := page{query: q.Text}, []index.Hit{}
		add := func(h index.Hit) {
			p.docids, p.ords = append(p.docids, h.DocID), append(p.ords, h.Ordinal)
		}
		for _, h := range r.Hits {
			meta, err := m.ix.Meta(h.Ordinal)
			if err != nil {
				return nil, err
			}
			if meta.Bytes >= low && meta.Bytes <= high && len(p.ords) < size {
				add(h)
			} else {
				others = append(others, h)
			}
		}
		for _, h := range others[:min(max(size-len(p.ords), 0), len(others))] {
			add(h)
		}
		if len(p.ords) > 0 {
			pages = append(pages, p)
		}
	}
	if len(pages) == 0 {
		return nil, errors.New("no query of the first set finds a document")
	}
	return pages, nil
}

func (m *measurement) excerpts(ctx context.Context) error {
	pages, err := m.pages(ctx, 5)
	if err != nil {
		return err
	}
	retriever := local.New(m.ix, m.Settings[0])
	m.Say("excerpts")
	batches, err := m.turns(ctx,
		bench.Each("excerpts", len(pages), func(ctx context.Context, i int) error {
			_, err := retriever.Excerpts(ctx, pages[i].query, pages[i].docids)
			return err
		}),
		bench.Each("decode and scan", len(pages), func(_ context.Context, i int) error {
			for _, ord := range pages[i].ords {
				text, err := m.ix.Contents(ord)
				if err != nil {
					return err
				}
				retrieval.EarliestExcerpt(pages[i].query, text, retrieval.EarliestLength)
			}
			return nil
		}))
	if err != nil {
		return err
	}
	m.report.Excerpts = compare(batches)
	m.Say("passages")
	batches, err = m.turns(ctx,
		bench.Each("located", len(pages), func(_ context.Context, i int) error { return m.locatedPassages(retriever, pages[i]) }),
		bench.Each("decode and scan", len(pages), func(_ context.Context, i int) error {
			matcher := retrieval.NewMatcher(pages[i].query, retriever)
			for _, ord := range pages[i].ords {
				text, err := m.ix.Contents(ord)
				if err != nil {
					return err
				}
				matcher.Passages(text, 0, retrieval.PassageLength)
			}
			return nil
		}))
	if err == nil {
		m.report.Passages = compare(batches)
	}
	return err
}

// locatedPassages finds the best passages where the index says that the query's words stand.
func (m *measurement) locatedPassages(retriever *local.Retriever, p page) error {
	matcher := retrieval.NewMatcher(p.query, retriever)
	locator, err := m.ix.Locator(p.query)
	if err != nil {
		return err
	}
	for _, ord := range p.ords {
		from, to, err := locator.Densest(ord)
		if err != nil {
			return err
		}
		text, err := m.ix.Slice(ord, from, to)
		if err != nil {
			return err
		}
		matcher.Passages(text, 0, retrieval.PassageLength)
	}
	return nil
}

// ranked is a retriever whose ranking is there.
type ranked struct {
	*local.Retriever
	ranking retrieval.Ranking
}

// Search implements [retrieval.Retriever].
func (r ranked) Search(context.Context, retrieval.SearchRequest) (retrieval.Ranking, error) {
	return r.ranking, nil
}

// navigator makes the navigator's pages of ten documents.
func (m *measurement) navigator(ctx context.Context) error {
	m.Say("pages of the navigator")
	const size = 10
	options, err := controller.Profile("navigator")
	if err != nil {
		return err
	}
	options.FirstPage = size
	pages, err := m.pages(ctx, size)
	if err != nil {
		return err
	}
	retrievers := make([]ranked, len(pages))
	for i, p := range pages {
		retrievers[i].Retriever = local.New(m.ix, m.Settings[0])
		for _, id := range p.docids {
			retrievers[i].ranking = append(retrievers[i].ranking, retrieval.Hit{DocID: id})
		}
	}
	batches, err := m.turns(ctx, bench.Each("page", len(pages), func(ctx context.Context, i int) error {
		return callSearch(ctx, retrievers[i], options, pages[i].query)
	}))
	if err == nil {
		m.report.Page = latency(batches[0])
	}
	return err
}

func compare(batches [][]bench.Batch) Comparison {
	c := Comparison{Fast: latency(batches[0]), Plain: latency(batches[1]), Ratio: bench.Ratio(batches[0], batches[1], bench.P50)}
	if fast, plain := bench.OnThread(batches[0]), bench.OnThread(batches[1]); fast != nil && plain != nil {
		c.ThreadRatio = bench.Ratio(fast, plain, bench.P50)
	}
	return c
}

// gridSettings are 24.
func gridSettings() []bm25.Params {
	return tune.NewGrid([]float32{0.9, 1.2, 2, 4, 16, 25}, []float32{0.4, 0.6, 0.75, 1}).Settings()
}

// grid ranks six judged documents a query, the paper's number, under 24 settings.
func (m *measurement) grid(ctx context.Context) error {
	m.Say("grid of 24 settings")
	const judged, most = 6, 40
	set := m.Sets[min(1, len(m.Sets)-1)]
	queries := m.queries[set]
	queries = queries[:min(most, len(queries))]
	documents := make([][]index.Ordinal, len(queries))
	for i, q := range queries {
		r, err := m.search(ctx, q.Text, m.Settings[0], 1000)
		if err != nil {
			return err
		}
		for j := range judged {
			if n := len(r.Hits); n > 0 {
				documents[i] = append(documents[i], r.Hits[j*n/judged].Ordinal)
			}
		}
	}
	settings := gridSettings()
	rank := func(name string, ranker tune.Ranker) bench.Contestant {
		return bench.Each(name, len(queries), func(ctx context.Context, i int) error {
			_, err := ranker.GridRanks(ctx, queries[i].Text, settings, documents[i], tune.Depth)
			return err
		})
	}
	batches, err := m.turns(ctx, rank("one pass", m.ix), rank("24 searches", tune.Searches(m.ix)))
	if err == nil {
		m.report.Grid = compare(batches)
	}
	return err
}
