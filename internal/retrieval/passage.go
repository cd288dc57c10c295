package retrieval

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Passage is a short stretch of a document chosen for a query.
type Passage struct {
	// Start and End are byte offsets in the text, on character boundaries.
	Start, End int
	// FirstLine and LastLine are 1-based.
	FirstLine, LastLine int
	// Score is comparable within one document and query only.
	Score float64
	// Terms is the number of distinct terms of the query in it.
	Terms int
}

// PassageLength is the length of passages, in characters, unless asked otherwise.
const PassageLength = 450

// Passages returns at most count passages of text, of at most length characters each,
// the best first. They do not overlap. Without any term of the query in the text there
// is none.
//
// A passage is the window that covers most of the query: each distinct term counts its
// idf once, a term next to its neighbour of the query counts more, and repeated terms
// count a little. The window is then widened to whole sentences as far as the length
// allows.
func (m *Matcher) Passages(text string, count, length int) []Passage {
	occurrences := m.find(text)
	var chosen []Passage
	for len(chosen) < count {
		w, ok := m.bestWindow(text, occurrences, length)
		if !ok {
			break
		}
		p := m.widen(text, occurrences, w, length)
		chosen = append(chosen, p)
		occurrences = slices.DeleteFunc(occurrences, func(o occurrence) bool {
			return int(o.start) < p.End && int(o.end) > p.Start
		})
	}
	lines := newLineCounter(text)
	for _, i := range byStart(chosen) {
		chosen[i].FirstLine = lines.at(chosen[i].Start)
		chosen[i].LastLine = lines.at(max(chosen[i].End-1, chosen[i].Start))
	}
	return chosen
}

// window is a run of occurrences: from first up to and including last.
type window struct {
	first, last int
	score       float64
	terms       int
}

// Weights of the score, in units of a term's idf.
const (
	// repeatWeight is for each further occurrence of a term, at most maxRepeats of them.
	repeatWeight = 0.05
	maxRepeats   = 3
	// pairWeight is for two neighbours of the query that stand next to each other.
	pairWeight = 0.5
)

// bestWindow finds the window of at most length characters with the highest score; of
// equal ones the shortest, then the first. Lengths are estimated in bytes for speed
// where the text is ASCII and bounded by it elsewhere.
func (m *Matcher) bestWindow(text string, found []occurrence, length int) (window, bool) {
	best, bestSpan := window{}, 0
	counts := make([]int, len(m.terms))
	pairs := make([]int, len(m.terms))
	var score float64
	var terms int
	first := 0
	for last := range found {
		gain, fresh := m.enter(text, found, last, first, counts, pairs)
		score += gain
		terms += fresh
		for int(found[last].end-found[first].start) > length && first < last {
			loss, gone := m.leave(text, found, first, last, counts, pairs)
			score -= loss
			terms -= gone
			first++
		}
		span := int(found[last].end - found[first].start)
		if better := score - best.score; last == 0 || better > 1e-9 || better > -1e-9 && span < bestSpan {
			best, bestSpan = window{first, last, score, terms}, span
		}
	}
	return best, len(found) > 0
}

// enter adds occurrence i to a window that begins at first.
func (m *Matcher) enter(text string, found []occurrence, i, first int, counts, pairs []int) (gain float64, fresh int) {
	t := found[i].term
	counts[t]++
	switch {
	case counts[t] == 1:
		gain, fresh = m.terms[t].IDF, 1
	case counts[t] <= 1+maxRepeats:
		gain = repeatWeight * m.terms[t].IDF
	}
	if i > first && neighbours(text, found[i-1], found[i]) {
		if pairs[t]++; pairs[t] == 1 {
			gain += m.pair(t)
		}
	}
	return gain, fresh
}

// leave removes the first occurrence of a window.
func (m *Matcher) leave(text string, found []occurrence, i, last int, counts, pairs []int) (loss float64, gone int) {
	t := found[i].term
	switch {
	case counts[t] == 1:
		loss, gone = m.terms[t].IDF, 1
	case counts[t] <= 1+maxRepeats:
		loss = repeatWeight * m.terms[t].IDF
	}
	counts[t]--
	if i < last && neighbours(text, found[i], found[i+1]) {
		next := found[i+1].term
		if pairs[next]--; pairs[next] == 0 {
			loss += m.pair(next)
		}
	}
	return loss, gone
}

// pair is what a term counts for standing behind its neighbour of the query.
func (m *Matcher) pair(term int32) float64 {
	return pairWeight * min(m.terms[term].IDF, m.terms[term-1].IDF)
}

// neighbours reports whether b follows a in the query and in the text, with nothing
// longer than a short word between them.
func neighbours(text string, a, b occurrence) bool {
	if b.term != a.term+1 {
		return false
	}
	gap := text[a.end:b.start]
	return len(gap) <= 6 && !strings.ContainsAny(gap, ".?!\n")
}

// widen turns a window into a passage of whole sentences, or whole words where a
// sentence is too long, of at most length characters.
func (m *Matcher) widen(text string, found []occurrence, w window, length int) Passage {
	from, to := int(found[w.first].start), int(found[w.last].end)
	room := length - utf8.RuneCountInString(text[from:to])
	if room < 0 { // a single term longer than a passage
		to = from + prefixLen(text[from:], length)
		room = 0
	}
	start := sentenceStart(text, from, room)
	room -= utf8.RuneCountInString(text[start:from])
	end := sentenceEnd(text, to, room)
	room -= utf8.RuneCountInString(text[to:end])
	// What is left goes to sentences before, as far as they fit whole.
	for room > 0 && start > 0 {
		earlier := sentenceStart(text, stepBack(text, start, 1), room)
		cost := utf8.RuneCountInString(text[earlier:start])
		if cost > room || earlier == start || !beginsSentence(text, earlier) {
			break
		}
		start, room = earlier, room-cost
	}
	start, end = trim(text, start, end)
	return Passage{Start: start, End: end, Score: w.score, Terms: w.terms}
}

// sentenceStart returns the beginning of the sentence that holds offset at, but at most
// room characters before it; then it is the beginning of a word.
func sentenceStart(text string, at, room int) int {
	low := stepBack(text, at, room)
	for i := at; i > low; {
		_, size := utf8.DecodeLastRuneInString(text[:i])
		if beginsSentence(text, i) {
			return i
		}
		i -= size
	}
	if low == 0 || beginsSentence(text, low) {
		return low
	}
	if next := strings.IndexFunc(text[low:at], unicode.IsSpace); next >= 0 {
		return low + next
	}
	return low
}

// sentenceEnd returns the end of the last sentence that ends within room characters
// after offset at; where none does, the end of the last word that does.
func sentenceEnd(text string, at, room int) int {
	high := at + prefixLen(text[at:], room)
	if high == len(text) {
		return high
	}
	for i := high; i > at; {
		if beginsSentence(text, i) {
			return i
		}
		_, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
	}
	if last := strings.LastIndexFunc(text[at:high], unicode.IsSpace); last >= 0 {
		return at + last
	}
	return high
}

// beginsSentence reports whether a sentence begins at offset i: at the beginning, after
// a line end, and after closing punctuation and a blank.
func beginsSentence(text string, i int) bool {
	if i == 0 || text[i-1] == '\n' {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	if strings.ContainsRune("。！？", before) {
		return true
	}
	if !unicode.IsSpace(before) || i >= len(text) || unicode.IsSpace(rune(text[i])) {
		return false
	}
	head := strings.TrimRightFunc(text[max(0, i-8):i], unicode.IsSpace)
	head = strings.TrimRight(head, `"')]”’`)
	return head != "" && strings.ContainsAny(head[len(head)-1:], ".?!")
}

// trim strips blanks from both ends.
func trim(text string, start, end int) (int, int) {
	inner := strings.TrimLeftFunc(text[start:end], unicode.IsSpace)
	start = end - len(inner)
	return start, start + len(strings.TrimRightFunc(inner, unicode.IsSpace))
}

// byStart returns the indexes of passages in text order.
func byStart(passages []Passage) []int {
	order := make([]int, len(passages))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(passages[a].Start, passages[b].Start) })
	return order
}

// lineCounter tells the line of ascending offsets.
type lineCounter struct {
	text     string
	at0, num int
}

func newLineCounter(text string) *lineCounter { return &lineCounter{text: text, num: 1} }

// at returns the 1-based line of an offset no smaller than the one asked for before.
func (l *lineCounter) at(offset int) int {
	if offset < l.at0 {
		l.at0, l.num = 0, 1
	}
	l.num += strings.Count(l.text[l.at0:offset], "\n")
	l.at0 = offset
	return l.num
}
