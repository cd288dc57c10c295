package eval

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"goserini/internal/trec"
)

// unjudged marks a document without judgment. Grades below 0 are judgments (not relevant).
const unjudged = math.MinInt

// judgedRanking is what a measure sees of one query: the grades of the ranked documents, best
// first, and all grades that were given.
type judgedRanking struct {
	grades []int
	// given are all judged grades of the query, descending.
	given []int
	// level is the least relevant grade, at least 1.
	level int
}

// top returns the grades down to rank k, all of them for 0.
func (q judgedRanking) top(k int) []int {
	if k == 0 || k > len(q.grades) {
		return q.grades
	}
	return q.grades[:k]
}

// relevant counts the relevant grades in a list.
func (q judgedRanking) relevant(grades []int) int {
	n := 0
	for _, g := range grades {
		if g >= q.level {
			n++
		}
	}
	return n
}

// total is the number of relevant documents of the query, found or not.
func (q judgedRanking) total() int { return q.relevant(q.given) }

// rank puts the results of one query into the order in which trec_eval sees them: score
// descending, compared as float32 (trec_eval stores it so), ties by docid descending, byte
// by byte. Written ranks do not matter.
func rank(lines []trec.RunLine) ([]trec.RunLine, error) {
	ranked := slices.Clone(lines)
	slices.SortFunc(ranked, func(a, b trec.RunLine) int {
		x, y := float32(a.Score), float32(b.Score)
		switch {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return strings.Compare(b.DocID, a.DocID)
	})
	seen := make(map[string]bool, len(ranked))
	for _, l := range ranked {
		if seen[l.DocID] {
			return nil, fmt.Errorf("query %s: document %s is ranked twice", l.QueryID, l.DocID)
		}
		seen[l.DocID] = true
		if math.IsNaN(l.Score) {
			return nil, fmt.Errorf("query %s: the score of document %s is not a number", l.QueryID, l.DocID)
		}
	}
	return ranked, nil
}

// judge looks up the grades of a ranking that is at most depth deep (0: no limit).
func judgeRanking(ranked []trec.RunLine, grades map[string]int, depth int) judgedRanking {
	if depth > 0 && len(ranked) > depth {
		ranked = ranked[:depth]
	}
	var q judgedRanking
	for _, l := range ranked {
		grade, ok := grades[l.DocID]
		if !ok {
			grade = unjudged
		}
		q.grades = append(q.grades, grade)
	}
	for _, grade := range grades {
		q.given = append(q.given, grade)
	}
	q.sortGiven()
	return q
}

// sortGiven puts the judged grades into descending order.
func (q *judgedRanking) sortGiven() {
	slices.SortFunc(q.given, func(a, b int) int { return cmp.Compare(b, a) })
}
