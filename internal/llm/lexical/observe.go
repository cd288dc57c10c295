package lexical

import (
	"encoding/json"
	"strconv"
	"strings"

	"goserini/internal/lazyregexp"
)

// observation is what the text of one tool result says.
type observation struct {
	searchID string
	// hits are those shown, total is the number in the ranking.
	hits  []hit
	total int
	page  *docPage
}

// hit is one entry of a page of a ranking.
type hit struct {
	rank           int
	docid          string
	title, excerpt string
	line           int // where the excerpt stands in the document, 0 if the page does not say
}

// docPage is a page of a document.
type docPage struct {
	docid       string
	total       int
	lines       []line
	first, last int
}

// line is a numbered line of a document, or a later part of one that is too long for a page.
type line struct {
	number, column int
	text           string
}

var (
	rankingHead  = lazyregexp.New(`^ranks \d+-\d+ of (\d+)\b.*?\bsearch_id=(.+)$`)
	hitHead      = lazyregexp.New(`^(\d{1,9})\. docid=(.+)$`)
	documentHead = lazyregexp.New(`^docid=(.+?) lines (\d+)-(\d+) of (\d+)`)
	numberedLine = lazyregexp.New(`^(\d{1,9})(?::(\d{1,9}))?\t`)
	field        = lazyregexp.New(`^\s+([A-Z][A-Za-z ]{1,20}):\s?(.*)$`)
	linesField   = lazyregexp.New(`(?i)\blines?[ =:]+(\d{1,9})`)
)

// observe reads the text of a tool result. What it does not understand it leaves out: a
// page of another profile, or of another tool, gives what it has in common with these.
func observe(text string) observation {
	var o observation
	var current *hit
	for s := range strings.Lines(text) {
		s = strings.TrimSuffix(s, "\n")
		switch {
		case numberedLine.MatchString(s):
			if o.page != nil {
				o.page.add(s)
			}
		case rankingHead.MatchString(s):
			m := rankingHead.FindStringSubmatch(s)
			o.total, _ = strconv.Atoi(m[1])
			o.searchID = leadingID(m[2])
		case documentHead.MatchString(s):
			m := documentHead.FindStringSubmatch(s)
			o.page = &docPage{docid: unquote(m[1])}
			o.page.first, _ = strconv.Atoi(m[2])
			o.page.last, _ = strconv.Atoi(m[3])
			o.page.total, _ = strconv.Atoi(m[4])
		case hitHead.MatchString(s):
			m := hitHead.FindStringSubmatch(s)
			h := hit{docid: leadingID(m[2])}
			h.rank, _ = strconv.Atoi(m[1])
			o.hits = append(o.hits, h)
			current = &o.hits[len(o.hits)-1]
		case current != nil && strings.HasPrefix(s, "   "):
			current.add(s)
		default:
			current = nil
		}
	}
	return o
}

// add takes one indented line below the head of a hit.
func (h *hit) add(s string) {
	name, value := "", strings.TrimSpace(s)
	if m := field.FindStringSubmatch(s); m != nil {
		name, value = strings.ToLower(m[1]), m[2]
	}
	if h.line == 0 {
		if m := linesField.FindStringSubmatch(s); m != nil && name != "title" && name != "excerpt" {
			h.line, _ = strconv.Atoi(m[1])
		}
	}
	switch {
	case name == "title":
		h.title = value
	case strings.HasPrefix(value, "(") || name != "" && name != "excerpt" && name != "passage":
		// A note of the page, or a field that holds no text of the document.
	case h.excerpt == "":
		h.excerpt = value
	default:
		h.excerpt += "\n" + value
	}
}

func (p *docPage) add(s string) {
	m := numberedLine.FindStringSubmatch(s)
	l := line{text: s[len(m[0]):], column: 1}
	l.number, _ = strconv.Atoi(m[1])
	if m[2] != "" {
		l.column, _ = strconv.Atoi(m[2])
	}
	p.lines = append(p.lines, l)
}

// leadingID reads a docid that other fields may follow: a JSON string, or up to a blank.
func leadingID(s string) string {
	if strings.HasPrefix(s, `"`) {
		d := json.NewDecoder(strings.NewReader(s))
		var id string
		if d.Decode(&id) == nil {
			return id
		}
	}
	id, _, _ := strings.Cut(s, " ")
	return id
}

// unquote reads an id that stands bare or as a JSON string.
func unquote(s string) string {
	var id string
	if strings.HasPrefix(s, `"`) && json.Unmarshal([]byte(s), &id) == nil {
		return id
	}
	return s
}
