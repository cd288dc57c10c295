package chart

import (
	"html"
	"strconv"
	"strings"
)

// Timeline draws what happened when, one row a question, all from the same start.
type Timeline struct {
	Title string
	Rows  []Row
	// End is the right end of the axis, in the unit of the spans; it must be above 0.
	End   float64
	Label string
	// Format writes a tick.
	Format func(float64) string
	// Limit is where time ends for every row, 0 for nowhere.
	Limit      float64
	LimitLabel string
	Keys       []Key
}

// Row is one question.
type Row struct {
	Label string
	// Value stands behind the label.
	Value string
	Href  string
	Spans []Span
	// Marks are moments that deserve a tick across the row.
	Marks []float64
	Tip   string
}

// Span is a stretch of time of one kind.
type Span struct {
	From, To float64
	Hue      int
}

// LabelledRows is how many rows are labelled one by one; a chart of more is a picture of the whole.
const LabelledRows = 60

// SVG draws the rows.
func (c Timeline) SVG() string {
	var d drawing
	y := d.legend(0, 0, c.Keys) + 4
	left, pitch, thick := 0.0, 17.0, 10.0
	labelled := len(c.Rows) <= LabelledRows
	switch {
	case labelled:
		for _, r := range c.Rows {
			left = max(left, min(textWidth(r.Label), 110)+8)
		}
	case len(c.Rows) <= 240:
		left, pitch, thick = 30, 4, 3
	default:
		left, pitch, thick = 30, 2, 2
	}
	right := 58.0
	if !labelled {
		right = 8
	}
	if c.Limit > 0 {
		y += 14
	}
	if !labelled {
		y += 16 // such a chart scrolls: its axis stands above it, too
	}
	x := scale{max: c.End, from: left, to: Width - right}
	bottom := y + pitch*float64(len(c.Rows))
	for _, t := range niceTicks(0, c.End, 5) {
		d.line(x.at(t), y-2, x.at(t), bottom+3, "g")
		d.text(x.at(t), bottom+15, "c m", c.Format(t))
		if !labelled {
			d.text(x.at(t), y-6, "c m", c.Format(t))
		}
	}
	if labelled {
		c.labelledRows(&d, x, y, pitch, thick)
	} else {
		c.picture(&d, x, y, pitch, thick)
	}
	if c.Limit > 0 && x.inside(c.Limit) {
		d.line(x.at(c.Limit), y-2, x.at(c.Limit), bottom+3, "mark d")
		up := y - 6
		if !labelled {
			up -= 16
		}
		d.text(min(x.at(c.Limit), Width-2), up, "e m", c.LimitLabel)
	}
	d.text((x.from+x.to)/2, bottom+33, "c m", c.Label)
	return d.wrap(c.Title, bottom+40)
}

func (c Timeline) labelledRows(d *drawing, x scale, y, pitch, thick float64) {
	for _, r := range c.Rows {
		mid := y + pitch/2
		d.raw(`<g>`)
		if r.Tip != "" {
			d.raw(`<title>`, html.EscapeString(r.Tip), `</title>`)
		}
		if r.Href != "" {
			d.raw(`<a`, attr("href", r.Href), `>`)
		}
		d.text(0, mid+4, "", clip(r.Label, x.from-8))
		if r.Href != "" {
			d.raw(`</a>`)
		}
		end := x.from
		for hue, data := range spanPaths([]Row{r}, x, mid, pitch, &end) {
			d.spans(hue, data, thick)
		}
		for _, m := range r.Marks {
			d.line(x.at(m), mid-thick/2-2.5, x.at(m), mid+thick/2+2.5, "mark")
		}
		d.text(end+6, mid+4, "m", r.Value)
		d.raw(`</g>`)
		y += pitch
	}
}

// picture draws all rows in a few paths.
func (c Timeline) picture(d *drawing, x scale, y, pitch, thick float64) {
	for i := 0; i < len(c.Rows); i += 100 {
		d.text(x.from-6, y+pitch*float64(i)+8, "e m", strconv.Itoa(i+1))
	}
	var end float64
	for hue, data := range spanPaths(c.Rows, x, y+pitch/2, pitch, &end) {
		d.spans(hue, data, thick)
	}
	var marks strings.Builder
	for i, r := range c.Rows {
		for _, m := range r.Marks {
			if x.inside(m) {
				marks.WriteString("M" + num(x.at(m)) + " " + num(y+pitch*float64(i)) + "v" + num(pitch))
			}
		}
	}
	d.path("mark", marks.String(), "")
}

func (d *drawing) spans(hue int, data string, thick float64) {
	if data != "" {
		d.raw(`<path class="s `, stroke(hue), `" stroke-width="`, num(thick), `" d="`, data, `"/>`)
	}
}

// spanPaths draws the spans of rows, one path a hue, indexed by hue, and notes where the last ends.
func spanPaths(rows []Row, x scale, y, pitch float64, end *float64) []string {
	paths := make([]strings.Builder, Hues+1)
	for i, r := range rows {
		for _, s := range r.Spans {
			if !finite(s.From, s.To) || s.To <= s.From {
				continue
			}
			from, to := x.at(max(s.From, x.min)), x.at(min(s.To, x.max))
			*end = max(*end, to)
			if to-from < 0.05 {
				continue
			}
			paths[within(s.Hue)].WriteString("M" + num(from) + " " + num(y+pitch*float64(i)) + "h" + num(max(to-from, 0.1)))
		}
	}
	out := make([]string, len(paths))
	for i := range paths {
		out[i] = paths[i].String()
	}
	return out
}
