package eval

import (
	"fmt"
	"slices"
	"strings"

	"goserini/internal/trec"
)

// RunOptions say how a run is scored; the zero value is trec_eval without options.
type RunOptions struct {
	// Complete averages over all judged queries (-c): those absent from the run count 0.
	// Otherwise over the queries that are in both.
	Complete bool
	// Level is the least grade that counts as relevant (-l), 1 if 0.
	Level int
	// Depth is how many results of a query are looked at (-M), all if 0.
	Depth int
	// Bootstrap says how intervals are drawn; the zero value is DefaultBootstrap.
	Bootstrap Bootstrap
}

// RunScores are the measures of one run.
type RunScores struct {
	// Tag is that of the run's last line, as trec_eval's runid.
	Tag string
	// Queries are the queries scored, in byte order; per-query values are in this order.
	Queries  []string
	Measures []MeasureScores
	// Missing are judged queries that the run does not have: counted as 0 if Complete, else
	// left out. Unjudged are queries of the run without judgments, which are left out.
	Missing, Unjudged []string
	// Deepest is the length of the longest ranking scored.
	Deepest int
	// RunOptions are those the scores were made with, defaults filled in.
	RunOptions
}

// MeasureScores are the values of one measure.
type MeasureScores struct {
	Measure Measure
	// Total is the mean over queries, or the sum for a count.
	Total float64
	// Mean is Total with its interval, nil for a count.
	Mean *Mean
	// PerQuery is in the order of RunScores.Queries.
	PerQuery []float64
}

// EvaluateRun scores a run. A run that shares no query with the judgments is an error that
// shows ids of both.
func EvaluateRun(qrels trec.Qrels, run trec.Run, measures []Measure, opts RunOptions) (RunScores, error) {
	if opts.Level < 0 || opts.Depth < 0 {
		return RunScores{}, fmt.Errorf("relevance level %d, depth %d: neither may be negative", opts.Level, opts.Depth)
	}
	opts.Level = max(opts.Level, 1)
	opts.Bootstrap = opts.Bootstrap.orDefault()
	lines := run.ByQuery()
	s := RunScores{RunOptions: opts}
	s.sortQueries(qrels, lines)
	if len(s.Queries) == 0 || (len(run) > 0 && len(s.Missing) == len(qrels)) {
		return RunScores{}, fmt.Errorf("evaluate run: %w", qrels.CheckOverlap(run))
	}
	if len(run) > 0 {
		s.Tag = run[len(run)-1].Tag
	}
	var judgedRankings []judgedRanking
	for _, id := range s.Queries {
		ranked, err := rank(lines[id])
		if err != nil {
			return RunScores{}, fmt.Errorf("evaluate run: %w", err)
		}
		q := judgeRanking(ranked, qrels[id], opts.Depth)
		s.Deepest = max(s.Deepest, len(q.grades))
		judgedRankings = append(judgedRankings, q)
	}
	s.measure(judgedRankings, measures)
	return s, nil
}

// sortQueries decides which queries are scored.
func (s *RunScores) sortQueries(qrels trec.Qrels, lines map[string][]trec.RunLine) {
	for id := range qrels {
		_, ran := lines[id]
		if ran || s.Complete {
			s.Queries = append(s.Queries, id)
		}
		if !ran {
			s.Missing = append(s.Missing, id)
		}
	}
	for id := range lines {
		if _, ok := qrels[id]; !ok {
			s.Unjudged = append(s.Unjudged, id)
		}
	}
	slices.Sort(s.Queries)
	slices.Sort(s.Missing)
	slices.Sort(s.Unjudged)
}

func (s *RunScores) measure(rankings []judgedRanking, measures []Measure) {
	all := &means{n: len(rankings)}
	for _, m := range measures {
		values := m.values(rankings, s.Level)
		scores := MeasureScores{Measure: m, PerQuery: values}
		switch {
		case !m.def.count:
			scores.Mean = all.mean(values)
			scores.Total = scores.Mean.Value
		case s.Complete && m.def.completeLevel != 0:
			scores.Total = sum(m.values(rankings, m.def.completeLevel))
		default:
			scores.Total = sum(values)
		}
		s.Measures = append(s.Measures, scores)
	}
	all.intervals(s.Bootstrap)
}

// values computes the measure for every query.
func (m Measure) values(rankings []judgedRanking, level int) []float64 {
	if m.Level != 0 {
		level = m.Level
	}
	out := make([]float64, len(rankings))
	for i, q := range rankings {
		q.level = level
		out[i] = m.def.value(q, m)
	}
	return out
}

// Notes are sentences about what a reader of the numbers should know: queries left out, and
// measures that look deeper than the run is.
func (s RunScores) Notes() []string {
	var notes []string
	if n := len(s.Unjudged); n > 0 {
		notes = append(notes, fmt.Sprintf("in the run without judgments, left out (%d): %s", n, sample(s.Unjudged)))
	}
	if n := len(s.Missing); n > 0 {
		what := "left out"
		if s.Complete {
			what = "counted as 0"
		}
		notes = append(notes, fmt.Sprintf("judged but not in the run, %s (%d): %s", what, n, sample(s.Missing)))
	}
	deeper := s.deeperMeasures()
	if len(deeper) > 0 && s.Deepest < usualDepth {
		notes = append(notes, fmt.Sprintf("the run is at most %d deep: %s cannot be compared with that of a deeper run",
			s.Deepest, sample(deeper)))
	}
	return notes
}

// deeperMeasures are those that look further down than the run goes.
func (s RunScores) deeperMeasures() []string {
	var deeper []string
	for _, m := range s.Measures {
		if !m.Measure.def.count && (m.Measure.Cutoff == 0 || m.Measure.Cutoff > s.Deepest) {
			deeper = append(deeper, m.Measure.String())
		}
	}
	return deeper
}

// TieRule says how rankings are ordered before they are scored.
const TieRule = "order as in trec_eval: score as a 32-bit float, then docid, both descending; written ranks play no part"

// usualDepth is the depth of a run by convention; shallower ones deserve a note.
const usualDepth = 1000

// sample shows the first few of a list.
func sample(list []string) string {
	const most = 5
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
