package eval

import "fmt"

// RatioOf is Σnum/Σden over queries with its bootstrap interval, nil if nothing is in the
// denominator. Both have one value a query.
func RatioOf(num, den []float64, b Bootstrap) (*Mean, error) {
	if len(num) != len(den) {
		return nil, fmt.Errorf("ratio of %d values to %d: want one of each a query", len(num), len(den))
	}
	m := means{n: len(num)}
	ratio := m.ratio(num, den)
	m.intervals(b)
	return ratio, nil
}
