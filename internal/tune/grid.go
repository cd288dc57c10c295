package tune

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"goserini/internal/bm25"
)

// The values of k1 and b that are tried unless others are asked for. They hold Anserini's
// default (0.9, 0.4) and the settings of arXiv 2605.10848, (16, 1) and (25, 1).
var (
	DefaultK1 = []float32{0.4, 0.9, 1.2, 2, 4, 8, 16, 25}
	DefaultB  = []float32{0, 0.2, 0.4, 0.6, 0.75, 0.9, 1}
)

// Grid is every combination of some values of k1 and b, each ascending and without repetition.
type Grid struct {
	K1 []float32 `json:"k1"`
	B  []float32 `json:"b"`
}

// NewGrid makes a grid of values in any order.
func NewGrid(k1, b []float32) Grid {
	return Grid{K1: slices.Compact(slices.Sorted(slices.Values(k1))), B: slices.Compact(slices.Sorted(slices.Values(b)))}
}

// Settings are the combinations, by k1 and then by b.
func (g Grid) Settings() []bm25.Params {
	var all []bm25.Params
	for _, k1 := range g.K1 {
		for _, b := range g.B {
			all = append(all, bm25.Params{K1: k1, B: b})
		}
	}
	return all
}

// maxSettings bounds a grid: more is a typing error rather than a wish.
const maxSettings = 10_000

// Validate says what is wrong with a grid.
func (g Grid) Validate() error {
	if len(g.K1) == 0 || len(g.B) == 0 {
		return fmt.Errorf("the grid is empty: it needs values for k1 and for b")
	}
	if n := len(g.K1) * len(g.B); n > maxSettings {
		return fmt.Errorf("the grid has %d settings, more than %d: take fewer values", n, maxSettings)
	}
	for _, p := range g.Settings() {
		if err := p.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// ParseValues reads numbers: a list with commas (0.9,4,25), or start:end:step, where the end
// is among them if a step meets it (0:1:0.25).
func ParseValues(s string) ([]float32, error) {
	if parts := strings.Split(s, ":"); len(parts) > 1 {
		return parseRange(s, parts)
	}
	var values []float32
	for field := range strings.SplitSeq(s, ",") {
		v, err := parseValue(field)
		if err != nil {
			return nil, err
		}
		values = append(values, float32(v))
	}
	return values, nil
}

func parseRange(s string, parts []string) ([]float32, error) {
	if len(parts) != 3 {
		return nil, fmt.Errorf("%q has %d parts: want start:end:step, such as 0:1:0.25", s, len(parts))
	}
	var v [3]float64
	for i, part := range parts {
		var err error
		if v[i], err = parseValue(part); err != nil {
			return nil, err
		}
	}
	start, end, step := v[0], v[1], v[2]
	if step <= 0 || end < start {
		return nil, fmt.Errorf("%q goes nowhere: want a start, an end that is not below it, and a step above 0", s)
	}
	const slack = 1e-6 // what decimal fractions lose in binary
	n := (end - start) / step
	if n >= maxSettings {
		return nil, fmt.Errorf("%q has more than %d values: take a larger step", s, maxSettings)
	}
	var values []float32
	for i := 0.0; i <= n+slack; i++ {
		values = append(values, float32(math.Round((start+float64(i*step))*1e6)/1e6))
	}
	return values, nil
}

func parseValue(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 32)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is no number: want a list such as 0.9,4,25, or start:end:step", s)
	}
	return v, nil
}
