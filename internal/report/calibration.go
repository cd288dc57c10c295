package report

import (
	"fmt"
	"math"
	"strconv"

	"goserini/internal/chart"
)

func (d *data) calibration() section {
	s := section{id: "calibration", title: "Calibration"}
	for _, rd := range d.runs {
		c := rd.Scores.Calibration
		if c == nil || c.N == 0 {
			continue
		}
		s.draw(d.calibrationFigure(rd))
		s.tabulate(d.calibrationTable(rd))
	}
	if s.empty() {
		return s
	}
	s.lead = "Does an answer that says 80 % turn out right four times in five? Dots on the diagonal say yes; dots below it claim too much. The area of a dot is the number of answers, which stands beside it. " +
		"The two forms of the error differ on purpose and stand in the summary by name; the official one needs 100 answers."
	return s
}

// calibrationTable has the bins of the chart.
func (d *data) calibrationTable(rd *runData) table {
	t := table{caption: d.title("By tenth of confidence", rd), beside: true, head: append(texts("stated confidence"), numbers("answers", "mean confidence", "right")...)}
	for _, b := range rd.Scores.Calibration.Reliability {
		if b.N > 0 {
			t.row(plain(fmt.Sprintf("%.0f to %.0f %%", 100*b.From, 100*b.To)), plain(count(b.N)), plain(percent(b.Confidence)), plain(percent(b.Accuracy)))
		}
	}
	return t
}

func (d *data) calibrationFigure(rd *runData) figure {
	c := rd.Scores.Calibration
	tick := func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }
	x := chart.XY{Title: "Stated confidence against share of right answers", Diagonal: true,
		X: chart.Axis{Label: "stated confidence", Min: 0, Max: 1, Format: tick},
		Y: chart.Axis{Label: "right answers", Min: 0, Max: 1, Format: tick}}
	out := figure{title: d.title("Confidence and correctness", rd),
		data: csvData{name: "calibration" + d.suffix(rd) + ".csv", head: []string{"from", "to", "answers", "mean confidence", "share right"}}}
	if a := rd.Scores.Accuracy; a != nil {
		out.note = "judge " + a.Judge
	}
	series := chart.Series{Hue: 1, Dots: true}
	for _, b := range c.Reliability {
		out.data.add(exact(b.From), exact(b.To), strconv.Itoa(b.N), exact(b.Confidence), exact(b.Accuracy))
		if b.N == 0 {
			continue
		}
		const least, most = 3.0, 16.0
		series.Points = append(series.Points, chart.Point{X: b.Confidence, Y: b.Accuracy, Label: count(b.N),
			Radius: max(least, most*math.Sqrt(float64(b.N)/float64(c.N))),
			Tip:    fmt.Sprintf("%d answers that state %.0f %% on average; %.0f %% are right", b.N, 100*b.Confidence, 100*b.Accuracy)})
	}
	x.Series = []chart.Series{series}
	out.svg = x.SVG()
	return out
}
