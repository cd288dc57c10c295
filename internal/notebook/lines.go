package notebook

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

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
var cited = regexp.MustCompile(`^(.+?)\s*(?:[:#†,]|\s)\s*(?:lines?\s*|L)?(\d{1,9})(?:\s*[-–—]\s*L?(\d{1,9}))?$`)

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

// opened are the lines that were read, by docid and number, each cut to what may be quoted.
type opened map[string]map[int]string

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
			shown, _, _ := tool.Clip(l.Text, maxQuoted)
			of[l.Number] = strings.Clone(shown) // the page behind it is not kept
		}
	}
	return isNew
}

// all reports whether every line of a citation was read.
func (o opened) all(c citation) bool {
	of := o[c.docid]
	for n := c.first; n <= c.last; n++ {
		if _, ok := of[n]; !ok {
			return false
		}
	}
	return true
}

// mark stands behind a citation of lines that were not read, and is "" for others.
func (o opened) mark(c citation) string {
	switch {
	case o.all(c):
		return ""
	case len(o[c.docid]) == 0:
		return " (document not opened)"
	}
	return " (not opened)"
}

// quotes quote cited lines while there is room for it.
type quotes struct {
	opened opened
	left   int // bytes
	full   bool
}

// of is what the lines of a citation say, each on a line of its own behind the docid; "" for
// lines that were not read.
func (q *quotes) of(c citation) string {
	if q == nil {
		return ""
	}
	var b strings.Builder
	room := maxQuoted
	for n := c.first; n <= c.last && room > 0; n++ {
		text := strings.TrimSpace(tool.OneLine(strings.ToValidUTF8(q.opened[c.docid][n], "\uFFFD")))
		if text == "" {
			continue
		}
		line := fmt.Sprintf("\n   %s says %s", citation{c.docid, n, n}, tool.QuoteJSON(firstOf(text, room)))
		room -= len(text)
		if len(line) > q.left {
			if !q.full {
				q.full = true
				b.WriteString("\n   (what further lines say is left out: open them again)")
			}
			break
		}
		q.left -= len(line)
		b.WriteString(line)
	}
	return b.String()
}
