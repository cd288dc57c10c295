package trec

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Qrels holds grades by query id and docid. A pair that is absent is not judged.
// Grades at or below 0 are not relevant.
type Qrels map[string]map[string]int

// ReadQrels reads relevance judgments, which may be gzip-compressed; see ParseQrels.
func ReadQrels(path string) (Qrels, error) {
	qrels, _, err := ReadQrelsNoted(path)
	return qrels, err
}

// ReadQrelsNoted is ReadQrels, and says how the columns were understood where they are
// not the usual four; the note is empty otherwise.
func ReadQrelsNoted(path string) (qrels Qrels, note string, err error) {
	r, c, err := openText(path)
	if err != nil {
		return nil, "", fmt.Errorf("read qrels: %w", err)
	}
	defer func() { _ = c.Close() }()
	return parseQrels(r, path)
}

// ParseQrels reads relevance judgments from a stream that errors call name. The
// first non-blank line decides what the columns are, for the whole file:
//
//   - a header "query-id corpus-id score" (BEIR): three columns follow;
//   - four columns: query, iteration (ignored), docid, grade (TREC);
//   - three columns: query, docid, grade;
//   - two columns: query, docid, with grade 1.
//
// Columns are separated by white space; where the first line holds a tab only by
// tabs, so that ids may hold blanks. The same pair twice with one grade counts
// once; with two grades it is an error.
func ParseQrels(r io.Reader, name string) (Qrels, error) {
	qrels, _, err := parseQrels(r, name)
	return qrels, err
}

func parseQrels(r io.Reader, name string) (qrels Qrels, note string, err error) {
	p := qrelsParser{complaints: complaints{name: name}, qrels: Qrels{}, lines: map[[2]string]int{}}
	if err = eachLine(r, name, p.line); err == nil {
		err = p.err()
	}
	if err == nil && len(p.qrels) == 0 {
		err = fmt.Errorf("%s: %w", name, ErrEmpty)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read qrels: %w", err)
	}
	if p.layout.columns != 4 {
		note = fmt.Sprintf("%s: columns read as %s", name, p.layout.words)
	}
	return p.qrels, note, nil
}

// qrelsLayout says where the columns of a judgment are; grade -1 means 1 always.
type qrelsLayout struct {
	columns, query, docid, grade int
	tabs                         bool
	// words names the columns in messages.
	words string
}

type qrelsParser struct {
	complaints
	layout *qrelsLayout
	qrels  Qrels
	// lines remembers where each pair was judged.
	lines map[[2]string]int
}

func (p *qrelsParser) line(l line) error {
	if l.blank() {
		return nil
	}
	if p.layout == nil {
		layout, header, err := recogniseQrels(l)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", p.name, l.number, err)
		}
		p.layout = &layout
		if header {
			return nil
		}
	}
	p.judgment(l)
	return nil
}

// recogniseQrels finds the layout from the first line and says whether that is a
// header.
func recogniseQrels(l line) (layout qrelsLayout, header bool, err error) {
	tabs := strings.Contains(l.text, "\t")
	columns := splitColumns(l, tabs)
	switch {
	case isQrelsHeader(columns):
		if len(columns) != 3 {
			return layout, true, fmt.Errorf("the header names %d columns: expected query-id, corpus-id, score", len(columns))
		}
		return qrelsLayout{columns: 3, docid: 1, grade: 2, tabs: tabs, words: "query, docid, grade"}, true, nil
	case len(columns) == 4:
		return qrelsLayout{columns: 4, docid: 2, grade: 3, tabs: tabs, words: "query, iteration, docid, grade"}, false, nil
	case len(columns) == 3:
		return qrelsLayout{columns: 3, docid: 1, grade: 2, tabs: tabs, words: "query, docid, grade"}, false, nil
	case len(columns) == 2:
		return qrelsLayout{columns: 2, docid: 1, grade: -1, tabs: tabs, words: "query, docid, each with grade 1"}, false, nil
	}
	return layout, false, fmt.Errorf("%d columns: expected query, iteration, docid, grade", len(columns))
}

func isQrelsHeader(columns []string) bool {
	return len(columns) > 1 && slices.Contains([]string{"query-id", "query_id", "qid", "topic"}, strings.ToLower(columns[0])) &&
		!isInteger(columns[len(columns)-1])
}

func isInteger(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

func splitColumns(l line, tabs bool) []string {
	if !tabs {
		return l.fields()
	}
	columns := strings.Split(strings.TrimRight(l.text, asciiSpace), "\t")
	for i, c := range columns {
		columns[i] = strings.Trim(c, asciiSpace)
	}
	return columns
}

func (p *qrelsParser) judgment(l line) {
	columns := splitColumns(l, p.layout.tabs)
	if len(columns) != p.layout.columns && p.layout.tabs {
		columns = l.fields()
	}
	if len(columns) != p.layout.columns {
		p.add(l.number, "%d columns: expected %d as on the first line: %s", len(columns), p.layout.columns, p.layout.words)
		return
	}
	query, docid, grade := columns[p.layout.query], columns[p.layout.docid], 1
	if query == "" || docid == "" {
		p.add(l.number, "empty query id or docid")
		return
	}
	if p.layout.grade >= 0 {
		var err error
		if grade, err = strconv.Atoi(columns[p.layout.grade]); err != nil {
			p.add(l.number, "grade %s is not a whole number", shorten(columns[p.layout.grade]))
			return
		}
	}
	p.take(l.number, query, docid, grade)
}

func (p *qrelsParser) take(number int, query, docid string, grade int) {
	pair := [2]string{query, docid}
	if before, ok := p.lines[pair]; ok {
		if p.qrels[query][docid] != grade {
			p.add(number, "query %s, document %s has grade %d here and grade %d on line %d: keep one",
				shorten(query), shorten(docid), grade, p.qrels[query][docid], before)
		}
		return
	}
	p.lines[pair] = number
	if p.qrels[query] == nil {
		p.qrels[query] = map[string]int{}
	}
	p.qrels[query][docid] = grade
}

// Unknown lists, sorted, the judged documents and the queries that the given
// tests do not know.
func (q Qrels) Unknown(knownDoc, knownQuery func(string) bool) (docids, queryIDs []string) {
	seen := map[string]bool{}
	for query, judged := range q {
		if !knownQuery(query) {
			queryIDs = append(queryIDs, query)
		}
		for docid := range judged {
			if !seen[docid] && !knownDoc(docid) {
				docids = append(docids, docid)
			}
			seen[docid] = true
		}
	}
	slices.Sort(docids)
	slices.Sort(queryIDs)
	return docids, queryIDs
}

// CheckOverlap returns an error, with two sample ids of each side, when no query
// of the run is judged: the files then speak of different query sets.
func (q Qrels) CheckOverlap(run Run) error {
	var runIDs []string
	for _, id := range run.QueryIDs() {
		if _, ok := q[id]; ok {
			return nil
		}
		runIDs = append(runIDs, id)
	}
	qrelIDs := make([]string, 0, len(q))
	for id := range q {
		qrelIDs = append(qrelIDs, id)
	}
	slices.Sort(qrelIDs)
	return fmt.Errorf("run and qrels share no query: the run has %s, the qrels have %s; ids are compared as exact text",
		samples(runIDs), samples(qrelIDs))
}

// samples shows at most two ids.
func samples(ids []string) string {
	words := make([]string, 0, 3)
	for i, id := range ids {
		if i == 2 {
			words = append(words, "…")
			break
		}
		words = append(words, shorten(id))
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
