package report

import (
	"cmp"
	"fmt"
	"slices"

	"goserini/internal/chart"
	"goserini/internal/eval"
)

// system is a point of the chart of accuracy against cost.
type system struct {
	name, label string
	// usd is the cost of a question.
	usd, accuracy, low, high float64
	paper                    bool
}

// systems are the runs whose accuracy and cost are known, and the paper's where they are shown.
func (d *data) systems() []system {
	var out []system
	for _, rd := range d.runs {
		a, c := rd.Scores.Accuracy, rd.Scores.Effort.Cost
		if a == nil || a.All == nil || c == nil || c.PerQueryUSD == nil {
			continue
		}
		out = append(out, system{name: rd.Name, label: rd.Name, usd: c.PerQueryUSD.Value, accuracy: a.All.Value, low: a.All.Low, high: a.All.High})
	}
	if d.paper != nil {
		for _, s := range d.paper.Systems {
			if s.CostUSD != nil {
				out = append(out, system{name: s.Name(), label: "(" + s.Row + ")", usd: *s.CostUSD / float64(d.paper.Queries), accuracy: s.Accuracy / 100, paper: true})
			}
		}
	}
	return out
}

// front returns the systems that none beats at the same or a lower cost, cheapest first.
func front(all []system) []system {
	s := slices.Clone(all)
	slices.SortStableFunc(s, func(a, b system) int {
		return cmp.Or(cmp.Compare(a.usd, b.usd), cmp.Compare(b.accuracy, a.accuracy))
	})
	var out []system
	for _, x := range s {
		if len(out) == 0 || x.accuracy > out[len(out)-1].accuracy {
			out = append(out, x)
		}
	}
	return out
}

func (d *data) cost() section {
	s := section{id: "cost", title: "Accuracy against cost"}
	all := d.systems()
	if len(all) < 2 || len(all) == 0 || all[0].paper {
		return s
	}
	s.lead = "The line is the Pareto front: no system here is both cheaper and more accurate than one on it. Costs are tokens times the list prices of the day the run began."
	if d.paper != nil {
		s.lead += " Hollow points are rows of the paper's table 1, with its own judge and prices; their letters are those of the table."
	}
	s.draw(costFigure(all))
	return s
}

func costFigure(all []system) figure {
	low, high := all[0].usd, all[0].usd
	for _, x := range all {
		low, high = min(low, x.usd), max(high, x.usd)
	}
	c := chart.XY{Title: "Accuracy against cost", X: chart.Axis{Label: "USD a question", Format: axisDollars},
		Y: chart.Axis{Label: "accuracy, all questions", Min: 0, Max: 1, Format: func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }}}
	if low > 0 {
		c.X.Log, c.X.Min, c.X.Max = true, low/1.5, high*1.5
	} else {
		c.X.Max = max(high*1.1, 0.01)
	}
	out := figure{title: "Accuracy against cost", note: "vertical lines are 95 % intervals", data: csvData{name: "cost.csv", head: []string{"system", "usd a question", "accuracy", "low", "high", "source", "on the front"}}}
	best := front(all)
	line := chart.Series{Hue: 4, Line: true, Dashed: true}
	for i, x := range best {
		if i > 0 {
			line.Points = append(line.Points, chart.Point{X: x.usd, Y: best[i-1].accuracy})
		}
		line.Points = append(line.Points, chart.Point{X: x.usd, Y: x.accuracy})
	}
	line.Points = append(line.Points, chart.Point{X: c.X.Max, Y: best[len(best)-1].accuracy})
	ours := chart.Series{Hue: 1, Dots: true}
	paper := chart.Series{Hue: 2, Dots: true, Hollow: true}
	for _, x := range all {
		p := chart.Point{X: x.usd, Y: x.accuracy, Label: x.label, Radius: 4.5, Tip: fmt.Sprintf("%s: %s at %s a question", x.name, percent(x.accuracy), dollars(x.usd))}
		source := "run"
		if x.paper {
			source = "paper"
			paper.Points = append(paper.Points, p)
			out.data.add(x.name, exact(x.usd), exact(x.accuracy), "", "", source, yes(slices.Contains(best, x)))
			continue
		}
		p.Low, p.High = x.low, x.high
		ours.Points = append(ours.Points, p)
		out.data.add(x.name, exact(x.usd), exact(x.accuracy), exact(x.low), exact(x.high), source, yes(slices.Contains(best, x)))
	}
	c.Series = []chart.Series{line, ours, paper}
	c.Keys = []chart.Key{{Label: "runs of this report", Hue: 1}}
	if len(paper.Points) > 0 {
		c.Keys = append(c.Keys, chart.Key{Label: "the paper's", Hue: 2, Hollow: true})
	}
	c.Keys = append(c.Keys, chart.Key{Label: "Pareto front", Hue: 4, Dashed: true})
	out.svg = c.SVG()
	return out
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func axisDollars(v float64) string {
	if v >= 1 || v == 0 {
		return fmt.Sprintf("$%.0f", v)
	}
	return fmt.Sprintf("$%.2g", v)
}

// paperTable sets the runs' rows beside the paper's.
func (d *data) paperTable() section {
	s := section{id: "paper", title: "Beside the paper"}
	if d.paper == nil {
		return s
	}
	s.lead = fmt.Sprintf("The paper's rows are tinted and come from its tables (%s): %d questions of BrowseComp-Plus, its own judge, its own prices. "+
		"All shares are in percent; recall is the mean over questions; the calibration error of the runs is the strict form.", d.paper.Source, d.paper.Queries)
	s.tabulate(d.paperQuality())
	s.tabulate(d.paperCalls())
	s.tabulate(d.paperSettings())
	return s
}

// paperRows adds a row for each run and for each system of the paper.
func (d *data) paperRows(t *table, own func(*runData) []cell, theirs func(PaperSystem) []cell) {
	t.section("Runs of this report")
	for _, rd := range d.runs {
		t.row(append([]cell{plain(rd.Name)}, own(rd)...)...)
	}
	group := ""
	for _, p := range d.paper.Systems {
		if p.Group != group {
			group = p.Group
			t.section("Paper: " + group)
		}
		t.rows = append(t.rows, row{paper: true, cells: append([]cell{plain(p.Name())}, theirs(p)...)})
	}
}

// paperSets are the document sets that the paper measures, in its order.
var paperSets = []struct {
	name  string
	of    func(*eval.Coverage) eval.SetRecall
	paper func(PaperSystem) PaperRecall
}{
	{"surfaced", func(c *eval.Coverage) eval.SetRecall { return c.Surfaced }, func(p PaperSystem) PaperRecall { return p.Surfaced }},
	{"previewed", func(c *eval.Coverage) eval.SetRecall { return c.Previewed }, func(p PaperSystem) PaperRecall { return p.Previewed }},
	{"behavior", func(c *eval.Coverage) eval.SetRecall { return c.Behavior }, func(p PaperSystem) PaperRecall { return p.Behavior }},
}

func (d *data) paperQuality() table {
	t := table{caption: "Answers, cost and recall (table 1)", csv: "paper-table-1.csv", head: append(texts(""), numbers("accuracy", "calibration error", "cost, $")...)}
	for _, set := range paperSets {
		t.head = append(t.head, numbers(set.name+", evidence", set.name+", gold")...)
	}
	d.paperRows(&t, func(rd *runData) []cell { return ownQuality(rd.Scores) }, func(p PaperSystem) []cell {
		cost := optional(p.CostUSD, tenth)
		if p.CostNote != "" {
			cost = plain(p.CostNote)
		}
		cells := []cell{plain(tenth(p.Accuracy)), optional(p.CalibrationError, tenth), cost}
		for _, set := range paperSets {
			cells = append(cells, optional(set.paper(p).Evidence, tenth), optional(set.paper(p).Gold, tenth))
		}
		return cells
	})
	return t
}

func ownQuality(s eval.Scores) []cell {
	hundred := func(v float64) string { return tenth(100 * v) }
	out := []cell{plain(none), plain(none), plain(none)}
	if s.Accuracy != nil {
		out[0] = mean(s.Accuracy.All, hundred)
	}
	if s.Calibration != nil {
		out[1] = optional(s.Calibration.Strict, hundred)
	}
	if s.Effort.Cost != nil && s.Effort.Cost.Unpriced == 0 {
		out[2] = plain(fmt.Sprintf("%.2f", s.Effort.Cost.TotalUSD))
	}
	for _, set := range paperSets {
		for _, c := range []*eval.Coverage{s.Evidence, s.Gold} {
			if c == nil {
				out = append(out, plain(none))
				continue
			}
			out = append(out, cell{text: mean(set.of(c).Macro, hundred).text})
		}
	}
	return out
}

func (d *data) paperCalls() table {
	t := table{caption: "Tool calls a question (table 2)", folded: true, csv: "paper-table-2.csv", head: append(texts(""), numbers("all", "search", "read", "browse", "questions")...)}
	d.paperRows(&t, func(rd *runData) []cell {
		e := rd.Scores.Effort
		cells := []cell{mean(e.ToolCalls, tenth)}
		for _, name := range []string{"search", "read_document", "read_search_results"} {
			cells = append(cells, mean(e.ByTool[name], tenth))
		}
		return append(cells, plain(count(rd.Scores.Queries)))
	}, func(p PaperSystem) []cell {
		return []cell{plain(tenth(p.Calls.Total)), plain(tenth(p.Calls.Search)), optional(p.Calls.Read, tenth), optional(p.Calls.Browse, tenth), plain(count(d.paper.Queries))}
	})
	return t
}

func (d *data) paperSettings() table {
	t := table{caption: fmt.Sprintf("The paper's settings of BM25 and ways to end: %d questions, %s (table 3)", d.paper.SettingsQueries, d.paper.SettingsModel), folded: true, csv: "paper-table-3.csv",
		head: append(texts("", "k1, b"), numbers("accuracy", "accuracy, completed", "surfaced", "previewed", "behavior", "calls", "median tokens", "of them cached", "cost, $")...)}
	for _, p := range d.paper.Settings {
		cells := []cell{plain(p.Name), plain(fmt.Sprintf("%g, %g", p.K1, p.B))}
		for _, v := range []float64{p.Accuracy, p.AccuracyCompleted, p.Surfaced, p.Previewed, p.Behavior, p.ToolCalls} {
			cells = append(cells, plain(tenth(v)))
		}
		cells = append(cells, plain(count(int64(p.MedianTokens))), plain(count(int64(p.MedianCachedTokens))), plain(tenth(p.CostUSD)))
		t.rows = append(t.rows, row{paper: true, cells: cells})
	}
	return t
}

func tenth(v float64) string { return fmt.Sprintf("%.1f", v) }

func optional(v *float64, format func(float64) string) cell {
	if v == nil {
		return plain(none)
	}
	return plain(format(*v))
}
