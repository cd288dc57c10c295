package navbench

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// seen collects what of a document has been shown.
type seen struct {
	item *item
	// starts are the byte offsets of the lines.
	starts []int
	parts  [][2]int
}

func newSeen(it *item) *seen {
	s := &seen{item: it, starts: []int{0}}
	for i := range len(it.contents) {
		if it.contents[i] == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	return s
}

// add notes the lines on a page of the document.
func (s *seen) add(page string) {
	for _, l := range linesOf(page) {
		if l.line < 1 || l.line > len(s.starts) {
			continue
		}
		start := s.starts[l.line-1]
		for n := 1; n < l.column && start < len(s.item.contents); n++ {
			_, size := utf8.DecodeRuneInString(s.item.contents[start:])
			start += size
		}
		s.parts = append(s.parts, [2]int{start, min(start+len(l.text), len(s.item.contents))})
	}
	slices.SortFunc(s.parts, func(a, b [2]int) int { return a[0] - b[0] })
}

// shown reports whether what was shown of some place holds its span.
func (s *seen) shown() bool {
	for _, p := range s.item.places {
		var text strings.Builder
		at := p.start
		for _, part := range s.parts {
			if from, to := max(part[0], at), min(part[1], p.end); from < to {
				text.WriteString(s.item.contents[from:to])
				text.WriteByte('\n')
				at = to
			}
		}
		if holds(text.String(), p.words) {
			return true
		}
	}
	return false
}
