package controller

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Bounds of find: the pattern, and what is shown of a matching line, in characters.
const (
	longestPattern = 500
	longestMatch   = 300
)

// finder looks for a phrase or a regular expression, letter case aside.
type finder struct {
	written string
	re      *regexp.Regexp
	// word, in lower case, stands in every match of plain words; empty for expressions.
	word string
	// note says how the pattern was read where that is not plain.
	note string
}

// newFinder reads a pattern: its words with any blanks between them and, where it is a
// regular expression, what that matches. The error is a mistake.
func newFinder(toolName, pattern string) (*finder, error) {
	pattern = strings.TrimSpace(pattern)
	if n := utf8.RuneCountInString(pattern); n > longestPattern {
		return nil, mistake(fmt.Sprintf("%s: find has %d characters; at most %d are accepted. Call it again with a shorter phrase.", toolName, n, longestPattern))
	}
	f := &finder{written: pattern}
	literal := literalPattern(pattern)
	expression := pattern
	if inner, ok := strings.CutPrefix(pattern, "/"); ok && strings.HasSuffix(inner, "/") && len(inner) > 1 {
		expression = strings.TrimSuffix(inner, "/")
	}
	if regexp.QuoteMeta(expression) == pattern { // plain words
		if words := strings.Fields(strings.ToLower(pattern)); len(words) > 0 {
			f.word = words[0]
		}
		return f, f.compile(toolName, literal)
	}
	if _, err := syntax.Parse(expression, syntax.Perl); err != nil {
		f.note = fmt.Sprintf("find is no regular expression (%s), so it was looked for as it is written.", oneLine(err.Error()))
		return f, f.compile(toolName, literal)
	}
	return f, f.compile(toolName, literal+"|"+expression)
}

func (f *finder) compile(toolName, expression string) error {
	re, err := regexp.Compile("(?im:" + expression + ")")
	if err != nil {
		return mistake(fmt.Sprintf("%s: find %s cannot be looked for: %s. Call it again with a simpler one.", toolName, quoteJSON(f.written), oneLine(err.Error())))
	}
	if re.MatchString("") {
		return mistake(fmt.Sprintf("%s: find %s matches everywhere. Call it again with a pattern that needs at least one character.", toolName, quoteJSON(f.written)))
	}
	f.re = re
	return nil
}

// matchedLine is a line of a document in which a match begins.
type matchedLine struct {
	number int
	text   string
	// at is the byte offset of the first match in text.
	at int
}

// lines calls see with the lines of text in which matches begin, in order, until it
// returns false; first is the number of the first line of text.
func (f *finder) lines(text string, first int, see func(matchedLine) bool) {
	lowered := ""
	if f.word != "" {
		if lowered = strings.ToLower(text); len(lowered) != len(text) {
			lowered = "" // offsets do not agree: do without
		}
	}
	number, begin := first, 0
	for begin <= len(text) {
		at, end := f.next(text, lowered, begin)
		if at < 0 {
			return
		}
		if newline := strings.LastIndexByte(text[begin:at], '\n'); newline >= 0 {
			number += strings.Count(text[begin:at], "\n")
			begin += newline + 1
		}
		line, _, more := strings.Cut(text[begin:], "\n")
		if end > at && !see(matchedLine{number, line, at - begin}) || !more {
			return
		}
		begin += len(line) + 1
		number++
	}
}

// next returns the first match in text that begins at offset begin, which is the
// beginning of a line, or behind; -1 if there is none. Because it begins with a line,
// what an expression says about borders holds. With lowered, the text in lower case of
// the same length, lines without the word are passed over.
func (f *finder) next(text, lowered string, begin int) (at, end int) {
	if lowered == "" {
		match := f.re.FindStringIndex(text[begin:])
		if match == nil {
			return -1, -1
		}
		return begin + match[0], begin + match[1]
	}
	for from := begin; ; {
		i := strings.Index(lowered[from:], f.word)
		if i < 0 {
			return -1, -1
		}
		lineStart := strings.LastIndexByte(text[:from+i], '\n') + 1
		lineEnd := endOfLine(text, from+i)
		// The rest of the phrase may stand on the lines behind.
		reach := lineEnd
		for range overlapLines {
			if reach < len(text) {
				reach = endOfLine(text, reach+1)
			}
		}
		if match := f.re.FindStringIndex(text[lineStart:reach]); match != nil && lineStart+match[0] <= lineEnd {
			return lineStart + match[0], lineStart + match[1]
		}
		if lineEnd == len(text) {
			return -1, -1
		}
		from = lineEnd + 1
	}
}

// endOfLine returns the offset of the line end at or behind at, or the end of text.
func endOfLine(text string, at int) int {
	if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(text)
}

// around cuts a line to length characters around byte offset at and returns the piece and
// the 1-based characters it begins and ends with; first is 0 where the line is whole.
func around(line string, at, length int) (piece string, first, last int) {
	if utf8.RuneCountInString(line) <= length {
		return line, 0, 0
	}
	start := at
	for n := length / 3; n > 0 && start > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(line[:start])
		start -= size
	}
	piece = firstCharacters(line[start:], length)
	first = utf8.RuneCountInString(line[:start]) + 1
	return piece, first, first + utf8.RuneCountInString(piece) - 1
}
