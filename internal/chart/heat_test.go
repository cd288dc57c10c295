package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func heat() Heat {
	return Heat{
		Title: "k1 & b", Across: "b", Down: "k1", Columns: []string{"0", "1"}, Rows: []string{"0.9", "25"},
		Cells: [][]HeatCell{
			{{Value: 0.1, Text: ".100", Mark: "d"}, {Value: 0.3, Text: ".300", Framed: true, Tip: "k1=0.9 b=1 <best>"}},
			{{Value: math.NaN(), Text: "none"}},
		},
		Notes: []string{"d default"},
	}
}

func TestHeatShowsEveryValueAndMark(t *testing.T) {
	svg := heat().SVG()
	for _, want := range []string{">.100<", ">.300<", ">none<", ">d<", ">d default<", "k1=0.9 b=1 &lt;best&gt;", `fill-opacity="0.06"`, `fill-opacity="0.72"`, `class="mark"`, `aria-label="k1 &amp; b"`} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s in %s", want, svg)
		}
	}
	if n := strings.Count(svg, "fill-opacity"); n != 2 {
		t.Errorf("%d coloured cells, want 2: a value that is not finite has no colour", n)
	}
}

func TestHeatOfEqualValuesAndOfNothing(t *testing.T) {
	c := heat()
	c.Cells = [][]HeatCell{{{Value: 1, Text: "1"}, {Value: 1, Text: "1"}}}
	if svg := c.SVG(); strings.Count(svg, `fill-opacity="0.06"`) != 2 {
		t.Errorf("equal values are not drawn alike: %s", svg)
	}
	wellFormed(t, Heat{Title: "empty"}.SVG())
}

func TestStandaloneIsAnImageFile(t *testing.T) {
	file := Standalone("k1 & b", heat().SVG())
	wellFormed(t, file)
	for _, want := range []string{`<svg xmlns="http://www.w3.org/2000/svg" width=`, "<title>k1 &amp; b</title>", "<style>svg{--ink"} {
		if !strings.Contains(file, want) {
			t.Errorf("no %q in %.300s", want, file)
		}
	}
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("not well-formed: %v in %s", err, text)
		}
	}
}
