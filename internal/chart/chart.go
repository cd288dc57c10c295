// Package chart draws small statistical charts as SVG that stands inside an HTML page:
// no script, no outside file, no style attribute, so that the strictest content security
// policy lets them through. Colours are classes that [CSS] defines over variables of the
// page, hence a chart follows a light or dark theme by itself. Every chart has a title for
// screen readers and every number that matters stands beside its mark as text.
//
//	svg := chart.Bars{Title: "Calls", Rows: []chart.Bar{{Label: "search", Value: "12", Parts: []chart.Part{{Size: 12, Hue: 1}}}}}.SVG()
//
// Equal charts give equal bytes. Values that are not finite are left out.
package chart

import (
	"html"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CSS is what a page must hold for the charts to be seen. It uses the variables --ink, --muted,
// --rule, --paper and --h1 to --h6, the colours of data.
const CSS = `.chart{display:block;width:100%;height:auto;max-width:34rem;overflow:visible}
.chart text{font:12px/1 var(--sans,system-ui,sans-serif);fill:var(--ink);font-variant-numeric:tabular-nums}
.chart .m{fill:var(--muted)}.chart .e{text-anchor:end}.chart .c{text-anchor:middle}.chart .b{font-weight:600}
.chart .halo{paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}
.chart .g{stroke:var(--rule);stroke-width:1;fill:none}.chart .a{stroke:var(--muted);stroke-width:1;fill:none}
.chart .track{fill:var(--rule);opacity:.55}.chart .mark{stroke:var(--ink);stroke-width:1.5;fill:none}
.chart .l{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.chart .d{stroke-dasharray:5 4}
.chart .s{fill:none}.chart .o{fill:var(--paper);stroke-width:1.5}
.chart .f1{fill:var(--h1)}.chart .f2{fill:var(--h2)}.chart .f3{fill:var(--h3)}.chart .f4{fill:var(--h4)}.chart .f5{fill:var(--h5)}.chart .f6{fill:var(--h6)}
.chart .k1{stroke:var(--h1)}.chart .k2{stroke:var(--h2)}.chart .k3{stroke:var(--h3)}.chart .k4{stroke:var(--h4)}.chart .k5{stroke:var(--h5)}.chart .k6{stroke:var(--h6)}
.chart a text{text-decoration:underline;text-decoration-color:var(--rule)}
`

// Hues is the number of colours; a Hue counts from 1.
const Hues = 6

// Width is the width of every chart in its own units; a page scales it.
const Width = 440

// drawing collects the elements of one chart.
type drawing struct{ b strings.Builder }

// wrap closes a drawing of some height into an SVG element.
func (d *drawing) wrap(title string, height float64) string {
	t := html.EscapeString(title)
	return `<svg class="chart" role="img" aria-label="` + t + `" viewBox="0 0 ` + strconv.Itoa(Width) + ` ` + num(height) + `">` + d.b.String() + `</svg>`
}

func (d *drawing) raw(parts ...string) {
	for _, p := range parts {
		d.b.WriteString(p)
	}
}

// text writes s at a place, with classes.
func (d *drawing) text(x, y float64, class, s string) {
	d.raw(`<text`, attr("class", class), ` x="`, num(x), `" y="`, num(y), `">`, html.EscapeString(s), `</text>`)
}

// rect draws a box with a tooltip; a box without extent is left out.
func (d *drawing) rect(x, y, w, h float64, class, tip string) {
	if w <= 0 || h <= 0 || math.IsNaN(w+h) {
		return
	}
	d.raw(`<rect`, attr("class", class), ` x="`, num(x), `" y="`, num(y), `" width="`, num(w), `" height="`, num(h), `"`, tipped("rect", tip))
}

// path draws a path with a tooltip.
func (d *drawing) path(class, data, tip string) {
	if data != "" {
		d.raw(`<path`, attr("class", class), ` d="`, data, `"`, tipped("path", tip))
	}
}

func (d *drawing) line(x1, y1, x2, y2 float64, class string) {
	d.path(class, "M"+num(x1)+" "+num(y1)+"L"+num(x2)+" "+num(y2), "")
}

func (d *drawing) circle(x, y, r float64, class, tip string) {
	d.raw(`<circle`, attr("class", class), ` cx="`, num(x), `" cy="`, num(y), `" r="`, num(r), `"`, tipped("circle", tip))
}

func tipped(element, tip string) string {
	if tip == "" {
		return "/>"
	}
	return "><title>" + html.EscapeString(tip) + "</title></" + element + ">"
}

func attr(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + html.EscapeString(value) + `"`
}

func fill(hue int) string   { return "f" + strconv.Itoa(within(hue)) }
func stroke(hue int) string { return "k" + strconv.Itoa(within(hue)) }

func within(hue int) int { return (max(hue, 1)-1)%Hues + 1 }

// num writes a coordinate with at most one decimal.
func num(v float64) string {
	s := strconv.FormatFloat(v, 'f', 1, 64)
	s = strings.TrimSuffix(s, ".0")
	if s == "-0" {
		return "0"
	}
	return s
}

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// textWidth estimates how wide a text is drawn at the 13 units of a telephone, the widest there is. Characters outside Latin count as wide.
func textWidth(s string) float64 {
	w := 0.0
	for _, r := range s {
		switch {
		case r > 0x2e7f:
			w += 13
		case strings.ContainsRune("iljtf.,:;'|()[] ", r):
			w += 4.2
		case r >= 'A' && r <= 'Z' || r == 'm' || r == 'w':
			w += 9.2
		default:
			w += 7.2
		}
	}
	return w
}

// clip shortens a text to a width and marks that it did.
func clip(s string, width float64) string {
	if textWidth(s) <= width {
		return s
	}
	for textWidth(s) > width-8 && s != "" {
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s + "…"
}

// Key is an entry of a legend.
type Key struct {
	Label string
	Hue   int
	// Dashed and Hollow repeat how the marks look.
	Dashed, Hollow bool
}

// legend writes keys from x on and returns the height they took.
func (d *drawing) legend(x, y float64, keys []Key) float64 {
	if len(keys) == 0 {
		return 0
	}
	const row, gap = 17, 14
	left, top := x, y
	for _, k := range keys {
		label := clip(k.Label, Width-x-30)
		w := 18 + textWidth(label) + gap
		if left+w-gap > Width && left > x {
			left, y = x, y+row
		}
		switch {
		case k.Dashed:
			d.line(left, y+6, left+13, y+6, "l d "+stroke(k.Hue))
		case k.Hollow:
			d.circle(left+6, y+6, 4, "o "+stroke(k.Hue), "")
		default:
			d.rect(left, y+1, 11, 10, fill(k.Hue), "")
		}
		d.text(left+17, y+10, "", label)
		left += w
	}
	return y + row - top + 4
}
