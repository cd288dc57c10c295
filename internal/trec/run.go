package trec

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// RunLine is one result of one query.
type RunLine struct {
	QueryID, DocID string
	// Rank is as written; orders come from Score.
	Rank int
	// Score is never NaN; it may be infinite.
	Score float64
	Tag   string
}

// Run is one system's output for a query set, in file order.
type Run []RunLine

// QueryIDs lists the queries in the order of their first line.
func (r Run) QueryIDs() []string {
	var ids []string
	seen := map[string]bool{}
	for _, l := range r {
		if !seen[l.QueryID] {
			seen[l.QueryID] = true
			ids = append(ids, l.QueryID)
		}
	}
	return ids
}

// ByQuery groups the lines by query, each group in file order.
func (r Run) ByQuery() map[string][]RunLine {
	groups := map[string][]RunLine{}
	for _, l := range r {
		groups[l.QueryID] = append(groups[l.QueryID], l)
	}
	return groups
}

// ReadRun reads a run of six columns, which may be gzip-compressed; see ParseRun.
func ReadRun(path string) (Run, error) {
	r, c, err := openText(path)
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	defer func() { _ = c.Close() }()
	return ParseRun(r, path)
}

// ParseRun reads a run from a stream that errors call name: query, Q0, docid, rank,
// score, tag, separated by white space. The rank must be a whole number and the score
// a decimal one; inf and -inf are taken, nan is not. A docid twice for one query is an
// error with both lines; so is a file without any line (ErrEmpty).
func ParseRun(r io.Reader, name string) (Run, error) {
	p := runParser{complaints: complaints{name: name}, lines: map[[2]string]int{}, same: map[string]string{}}
	if err := eachLine(r, name, p.line); err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	if err := p.err(); err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	if len(p.run) == 0 {
		return nil, fmt.Errorf("read run: %s: %w", name, ErrEmpty)
	}
	return p.run, nil
}

type runParser struct {
	complaints
	run Run
	// lines remembers where each pair of query and docid stands.
	lines map[[2]string]int
	// same holds one copy of each query id and tag.
	same map[string]string
}

// intern returns the one copy of s that is kept.
func (p *runParser) intern(s string) string {
	if kept, ok := p.same[s]; ok {
		return kept
	}
	s = strings.Clone(s)
	p.same[s] = s
	return s
}

func (p *runParser) line(l line) error {
	if l.blank() {
		return nil
	}
	columns := l.fields()
	if len(columns) != 6 {
		hint := ""
		if len(columns) > 6 {
			hint = " (ids and tag may not hold blanks)"
		}
		p.add(l.number, "%d columns: expected query, Q0, docid, rank, score, tag%s", len(columns), hint)
		return nil
	}
	rank, isRank := parseRank(columns[3])
	if !isRank {
		p.add(l.number, "rank %s is not a whole number", shorten(columns[3]))
		return nil
	}
	score, problem := parseScore(columns[4])
	if problem != "" {
		p.add(l.number, "%s", problem)
		return nil
	}
	columns[2] = strings.Clone(columns[2])
	pair := [2]string{p.intern(columns[0]), columns[2]}
	if before, ok := p.lines[pair]; ok {
		p.add(l.number, "document %s for query %s stands on line %d already: a ranking holds a document once",
			shorten(columns[2]), shorten(columns[0]), before)
		return nil
	}
	p.lines[pair] = l.number
	p.run = append(p.run, RunLine{QueryID: pair[0], DocID: columns[2], Rank: rank, Score: score, Tag: p.intern(columns[5])})
	return nil
}

func parseRank(s string) (rank int, ok bool) {
	rank, err := strconv.Atoi(s)
	return rank, err == nil
}

// parseScore takes decimal numbers and infinities; the problem is empty if s is one.
func parseScore(s string) (score float64, problem string) {
	score, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil && math.IsInf(score, 0):
		return 0, "score " + shorten(s) + " is beyond the range of a number"
	case err != nil || strings.ContainsAny(s, "xXpP_"):
		return 0, "score " + shorten(s) + " is not a number"
	case math.IsNaN(score):
		return 0, "score " + shorten(s) + " has no place in an order"
	}
	return score, ""
}
