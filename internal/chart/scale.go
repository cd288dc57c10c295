package chart

import (
	"math"
	"strconv"
)

// scale maps values to coordinates.
type scale struct {
	min, max float64
	from, to float64
	log      bool
}

func (s scale) at(v float64) float64 {
	if s.log {
		v, s.min, s.max = math.Log10(v), math.Log10(s.min), math.Log10(s.max)
	}
	if s.max == s.min {
		return s.from
	}
	return s.from + (v-s.min)/(s.max-s.min)*(s.to-s.from)
}

// inside reports whether a value can be shown.
func (s scale) inside(v float64) bool {
	const slack = 1e-9
	return finite(v) && v >= s.min-slack && v <= s.max+slack && (!s.log || v > 0)
}

// niceTicks returns about n round numbers from low to high: steps of 1, 2 or 5 times a power
// of ten.
func niceTicks(low, high float64, n int) []float64 {
	if !(high > low) || !finite(low, high) || n < 1 {
		return []float64{low}
	}
	raw := (high - low) / float64(n)
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	step := 10 * unit
	for _, f := range []float64{1, 2, 5} {
		if raw <= f*unit*1.0001 {
			step = f * unit
			break
		}
	}
	var out []float64
	for i := math.Ceil(low/step - 1e-9); i*step <= high+step*1e-9; i++ {
		out = append(out, tidy(i*step))
	}
	return out
}

// tidy takes away what binary arithmetic leaves behind the twelfth digit, and the sign of zero.
func tidy(v float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		return v
	}
	return out + 0
}

// logTicks returns 1, 2, 5, 10, … between low and high, or powers of ten only where these are many.
func logTicks(low, high float64) []float64 {
	factors := []float64{1, 2, 5}
	if high/low > 1e4 {
		factors = []float64{1}
	}
	var out []float64
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, f := range factors {
			if v := f * math.Pow(10, e); v >= low*0.9999 && v <= high*1.0001 {
				out = append(out, v)
			}
		}
	}
	return out
}
