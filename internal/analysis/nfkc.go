package analysis

import (
	"sort"

	"golang.org/x/text/unicode/norm"
)

// normalized is a text in Unicode's form NFKC that knows where its parts came from.
type normalized struct {
	text string
	buf  []byte
	// changed lists the parts that differ from the source, in order.
	changed []alignment
}

// alignment is a part of the normalised text, and the part of the source it is for.
type alignment struct{ start, end, sourceStart, sourceEnd int }

// reset normalises a new source.
func (n *normalized) reset(source string) {
	n.changed = n.changed[:0]
	n.buf = n.buf[:0]
	pos := norm.NFKC.QuickSpanString(source)
	if pos == len(source) {
		n.text = source
		return
	}
	n.buf = append(n.buf, source[:pos]...)
	for pos < len(source) {
		start := len(n.buf)
		size := norm.NFKC.NextBoundaryInString(source[pos:], true)
		n.buf = norm.NFKC.AppendString(n.buf, source[pos:pos+size])
		if string(n.buf[start:]) != source[pos:pos+size] {
			n.changed = append(n.changed, alignment{start, len(n.buf), pos, pos + size})
		}
		pos += size

		size = norm.NFKC.QuickSpanString(source[pos:])
		n.buf = append(n.buf, source[pos:pos+size]...)
		pos += size
	}
	n.text = string(n.buf)
}

// source returns the place in the source of a part of the text, which is widened to
// whole changed parts.
func (n *normalized) source(start, end int) (int, int) {
	return n.place(start, false), n.place(end, true)
}

// place maps a place that is the end, or the start, of something.
func (n *normalized) place(pos int, end bool) int {
	i := sort.Search(len(n.changed), func(i int) bool { return n.changed[i].end > pos || end && n.changed[i].end == pos })
	if i < len(n.changed) && (n.changed[i].start < pos || n.changed[i].start == pos && !end) {
		if end {
			return n.changed[i].sourceEnd
		}
		return n.changed[i].sourceStart
	}
	if i == 0 {
		return pos
	}
	return pos - n.changed[i-1].end + n.changed[i-1].sourceEnd
}
