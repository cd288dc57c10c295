package chart

// Bars are horizontal bars with the label above each, so that long labels fit a telephone.
type Bars struct {
	Title string
	Rows  []Bar
	// Max is the size that fills the width; 0 takes the longest row.
	Max  float64
	Keys []Key
}

// Bar is one row.
type Bar struct {
	Label string
	// Value stands at the right end of the label's line.
	Value string
	Parts []Part
}

// Part is a piece of a bar.
type Part struct {
	Size float64
	Hue  int
	Tip  string
}

// SVG draws the bars.
func (c Bars) SVG() string {
	const label, bar, gap = 17, 11, 10
	var d drawing
	y := d.legend(0, 0, c.Keys)
	longest := c.Max
	for _, r := range c.Rows {
		if c.Max == 0 {
			longest = max(longest, r.size())
		}
	}
	s := scale{max: max(longest, 1e-12), to: Width}
	for _, r := range c.Rows {
		d.text(0, y+12, "", clip(r.Label, Width-textWidth(r.Value)-12))
		d.text(Width, y+12, "e b", r.Value)
		y += label
		d.rect(0, y, Width, bar, "track", "")
		x := 0.0
		for _, p := range r.Parts {
			if !finite(p.Size) || p.Size <= 0 {
				continue
			}
			w := min(s.at(p.Size), Width-x)
			d.rect(x, y, w, bar, fill(p.Hue), p.Tip)
			x += w
		}
		y += bar + gap
	}
	return d.wrap(c.Title, max(y-gap, 1))
}

func (b Bar) size() float64 {
	total := 0.0
	for _, p := range b.Parts {
		if finite(p.Size) {
			total += p.Size
		}
	}
	return total
}
