package eval

import "fmt"

// Placed is a judged document of a query and where some ranking has it.
type Placed struct {
	// Rank counts from 1; 0 says that the ranking does not have the document.
	Rank  int
	Grade int
}

// OfPlaces computes the measure of one query from the places of its judged documents, which
// must be all of them, each at a rank of its own. Rankings need not be written down for it:
// counting the documents in front of the judged ones is enough. Measures that depend on how
// many documents were retrieved are an error.
func (m Measure) OfPlaces(judgedDocuments []Placed) (float64, error) {
	if err := m.CheckPlaces(); err != nil {
		return 0, err
	}
	q := judgedRanking{level: max(m.Level, 1)}
	deepest := 0
	for _, p := range judgedDocuments {
		if p.Rank < 0 {
			return 0, fmt.Errorf("measure %s: rank %d is negative", m, p.Rank)
		}
		deepest = max(deepest, p.Rank)
		q.given = append(q.given, p.Grade)
	}
	q.sortGiven()
	q.grades = make([]int, deepest)
	for i := range q.grades {
		q.grades[i] = unjudged
	}
	for _, p := range judgedDocuments {
		if p.Rank > 0 {
			q.grades[p.Rank-1] = p.Grade
		}
	}
	return m.def.value(q, m), nil
}

// CheckPlaces says whether OfPlaces can compute the measure.
func (m Measure) CheckPlaces() error {
	switch {
	case m.def == nil:
		return fmt.Errorf("no measure is given")
	case m.def.count || m.def == &judged:
		return fmt.Errorf("measure %s depends on all retrieved documents, not on the judged ones alone", m)
	}
	return nil
}

// MeanOf is the mean of one value a query with its bootstrap interval; nil without values.
func MeanOf(values []float64, b Bootstrap) *Mean {
	m := means{n: len(values)}
	mean := m.mean(values)
	m.intervals(b)
	return mean
}
