package lexical

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"goserini/internal/lazyregexp"
)

// sentencesOf cuts what has been shown of a document into sentences and notes what each has
// of the question.
func (l *library) sentencesOf(d *document) []sentence {
	var c cutter
	if d.opened {
		c.document(d)
	} else {
		for _, e := range d.excerpts {
			c.line(0, strings.TrimPrefix(e, d.title))
			c.stop()
		}
	}
	heading := mask(0)
	for i := range c.out {
		s := &c.out[i]
		s.mask = l.maskOf(s.text)
		if lifespan.MatchString(s.text) {
			s.mask |= l.stemsMask(lifeStems)
		}
		if isHeading(s.text) {
			heading = s.mask
		}
		s.heading = heading
	}
	return c.out
}

// document takes the lines of a document that have been shown, without its title.
func (c *cutter) document(d *document) {
	numbers := slices.Sorted(maps.Keys(d.lines))
	for i, n := range numbers {
		if i > 0 && n != numbers[i-1]+1 {
			c.stop()
		}
		var text strings.Builder
		for _, part := range d.lines[n] {
			text.WriteString(part.text)
		}
		if n > 1 || strings.TrimSpace(text.String()) != d.title {
			c.line(n, text.String())
		}
	}
	c.stop()
}

// lifespan is the way in which texts give the years of a life. It says born and died
// without the words.
var (
	lifespan  = lazyregexp.New(`\((?:[^()]{0,40}\b)?(1\d{3}|20\d{2})\s*(?:–|-|—|to)\s*(?:[^()]{0,40}\b)?(1\d{3}|20\d{2})\)`)
	lifeStems = stems("born birth die died death")
)

// isHeading tells a heading: a Markdown one, or a short line without an end.
func isHeading(s string) bool {
	return strings.HasPrefix(s, "#") || len(s) < 60 && !strings.ContainsAny(s[len(s)-1:], ".!?,;:)\"'")
}

// longestSentence is the length in bytes beyond which a sentence is cut at a line end.
const longestSentence = 500

// cutter joins lines to sentences.
type cutter struct {
	out    []sentence
	text   strings.Builder
	starts []lineStart
}

type lineStart struct{ at, number int }

// line takes the next line. An empty one ends the paragraph.
func (c *cutter) line(number int, text string) {
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		c.stop()
		return
	case strings.HasPrefix(trimmed, "#"):
		c.stop()
		c.out = append(c.out, sentence{text: trimmed, line: number})
		return
	case c.text.Len() > 0:
		c.text.WriteByte(' ')
	}
	c.starts = append(c.starts, lineStart{c.text.Len(), number})
	c.text.WriteString(trimmed)
}

// stop ends a paragraph and cuts it into sentences.
func (c *cutter) stop() {
	text := c.text.String()
	from := 0
	for _, end := range sentenceEnds(text) {
		c.emit(text, from, end)
		from = end
	}
	c.emit(text, from, len(text))
	c.text.Reset()
	c.starts = c.starts[:0]
}

func (c *cutter) emit(text string, from, to int) {
	for from < to {
		end := to
		if to-from > longestSentence {
			end = c.lineEnd(from, to)
		}
		s := strings.TrimSpace(text[from:end])
		if s != "" {
			c.out = append(c.out, sentence{text: s, line: c.numberAt(from)})
		}
		from = end
	}
}

// lineEnd is the last line start within the longest sentence that begins at from; where
// there is none, the next blank, and where that is far, the next character.
func (c *cutter) lineEnd(from, to int) int {
	limit := from + longestSentence
	i, found := slices.BinarySearchFunc(c.starts, limit, func(s lineStart, at int) int { return s.at - at })
	if !found {
		i--
	}
	if i >= 0 && c.starts[i].at > from {
		return c.starts[i].at
	}
	text := c.text.String()
	if n := strings.IndexByte(text[limit:min(to, limit+longestSentence)], ' '); n >= 0 {
		return limit + n + 1
	}
	for limit < to && !utf8.RuneStart(text[limit]) {
		limit++
	}
	return limit
}

// numberAt is the number of the line that an offset stands in.
func (c *cutter) numberAt(at int) int {
	i, found := slices.BinarySearchFunc(c.starts, at, func(s lineStart, at int) int { return s.at - at })
	if !found {
		i--
	}
	if i < 0 {
		return 0
	}
	return c.starts[i].number
}

// abbreviations do not end a sentence.
var abbreviations = set(`mr mrs ms dr st no vs etc e.g i.e jr sr prof capt lieut lt col gen rev hon inc ltd co corp fig eq al vol pp ed approx dept est`)

// sentenceEnds returns the offsets after which sentences end, without the last.
func sentenceEnds(text string) []int {
	var out []int
	for i := 0; i < len(text); i++ {
		if text[i] != '.' && text[i] != '!' && text[i] != '?' {
			continue
		}
		j := i + 1
		for n := closing(text[j:]); n > 0; n = closing(text[j:]) {
			j += n
		}
		if j >= len(text) || text[j] != ' ' || j+1 >= len(text) {
			continue
		}
		next := text[j+1]
		if next >= 'a' && next <= 'z' {
			continue
		}
		if text[i] == '.' && abbreviated(text[:i]) {
			continue
		}
		out = append(out, j+1)
	}
	return out
}

// closing is the length of the bracket or quotation mark that a text begins with, 0 if none.
func closing(text string) int {
	for _, mark := range []string{`"`, "'", ")", "]", "”", "’"} {
		if strings.HasPrefix(text, mark) {
			return len(mark)
		}
	}
	return 0
}

// abbreviated reports whether the word before a point is an abbreviation or an initial.
func abbreviated(before string) bool {
	at := strings.LastIndexAny(before, " (\"'“") + 1
	w := before[at:]
	if len(w) == 1 && w[0] >= 'A' && w[0] <= 'Z' {
		return true
	}
	return abbreviations()[strings.ToLower(w)]
}
