package controller

import "strings"

// page is a tool result under construction: a head, a body that may have to end
// early, and a foot. Its parts are whole lines without the last line end.
type page struct {
	lines, bytes int // what is left for the body
	body         strings.Builder
	empty        bool
	// full names the limit that ended the body early: "lines", "bytes", or nothing.
	full string
}

// newPage reserves room for the longest head and foot the page may get.
func newPage(o Options, head, foot string) *page {
	p := &page{lines: o.PageLines, bytes: o.PageBytes, empty: true}
	for _, part := range []string{head, foot} {
		p.lines -= strings.Count(part, "\n") + 2
		p.bytes -= len(part) + 2
	}
	if o.Navigator.BudgetLine {
		p.lines--
		p.bytes -= budgetRoom
	}
	return p
}

// add appends text, which ends with a line end, if it fits.
func (p *page) add(text string) bool {
	if n := strings.Count(text, "\n"); n > p.lines {
		p.full = "lines"
		return false
	}
	if len(text) > p.bytes {
		p.full = "bytes"
		return false
	}
	p.force(text)
	return true
}

// force appends text although it does not fit. The first piece of a page may be
// forced so that paging always gets on.
func (p *page) force(text string) {
	p.lines -= strings.Count(text, "\n")
	p.bytes -= len(text)
	p.body.WriteString(text)
	p.empty = false
}

// assemble joins the parts with a blank line between them.
func (p *page) assemble(head, foot string) string {
	parts := make([]string, 0, 3)
	for _, part := range []string{head, strings.TrimSuffix(p.body.String(), "\n"), foot} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n\n")
}
