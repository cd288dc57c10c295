package notebook

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"goserini/internal/lazyregexp"
	"goserini/internal/retrieval"
	"goserini/internal/tool"
)

// citation names lines of a document, first and last included.
type citation struct {
	docid       string
	first, last int
}

func (c citation) String() string {
	if c.first == c.last {
		return fmt.Sprintf("%s:%d", tool.ShowID(c.docid), c.first)
	}
	return fmt.Sprintf("%s:%d-%d", tool.ShowID(c.docid), c.first, c.last)
}

const (
	// maxRange is the most lines that one citation may name.
	maxRange = 50
	// maxCitation bounds a citation as it is written, in bytes.
	maxCitation = 600
)

// cited matches docid:7 and docid:7-9, and what models write for it: #L7, † and blanks before
// the lines, "lines 7–9".
var cited = lazyregexp.New(`^(.+?)\s*(?:[:#†,]|\s)\s*(?:lines?\s*|L)?(\d{1,9})(?:\s*[-–—]\s*L?(\d{1,9}))?$`)

// parseCitation reads a citation. The error is a sentence that goes on "…:".
func parseCitation(written string) (citation, error) {
	s := strings.TrimSpace(written)
	if inner, ok := strings.CutPrefix(s, "["); ok {
		s = strings.TrimSpace(strings.TrimSuffix(inner, "]"))
	}
	s = strings.TrimPrefix(s, "docid=")
	if len(s) > maxCitation {
		return citation{}, fmt.Errorf("%s is too long for a citation: give a docid and lines, such as d2:7 or d2:7-9", tool.QuoteJSON(firstOf(s, 40)))
	}
	m := cited.FindStringSubmatch(s)
	if m == nil {
		return citation{}, fmt.Errorf("%s does not say which lines of which document: write docid:line or docid:first-last, such as d2:7 or d2:7-9", tool.QuoteJSON(firstOf(s, 80)))
	}
	c := citation{docid: m[1]}
	if id, ok := tool.UnquoteJSON(c.docid); ok {
		c.docid = id
	}
	c.first, _ = strconv.Atoi(m[2]) // at most nine digits
	c.last = c.first
	if m[3] != "" {
		c.last, _ = strconv.Atoi(m[3])
	}
	switch {
	case c.first < 1 || c.last < c.first:
		return citation{}, fmt.Errorf("%s names no lines: they count from 1, and the last is not before the first", tool.QuoteJSON(firstOf(s, 80)))
	case c.last-c.first >= maxRange:
		return citation{}, fmt.Errorf("%s names %d lines: cite only those that say it, at most %d", tool.QuoteJSON(firstOf(s, 80)), c.last-c.first+1, maxRange)
	}
	return c, nil
}

// opened are the lines that were read, by docid and number, as far as they are kept.
type opened map[string]map[int]string

// maxKept is how much of a line is kept, in characters.
const maxKept = 4000

// add reports whether a document is among them that was not opened before.
func (o opened) add(lines []tool.Line) bool {
	isNew := false
	for _, l := range lines {
		of := o[l.DocID]
		if of == nil {
			of = map[int]string{}
			o[l.DocID] = of
			isNew = true
		}
		if of[l.Number] == "" {
			kept, _, _ := tool.Clip(l.Text, maxKept)
			of[l.Number] = strings.Clone(strings.ToValidUTF8(kept, "\uFFFD")) // the page behind it is not kept
		}
	}
	return isNew
}

// unread says which part of a citation was not read, "" where all of it was.
func (o opened) unread(c citation) string {
	of := o[c.docid]
	if len(of) == 0 {
		return "document not opened"
	}
	var missing []int
	for n := c.first; n <= c.last; n++ {
		if _, ok := of[n]; !ok {
			missing = append(missing, n)
		}
	}
	switch len(missing) {
	case 0:
		return ""
	case c.last - c.first + 1:
		return "not opened"
	}
	return fmt.Sprintf("line %d not opened", missing[0])
}

// all reports whether every line of a citation was read.
func (o opened) all(c citation) bool { return o.unread(c) == "" }

// mark stands behind a citation of lines that were not read, and is "" for others.
func (o opened) mark(c citation) string {
	if unread := o.unread(c); unread != "" {
		return " (" + unread + ")"
	}
	return ""
}

// quotes quote cited lines while there is room for it.
type quotes struct {
	opened opened
	left   int // bytes
	full   bool
}

// leastQuoted is the least that is worth quoting of a line, in characters.
const leastQuoted = 60

// of is what the lines of a citation say about a constraint, each on a line of its own behind
// its place; "" for lines that were not read. Of a long line it is the passage that has
// most of the words of the constraint and its candidate.
func (q *quotes) of(l citation, c constraint) string {
	if q == nil || q.full {
		return ""
	}
	m := retrieval.NewMatcher(c.candidate+" "+c.text, nil)
	var b strings.Builder
	room := maxQuoted
	for n := l.first; n <= l.last && room >= leastQuoted; n++ {
		text := strings.TrimSpace(tool.OneLine(q.opened[l.docid][n]))
		if text == "" {
			continue
		}
		passage := best(m, text, max(leastQuoted, room/(l.last-n+1)))
		room -= utf8.RuneCountInString(passage)
		line := fmt.Sprintf("\n   %s says %s", citation{l.docid, n, n}, tool.QuoteJSON(passage))
		if len(line) > q.left {
			q.full = true
			b.WriteString("\n   (what further lines say is left out: open them again)")
			break
		}
		q.left -= len(line)
		b.WriteString(line)
	}
	return b.String()
}

// best is the passage of a line that a matcher finds best, or its beginning, with dots where
// it is cut.
func best(m *retrieval.Matcher, text string, characters int) string {
	if utf8.RuneCountInString(text) <= characters {
		return text
	}
	shown, _, _ := tool.Clip(text, characters)
	before, after := "", "..."
	if p := m.Passages(text, 0, characters); len(p) > 0 {
		shown = text[p[0].Start:p[0].End]
		if p[0].Start > 0 {
			before = "..."
		}
		if p[0].End == len(text) {
			after = ""
		}
	}
	return before + strings.TrimSpace(shown) + after
}
