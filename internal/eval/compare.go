package eval

import (
	"fmt"
	"slices"
)

// Named is a run with the name it is shown under.
type Named struct {
	Name   string
	Scores Scores
}

// NamedRun is a TREC run with the name it is shown under.
type NamedRun struct {
	Name   string
	Scores RunScores
}

// Comparison is how one run differs from the base.
type Comparison struct {
	Base  string `json:"base"`
	Other string `json:"other"`
	// Queries are common to both; the lists name those of one side only, which are left out.
	Queries   int      `json:"queries"`
	OnlyBase  []string `json:"only_base,omitempty"`
	OnlyOther []string `json:"only_other,omitempty"`
	// Notes say what makes the comparison doubtful, for example different judges.
	Notes       []string     `json:"notes,omitempty"`
	Differences []Difference `json:"differences"`
	// Tests is the number of tests that p_holm corrects for.
	Tests int `json:"tests"`
	Bootstrap
}

// compared is a figure of a query that is compared between runs.
type compared struct {
	name string
	// value is false where the run does not have the figure.
	value func(Scores, QueryScores) (float64, bool)
	// tested figures are better when higher; the rest is effort.
	tested bool
}

// comparedFigures lists them in the order of the report.
func comparedFigures() []compared {
	return slices.Concat(
		[]compared{{"accuracy", func(s Scores, q QueryScores) (float64, bool) {
			return indicator(q.right()), s.Accuracy != nil
		}, true}},
		comparedRecalls("evidence", func(q QueryScores) *QueryRecall { return q.Evidence }),
		comparedRecalls("gold", func(q QueryScores) *QueryRecall { return q.Gold }),
		[]compared{
			{"citation_precision", func(_ Scores, q QueryScores) (float64, bool) {
				return share(q.Citations.Relevant, q.Citations.Cited), q.Evidence != nil
			}, true},
			{"tool_calls", func(_ Scores, q QueryScores) (float64, bool) { return float64(q.toolCalls()), true }, false},
			{"turns", func(_ Scores, q QueryScores) (float64, bool) { return float64(q.Turns), true }, false},
			{"elapsed_seconds", func(_ Scores, q QueryScores) (float64, bool) { return q.ElapsedSeconds, true }, false},
			{"tokens", func(_ Scores, q QueryScores) (float64, bool) { return float64(q.tokens()), true }, false},
			{"cost_usd", func(s Scores, q QueryScores) (float64, bool) {
				if s.Effort.Cost == nil || s.Effort.Cost.Unpriced > 0 {
					return 0, false
				}
				if q.CostUSD == nil { // not run
					return 0, true
				}
				return *q.CostUSD, true
			}, false},
		},
	)
}

func comparedRecalls(kind string, of func(QueryScores) *QueryRecall) []compared {
	sets := []struct {
		name string
		hits func(*QueryRecall) int
	}{
		{"surfaced", func(r *QueryRecall) int { return r.Surfaced }},
		{"previewed", func(r *QueryRecall) int { return r.Previewed }},
		{"opened", func(r *QueryRecall) int { return r.Opened }},
		{"cited", func(r *QueryRecall) int { return r.Cited }},
		{"behavior", func(r *QueryRecall) int { return r.Behavior }},
	}
	var out []compared
	for _, set := range sets {
		out = append(out, compared{kind + "_" + set.name + "_recall", func(_ Scores, q QueryScores) (float64, bool) {
			if r := of(q); r != nil {
				return share(set.hits(r), r.Relevant), true
			}
			return 0, false
		}, true})
	}
	return out
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Compare sets runs against a base, query by query, for every figure that both have. The
// p-values are corrected for all tests of the call together.
func Compare(base Named, others []Named, b Bootstrap) ([]Comparison, error) {
	b = b.orDefault()
	var out []Comparison
	for _, other := range others {
		baseQueries, otherQueries := index(base.Scores.PerQuery), index(other.Scores.PerQuery)
		c, common, err := newComparison(base.Name, other.Name, queryIDs(base.Scores), queryIDs(other.Scores), b)
		if err != nil {
			return nil, err
		}
		c.Notes = judgeNotes(base, other)
		for _, figure := range comparedFigures() {
			p := pairs{measure: figure.name, queries: common, tested: figure.tested}
			have := true
			for _, id := range common {
				x, ok1 := figure.value(base.Scores, baseQueries[id])
				y, ok2 := figure.value(other.Scores, otherQueries[id])
				have = have && ok1 && ok2
				p.base, p.other = append(p.base, x), append(p.other, y)
			}
			if have {
				c.Differences = append(c.Differences, p.difference(b))
			}
		}
		out = append(out, c)
	}
	finish(out)
	return out, nil
}

// CompareRuns sets TREC runs against a base for every measure that both were scored with.
func CompareRuns(base NamedRun, others []NamedRun, b Bootstrap) ([]Comparison, error) {
	b = b.orDefault()
	var out []Comparison
	for _, other := range others {
		c, common, err := newComparison(base.Name, other.Name, base.Scores.Queries, other.Scores.Queries, b)
		if err != nil {
			return nil, err
		}
		c.Notes = depthNotes(base, other)
		for _, m := range base.Scores.Measures {
			i := slices.IndexFunc(other.Scores.Measures, func(o MeasureScores) bool { return o.Measure == m.Measure })
			if i < 0 || m.Measure.def.count {
				continue
			}
			c.Differences = append(c.Differences, pairs{
				measure: m.Measure.String(), queries: common, tested: true,
				base:  pick(m.PerQuery, base.Scores.Queries, common),
				other: pick(other.Scores.Measures[i].PerQuery, other.Scores.Queries, common),
			}.difference(b))
		}
		out = append(out, c)
	}
	finish(out)
	return out, nil
}

// newComparison finds the common queries of two sorted lists.
func newComparison(base, other string, baseIDs, otherIDs []string, b Bootstrap) (Comparison, []string, error) {
	c := Comparison{Base: base, Other: other, Bootstrap: b}
	var common []string
	for _, id := range baseIDs {
		if _, ok := slices.BinarySearch(otherIDs, id); ok {
			common = append(common, id)
		} else {
			c.OnlyBase = append(c.OnlyBase, id)
		}
	}
	for _, id := range otherIDs {
		if _, ok := slices.BinarySearch(baseIDs, id); !ok {
			c.OnlyOther = append(c.OnlyOther, id)
		}
	}
	if len(common) == 0 {
		return c, nil, fmt.Errorf("compare %s and %s: they share no query: %s against %s", base, other, sample(baseIDs), sample(otherIDs))
	}
	c.Queries = len(common)
	return c, common, nil
}

func finish(comparisons []Comparison) {
	correct(comparisons)
	tests := 0
	for _, c := range comparisons {
		for _, d := range c.Differences {
			if d.P != nil {
				tests++
			}
		}
	}
	for i := range comparisons {
		comparisons[i].Tests = tests
	}
}

// pick returns the values of the wanted queries.
func pick(values []float64, ids, wanted []string) []float64 {
	out := make([]float64, 0, len(wanted))
	for _, id := range wanted {
		i, _ := slices.BinarySearch(ids, id)
		out = append(out, values[i])
	}
	return out
}

func queryIDs(s Scores) []string {
	ids := make([]string, 0, len(s.PerQuery))
	for _, q := range s.PerQuery {
		ids = append(ids, q.QueryID)
	}
	slices.Sort(ids)
	return ids
}

func index(queries []QueryScores) map[string]QueryScores {
	out := make(map[string]QueryScores, len(queries))
	for _, q := range queries {
		out[q.QueryID] = q
	}
	return out
}

// depthNotes warn of measures that look deeper than the shallower of two runs: the deeper one could win by its
// depth alone.
func depthNotes(base, other NamedRun) []string {
	shallow, deep := base, other
	if shallow.Scores.Deepest > deep.Scores.Deepest {
		shallow, deep = deep, shallow
	}
	deeper := shallow.Scores.deeperMeasures()
	if shallow.Scores.Deepest == deep.Scores.Deepest || len(deeper) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s is at most %d deep and %s %d: what looks deeper does not compare (%s)",
		shallow.Name, shallow.Scores.Deepest, deep.Name, deep.Scores.Deepest, sample(deeper))}
}

func judgeNotes(base, other Named) []string {
	a, b := base.Scores.Accuracy, other.Scores.Accuracy
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil || b == nil:
		return []string{"only one of the runs was judged: accuracies are not compared"}
	case a.Judge != b.Judge:
		return []string{fmt.Sprintf("%s was judged by %s, %s by %s: their accuracies do not compare", base.Name, a.Judge, other.Name, b.Judge)}
	}
	return nil
}
