package chart

import (
	"html"
	"math"
	"strconv"
	"strings"
)

// Heat is a grid of values, the darker the higher. The values are written into the cells.
type Heat struct {
	Title string
	// Across and Down name what the columns and the rows stand for.
	Across, Down  string
	Columns, Rows []string
	// Cells are rows of cells. Missing ones are left empty.
	Cells [][]HeatCell
	// Notes stand below the grid, one a line.
	Notes []string
}

// HeatCell is one cell.
type HeatCell struct {
	Value float64
	Text  string
	// Mark stands in the cell's corner, a letter or two; Framed cells have a frame.
	Mark   string
	Framed bool
	Tip    string
}

// SVG draws the grid.
func (c Heat) SVG() string {
	const left, top, height, note = 34, 34, 34, 16
	var d drawing
	low, high := c.bounds()
	width := (Width - left) / float64(max(len(c.Columns), 1))
	d.text(left, 11, "m", c.Across+" →")
	d.text(0, top-6, "m", c.Down+" ↓")
	for i, label := range c.Columns {
		d.text(left+(float64(i)+0.5)*width, top-6, "m c", label)
	}
	for r, row := range c.Cells {
		y := top + float64(r)*height
		if r < len(c.Rows) {
			d.text(left-6, y+height/2+6, "m e", c.Rows[r])
		}
		for i, cell := range row {
			d.heatCell(cell, left+float64(i)*width, y, width, height, opacity(cell.Value, low, high))
		}
	}
	y := top + float64(len(c.Cells))*height + note + 4
	for _, n := range c.Notes {
		d.text(0, y, "m", clip(n, Width))
		y += note
	}
	return d.wrap(c.Title, y-note+6)
}

// bounds are the lowest and the highest value.
func (c Heat) bounds() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, row := range c.Cells {
		for _, cell := range row {
			if finite(cell.Value) {
				low, high = min(low, cell.Value), max(high, cell.Value)
			}
		}
	}
	return low, high
}

// opacity of a value's colour; faint at the lowest, and never so dark that text drowns.
func opacity(v, low, high float64) float64 {
	const faint, dark = 0.06, 0.72
	if high <= low {
		return faint
	}
	return faint + (dark-faint)*(v-low)/(high-low)
}

// heatCell draws a cell with a gap around it; a value that is not finite has no colour.
func (d *drawing) heatCell(c HeatCell, x, y, w, h, opacity float64) {
	const gap = 1
	x, y, w, h = x+gap, y+gap, w-2*gap, h-2*gap
	if finite(c.Value) {
		d.raw(`<rect class="`, fill(1), `" x="`, num(x), `" y="`, num(y), `" width="`, num(w), `" height="`, num(h),
			`" fill-opacity="`, strconv.FormatFloat(opacity, 'f', 2, 64), `"`, tipped("rect", c.Tip))
	}
	if c.Framed {
		d.rect(x, y, w, h, "mark", "")
	}
	class := "c"
	if c.Framed {
		class += " b"
	}
	d.text(x+w/2, y+h/2+7, class, c.Text)
	if c.Mark != "" {
		d.text(x+w-3, y+10, "e b", c.Mark)
	}
}

// palette gives a chart that stands alone the variables that a page would.
const palette = `svg{--ink:#1b1f23;--muted:#626a72;--rule:#dcdfda;--paper:#fff;--h1:#2f6f9f;--h2:#4b9c86;--h3:#c8553d;--h4:#9aa2aa;--h5:#d69a2d;--h6:#8668ae;background:var(--paper)}
@media (prefers-color-scheme:dark){svg{--ink:#e3e6e8;--muted:#99a2aa;--rule:#2d333a;--paper:#14171a;--h1:#5fa3d4;--h2:#63bda4;--h3:#e57a62;--h4:#69727b;--h5:#dfb04e;--h6:#ab90d4}}
`

// Standalone makes a file of a chart's SVG: with its title, its size and its colours in it.
func Standalone(title, svg string) string {
	head := `<svg xmlns="http://www.w3.org/2000/svg" width="` + strconv.Itoa(2*Width) + `" `
	body := strings.Replace(svg, "<svg ", head, 1)
	end := strings.IndexByte(body, '>') + 1
	return body[:end] + "<title>" + html.EscapeString(title) + "</title><style>" + palette + CSS + "</style>" + body[end:] + "\n"
}
