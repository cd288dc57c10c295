package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"goserini/internal/eval"
)

// none stands where a figure is not defined.
const none = "–"

// percent writes a share of 1 with one decimal; the unit stands in the table's head or beside it.
func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// share writes part of whole in percent.
func share(part, whole int) string {
	if whole == 0 {
		return none
	}
	return percent(float64(part) / float64(whole))
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// plainNumber writes a mean of counts or seconds: three significant figures, whole from 100 on.
func plainNumber(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1000:
		return count(int64(math.Round(v)))
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// wholeNumber writes a count, or a figure between two counts.
func wholeNumber(v float64) string {
	if v == math.Trunc(v) {
		return count(int64(v))
	}
	return plainNumber(v)
}

// count groups digits: 320,968.
func count[T ~int | ~int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// dollars writes money: cents from one dollar on, four figures below.
func dollars(v float64) string {
	switch {
	case v == 0:
		return "$0"
	case v >= 1000:
		return "$" + count(int64(math.Round(v)))
	case v >= 1:
		return fmt.Sprintf("$%.2f", v)
	}
	return "$" + strconv.FormatFloat(v, 'g', 3, 64)
}

// seconds writes a duration as people read it: 41 ms, 3.2 s, 4 m 12 s, 2 h 05 m.
func seconds(s float64) string {
	switch {
	case s < 0.9995:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 59.95:
		return fmt.Sprintf("%.1f s", s)
	case s < 3600:
		return fmt.Sprintf("%d m %02d s", int(s)/60, int(s)%60)
	}
	return fmt.Sprintf("%d h %02d m", int(s)/3600, int(s)/60%60)
}

// mean writes a mean with its interval.
func mean(m *eval.Mean, format func(float64) string) cell {
	if m == nil {
		return plain(none)
	}
	return cell{text: format(m.Value), sub: interval(m, format)}
}

func interval(m *eval.Mean, format func(float64) string) string {
	if m.N < 2 {
		return ""
	}
	low, high := format(m.Low), format(m.High)
	low = strings.TrimSuffix(low, " %")
	return low + " to " + high
}

// exact writes a number for a machine.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// quantile interpolates linearly between order statistics (Hyndman and Fan's type 7).
func quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	h := p * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

func sorted(values []float64) []float64 {
	out := slices.Clone(values)
	slices.Sort(out)
	return out
}

func average(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total / float64(max(len(values), 1))
}

// clean makes foreign text safe to stand among ours: control characters, and those that turn the
// direction of the text around them, become U+FFFD.
func clean(s string) string {
	if strings.IndexFunc(s, harmful) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if harmful(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

func harmful(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// oneLine folds white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clip shortens a text to n characters and marks that it did.
func clip(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimRight(string(r[:max(n-1, 0)]), " ") + "…"
}
