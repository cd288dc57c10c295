package synth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// QuerySet names a kind of queries.
type QuerySet string

const (
	// Short queries have two to six words of one document, chosen with probability
	// proportional to (1 + ln tf) × idf.
	Short QuerySet = "short"
	// Medium and Verbose queries have 8 to 18 and 25 to 30 distinct words, two fifths of
	// them chosen by tf alone, and stop words between.
	Medium  QuerySet = "medium"
	Verbose QuerySet = "verbose"
	// Adversarial queries hold only the most frequent words, one very rare word, thirty
	// words, unknown words, or one word many times.
	Adversarial QuerySet = "adversarial"
)

// QuerySets are all of them.
var QuerySets = []QuerySet{Short, Medium, Verbose, Adversarial}

// Query is one query of a set.
type Query struct {
	ID   string
	Text string
}

// Queries makes n queries of a set for the collection.
func (c Corpus) Queries(set QuerySet, n int) ([]Query, error) {
	maker, ok := map[QuerySet]func(*rand.Rand, int) []string{
		Short:       func(r *rand.Rand, _ int) []string { return c.fromDocument(r, 2+r.IntN(5), 0) },
		Medium:      func(r *rand.Rand, _ int) []string { return withStops(r, c.fromDocument(r, 8+r.IntN(11), 0.4)) },
		Verbose:     func(r *rand.Rand, _ int) []string { return withStops(r, c.fromDocument(r, 25+r.IntN(6), 0.4)) },
		Adversarial: c.adversarial,
	}[set]
	if !ok {
		return nil, fmt.Errorf("query set %q is unknown: use one of %v", set, QuerySets)
	}
	queries := []Query{}
	for i := range n {
		r := c.source(queryStream, i<<3|slices.Index(QuerySets, set))
		queries = append(queries, Query{ID: fmt.Sprintf("%s%d", set, i+1), Text: strings.Join(maker(r, i), " ")})
	}
	return queries, nil
}

// fromDocument draws n distinct words of some document that has so many; the given share
// of them by frequency alone.
func (c Corpus) fromDocument(r *rand.Rand, n int, frequent float64) []string {
	for {
		d := newDraw(c.source(documentStream, r.IntN(max(c.Documents, 1))))
		tf := map[int]int{}
		for range c.words(d.r) {
			if word := d.next(); word > 0 {
				tf[word]++
			}
		}
		if len(tf) < 2*n {
			if c.Shape == Passages {
				n = max(n/2, 2)
			}
			continue
		}
		ranks := make([]int, 0, len(tf))
		for rank := range tf {
			ranks = append(ranks, rank)
		}
		slices.Sort(ranks)
		telling, common := make([]float64, len(ranks)), make([]float64, len(ranks))
		for i, rank := range ranks {
			telling[i], common[i] = (1+math.Log(float64(tf[rank])))*c.idf(rank), float64(tf[rank])
		}
		var out []string
		for range n {
			weights := telling
			if r.Float64() < frequent {
				weights = common
			}
			i := pick(r, weights)
			telling[i], common[i] = 0, 0
			out = append(out, Word(ranks[i]))
		}
		return out
	}
}

// idf is about that of a rank in collections of this shape.
func (c Corpus) idf(rank int) float64 {
	content := 2100.0
	if c.Shape == Passages {
		content = 40
	}
	share := 1 - math.Exp(-probability(rank)*content)
	return math.Log(1 + (1-share)/(share+1e-9))
}

// pick returns an index with probability proportional to its weight, never one of weight
// zero.
func pick(r *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u := r.Float64() * sum
	last := 0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		last = i
		if u -= w; u <= 0 {
			break
		}
	}
	return last
}

// withStops puts stop words between words.
func withStops(r *rand.Rand, words []string) []string {
	var out []string
	for _, w := range words {
		if r.Float64() < stopShare/(1-stopShare) {
			out = append(out, stopWords[zipfStop(r)])
		}
		out = append(out, w)
	}
	return out
}

// adversarial makes the i-th query that is meant to be hard.
func (c Corpus) adversarial(r *rand.Rand, i int) []string {
	var out []string
	switch i % 5 {
	case 0: // only the most frequent words
		for rank := range 8 {
			out = append(out, Word(rank+1))
		}
	case 1: // a very rare word and a frequent one
		out = append(out, Word(3_000_000+r.IntN(50_000_000)), Word(1))
	case 2: // thirty words
		return c.fromDocument(r, 30, 0.4)
	case 3: // words that no document has
		for range 5 {
			out = append(out, "xylo"+Word(1+r.IntN(1000))+"graph")
		}
	case 4: // one word many times
		w := Word(1 + r.IntN(2000))
		for range 20 {
			out = append(out, w)
		}
	}
	return out
}
