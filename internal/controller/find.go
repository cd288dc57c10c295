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
	number, begin := first, 0
	for begin <= len(text) {
		// The search begins with a line, so what an expression says about borders holds.
		match := f.re.FindStringIndex(text[begin:])
		if match == nil {
			return
		}
		at := begin + match[0]
		if newline := strings.LastIndexByte(text[begin:at], '\n'); newline >= 0 {
			number += strings.Count(text[begin:at], "\n")
			begin += newline + 1
		}
		line, _, more := strings.Cut(text[begin:], "\n")
		if match[1] > match[0] && !see(matchedLine{number, line, at - begin}) || !more {
			return
		}
		begin += len(line) + 1
		number++
	}
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
