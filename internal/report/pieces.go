package report

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// piece is a part of what a tool returned: text, cited text, or a gap where text was left out.
type piece struct {
	text string
	// target is the number of the target the text is, 0 for none.
	target int
	// gapLines and gapBytes count what was left out; the text is empty then.
	gapLines, gapBytes int
}

// split cuts the texts of all calls at the targets of the answer.
func (s *story) split() {
	bySteps := map[int][]int{}
	for n, t := range s.targets {
		if t.step >= 0 && t.to > t.from {
			bySteps[t.step] = append(bySteps[t.step], n+1)
		}
	}
	for i, st := range s.steps {
		if st.call == nil || st.call.result == nil {
			continue
		}
		text, at := st.call.result.Text, 0
		numbers := bySteps[i]
		slices.SortFunc(numbers, func(a, b int) int { return s.targets[a-1].from - s.targets[b-1].from })
		for _, n := range numbers {
			t := s.targets[n-1]
			st.call.text = appendText(st.call.text, text[at:max(at, t.from)])
			st.call.text = append(st.call.text, piece{text: text[max(at, t.from):max(at, t.to)], target: n})
			at = max(at, t.to)
		}
		st.call.text = appendText(st.call.text, text[at:])
	}
}

func appendText(pieces []piece, text string) []piece {
	if text == "" {
		return pieces
	}
	return append(pieces, piece{text: text})
}

// shorten keeps at most so many bytes of what tools returned, and lets go of the rest.
func (s *story) shorten(most int) {
	limit := s.textLimit(most)
	for _, st := range s.steps {
		if st.call != nil && st.call.result != nil {
			st.call.text = trim(st.call.text, limit)
			r := *st.call.result
			r.Text = ""
			st.call.result = &r
		}
	}
}

// textLimit is the greatest length to which every text may be cut so that all of them together have
// at most so many bytes: short ones stay whole.
func (s *story) textLimit(most int) int {
	var lengths []int
	for _, st := range s.steps {
		switch {
		case st.call != nil:
			lengths = append(lengths, size(st.call.text))
		case st.turn != nil:
			lengths = append(lengths, len(st.turn.Text)+len(st.turn.Reasoning))
		}
	}
	slices.Sort(lengths)
	for i, n := range lengths {
		if share := most / (len(lengths) - i); n > share {
			return share
		}
		most -= n
	}
	return maxInt
}

const maxInt = int(^uint(0) >> 1)

func size(pieces []piece) int {
	n := 0
	for _, p := range pieces {
		n += len(p.text)
	}
	return n
}

// trim shortens pieces to about limit bytes. Cited text stays before all else, then its
// surroundings, then the beginning. What is left out is counted where it stood.
func trim(pieces []piece, limit int) []piece {
	if size(pieces) <= limit {
		return pieces
	}
	cited := 0
	for _, p := range pieces {
		if p.target > 0 {
			cited++
		}
	}
	left := limit
	out := make([]piece, 0, len(pieces)+2)
	kept := make([]piece, len(pieces))
	for i, p := range pieces {
		if p.target == 0 {
			continue
		}
		const least = 100 // a cited line is shown even where there is room for nothing
		kept[i] = piece{text: clipBytes(p.text, max(least, limit/cited)), target: p.target}
		left -= len(kept[i].text)
	}
	for i, p := range pieces {
		switch {
		case p.target > 0:
			cut := len(p.text) - len(kept[i].text)
			out = append(out, kept[i])
			if cut > 0 {
				out = appendGap(out, p.text[len(kept[i].text):])
			}
		case p.gapBytes > 0:
			out = appendGapPiece(out, p)
		default:
			head, tail := allowance(pieces, i, left, cited)
			out, left = cutMiddle(out, p.text, head, tail, left)
		}
	}
	return out
}

// allowance is how much of the beginning and the end of a piece may stay.
func allowance(pieces []piece, i, left, cited int) (head, tail int) {
	left = max(left, 0)
	if cited == 0 {
		return left, 0
	}
	const around = 240
	context := min(around, left/(2*cited))
	if i > 0 {
		head = context
	} else {
		head = max(left-2*cited*context, 0)
	}
	if i+1 < len(pieces) && pieces[i+1].target > 0 {
		tail = context
	}
	return head, tail
}

// cutMiddle appends a text without its middle. Cuts are at line ends, where there are any.
func cutMiddle(out []piece, text string, head, tail, left int) ([]piece, int) {
	if len(text) <= head+tail {
		return append(out, piece{text: text}), left - len(text)
	}
	first := lineEnd(text, head)
	last := len(text) - tail
	if nl := strings.IndexByte(text[last:], '\n'); nl >= 0 {
		last += nl + 1
	} else {
		last = len(text)
	}
	last = max(last, first)
	out = appendText(out, text[:first])
	out = appendGap(out, text[first:last])
	out = appendText(out, text[last:])
	return out, left - first - (len(text) - last)
}

// lineEnd is the end of the last whole line within n bytes, or of the last whole character
// where the first line is longer.
func lineEnd(text string, n int) int {
	if n >= len(text) {
		return len(text)
	}
	if nl := strings.LastIndexByte(text[:n], '\n'); nl >= 0 {
		return nl + 1
	}
	return len(clipBytes(text, n))
}

// clipBytes cuts a text to at most n bytes without cutting a character.
func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func appendGap(out []piece, text string) []piece {
	if text == "" {
		return out
	}
	return appendGapPiece(out, piece{gapBytes: len(text), gapLines: strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1})
}

// appendGapPiece joins gaps that follow one another.
func appendGapPiece(out []piece, gap piece) []piece {
	if n := len(out); n > 0 && out[n-1].gapBytes > 0 {
		out[n-1].gapBytes += gap.gapBytes
		out[n-1].gapLines += gap.gapLines
		return out
	}
	return append(out, gap)
}
