package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
)

// View says what of the scores of a run is shown.
type View struct {
	// PerQuery shows every query (-q); NoSummary leaves the summary out (-n).
	PerQuery, NoSummary bool
}

// WriteTrecEval writes scores as trec_eval 9 prints them: its names, its order, four
// decimals, and with PerQuery only queries that the run has.
func WriteTrecEval(w io.Writer, s RunScores, v View) error {
	measures := slices.Clone(s.Measures)
	slices.SortStableFunc(measures, func(a, b MeasureScores) int { return printsBefore(a.Measure, b.Measure) })
	var err error
	line := func(m MeasureScores, query string, value float64) {
		if err == nil {
			_, err = fmt.Fprintf(w, "%-22s\t%s\t%s\n", m.Measure.TrecName(), query, decimals(m.Measure, value))
		}
	}
	if v.PerQuery {
		for i, id := range s.Queries {
			if _, missing := slices.BinarySearch(s.Missing, id); missing {
				continue
			}
			for _, m := range measures {
				if !m.Measure.def.summaryOnly {
					line(m, id, m.PerQuery[i])
				}
			}
		}
	}
	if !v.NoSummary {
		for _, m := range measures {
			line(m, "all", m.Total)
		}
	}
	return err
}

// printsBefore orders measures as trec_eval prints them; those it does not know come last.
func printsBefore(a, b Measure) int {
	if x, y := trecPosition(a), trecPosition(b); x != y {
		return x - y
	}
	if trecPosition(a) == len(trecOrder) {
		return 0
	}
	return a.Cutoff - b.Cutoff
}

func trecPosition(m Measure) int {
	if i := slices.Index(trecOrder, m.trecBase()); i >= 0 {
		return i
	}
	return len(trecOrder)
}

func decimals(m Measure, value float64) string {
	if m.def.count {
		return strconv.FormatFloat(value, 'f', 0, 64)
	}
	return strconv.FormatFloat(value, 'f', 4, 64)
}

// jsonRun is the JSON form of the scores of a run.
type jsonRun struct {
	Tag             string        `json:"tag"`
	Queries         int           `json:"queries"`
	Complete        bool          `json:"complete"`
	RelevanceLevel  int           `json:"relevance_level"`
	MaxDepth        int           `json:"max_depth,omitempty"`
	DeepestRanking  int           `json:"deepest_ranking"`
	Order           string        `json:"order"`
	Interval        jsonInterval  `json:"interval"`
	Measures        []jsonMeasure `json:"measures,omitempty"`
	PerQuery        []jsonQuery   `json:"per_query,omitempty"`
	MissingQueries  []string      `json:"missing_queries,omitempty"`
	UnjudgedQueries []string      `json:"unjudged_queries,omitempty"`
	Notes           []string      `json:"notes,omitempty"`
}

type jsonInterval struct {
	Confidence float64 `json:"confidence"`
	Bootstrap
}

type jsonMeasure struct {
	Measure string  `json:"measure"`
	Value   float64 `json:"value"`
	// Low and High are absent for counts.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

type jsonQuery struct {
	QueryID string `json:"query_id"`
	// Values holds one number a measure, by name.
	Values map[string]float64 `json:"values"`
}

// WriteJSON writes scores as one JSON object, unrounded, with 95 % intervals.
func WriteJSON(w io.Writer, s RunScores, v View) error {
	out := jsonRun{
		Tag: s.Tag, Queries: len(s.Queries), Complete: s.Complete, RelevanceLevel: s.Level, MaxDepth: s.Depth,
		DeepestRanking: s.Deepest, Order: TieRule, Interval: jsonInterval{Confidence, s.Bootstrap},
		MissingQueries: s.Missing, UnjudgedQueries: s.Unjudged, Notes: s.Notes(),
	}
	if !v.NoSummary {
		for _, m := range s.Measures {
			one := jsonMeasure{Measure: m.Measure.String(), Value: m.Total}
			if m.Mean != nil {
				one.Low, one.High = &m.Mean.Low, &m.Mean.High
			}
			out.Measures = append(out.Measures, one)
		}
	}
	if v.PerQuery {
		for i, id := range s.Queries {
			q := jsonQuery{QueryID: id, Values: make(map[string]float64, len(s.Measures))}
			for _, m := range s.Measures {
				q.Values[m.Measure.String()] = m.PerQuery[i]
			}
			out.PerQuery = append(out.PerQuery, q)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// WriteTable writes scores for people: a row a measure, with its 95 % interval, and the rule of order.
func WriteTable(w io.Writer, s RunScores, v View) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if v.PerQuery {
		tableQueries(t, s)
	}
	if !v.NoSummary {
		fmt.Fprintf(t, "measure\tvalue\t95 %% interval\tqueries\n")
		for _, m := range s.Measures {
			interval := ""
			if m.Mean != nil {
				interval = fmt.Sprintf("%.4f to %.4f", m.Mean.Low, m.Mean.High)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\n", m.Measure, decimals(m.Measure, m.Total), interval, len(s.Queries))
		}
	}
	if err := t.Flush(); err != nil || v.NoSummary {
		return err
	}
	_, err := fmt.Fprintf(w, "(%s)\n", TieRule)
	return err
}

func tableQueries(t io.Writer, s RunScores) {
	fmt.Fprint(t, "query")
	for _, m := range s.Measures {
		fmt.Fprintf(t, "\t%s", m.Measure)
	}
	fmt.Fprintln(t)
	for i, id := range s.Queries {
		fmt.Fprint(t, id)
		for _, m := range s.Measures {
			fmt.Fprintf(t, "\t%s", decimals(m.Measure, m.PerQuery[i]))
		}
		fmt.Fprintln(t)
	}
	fmt.Fprintln(t)
}
