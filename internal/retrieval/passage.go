package retrieval

import (
	"math"
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
	// Terms is the number of distinct terms of the query in it.
	Terms int
}

// PassageLength is the usual length of passages in characters.
const PassageLength = 450

// What a passage is chosen by. The values are compromises over test collections of
// papers, web pages, contracts and encyclopedia paragraphs; none is best for each.
const (
	// coreShare is how much of a passage the matched words may span; the rest is for
	// what stands around them, since answers often stand beside the words of a question.
	coreShare = 0.6
	// halfCoreShare is the same where two passages share the length.
	halfCoreShare = 0.8
	// beforeShare is how much of the room around the core may come before it.
	beforeShare = 0.4
	// pairWeight is what two neighbours of the query that stand next to each other add,
	// in units of the lighter one.
	pairWeight = 0.5
	// titleWeight is for terms in the first line: they tell the document from others
	// rather than a place in it from other places.
	titleWeight = 0.5
	// coveredWeight is for terms that the first of two passages already has.
	coveredWeight = 0.1
	// splitGain is the share of the query's weight that two passages must cover beyond
	// what one does.
	splitGain = 0.05
	// describedShare is the share, of the weight of those words of the query that the text
	// holds, below which the best passages are too little of it: the query then describes the
	// document as a whole rather than asks for a place in it.
	describedShare = 2.0 / 3
	// headShare is how much of an excerpt the beginning of such a document gets.
	headShare = 2.0 / 3
	// placedWeight is for terms that a better place of an outline already has.
	placedWeight = 0.5
	// shortestHalf is the least length, in characters, that says anything by itself.
	shortestHalf = 150
)

// Passages returns the best passage of text for the query, or the best two where two
// short ones cover clearly more of the query than one: together at most length
// characters, the better one first. They begin at byte offset from or later. A text
// without any term of the query there has none.
//
// A passage is chosen by the distinct terms it covers. A term weighs by its rarity
// within the document (the idf formula over stretches of the text): how rare it is in
// the collection has already decided which document this is. The chosen words are then
// surrounded by their sentences, more of them after than before.
func (m *Matcher) Passages(text string, from, length int) []Passage {
	s, ok := m.selection(text, from)
	if !ok {
		return nil
	}
	return countLines(text, s.choose(max(length, 1)))
}

// Excerpt returns the passages that show a document for the query, in at most length
// characters: those of [Matcher.Passages], or, where these hold little of the query's words
// that stand in the text, the head of the text and then the one best passage. Words scattered
// all over a document describe what it is, which its head says best. The head begins at byte
// offset from, or behind the blanks there.
func (m *Matcher) Excerpt(text string, from, length int) []Passage {
	s, ok := m.selection(text, from)
	if !ok {
		return nil
	}
	chosen := s.choose(max(length, 1))
	var covered []bool
	for _, p := range chosen {
		covered = either(covered, s.terms(p))
	}
	headLength := int(headShare * float64(length))
	if s.weigh(covered) >= describedShare*s.weigh(s.terms(Passage{Start: from, End: len(text)})) || headLength < shortestHalf {
		return countLines(text, chosen)
	}
	head := s.head(headLength)
	best := s.best(length-headLength, halfCoreShare)
	if best.Start < head.End {
		return countLines(text, []Passage{s.head(length)})
	}
	return countLines(text, []Passage{head, best})
}

// either says of each term whether one of two lists has it.
func either(a, b []bool) []bool {
	both := slices.Clone(b)
	for t, has := range a {
		both[t] = both[t] || has
	}
	return both
}

// head is the passage of at most length characters that the text begins with.
func (s *selection) head(length int) Passage {
	blank := len(s.text[s.from:]) - len(strings.TrimLeftFunc(s.text[s.from:], unicode.IsSpace))
	start := s.from + blank
	end := start + prefixLen(s.text[start:], length)
	if end < len(s.text) {
		end = wordEnd(s.text, start, end)
	}
	p := Passage{Start: start, End: start + len(strings.TrimRightFunc(s.text[start:end], unicode.IsSpace))}
	for _, has := range s.terms(p) {
		if has {
			p.Terms++
		}
	}
	return p
}

// Outline returns at most count passages of at most length characters each that begin
// at byte offset from or later, in the order of the text: the best places by the
// measure of [Matcher.Passages], where terms that a better place has weigh half for each
// such place, so that the places are about different words of the query.
func (m *Matcher) Outline(text string, from, count, length int) []Passage {
	s, ok := m.selection(text, from)
	var places []Passage
	for ; ok && len(places) < count; ok = len(s.found) > 0 {
		p := s.best(max(length, 1), halfCoreShare)
		places = append(places, p)
		for t, has := range s.terms(p) {
			if has {
				s.weights[t] *= placedWeight
			}
		}
		s.found = outside(s.found, p)
	}
	// Surroundings may overlap where two places are close; the better one stays.
	for i := 0; i < len(places); i++ {
		better := places[i]
		places = slices.DeleteFunc(places, func(p Passage) bool {
			return p != better && p.Start < better.End && p.End > better.Start
		})
	}
	slices.SortFunc(places, func(a, b Passage) int { return a.Start - b.Start })
	return countLines(text, places)
}

func (m *Matcher) selection(text string, from int) (selection, bool) {
	found := m.find(text)
	s := selection{text: text, from: from, weights: m.weights(text, found), bytesPerChar: bytesPerChar(text)}
	for i, o := range found {
		if int(o.start) >= from {
			s.found = found[i:]
			break
		}
	}
	return s, len(s.found) > 0
}

// outside returns the occurrences that do not touch p.
func outside(found []occurrence, p Passage) []occurrence {
	var rest []occurrence
	for _, o := range found {
		if int(o.end) <= p.Start || int(o.start) >= p.End {
			rest = append(rest, o)
		}
	}
	return rest
}

// countLines fills in the lines of passages.
func countLines(text string, passages []Passage) []Passage {
	for i := range passages {
		p := &passages[i]
		p.FirstLine = 1 + strings.Count(text[:p.Start], "\n")
		p.LastLine = p.FirstLine + strings.Count(text[p.Start:p.End], "\n")
	}
	return passages
}

// weights of the query's terms in one text.
func (m *Matcher) weights(text string, found []occurrence) []float64 {
	const stretch = PassageLength
	n := make([]float64, len(m.terms))    // stretches that hold the term
	last := make([]int32, len(m.terms))   // 1 + the latest of them
	inTitle := make([]bool, len(m.terms)) // the term stands in the first line
	titleEnd := strings.IndexByte(text, '\n')
	for _, o := range found {
		if at := o.start/stretch + 1; at != last[o.term] {
			last[o.term] = at
			n[o.term]++
		}
		if int(o.start) < titleEnd {
			inTitle[o.term] = true
		}
	}
	all := float64(len(text)/stretch + 1)
	weights := make([]float64, len(m.terms))
	for i := range m.terms {
		weights[i] = math.Log(1+(max(all-n[i], 0)+0.5)/(n[i]+0.5)) + 1e-3
		if inTitle[i] {
			weights[i] *= titleWeight
		}
	}
	return weights
}

// selection is the choice of passages in one text.
type selection struct {
	text         string
	from         int // no passage begins before
	found        []occurrence
	weights      []float64
	bytesPerChar float64
}

// choose returns one passage of the length or two of half of it.
func (s *selection) choose(length int) []Passage {
	one := s.best(length, coreShare)
	half := length / 2
	if half < shortestHalf {
		return []Passage{one}
	}
	first := s.best(half, halfCoreShare)
	covered := s.terms(first)
	rest := *s
	rest.weights = slices.Clone(s.weights)
	rest.found = outside(s.found, first)
	if len(rest.found) == 0 {
		return []Passage{one}
	}
	for t, has := range covered {
		if has {
			rest.weights[t] *= coveredWeight
		}
	}
	second := rest.best(half, halfCoreShare)
	if second.Start < first.End && second.End > first.Start {
		return []Passage{one}
	}
	if s.weigh(either(covered, s.terms(second)))-s.weigh(s.terms(one)) < splitGain*s.weigh(s.terms(Passage{End: len(s.text)})) {
		return []Passage{one}
	}
	return []Passage{first, second}
}

// best returns the best passage of at most length characters whose matched words span
// at most the share core of it.
func (s *selection) best(length int, core float64) Passage {
	w := s.window(int(math.Ceil(core * float64(length) * s.bytesPerChar)))
	p := s.surround(int(s.found[w.first].start), int(s.found[w.last].end), length)
	for _, has := range s.terms(p) {
		if has {
			p.Terms++
		}
	}
	return p
}

// terms says of each term whether it stands whole within a passage.
func (s *selection) terms(p Passage) []bool {
	has := make([]bool, len(s.weights))
	for _, o := range s.found {
		if int(o.start) >= p.Start && int(o.end) <= p.End {
			has[o.term] = true
		}
	}
	return has
}

func (s *selection) weigh(terms []bool) float64 {
	var sum float64
	for t, w := range s.weights {
		if terms[t] {
			sum += w
		}
	}
	return sum
}

// window is a run of occurrences, from first up to and including last.
type window struct{ first, last int }

// window finds the run of occurrences within span bytes that weighs most; of equal ones
// the shortest, then the first.
func (s *selection) window(span int) window {
	var best window
	var bestScore, score float64
	bestSpan, first := math.MaxInt, 0
	counts := make([]int, len(s.weights)) // occurrences of a term in the run
	pairs := make([]int, len(s.weights))  // of a term right behind its neighbour
	for last, o := range s.found {
		if counts[o.term]++; counts[o.term] == 1 {
			score += s.weights[o.term]
		}
		if last > first && s.neighbours(last-1) {
			if pairs[o.term]++; pairs[o.term] == 1 {
				score += s.pair(o.term)
			}
		}
		for first < last && int(o.end-s.found[first].start) > span {
			t := s.found[first].term
			if counts[t]--; counts[t] == 0 {
				score -= s.weights[t]
			}
			if s.neighbours(first) {
				next := s.found[first+1].term
				if pairs[next]--; pairs[next] == 0 {
					score -= s.pair(next)
				}
			}
			first++
		}
		size := int(o.end - s.found[first].start)
		if more := score - bestScore; more > 1e-9 || more > -1e-9 && size < bestSpan {
			best, bestScore, bestSpan = window{first, last}, score, size
		}
	}
	return best
}

// neighbours reports whether occurrences i and i+1 are neighbours in the query, too,
// with nothing longer than a short word between them.
func (s *selection) neighbours(i int) bool {
	a, b := s.found[i], s.found[i+1]
	if b.term != a.term+1 || b.start < a.end {
		return false
	}
	gap := s.text[a.end:b.start]
	return len(gap) <= 6 && !strings.ContainsAny(gap, ".?!\n")
}

// pair is what a term adds behind its neighbour of the query.
func (s *selection) pair(term int32) float64 {
	return pairWeight * min(s.weights[term], s.weights[term-1])
}

// surround makes a passage of at most length characters of the words from start to end:
// it begins with their sentence where that is near, and ends with a word.
func (s *selection) surround(start, end, length int) Passage {
	room := length - utf8.RuneCountInString(s.text[start:end])
	if room < 0 { // a word longer than a passage
		return Passage{Start: start, End: start + prefixLen(s.text[start:], length)}
	}
	from := s.from + sentenceStart(s.text[s.from:], start-s.from, int(beforeShare*float64(room)))
	room -= utf8.RuneCountInString(s.text[from:start])
	to := end + prefixLen(s.text[end:], room)
	if to == len(s.text) {
		room -= utf8.RuneCountInString(s.text[end:])
		from = wordStart(s.text, max(stepBack(s.text, from, room), s.from), from)
	} else {
		to = wordEnd(s.text, end, to)
	}
	inner := strings.TrimLeftFunc(s.text[from:to], unicode.IsSpace)
	from = to - len(inner)
	return Passage{Start: from, End: from + len(strings.TrimRightFunc(inner, unicode.IsSpace))}
}

// sentenceStart returns where the sentence that holds offset at begins, or, where that
// is more than room characters before it, the beginning of a word within the room.
func sentenceStart(text string, at, room int) int {
	low := stepBack(text, at, room)
	for i := at; i > low; {
		if beginsSentence(text, i) {
			return i
		}
		_, size := utf8.DecodeLastRuneInString(text[:i])
		i -= size
	}
	return wordStart(text, low, at)
}

// wordStart returns the first beginning of a word in text[low:at], else low.
func wordStart(text string, low, at int) int {
	if low == 0 || beginsSentence(text, low) {
		return low
	}
	if blank := strings.IndexFunc(text[low:at], unicode.IsSpace); blank >= 0 {
		return low + blank
	}
	return low
}

// wordEnd returns the last end of a word in text[at:high], else high.
func wordEnd(text string, at, high int) int {
	if r, _ := utf8.DecodeRuneInString(text[high:]); unicode.IsSpace(r) {
		return high
	}
	if blank := strings.LastIndexFunc(text[at:high], unicode.IsSpace); blank > 0 {
		return at + blank
	}
	return high
}

// beginsSentence reports whether a sentence begins at offset i: at the beginning, after
// a line end, after an ideographic full stop, and after closing punctuation and a blank.
func beginsSentence(text string, i int) bool {
	if i == 0 || text[i-1] == '\n' {
		return true
	}
	before, size := utf8.DecodeLastRuneInString(text[:i])
	if strings.ContainsRune("。！？", before) {
		return true
	}
	if !unicode.IsSpace(before) {
		return false
	}
	head := text[max(0, i-size-8) : i-size]
	head = strings.TrimRight(head, `"')]”’ `)
	return head != "" && strings.ContainsRune(".?!؟", lastRune(head))
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// bytesPerChar estimates the bytes of a character of text from its beginning.
func bytesPerChar(text string) float64 {
	sample := text[:min(len(text), 4096)]
	return float64(len(sample)) / float64(max(utf8.RuneCountInString(sample), 1))
}
