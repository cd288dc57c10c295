package main

import (
	"fmt"

	"goserini/internal/chart"
	"goserini/internal/tune"
)

// tuneImage draws the grid.
func tuneImage(r *tune.Result) string {
	title := fmt.Sprintf("%s by k1 and b over %d queries", r.Measure, r.Queries)
	h := chart.Heat{Title: title, Across: "b", Down: "k1"}
	for _, b := range r.Grid.B {
		h.Columns = append(h.Columns, fmt.Sprintf("%g", b))
	}
	for i, k1 := range r.Grid.K1 {
		h.Rows = append(h.Rows, fmt.Sprintf("%g", k1))
		var row []chart.HeatCell
		for _, c := range r.Cells[i*len(r.Grid.B) : (i+1)*len(r.Grid.B)] {
			row = append(row, chart.HeatCell{Value: c.Value, Text: fmt.Sprintf("%.3f", c.Value), Mark: cellMarks(r, c.Params),
				Framed: c.Params == r.Best.Params, Tip: fmt.Sprintf("%s: %s %.4f", c.Params, r.Measure, c.Value)})
		}
		h.Cells = append(h.Cells, row)
	}
	h.Notes = legend(r)
	if cv := r.CrossValidated; cv != nil {
		for _, g := range cv.Gains {
			h.Notes = append(h.Notes, fmt.Sprintf("tuned over %s, unseen queries: %+.4f (%+.4f to %+.4f)", g.Over, g.Gain.Value, g.Gain.Low, g.Gain.High))
		}
	}
	return chart.Standalone(title, h.SVG())
}
