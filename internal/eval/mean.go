package eval

import (
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Mean is a mean over queries, or a ratio of two sums over queries, with the uncertainty
// that comes from having asked these queries and not others.
type Mean struct {
	Value float64 `json:"value"`
	// Low and High bound the 95 % percentile bootstrap interval over queries. They
	// coincide where all queries have the same value: read that as "too few different
	// outcomes", not as certainty.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// N is the number of queries in the denominator.
	N int `json:"n"`
}

// Bootstrap says how intervals and random tests draw. Equal settings and equal data give
// equal numbers on every machine.
type Bootstrap struct {
	// Resamples is the number of draws, at least 1.
	Resamples int `json:"resamples"`
	// Seed starts the generator (PCG).
	Seed uint64 `json:"seed"`
}

// DefaultBootstrap draws 10,000 times, so that a bound moves by about a hundredth of the
// interval's width between seeds.
var DefaultBootstrap = Bootstrap{Resamples: 10_000, Seed: 2605}

// Confidence is the share of bootstrap results inside an interval.
const Confidence = 0.95

func (b Bootstrap) orDefault() Bootstrap {
	if b.Resamples <= 0 {
		return DefaultBootstrap
	}
	return b
}

func (b Bootstrap) generator() *rand.PCG { return rand.NewPCG(b.Seed, 0) }

// below draws from 0 to n-1. The product with a 64-bit draw favours some numbers by
// less than n/2^64, and unlike rand.IntN it is fixed for all time.
func below(g *rand.PCG, n int) int {
	hi, _ := bits.Mul64(g.Uint64(), uint64(n))
	return int(hi)
}

// means collects the statistics of one set of queries, so that all of them are
// resampled with the same draws.
type means struct {
	n     int
	stats []statistic
}

// statistic is Σnum/Σden; without den it is the mean of num.
type statistic struct {
	num, den []float64
	into     *Mean
}

// mean adds the mean of one value a query; nil if there are no queries.
func (m *means) mean(values []float64) *Mean {
	if m.n == 0 {
		return nil
	}
	into := &Mean{Value: sum(values) / float64(m.n), N: m.n}
	m.stats = append(m.stats, statistic{num: values, into: into})
	return into
}

// ratio adds Σnum/Σden; nil if nothing is in the denominator.
func (m *means) ratio(num, den []float64) *Mean {
	total := sum(den)
	if total == 0 {
		return nil
	}
	into := &Mean{Value: sum(num) / total}
	for _, d := range den {
		if d != 0 {
			into.N++
		}
	}
	m.stats = append(m.stats, statistic{num: num, den: den, into: into})
	return into
}

// intervals fills in the bounds of everything collected.
func (m *means) intervals(b Bootstrap) {
	if m.n == 0 {
		return
	}
	b = b.orDefault()
	t := newTable(m.n, m.stats)
	g := b.generator()
	weights := make([]float64, m.n)
	results := make([][]float64, len(m.stats))
	for range b.Resamples {
		clear(weights)
		for range m.n {
			weights[below(g, m.n)]++
		}
		sums := t.weigh(weights)
		for s := range m.stats {
			if v, ok := t.value(s, sums); ok {
				results[s] = append(results[s], v)
			}
		}
	}
	for s, stat := range m.stats {
		stat.into.Low, stat.into.High = bounds(results[s], stat.into.Value)
	}
}

// table lays the columns of statistics out query by query, each column once.
type table struct {
	n, width int
	cells    []float64
	// num and den are column numbers by statistic; den is -1 for a mean.
	num, den []int
	sums     []float64
}

func newTable(n int, stats []statistic) *table {
	var columns [][]float64
	number := map[*float64]int{}
	add := func(column []float64) int {
		if column == nil {
			return -1
		}
		c, ok := number[&column[0]]
		if !ok {
			c = len(columns)
			number[&column[0]] = c
			columns = append(columns, column)
		}
		return c
	}
	t := &table{n: n}
	for _, s := range stats {
		t.num = append(t.num, add(s.num))
		t.den = append(t.den, add(s.den))
	}
	t.width = len(columns)
	t.sums = make([]float64, t.width)
	t.cells = make([]float64, n*t.width)
	for c, column := range columns {
		for i, v := range column {
			t.cells[i*t.width+c] = v
		}
	}
	return t
}

// weigh sums every column with a weight a query. The result is valid until the next call.
func (t *table) weigh(weights []float64) []float64 {
	sums := t.sums
	clear(sums)
	for i, w := range weights {
		if w == 0 {
			continue
		}
		for c, v := range t.cells[i*t.width : (i+1)*t.width] {
			sums[c] += float64(w * v) // the conversion forbids fusing, which would round otherwise elsewhere
		}
	}
	return sums
}

// value is a statistic of a resample; one without denominator has none.
func (t *table) value(s int, sums []float64) (float64, bool) {
	num, den := sums[t.num[s]], float64(t.n)
	if t.den[s] >= 0 {
		den = sums[t.den[s]]
	}
	return num / den, den != 0
}

// bounds returns the percentile interval of bootstrap results.
func bounds(results []float64, value float64) (low, high float64) {
	if len(results) == 0 {
		return value, value
	}
	slices.Sort(results)
	tail := (1 - Confidence) / 2
	return quantile(results, tail), quantile(results, 1-tail)
}

// quantile interpolates linearly between order statistics, as most statistics software does
// by default (Hyndman and Fan's type 7).
func quantile(sorted []float64, p float64) float64 {
	h := p * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + float64((h-float64(i))*(sorted[i+1]-sorted[i]))
}

func sum(values []float64) float64 {
	var total float64
	for _, v := range values {
		total += v
	}
	return total
}
