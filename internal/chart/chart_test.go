package chart_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"goserini/internal/chart"
)

// elements parses an SVG strictly and counts its elements by name.
func elements(t interface {
	Helper()
	Fatalf(string, ...any)
}, svg string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	dec := xml.NewDecoder(strings.NewReader(svg))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v in %s", err, svg)
		}
		if e, ok := tok.(xml.StartElement); ok {
			counts[e.Name.Local]++
			for _, a := range e.Attr {
				if a.Name.Local == "style" || strings.HasPrefix(a.Name.Local, "on") {
					t.Fatalf("attribute %s: a strict policy forbids it", a.Name.Local)
				}
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Fatalf("%s=%q in %s", a.Name.Local, a.Value, svg)
				}
			}
		}
	}
	return counts
}

func whole(v float64) string { return fmt.Sprintf("%.0f", v) }

func TestBarsHaveALabelAndAValueEach(t *testing.T) {
	svg := chart.Bars{Title: "Funnel", Rows: []chart.Bar{
		{Label: "judged", Value: "30", Parts: []chart.Part{{Size: 30, Hue: 1, Tip: "all"}}},
		{Label: "cited", Value: "17", Parts: []chart.Part{{Size: 10, Hue: 1}, {Size: 7, Hue: 2}}},
		{Label: "none", Value: "0", Parts: []chart.Part{{Size: 0, Hue: 1}}},
	}}.SVG()
	got := elements(t, svg)
	if got["text"] != 6 || got["rect"] != 3+3 || got["title"] != 1 {
		t.Errorf("got %v, want 6 texts, 3 tracks with 3 parts, 1 tooltip", got)
	}
	for _, want := range []string{`aria-label="Funnel"`, `role="img"`, ">judged<", ">17<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in %s", want, svg)
		}
	}
}

func TestForeignTextCannotLeaveItsPlace(t *testing.T) {
	evil := `</text><script>alert(1)</script>"'<&`
	bars := chart.Bars{Title: evil, Keys: []chart.Key{{Label: evil, Hue: 1}}, Rows: []chart.Bar{{Label: evil, Value: evil, Parts: []chart.Part{{Size: 1, Tip: evil}}}}}.SVG()
	timeline := chart.Timeline{Title: evil, End: 1, Label: evil, LimitLabel: evil, Limit: 1, Format: func(float64) string { return evil },
		Rows: []chart.Row{{Label: evil, Value: evil, Href: "#" + evil, Tip: evil, Spans: []chart.Span{{To: 1, Hue: 1}}}}}.SVG()
	xy := chart.XY{Title: evil, X: chart.Axis{Label: evil, Max: 1, Format: func(float64) string { return evil }}, Y: chart.Axis{Label: evil, Max: 1, Format: whole},
		Marks: []chart.Mark{{X: 0.5, Label: evil}}, Series: []chart.Series{{Hue: 1, Dots: true, Line: true, Name: evil, Points: []chart.Point{{X: 0.5, Y: 0.5, Label: evil, Tip: evil}}}}}.SVG()
	for _, svg := range []string{bars, timeline, xy} {
		if got := elements(t, svg); got["script"] != 0 {
			t.Errorf("a script came in: %s", svg)
		}
	}
}

func TestAxesHaveRoundTicksAndNoNegativeZero(t *testing.T) {
	svg := chart.XY{X: chart.Axis{Max: 1, Format: func(v float64) string { return fmt.Sprintf("%g", v) }}, Y: chart.Axis{Max: 5.6, Whole: true, Format: whole}}.SVG()
	for _, want := range []string{">0<", ">0.6<", ">1<", ">4<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no tick %s in %s", want, svg)
		}
	}
	if strings.Contains(svg, ">-0") {
		t.Error("a negative zero")
	}
}

func TestLogarithmicAxesPlaceDecadesEvenly(t *testing.T) {
	svg := chart.XY{X: chart.Axis{Min: 1, Max: 1000, Log: true, Ticks: []float64{1, 10, 100, 1000}, Format: whole}, Y: chart.Axis{Max: 1, Format: whole}}.SVG()
	var at []float64
	dec := xml.NewDecoder(strings.NewReader(svg))
	for {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		e, ok := tok.(xml.StartElement)
		if !ok || e.Name.Local != "text" {
			continue
		}
		var x, y float64
		for _, a := range e.Attr {
			switch a.Name.Local {
			case "x":
				fmt.Sscan(a.Value, &x)
			case "y":
				fmt.Sscan(a.Value, &y)
			}
		}
		inner, _ := dec.Token()
		if text, ok := inner.(xml.CharData); ok && strings.HasPrefix(string(text), "1") && y > 200 {
			at = append(at, x)
		}
	}
	if len(at) != 4 {
		t.Fatalf("ticks at %v, want four", at)
	}
	for i := 2; i < len(at); i++ {
		if math.Abs((at[i]-at[i-1])-(at[1]-at[0])) > 0.2 {
			t.Errorf("ticks at %v, want equal distances", at)
		}
	}
}

func TestLabelsOfPointsDoNotCoverOneAnother(t *testing.T) {
	var points []chart.Point
	for range 8 {
		points = append(points, chart.Point{X: 0.5, Y: 0.5, Label: "label"})
	}
	svg := chart.XY{X: chart.Axis{Max: 1, Format: whole}, Y: chart.Axis{Max: 1, Format: whole}, Series: []chart.Series{{Hue: 1, Dots: true, Points: points}}}.SVG()
	if got := strings.Count(svg, ">label<"); got < 1 || got > 4 {
		t.Errorf("%d labels around one place, want between 1 and 4", got)
	}
}

func TestABendOfALineTakesNoPlaceFromALabel(t *testing.T) {
	// A front with a bend just right of two points that lie close together, as runs without cost do.
	line := chart.Series{Hue: 4, Line: true, Points: []chart.Point{{X: 0, Y: 0.33}, {X: 0.03, Y: 0.33}, {X: 0.03, Y: 0.9}}}
	dots := chart.Series{Hue: 1, Dots: true, Points: []chart.Point{{X: 0, Y: 0.33, Label: "first"}, {X: 0, Y: 0.30, Label: "second"}}}
	svg := chart.XY{Title: "Bend", X: chart.Axis{Max: 1, Format: whole}, Y: chart.Axis{Max: 1, Format: whole}, Series: []chart.Series{line, dots}}.SVG()
	for _, label := range []string{">first<", ">second<"} {
		if !strings.Contains(svg, label) {
			t.Errorf("no label %s", label)
		}
	}
}

func TestAPictureOfManyRowsIsSmall(t *testing.T) {
	c := chart.Timeline{Title: "t", End: 300, Format: whole, Limit: 300, LimitLabel: "limit"}
	for i := range 830 {
		c.Rows = append(c.Rows, chart.Row{Spans: []chart.Span{{0, float64(i) / 3, 1}, {float64(i) / 3, float64(i) / 2.9, 2}}, Marks: []float64{210}})
	}
	svg := c.SVG()
	if len(svg) > 60_000 {
		t.Errorf("%d bytes for 830 rows", len(svg))
	}
	if got := elements(t, svg); got["path"] > 40 {
		t.Errorf("%d paths, want few", got["path"])
	}
}

func TestColumnsAreCutToTheAxes(t *testing.T) {
	whole := func(v float64) string { return fmt.Sprint(v) }
	c := chart.XY{X: chart.Axis{Min: 1, Max: 100, Log: true, Format: whole}, Y: chart.Axis{Min: 0, Max: 1, Format: whole},
		Columns: []chart.Column{{From: 0, To: 10, Height: 0.5, Hue: 1}, {From: 200, To: 300, Height: 0.5, Hue: 1}, {From: 5, To: 5, Height: 0.5, Hue: 1}}}
	svg := c.SVG()
	if strings.Contains(svg, "Inf") || strings.Contains(svg, "NaN") {
		t.Errorf("a column from 0 on an axis of powers: %s", svg)
	}
	if n := elements(t, svg)["rect"]; n != 1 {
		t.Errorf("got %d columns, want the one that reaches the axis", n)
	}
}

func TestAnyChartIsWellFormedWhateverTheNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-10, 10), rapid.Just(math.NaN()), rapid.Just(math.Inf(1)), rapid.Just(0.0))
		text := rapid.String()
		point := rapid.Custom(func(t *rapid.T) chart.Point {
			return chart.Point{X: number.Draw(t, "x"), Y: number.Draw(t, "y"), Low: number.Draw(t, "low"), High: number.Draw(t, "high"), Label: text.Draw(t, "label")}
		})
		axis := func(name string) chart.Axis {
			low := rapid.Float64Range(0.001, 100).Draw(t, name+" low")
			return chart.Axis{Min: low, Max: low * rapid.Float64Range(1, 1e6).Draw(t, name+" high"), Log: rapid.Bool().Draw(t, name+" log"), Format: func(v float64) string { return fmt.Sprint(v) }}
		}
		c := chart.XY{X: axis("x"), Y: axis("y"), Diagonal: rapid.Bool().Draw(t, "diagonal"), Series: []chart.Series{{Hue: rapid.IntRange(-3, 12).Draw(t, "hue"), Line: true, Dots: true, Name: text.Draw(t, "name"), Points: rapid.SliceOfN(point, 0, 8).Draw(t, "points")}},
			Columns: []chart.Column{{From: number.Draw(t, "from"), To: number.Draw(t, "to"), Height: number.Draw(t, "height"), Hue: 1}}}
		c.Title = strings.ToValidUTF8(strings.Map(xmlSafe, text.Draw(t, "title")), "")
		c.Series[0].Name = strings.Map(xmlSafe, c.Series[0].Name)
		for i := range c.Series[0].Points {
			c.Series[0].Points[i].Label = strings.Map(xmlSafe, c.Series[0].Points[i].Label)
		}
		elements(t, c.SVG())
		if first, second := c.SVG(), c.SVG(); first != second {
			t.Fatalf("two drawings of one chart differ")
		}
		span := chart.Span{From: number.Draw(t, "span from"), To: number.Draw(t, "span to"), Hue: 2}
		elements(t, chart.Timeline{End: rapid.Float64Range(1e-6, 1e9).Draw(t, "end"), Format: whole, Rows: []chart.Row{{Spans: []chart.Span{span}}}}.SVG())
		elements(t, chart.Bars{Rows: []chart.Bar{{Parts: []chart.Part{{Size: number.Draw(t, "size"), Hue: 1}}}}}.SVG())
	})
}

// xmlSafe drops characters that XML cannot hold; the caller of the package cleans foreign text.
func xmlSafe(r rune) rune {
	if r < 0x20 || r == 0xfffe || r == 0xffff || r == 0xfffd {
		return -1
	}
	return r
}
