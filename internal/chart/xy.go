package chart

import (
	"math"
	"slices"
	"strings"
)

// XY is a chart of points and lines over two axes.
type XY struct {
	Title  string
	X, Y   Axis
	Series []Series
	// Columns are upright bars, from one X to another.
	Columns []Column
	// Marks are vertical lines with a label.
	Marks []Mark
	// Diagonal draws y = x.
	Diagonal bool
	Keys     []Key
}

// Axis is one axis.
type Axis struct {
	Label    string
	Min, Max float64
	Log      bool
	// Whole allows ticks at whole numbers only.
	Whole bool
	// Ticks are chosen if nil. Format writes one; it must be set.
	Ticks  []float64
	Format func(float64) string
}

// Series is a line, or points, or both.
type Series struct {
	Hue            int
	Line           bool
	Dashed, Hollow bool
	// Dots draws the points.
	Dots bool
	// Name is written at the end of a line.
	Name   string
	Points []Point
}

// Point is one place, with an interval where Low < High, and a label where there is one.
type Point struct {
	X, Y      float64
	Low, High float64
	// Radius of the dot; 0 is the usual one.
	Radius float64
	Label  string
	Tip    string
}

// Column is one upright bar.
type Column struct {
	From, To, Height float64
	Hue              int
	Label, Tip       string
}

// Mark is a vertical line.
type Mark struct {
	X     float64
	Label string
}

// The frame of the data within the chart.
const (
	frameLeft, frameRight = 46.0, 14.0
	frameHeight           = 215.0
	frameBottom           = 40.0
)

// SVG draws the chart.
func (c XY) SVG() string {
	var d drawing
	top := d.legend(frameLeft, 0, c.Keys) + 8
	if c.Y.Label != "" {
		d.text(0, top+4, "m", c.Y.Label)
		top += 14
	}
	if len(c.Marks) > 0 {
		top += 14
	}
	right := frameRight
	for _, s := range c.Series {
		if s.Name != "" {
			right = max(right, min(textWidth(s.Name)+8, 110))
		}
	}
	x := scale{min: c.X.Min, max: c.X.Max, log: c.X.Log, from: frameLeft, to: Width - right}
	y := scale{min: c.Y.Min, max: c.Y.Max, log: c.Y.Log, from: top + frameHeight, to: top}
	c.axes(&d, x, y)
	for _, col := range c.Columns {
		c.column(&d, x, y, col)
	}
	if c.Diagonal {
		low, high := max(x.min, y.min), min(x.max, y.max)
		d.line(x.at(low), y.at(low), x.at(high), y.at(high), "a d")
	}
	for _, m := range c.Marks {
		if x.inside(m.X) {
			d.line(x.at(m.X), y.to, x.at(m.X), y.from, "mark")
			class := "c m"
			if x.at(m.X) > x.to-40 {
				class = "e m"
			}
			d.text(x.at(m.X), y.to-5, class, m.Label)
		}
	}
	var names labels
	var spots labels
	for _, s := range c.Series {
		s.draw(&d, x, y, &names, &spots)
	}
	names.spread(y.to+4, y.from)
	for _, l := range names {
		d.text(l.x, l.y+4, "b", clip(l.text, right-8))
	}
	spots.place(&d, x, y)
	return d.wrap(c.Title, top+frameHeight+frameBottom)
}

func (c XY) axes(d *drawing, x, y scale) {
	for _, t := range c.Y.ticks(5) {
		if y.inside(t) {
			d.line(x.from, y.at(t), x.to, y.at(t), "g")
			d.text(x.from-6, y.at(t)+4, "e m", c.Y.Format(t))
		}
	}
	d.line(x.from, y.from, x.to, y.from, "a")
	free := -1.0
	for _, t := range c.X.ticks(6) {
		label := c.X.Format(t)
		if half := textWidth(label) / 2; x.inside(t) && x.at(t)-half > free {
			d.line(x.at(t), y.from, x.at(t), y.from+4, "a")
			d.text(x.at(t), y.from+17, "c m", label)
			free = x.at(t) + half + 4
		}
	}
	d.text((x.from+x.to)/2, y.from+35, "c m", c.X.Label)
}

func (a Axis) ticks(n int) []float64 {
	switch {
	case a.Ticks != nil:
		return a.Ticks
	case a.Log:
		return logTicks(a.Min, a.Max)
	}
	ticks := niceTicks(a.Min, a.Max, n)
	if a.Whole {
		ticks = slices.DeleteFunc(ticks, func(v float64) bool { return v != math.Trunc(v) })
	}
	return ticks
}

func (c XY) column(d *drawing, x, y scale, col Column) {
	if !finite(col.From, col.To, col.Height) {
		return
	}
	// Only what lies on the axes is drawn; an axis of powers has no place for 0.
	from, to := max(col.From, x.min), min(col.To, x.max)
	if to <= from || col.Height < y.min {
		return
	}
	left, right := x.at(from), x.at(to)
	if right-left > 4 {
		left, right = left+0.75, right-0.75
	}
	h := min(col.Height, y.max)
	d.rect(left, y.at(h), right-left, y.from-y.at(h), fill(col.Hue), col.Tip)
	if col.Label != "" {
		d.text((left+right)/2, y.at(h)-4, "c", col.Label)
	}
}

func (s Series) draw(d *drawing, x, y scale, names, spots *labels) {
	var shown []Point
	for _, p := range s.Points {
		if x.inside(p.X) && y.inside(p.Y) {
			shown = append(shown, p)
		}
	}
	if len(shown) == 0 {
		return
	}
	if s.Line {
		d.path(s.lineClass(), linePath(shown, x, y), s.Name)
	}
	for _, p := range shown {
		px, py := x.at(p.X), y.at(p.Y)
		if low, high := max(p.Low, y.min), min(p.High, y.max); low < high {
			d.line(px, y.at(low), px, y.at(high), "s "+stroke(s.Hue))
		}
		r := p.Radius
		if r == 0 {
			r = 3.5
		}
		if s.Dots {
			class := fill(s.Hue)
			if s.Hollow {
				class = "o " + stroke(s.Hue)
			}
			d.circle(px, py, r, class, p.Tip)
		}
		if s.Dots || p.Label != "" { // a bend of a line takes no place
			*spots = append(*spots, label{x: px, y: py, r: r, text: p.Label})
		}
	}
	if s.Name != "" {
		last := shown[len(shown)-1]
		*names = append(*names, label{x: x.at(last.X) + 7, y: y.at(last.Y), text: s.Name})
	}
}

func (s Series) lineClass() string {
	if s.Dashed {
		return "l d " + stroke(s.Hue)
	}
	return "l " + stroke(s.Hue)
}

func linePath(points []Point, x, y scale) string {
	var b strings.Builder
	for i, p := range points {
		if i == 0 {
			b.WriteByte('M')
		} else {
			b.WriteByte('L')
		}
		b.WriteString(num(x.at(p.X)) + " " + num(y.at(p.Y)))
	}
	return b.String()
}

// label is a text that wants to stand at a place.
type label struct {
	x, y, r float64
	text    string
}

type labels []label

// spread moves labels of line ends apart, between two heights.
func (l labels) spread(top, bottom float64) {
	const pitch = 14
	slices.SortStableFunc(l, func(a, b label) int {
		switch {
		case a.y < b.y:
			return -1
		case a.y > b.y:
			return 1
		}
		return 0
	})
	for i := range l {
		l[i].y = max(l[i].y, top)
		if i > 0 {
			l[i].y = max(l[i].y, l[i-1].y+pitch)
		}
	}
	for i := len(l) - 1; i >= 0; i-- {
		limit := bottom
		if i+1 < len(l) {
			limit = l[i+1].y - pitch
		}
		l[i].y = min(l[i].y, limit)
	}
}

// box is a taken rectangle.
type box struct{ left, top, right, bottom float64 }

func (b box) overlaps(c box) bool {
	return b.left < c.right && c.left < b.right && b.top < c.bottom && c.top < b.bottom
}

// place writes the labels of points where they cover neither one another nor a dot; a label
// that finds no place is left to the tooltip.
func (l labels) place(d *drawing, x, y scale) {
	var taken []box
	for _, s := range l {
		taken = append(taken, box{s.x - s.r, s.y - s.r, s.x + s.r, s.y + s.r})
	}
	for _, s := range l {
		if s.text == "" {
			continue
		}
		w := textWidth(s.text)
		for _, try := range []struct{ left, base float64 }{
			{s.x + s.r + 3, s.y + 4}, {s.x - w/2, s.y - s.r - 4}, {s.x - w/2, s.y + s.r + 12}, {s.x - s.r - 3 - w, s.y + 4},
			{s.x + s.r + 3, s.y - 4}, {s.x + s.r + 3, s.y + 12},
		} {
			b := box{try.left, try.base - 9, try.left + w, try.base + 2}
			if b.left < x.from || b.right > Width || b.top < y.to-12 || b.bottom > y.from {
				continue
			}
			if slices.ContainsFunc(taken, b.overlaps) {
				continue
			}
			taken = append(taken, b)
			d.text(try.left, try.base, "halo", s.text)
			break
		}
	}
}
