package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"goserini/internal/chart"
	"goserini/internal/eval"
)

// judgments are the two kinds of relevant documents.
var judgments = []struct {
	name, about string
	of          func(eval.Scores) *eval.Coverage
	counts      func(eval.Fate) bool
}{
	{"evidence", "Evidence: documents needed to answer", func(s eval.Scores) *eval.Coverage { return s.Evidence }, func(f eval.Fate) bool { return f.Evidence }},
	{"gold", "Gold: documents that hold the answer", func(s eval.Scores) *eval.Coverage { return s.Gold }, func(f eval.Fate) bool { return f.Gold }},
}

func (d *data) judged() bool {
	return slices.ContainsFunc(d.runs, func(rd *runData) bool { return rd.Scores.Evidence != nil || rd.Scores.Gold != nil })
}

// title puts the run's name behind a title where there are several.
func (d *data) title(s string, rd *runData) string {
	if len(d.runs) == 1 {
		return s
	}
	return s + " · " + rd.Name
}

func (d *data) funnel() section {
	s := section{id: "funnel", title: "Where evidence went"}
	if !d.judged() {
		return s
	}
	s.lead = "Every relevant document of every question, followed from the judgments into the answer. A bar counts the documents that came at least so far."
	for _, rd := range d.runs {
		for _, j := range judgments {
			if c := j.of(rd.Scores); c != nil && c.Funnel.Relevant > 0 {
				s.draw(d.funnelFigure(rd, j.name, j.about, c.Funnel))
			}
		}
	}
	t := table{caption: "Recall of the document sets", folded: true, csv: "recall.csv",
		head: append(texts("documents in the set"), numbers("macro", "macro, judged questions", "micro", "found")...)}
	for _, rd := range d.runs {
		for _, j := range judgments {
			c := j.of(rd.Scores)
			if c == nil {
				continue
			}
			t.section(d.title(j.name, rd))
			for _, set := range coverageSets {
				r := set.of(c)
				t.row(plain(set.name), mean(r.Macro, percent), mean(r.MacroOverJudged, percent), mean(r.Micro, percent), plain(fmt.Sprintf("%s of %s", count(r.Hits), count(c.Funnel.Relevant))))
			}
		}
	}
	s.tabulate(t)
	return s
}

// reached counts, stage by stage, the documents that came at least so far.
func reached(f eval.Funnel) []struct {
	label string
	n     int
} {
	type stage = struct {
		label string
		n     int
	}
	cited := f.Used
	opened := cited + f.NotCited
	shown := opened + f.NotOpened
	ranked := shown + f.NeverShown
	return []stage{{"judged relevant", f.Relevant}, {"in a ranking", ranked}, {"shown to the model", shown}, {"opened", opened}, {"cited in the answer", cited}}
}

func (d *data) funnelFigure(rd *runData, name, about string, f eval.Funnel) figure {
	chartData := chart.Bars{Title: about, Max: float64(f.Relevant)}
	out := figure{title: d.title(about, rd), data: csvData{name: fmt.Sprintf("funnel-%s%s.csv", name, d.suffix(rd)), head: []string{"stage", "documents", "share"}}}
	previous := f.Relevant
	for _, st := range reached(f) {
		value := fmt.Sprintf("%s  ·  %s", count(st.n), share(st.n, f.Relevant))
		label := st.label
		if lost := previous - st.n; lost > 0 {
			label = fmt.Sprintf("%s  (−%s)", st.label, count(lost))
		}
		previous = st.n
		chartData.Rows = append(chartData.Rows, chart.Bar{Label: label, Value: value,
			Parts: []chart.Part{{Size: float64(st.n), Hue: 1, Tip: fmt.Sprintf("%s: %d of %d", st.label, st.n, f.Relevant)}}})
		out.data.add(st.label, strconv.Itoa(st.n), exact(ratio(st.n, f.Relevant)))
	}
	out.svg = chartData.SVG()
	return out
}

// suffix tells files of several runs apart.
func (d *data) suffix(rd *runData) string {
	if len(d.runs) == 1 {
		return ""
	}
	return fmt.Sprintf("-%d", rd.index+1)
}

// stages are the ways evidence is lost, with where to look.
var stages = []struct {
	stage       eval.Stage
	label, look string
	hue         int
	n           func(eval.Funnel) int
}{
	{eval.NoRecord, "the question was not run", "the run", 4, func(f eval.Funnel) int { return f.NoRecord }},
	{eval.NeverRetrieved, "never retrieved", "queries, index", 3, func(f eval.Funnel) int { return f.NeverRetrieved }},
	{eval.NeverShown, "retrieved, never shown", "page sizes, browsing", 5, func(f eval.Funnel) int { return f.NeverShown }},
	{eval.NotOpened, "shown, not opened", "excerpts", 6, func(f eval.Funnel) int { return f.NotOpened }},
	{eval.NotCited, "opened, not cited", "reasoning", 2, func(f eval.Funnel) int { return f.NotCited }},
	{eval.Used, "cited", "", 1, func(f eval.Funnel) int { return f.Used }},
}

func stageLabel(s eval.Stage) string {
	for _, st := range stages {
		if st.stage == s {
			return st.label
		}
	}
	return string(s)
}

// mostListed bounds the documents listed for one way of losing them; each question lists its own.
const mostListed = 40

func (d *data) losses() section {
	s := section{id: "losses", title: "Why evidence was lost"}
	if !d.judged() {
		return s
	}
	s.lead = "Every lost document stands at the furthest stage it came to. The rank is the best it had in any ranking of its question."
	for _, rd := range d.runs {
		for _, j := range judgments {
			if c := j.of(rd.Scores); c != nil && c.Funnel.Relevant > c.Funnel.Used {
				s.draw(d.lossFigure(rd, j.name, c.Funnel))
			}
		}
		if f, ok := d.rankFigure(rd); ok {
			s.draw(f)
		}
	}
	for _, rd := range d.runs {
		if t := d.outcomeTable(rd); len(t.rows) > 0 {
			s.tabulate(t)
		}
	}
	for _, rd := range d.runs {
		for _, t := range d.lostTables(rd) {
			s.tabulate(t)
		}
	}
	return s
}

func (d *data) lossFigure(rd *runData, name string, f eval.Funnel) figure {
	title := fmt.Sprintf("Lost %s documents by stage", name)
	bars := chart.Bars{Title: title, Max: float64(f.Relevant)}
	out := figure{title: d.title(title, rd), note: "share of all relevant documents; after the label, the place to look",
		data: csvData{name: fmt.Sprintf("lost-%s%s.csv", name, d.suffix(rd)), head: []string{"stage", "documents", "share", "look at"}}}
	for _, st := range stages {
		n := st.n(f)
		if st.stage == eval.Used || st.stage == eval.NoRecord && n == 0 {
			continue
		}
		bars.Rows = append(bars.Rows, chart.Bar{Label: st.label + ": " + st.look, Value: fmt.Sprintf("%s  ·  %s", count(n), share(n, f.Relevant)),
			Parts: []chart.Part{{Size: float64(n), Hue: st.hue, Tip: fmt.Sprintf("%s: %d of %d", st.label, n, f.Relevant)}}})
		out.data.add(st.label, strconv.Itoa(n), exact(ratio(n, f.Relevant)), st.look)
	}
	out.svg = bars.SVG()
	return out
}

// rankBuckets are the upper ends of the ranges of ranks that are counted together.
var rankBuckets = []int{5, 10, 20, 50, 100, 200, 500, 1000}

// rankFigure shows at which rank the documents stood that were retrieved and never shown.
func (d *data) rankFigure(rd *runData) (figure, bool) {
	counts := make([]int, len(rankBuckets)+1)
	total := 0
	for _, it := range rd.items {
		for _, f := range it.scores.Fates {
			if f.Evidence && f.Stage == eval.NeverShown && f.BestRank > 0 {
				b, _ := slices.BinarySearch(rankBuckets, f.BestRank)
				counts[b]++
				total++
			}
		}
	}
	if total == 0 {
		return figure{}, false
	}
	const title = "Evidence retrieved and never shown, by its best rank"
	bars := chart.Bars{Title: title}
	out := figure{title: d.title(title, rd), data: csvData{name: "never-shown-ranks" + d.suffix(rd) + ".csv", head: []string{"from rank", "to rank", "documents"}}}
	from := 1
	for i, n := range counts {
		label, to := fmt.Sprintf("beyond rank %d", rankBuckets[len(rankBuckets)-1]), ""
		if i < len(rankBuckets) {
			label, to = fmt.Sprintf("rank %d to %d", from, rankBuckets[i]), strconv.Itoa(rankBuckets[i])
		} else if n == 0 {
			continue
		}
		bars.Rows = append(bars.Rows, chart.Bar{Label: label, Value: count(n), Parts: []chart.Part{{Size: float64(n), Hue: 5}}})
		out.data.add(strconv.Itoa(from), to, strconv.Itoa(n))
		if i < len(rankBuckets) {
			from = rankBuckets[i] + 1
		}
	}
	out.svg = bars.SVG()
	return out, true
}

// furthest is the furthest stage that any of a question's gold documents came to, or of its evidence
// where no document is gold; empty where the question has neither.
func (it *item) furthest() eval.Stage {
	best, gold := -1, false
	for _, f := range it.scores.Fates {
		gold = gold || f.Gold
	}
	for _, f := range it.scores.Fates {
		if gold && !f.Gold {
			continue
		}
		for i, st := range stages {
			if st.stage == f.Stage {
				best = max(best, i)
			}
		}
	}
	if best < 0 {
		return ""
	}
	return stages[best].stage
}

// outcomeTable sets how questions ended against how far their evidence came: it tells failures of
// retrieval from failures of reasoning.
func (d *data) outcomeTable(rd *runData) table {
	counts := map[eval.Stage]map[outcome]int{}
	used := map[outcome]bool{}
	for _, it := range rd.items {
		st := it.furthest()
		if counts[st] == nil {
			counts[st] = map[outcome]int{}
		}
		counts[st][it.outcome()]++
		used[it.outcome()] = true
	}
	t := table{caption: d.title("Questions by outcome and by how far their best gold document came", rd),
		head: texts("best gold document"), csv: "outcomes" + d.suffix(rd) + ".csv"}
	var shown []outcome
	for _, o := range outcomes {
		if used[o] {
			shown = append(shown, o)
			t.head = append(t.head, column{name: string(o), number: true})
		}
	}
	order := []eval.Stage{""}
	for _, st := range stages {
		order = append(order, st.stage)
	}
	slices.Reverse(order)
	for _, st := range order {
		if counts[st] == nil {
			continue
		}
		label := stageLabel(st)
		if st == "" {
			label = "no document is relevant"
		}
		cells := []cell{plain(label)}
		for _, o := range shown {
			cells = append(cells, plain(count(counts[st][o])))
		}
		t.row(cells...)
	}
	return t
}

// lost is one lost document.
type lost struct {
	it *item
	f  eval.Fate
}

// lostTables lists lost documents stage by stage, those that ranked best first.
func (d *data) lostTables(rd *runData) []table {
	var out []table
	for _, st := range stages {
		if st.stage == eval.Used || st.stage == eval.NoRecord {
			continue
		}
		var all []lost
		for _, it := range rd.items {
			for _, f := range it.scores.Fates {
				if f.Stage == st.stage {
					all = append(all, lost{it, f})
				}
			}
		}
		if len(all) == 0 {
			continue
		}
		slices.SortStableFunc(all, func(a, b lost) int { return cmp.Compare(a.f.BestRank, b.f.BestRank) })
		t := table{caption: d.title(st.label+": "+plural(len(all), "document"), rd), folded: true,
			head: append(texts("question", "document", "judged"), numbers("best rank")...)}
		if len(all) > mostListed {
			t.caption += fmt.Sprintf(", the %d that ranked best; every question lists its own", mostListed)
			all = all[:mostListed]
		}
		for _, l := range all {
			t.row(cell{text: l.it.id, href: l.it.anchor}, plain(l.f.DocID), plain(judgedAs(l.f)), plain(rank(l.f.BestRank)))
		}
		out = append(out, t)
	}
	return out
}

func judgedAs(f eval.Fate) string {
	switch {
	case f.Evidence && f.Gold:
		return "evidence, gold"
	case f.Gold:
		return "gold"
	}
	return "evidence"
}

func rank(n int) string {
	if n == 0 {
		return none
	}
	return count(n)
}

func (d *data) depth() section {
	s := section{id: "depth", title: "Recall by depth"}
	if !d.judged() {
		return s
	}
	s.lead = "How much the model would have seen if every ranking had been shown down to a depth: from the best rank each document had in any ranking of its question."
	c := chart.XY{Title: "Recall by depth, mean over questions",
		X: chart.Axis{Label: "depth", Min: 1, Max: 1000, Log: true, Ticks: []float64{1, 5, 10, 20, 50, 100, 200, 500, 1000}, Format: func(v float64) string { return strconv.Itoa(int(v)) }},
		Y: chart.Axis{Label: "recall", Min: 0, Max: 1, Format: func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }}}
	out := figure{title: "Recall by depth", note: "mean over all questions; evidence drawn through, gold dashed",
		data: csvData{name: "recall-by-depth.csv", head: []string{"run", "documents", "depth", "macro", "micro"}}}
	for _, rd := range d.runs {
		for i, j := range judgments {
			cov := j.of(rd.Scores)
			if cov == nil || cov.Funnel.Relevant == 0 {
				continue
			}
			hue, name := rd.index+1, j.name
			if len(d.runs) == 1 {
				hue = i + 1
			} else if i == 0 {
				name = rd.Name
			} else {
				name = ""
			}
			series := chart.Series{Hue: hue, Line: true, Dots: true, Dashed: i == 1, Name: name}
			for _, p := range cov.ByDepth {
				series.Points = append(series.Points, chart.Point{X: float64(p.Depth), Y: p.Macro, Radius: 2.5,
					Tip: fmt.Sprintf("%s: %s of %s documents at depth %d", rd.Name, percent(p.Macro), j.name, p.Depth)})
				out.data.add(rd.Name, j.name, strconv.Itoa(p.Depth), exact(p.Macro), exact(p.Micro))
			}
			c.Series = append(c.Series, series)
		}
	}
	if len(c.Series) == 0 {
		return s
	}
	out.svg = c.SVG()
	s.draw(out)
	s.tabulate(d.depthTable())
	return s
}

// depthTable has the curve's figures at the depths people ask for.
func (d *data) depthTable() table {
	t := table{caption: "Recall at a depth", beside: true, head: append(texts(""), numbers("5", "10", "100", "1000")...)}
	for _, rd := range d.runs {
		if len(d.runs) > 1 {
			t.section(rd.Name)
		}
		for _, j := range judgments {
			cov := j.of(rd.Scores)
			if cov == nil || cov.Funnel.Relevant == 0 {
				continue
			}
			for _, kind := range []struct {
				name string
				of   func(eval.DepthPoint) float64
			}{{"mean over questions", func(p eval.DepthPoint) float64 { return p.Macro }}, {"all documents pooled", func(p eval.DepthPoint) float64 { return p.Micro }}} {
				cells := []cell{plain(j.name + ", " + kind.name)}
				for _, p := range cov.ByDepth {
					if slices.Contains([]int{5, 10, 100, 1000}, p.Depth) {
						cells = append(cells, plain(percent(kind.of(p))))
					}
				}
				t.row(cells...)
			}
		}
	}
	return t
}
