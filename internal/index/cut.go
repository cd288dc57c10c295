package index

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// passageWords is the usual length of a passage in words, the title's included.
	passageWords = 250
	// titleWords is the most of a title that each passage gets.
	titleWords = 50
	// cutSlack is how far from the even length, as a share of it, a passage may end for
	// the sake of a better place.
	cutSlack = 0.2
)

// Words are counted in halves: a character of a script that is written without spaces
// counts one, a word of any other two, and so does every longWordBytes of a run without
// spaces, so that such a run can be cut, too.
const (
	unspacedHalves = 1
	wordHalves     = 2
	longWordBytes  = 64
)

// bound is a kind of place where a passage may begin; higher is better.
type bound uint8

const (
	insideBound bound = iota // inside a run of characters without spaces
	wordBound
	sentenceBound
	lineBound
	paragraphBound
)

// cut is a document's contents cut into passages.
type cut struct {
	// starts are the byte offsets where passages begin, the first 0; each ends where the
	// next begins, the last with the contents. Contents without words have none.
	starts []int
	// titleEnd is where the title ends, or what of it all passages get.
	titleEnd int
}

// cutPassages cuts contents, which begin with that title, into passages of about
// passageWords words: evenly, at the best place near the even one.
func cutPassages(contents, title string) cut {
	c := cut{titleEnd: len(title)}
	titleHalves := 0
	eachUnit(title, func(at int, _ bound, halves int) {
		if titleHalves >= titleWords*wordHalves {
			c.titleEnd = min(c.titleEnd, at)
			return
		}
		titleHalves += halves
	})
	body, total := contents[c.titleEnd:], 0
	eachUnit(body, func(_ int, _ bound, halves int) { total += halves })
	if total+titleHalves == 0 {
		return c
	}
	c.starts = append(c.starts, 0)
	room := passageWords*wordHalves - titleHalves
	n := (total + room/2) / room
	if n < 2 {
		return c
	}
	slack := int(cutSlack * float64(total) / float64(n))
	before := 0 // halves in front of the unit
	best := candidate{}
	eachUnit(body, func(at int, kind bound, halves int) {
		even := len(c.starts) * total / n
		if before > even+slack && len(c.starts) < n {
			c.starts = append(c.starts, c.titleEnd+best.at)
			best = candidate{}
			even = len(c.starts) * total / n
		}
		if k := (candidate{at, kind, abs(before - even), true}); before >= even-slack && k.better(best) {
			best = k
		}
		before += halves
	})
	if len(c.starts) < n && best.known {
		c.starts = append(c.starts, c.titleEnd+best.at)
	}
	return c
}

// candidate is a place where the next passage may begin.
type candidate struct {
	at   int
	kind bound
	// away is the distance from the even place, in halves of words.
	away  int
	known bool
}

func (c candidate) better(than candidate) bool {
	if !than.known || c.kind != than.kind {
		return !than.known || c.kind > than.kind
	}
	return c.away < than.away
}

func abs(n int) int { return max(n, -n) }

// eachUnit calls visit for each word of text, or part of a long one, or character of a
// script without spaces: with the byte offset where a passage that begins with it would
// begin (the beginning of its line, if it is the first there), what lies before it, and
// what it counts.
func eachUnit(text string, visit func(at int, kind bound, halves int)) {
	var (
		gap       = lineBound // what lies between the last unit and here; insideBound within a run
		lineStart = 0
		unit      = 0     // where the last unit began
		unspaced  = false // the last unit was a character of a script without spaces
	)
	for i := 0; i < len(text); {
		if isPlain[text[i]] && gap == insideBound && !unspaced && i-unit < longWordBytes {
			i++ // goes on with a word
			continue
		}
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case r == '\n':
			if gap >= lineBound {
				gap = paragraphBound
			} else {
				gap = lineBound
			}
			lineStart = i + size
		case isSpace(r):
			if gap == insideBound {
				gap = boundAfter(text[:i])
			}
		default:
			at, kind, halves := i, gap, 0
			if gap >= lineBound {
				at = lineStart
			}
			switch wide := isUnspaced(r); {
			case wide:
				halves, unspaced = unspacedHalves, true
				if gap == insideBound {
					kind = boundAfter(text[:i])
				}
			case gap != insideBound || i-unit >= longWordBytes:
				halves, unspaced = wordHalves, false
			case unspaced && (unicode.IsLetter(r) || unicode.IsDigit(r)):
				halves, kind, unspaced = wordHalves, wordBound, false
			}
			if halves > 0 {
				visit(at, kind, halves)
				unit = i
			}
			gap = insideBound
		}
		i += size
	}
}

// boundAfter tells whether text ends a sentence or just a word.
func boundAfter(text string) bound {
	const ends, closing, most = ".?!؟。！？", `"')]”’»」』`, 3
	for range most {
		if n := len(text); n > 0 && (text[n-1]|0x20 >= 'a' && text[n-1]|0x20 <= 'z') {
			return wordBound
		}
		last, size := utf8.DecodeLastRuneInString(text)
		switch {
		case size == 0:
			return wordBound
		case strings.ContainsRune(ends, last):
			return sentenceBound
		case !strings.ContainsRune(closing, last):
			return wordBound
		}
		text = text[:len(text)-size]
	}
	return wordBound
}

// isPlain tells the bytes of ASCII that are no blanks.
var isPlain = func() (plain [256]bool) {
	for b := range rune(utf8.RuneSelf) {
		plain[b] = !isSpace(b)
	}
	return plain
}()

func isSpace(r rune) bool {
	if r < utf8.RuneSelf {
		return r == ' ' || r >= '\t' && r <= '\r'
	}
	return unicode.IsSpace(r)
}

// isUnspaced tells the letters of scripts that are written without spaces between words.
func isUnspaced(r rune) bool {
	const firstThai = 0x0E00
	return r >= firstThai && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) &&
		!unicode.IsMark(r)
}
