package navbench

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"goserini/internal/bm25"
	"goserini/internal/eval"
	"goserini/internal/retrieval/local"
	"goserini/internal/trajectory"
)

// Options say how much is measured.
type Options struct {
	// Workers is the number of questions measured at the same time. Default 1.
	Workers int
	// Research is the most questions that builtin/lexical answers, evenly spread; 0 is all,
	// below 0 none. ResearchParts lets it answer with each part alone, too.
	Research      int
	ResearchParts bool
	// Parts is the most questions that each part alone, and each part that acts when asked, is
	// measured on, evenly spread; 0 is all.
	Parts int
	// Progress is told what has been done, from one goroutine; may be nil.
	Progress func(what string, done, of int)
}

// draws are for intervals. Fewer than usual, as there are several hundred of them.
var draws = eval.Bootstrap{Resamples: 2000, Seed: eval.DefaultBootstrap.Seed}

// Measure measures all variants on a collection. The first is what others are compared with.
func Measure(ctx context.Context, c *Collection, variants []Variant, o Options) (Report, error) {
	s := c.index.Stats()
	report := Report{
		Collection: c.name, Documents: s.Documents, MeanTerms: float64(s.Tokens) / float64(max(s.WithTokens, 1)),
		Asked: c.asked, Questions: len(c.questions), Own: c.own, Other: bm25.Paper, Bootstrap: draws,
	}
	m := &measurer{c: c, o: o, questions: c.questions, items: knownItems(c.questions), ranks: map[string]ranked{}}
	report.Items = len(m.items)
	if o.Research >= 0 {
		m.asked = spread(c.questions, o.Research)
	}
	report.Researched = len(m.asked)
	for i, v := range variants {
		if err := v.Options.Fits(local.New(c.index, c.own.Params)); err != nil {
			report.Skipped = append(report.Skipped, v.Name+": "+err.Error())
			continue
		}
		if i == main {
			m.questions = spread(c.questions, o.Parts)
			m.items = knownItems(m.questions)
		}
		figures, err := m.figures(ctx, v, i)
		if err != nil {
			return report, fmt.Errorf("measure %s, %s: %w", c.name, v.Name, err)
		}
		report.Variants = append(report.Variants, figures)
	}
	m.questions = spread(c.questions, o.Parts)
	m.items = knownItems(m.questions)
	var err error
	if report.Uses, err = m.uses(ctx); err != nil {
		return report, fmt.Errorf("measure %s, parts when asked: %w", c.name, err)
	}
	return report, nil
}

// measurer measures one collection.
type measurer struct {
	c *Collection
	o Options
	// questions, and known items among them, that are measured; asked are those that
	// builtin/lexical answers.
	questions, items, asked []question
	// paper are the tokens that the first variant took for known items by query id: where
	// excerpts count and where they do not.
	paper [2]map[string]float64
	// ranks are the rankings of the first variant by query id.
	ranks map[string]ranked
}

func knownItems(questions []question) []question {
	var items []question
	for _, q := range questions {
		if q.item != nil {
			items = append(items, q)
		}
	}
	return items
}

// main is the number of variants that are compared in full; those behind them are the parts.
const main = 2

func (m *measurer) figures(ctx context.Context, v Variant, number int) (Figures, error) {
	talk := newConversation(nil, v)
	f := Figures{Variant: v.Name, PageHits: talk.pageHits, Definitions: talk.definitions()}
	own := local.New(m.c.index, m.c.own.Params)
	browsings, err := each(ctx, m, v.Name+": pages", m.questions, func(q question) (browsing, error) {
		return browse(ctx, own, v, q, m.c.evidence)
	})
	if err != nil {
		return f, err
	}
	f.browsed(browsings)
	if f.Ranks, err = ranks(m.questions, browsings, m.ranks); err != nil {
		return f, err
	}
	if number < main {
		if f.ShownOther, err = m.other(ctx, v); err != nil {
			return f, err
		}
	}
	for i, excerptsCount := range []bool{true, false} {
		readings, err := each(ctx, m, v.Name+": known items", m.items, func(q question) (reading, error) {
			return seek(ctx, own, v, q, excerptsCount)
		})
		if err != nil {
			return f, err
		}
		if number == 0 {
			m.paper[i] = map[string]float64{}
			for j, r := range readings {
				m.paper[i][m.items[j].id] = tokens(r.bytes)
			}
		}
		into := []**Seeking{&f.Item, &f.ItemReading}[i]
		*into = m.seeking(readings, m.paper[i])
	}
	if number >= main && !m.o.ResearchParts {
		return f, nil
	}
	answers, err := each(ctx, m, v.Name+": builtin/lexical", m.asked, func(q question) (researched, error) {
		return m.c.research(ctx, own, v, q)
	})
	if err != nil || len(answers) == 0 {
		return f, err
	}
	return f, f.researched(m.c, answers)
}

// other are the shares at the other BM25 setting.
func (m *measurer) other(ctx context.Context, v Variant) ([bands]*eval.Mean, error) {
	r := local.New(m.c.index, bm25.Paper)
	browsings, err := each(ctx, m, v.Name+": pages at "+bm25.Paper.String(), m.c.questions, func(q question) (browsing, error) {
		return browse(ctx, r, v, q, m.c.evidence)
	})
	return sharesShown(browsings), err
}

func (f *Figures) browsed(all []browsing) {
	f.Shown = sharesShown(all)
	f.Holding = sharesOf(all, func(b browsing) [bands]int { return b.holding })
	f.First = yield(all, func(b browsing) glimpse { return b.first })
	f.ToTwenty = yield(all, func(b browsing) glimpse { return b.toTwenty })
	f.FirstTokens = eval.MeanOf(values(all, func(b browsing) float64 { return tokens(b.first.bytes) }), draws)
	full := slices.DeleteFunc(slices.Clone(all), func(b browsing) bool { return b.page == 0 })
	f.PageTokens = eval.MeanOf(values(full, func(b browsing) float64 { return tokens(b.page) }), draws)
}

func sharesShown(all []browsing) [bands]*eval.Mean {
	return sharesOf(all, func(b browsing) [bands]int { return b.shown })
}

// sharesOf are shares of the gold documents ranked in each band.
func sharesOf(all []browsing, count func(browsing) [bands]int) [bands]*eval.Mean {
	var shares [bands]*eval.Mean
	for i := range bands {
		shares[i] = ratio(all, func(b browsing) (float64, float64) { return float64(count(b)[i]), float64(b.gold[i]) })
	}
	return shares
}

func yield[T any](all []T, of func(T) glimpse) Yield {
	per := func(count func(glimpse) int) *eval.Mean {
		return ratio(all, func(v T) (float64, float64) { g := of(v); return 1000 * float64(count(g)), tokens(g.bytes) })
	}
	return Yield{per(func(g glimpse) int { return g.previewed }), per(func(g glimpse) int { return g.shown })}
}

func (m *measurer) seeking(readings []reading, paper map[string]float64) *Seeking {
	if len(readings) == 0 {
		return nil
	}
	cost := values(readings, func(r reading) float64 { return tokens(r.bytes) })
	s := &Seeking{
		Tokens: eval.MeanOf(cost, draws),
		Found: eval.MeanOf(values(readings, func(r reading) float64 {
			if r.found {
				return 1
			}
			return 0
		}), draws),
		ToPaper: mustRatio(cost, values(m.items, func(q question) float64 { return paper[q.id] })),
	}
	sorted := slices.Sorted(slices.Values(cost))
	s.Median = (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
	return s
}

func (f *Figures) researched(c *Collection, answers []researched) error {
	records := make([]trajectory.Record, len(answers))
	outcomes := map[string]eval.Outcome{}
	for i, a := range answers {
		records[i], outcomes[a.record.QueryID] = a.record, a.outcome
	}
	scores, err := eval.Evaluate(eval.Input{Records: records, Evidence: c.evidence, Outcomes: outcomes, Judge: "builtin/exact", Bootstrap: draws})
	if err != nil {
		return err
	}
	f.Research = &Research{
		Accuracy: scores.Accuracy.All,
		Calls:    scores.Effort.ToolCalls,
		Tokens:   eval.MeanOf(values(answers, func(a researched) float64 { return tokens(a.glimpse.bytes) }), draws),
	}
	if e := scores.Evidence; e != nil {
		f.Research.Surfaced, f.Research.Previewed = e.Surfaced.MacroOverJudged, e.Previewed.MacroOverJudged
		f.Research.Opened, f.Research.Cited = e.Opened.MacroOverJudged, e.Cited.MacroOverJudged
	}
	f.Lexical = yield(answers, func(a researched) glimpse { return a.glimpse })
	return nil
}

// each does something for each question, several at a time, and keeps their order.
func each[T any](ctx context.Context, m *measurer, what string, questions []question, do func(question) (T, error)) ([]T, error) {
	out := make([]T, len(questions))
	errs := make([]error, len(questions))
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(m.o.Workers, 1) {
		wg.Go(func() {
			for i := range next {
				if errs[i] = ctx.Err(); errs[i] == nil {
					out[i], errs[i] = do(questions[i])
				}
			}
		})
	}
	for i := range questions {
		if m.o.Progress != nil {
			m.o.Progress(what, i, len(questions))
		}
		next <- i
	}
	close(next)
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("query %q: %w", questions[i].id, err)
		}
	}
	return out, nil
}

func values[T any](all []T, of func(T) float64) []float64 {
	out := make([]float64, len(all))
	for i, v := range all {
		out[i] = of(v)
	}
	return out
}

func ratio[T any](all []T, of func(T) (num, den float64)) *eval.Mean {
	num, den := make([]float64, len(all)), make([]float64, len(all))
	for i, v := range all {
		num[i], den[i] = of(v)
	}
	return mustRatio(num, den)
}

// mustRatio is a ratio of lists that were made with equal lengths.
func mustRatio(num, den []float64) *eval.Mean {
	mean, err := eval.RatioOf(num, den, draws)
	if err != nil {
		panic("navbench: " + err.Error())
	}
	return mean
}
