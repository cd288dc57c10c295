package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"goserini/internal/chart"
)

func (d *data) effort() section {
	s := section{id: "time", title: "Time and calls"}
	s.lead = "Where the time of each question went, as its events tell. A tick marks the moment the model was told to stop its research and answer."
	for _, rd := range d.runs {
		if f, ok := d.timeline(rd); ok {
			s.draw(f)
		}
	}
	if t := d.spentTable(); len(t.rows) > 0 {
		s.tabulate(t)
	}
	for _, rd := range d.runs {
		s.draw(d.histogram(rd, distributions[0]))
		s.draw(d.histogram(rd, distributions[1]))
	}
	s.tabulate(d.quantiles())
	return s
}

// told are the questions whose steps are known.
func (rd *runData) told() []*item {
	var out []*item
	for _, it := range rd.items {
		if len(it.story.spans) > 0 || len(it.story.steps) > 0 {
			out = append(out, it)
		}
	}
	return out
}

var timeKeys = []chart.Key{{Label: "waiting for the model", Hue: int(kindModel)}, {Label: "tools", Hue: int(kindTool)},
	{Label: "failed tries and waits", Hue: int(kindRetry)}, {Label: "other", Hue: int(kindOther)}}

// timeline draws one bar a question. Many questions are drawn longest first, and their time summed by
// what it went to.
func (d *data) timeline(rd *runData) (figure, bool) {
	items := rd.told()
	if len(items) == 0 {
		return figure{}, false
	}
	many := len(items) > chart.LabelledRows
	longest, limit := 0.0, 0.0
	for _, it := range items {
		longest = max(longest, float64(it.story.endMS)/1000)
		limit = max(limit, it.story.limit)
	}
	if many {
		items = slices.Clone(items)
		slices.SortStableFunc(items, func(a, b *item) int { return cmp.Compare(b.story.endMS, a.story.endMS) })
	}
	c := chart.Timeline{Title: fmt.Sprintf("Time of %d questions by what it went to", len(items)), Label: "seconds", Keys: timeKeys, Format: axisSeconds}
	c.End = max(longest, 1e-3)
	if limit > 0 && longest > limit/3 {
		c.Limit, c.LimitLabel = limit, "time limit"
		c.End = max(c.End, limit*1.02)
	}
	out := figure{title: d.title("Time of each question", rd), tall: many, data: csvData{name: "timelines" + d.suffix(rd) + ".csv",
		head: []string{"question", "status", "seconds", "model", "tools", "failed tries and waits", "other", "steered at", "time limit"}}}
	out.note = "in the order of what happened"
	if many {
		out.note = "longest first, the time of each question summed by what it went to"
	}
	if limit > 0 && c.Limit == 0 {
		out.note += fmt.Sprintf("; the limit of %s lies far to the right", seconds(limit))
	}
	for _, it := range items {
		c.Rows = append(c.Rows, timelineRow(it, many))
		out.data.rows = append(out.data.rows, timelineData(it))
	}
	out.svg = c.SVG()
	return out, true
}

func axisSeconds(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

func timelineRow(it *item, summed bool) chart.Row {
	r := chart.Row{Label: clean(it.id), Value: seconds(float64(it.story.endMS) / 1000), Href: "#" + it.anchor}
	spent := it.story.spent()
	r.Tip = fmt.Sprintf("%s, %s: model %s, tools %s, failed tries and waits %s, other %s", clean(it.id), it.outcome(),
		ms(spent[kindModel]), ms(spent[kindTool]), ms(spent[kindRetry]), ms(spent[kindOther]))
	for _, at := range it.story.steers {
		r.Marks = append(r.Marks, float64(at)/1000)
	}
	if !summed {
		for _, sp := range it.story.spans {
			r.Spans = append(r.Spans, chart.Span{From: float64(sp.from) / 1000, To: float64(sp.to) / 1000, Hue: int(sp.kind)})
		}
		return r
	}
	at := 0.0
	for k := kindModel; k <= kindOther; k++ {
		s := float64(spent[k]) / 1000
		r.Spans = append(r.Spans, chart.Span{From: at, To: at + s, Hue: int(k)})
		at += s
	}
	return r
}

func ms(n int64) string { return seconds(float64(n) / 1000) }

func timelineData(it *item) []string {
	spent := it.story.spent()
	in := func(n int64) string { return exact(math.Round(float64(n)/10) / 100) }
	steered := ""
	if len(it.story.steers) > 0 {
		steered = in(it.story.steers[0])
	}
	limit := ""
	if it.story.limit > 0 {
		limit = exact(it.story.limit)
	}
	return []string{it.id, it.scores.Status, in(it.story.endMS), in(spent[kindModel]), in(spent[kindTool]), in(spent[kindRetry]), in(spent[kindOther]), steered, limit}
}

// spentTable sums time over questions.
func (d *data) spentTable() table {
	t := table{caption: "Where the time went, all questions together", head: append(texts("run"), numbers("model", "tools", "failed tries and waits", "other", "together")...), csv: "time.csv"}
	for _, rd := range d.runs {
		total, sums := int64(0), map[kind]int64{}
		for _, it := range rd.items {
			for k, n := range it.story.spent() {
				sums[k] += n
				total += n
			}
		}
		if total == 0 {
			continue
		}
		cells := []cell{plain(rd.Name)}
		for k := kindModel; k <= kindOther; k++ {
			cells = append(cells, cell{text: ms(sums[k]), sub: percent(float64(sums[k]) / float64(total))})
		}
		t.row(append(cells, plain(ms(total)))...)
	}
	return t
}

// distribution is a figure of a question whose spread is shown.
type distribution struct {
	title, name, unit string
	format            func(float64) string
	of                func(*item) float64
}

// calls counts the calls of a tool.
func calls(name string) func(*item) float64 {
	return func(it *item) float64 { return float64(it.scores.ToolCallCounts[name]) }
}

var distributions = []distribution{
	{"Time a question", "seconds", "seconds", seconds, func(it *item) float64 { return it.scores.ElapsedSeconds }},
	{"Tool calls a question", "calls", "tool calls", wholeNumber, func(it *item) float64 {
		n := 0
		for _, c := range it.scores.ToolCallCounts {
			n += c
		}
		return float64(n)
	}},
	{"search", "search", "calls", wholeNumber, calls("search")},
	{"read_search_results", "browse", "calls", wholeNumber, calls("read_search_results")},
	{"read_document", "read", "calls", wholeNumber, calls("read_document")},
	{"Turns", "turns", "turns", wholeNumber, func(it *item) float64 { return float64(it.scores.Turns) }},
	{"Tokens", "tokens", "tokens", wholeNumber, func(it *item) float64 {
		u := it.scores.Usage
		return float64(u.Input + u.CacheRead + u.CacheWrite + u.Output)
	}},
}

// values are those of the questions that were run, sorted.
func (rd *runData) values(x distribution) []float64 {
	var out []float64
	for _, it := range rd.items {
		if it.record != nil {
			out = append(out, x.of(it))
		}
	}
	return sorted(out)
}

func (d *data) histogram(rd *runData, x distribution) figure {
	values := rd.values(x)
	out := figure{title: d.title(x.title, rd), data: csvData{name: x.name + d.suffix(rd) + ".csv", head: []string{"from", "to", "questions"}}}
	if len(values) == 0 {
		out.note = "no question was run"
		return out
	}
	width, bins := binning(values, x.name != "seconds")
	counts := make([]int, bins)
	most := 0
	for _, v := range values {
		b := min(int(v/width+1e-9), bins-1)
		counts[b]++
		most = max(most, counts[b])
	}
	end := width * float64(bins)
	c := chart.XY{Title: x.title, X: chart.Axis{Label: x.unit, Max: end, Whole: x.name != "seconds", Format: axisSeconds},
		Y: chart.Axis{Label: "questions", Max: roundTo(float64(most)), Whole: true, Format: axisSeconds}}
	for i, n := range counts {
		from := width * float64(i)
		col := chart.Column{From: from, To: from + width, Height: float64(n), Hue: 1, Tip: fmt.Sprintf("%s to %s: %d questions", exact(from), exact(from+width), n)}
		if n > 0 && bins <= 12 {
			col.Label = count(n)
		}
		c.Columns = append(c.Columns, col)
		out.data.add(exact(from), exact(from+width), strconv.Itoa(n))
	}
	c.Marks = []chart.Mark{{X: quantile(values, 0.5), Label: "median " + x.format(quantile(values, 0.5))}}
	out.svg = c.SVG()
	return out
}

// binning chooses a round width so that there are at most some twenty bins from 0 on.
func binning(values []float64, whole bool) (width float64, bins int) {
	const most = 20
	end := max(values[len(values)-1], 1e-3)
	if whole {
		end = max(end, 1)
	}
	raw := end / most
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	width = 10 * unit
	for _, f := range []float64{1, 2, 5} {
		if raw <= f*unit*1.0001 {
			width = f * unit
			break
		}
	}
	if whole {
		width = max(width, 1)
	}
	return width, int(end/width+1e-9) + 1
}

// roundTo leaves room above the highest column for its label.
func roundTo(v float64) float64 { return math.Max(v*1.12, 1) }

func (d *data) quantiles() table {
	t := table{caption: "Distributions over questions that were run", csv: "distributions.csv",
		head: append(texts(""), numbers("least", "25 %", "median", "mean", "75 %", "90 %", "95 %", "most")...)}
	for _, rd := range d.runs {
		if len(d.runs) > 1 {
			t.section(rd.Name)
		}
		for _, x := range distributions {
			v := rd.values(x)
			if len(v) == 0 {
				continue
			}
			cells := []cell{plain(x.title)}
			for _, p := range []float64{0, 0.25, 0.5, -1, 0.75, 0.9, 0.95, 1} {
				if p < 0 {
					cells = append(cells, plain(x.format(average(v))))
				} else {
					cells = append(cells, plain(x.format(quantile(v, p))))
				}
			}
			t.row(cells...)
		}
	}
	return t
}

// unfinished lists the questions that did not end with an answer.
func (d *data) unfinished() section {
	s := section{id: "unfinished", title: "Questions without an answer"}
	for _, rd := range d.runs {
		t := table{head: append(texts("question", "ended as", "reason"), numbers("time", "calls")...)}
		t.head = append(t.head, texts("cause")...)
		if len(d.runs) > 1 {
			t.caption = rd.Name
		}
		for _, it := range rd.items {
			switch it.outcome() {
			case timedOut, failed:
			default:
				continue
			}
			t.row(cell{text: it.id, href: it.anchor}, plain(string(it.outcome())), plain(it.record.Reason),
				plain(seconds(it.scores.ElapsedSeconds)), plain(count(it.record.ExecutedCalls)), plain(clip(oneLine(it.record.Error), 300)))
		}
		t.folded = len(t.rows) > 12
		if t.folded && t.caption == "" {
			t.caption = count(len(t.rows)) + " questions timed out or failed"
		}
		if len(t.rows) > 0 {
			s.tabulate(t)
		}
	}
	return s
}
