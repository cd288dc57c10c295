package controller

import (
	"context"
	"fmt"
	"goserini/internal/tool"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Bounds of find: the pattern and what is shown of a matching line, in characters; the
// size of the program of an expression; the line ends a match may span; and the lines
// that are asked at once whether they match at all.
const (
	longestPattern = 500
	longestMatch   = 300
	largestProgram = 500
	overlapLines   = 3
	blockLines     = 64
)

// finder looks for a phrase or a regular expression, letter case aside.
type finder struct {
	written string
	re      *regexp.Regexp
	// words are plain words, in lower case; empty for expressions.
	words []string
	// needs, in lower case, stands in every match of an expression; empty where none must.
	needs string
	// note says how the pattern was read where that is not plain.
	note string
}

// newFinder reads a pattern: its words with any blanks between them and, where it is a
// regular expression, what that matches. The error is a mistake.
func newFinder(toolName, pattern string) (*finder, error) {
	pattern = strings.TrimSpace(pattern)
	if n := utf8.RuneCountInString(pattern); n > longestPattern {
		return nil, tool.Mistake(fmt.Sprintf("%s: find has %d characters; at most %d are accepted. Call it again with a shorter phrase.", toolName, n, longestPattern))
	}
	f := &finder{written: pattern}
	literal := literalPattern(pattern)
	expression := pattern
	if inner, ok := strings.CutPrefix(pattern, "/"); ok && strings.HasSuffix(inner, "/") && len(inner) > 1 {
		expression = strings.TrimSuffix(inner, "/")
	}
	if regexp.QuoteMeta(expression) == pattern { // plain words
		f.words = strings.Fields(strings.ToLower(pattern))
		return f, f.compile(toolName, literal)
	}
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		f.note = fmt.Sprintf("find is no regular expression (%s), so it was looked for as it is written.", tool.OneLine(err.Error()))
		return f, f.compile(toolName, literal)
	}
	if program, err := syntax.Compile(parsed.Simplify()); err != nil || len(program.Inst) > largestProgram {
		return nil, tool.Mistake(fmt.Sprintf("%s: find %s is too complex. Call it again with a simpler expression.", toolName, tool.QuoteJSON(pattern)))
	}
	if needs := needed(parsed); strings.Contains(strings.ToLower(pattern), needs) { // the pattern as it is written may match, too
		f.needs = needs
	}
	return f, f.compile(toolName, literal+"|"+expression)
}

// needed returns the longest run of ASCII letters and digits, in lower case, that stands in
// all that an expression matches, "" where there is none.
func needed(re *syntax.Regexp) string {
	longest := ""
	take := func(s string) {
		if len(s) > len(longest) {
			longest = s
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, run := range strings.FieldsFunc(strings.ToLower(string(re.Rune)), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
			take(run)
		}
	case syntax.OpCapture, syntax.OpPlus:
		take(needed(re.Sub[0]))
	case syntax.OpRepeat:
		if re.Min > 0 {
			take(needed(re.Sub[0]))
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			take(needed(sub))
		}
	}
	return longest
}

// mayMatch is false where text cannot hold a match of an expression.
func (f *finder) mayMatch(text string) bool {
	return f.needs == "" || strings.Contains(lowered(text), f.needs)
}

// lowered is text in lower case, with letters that only fold to ASCII ones in their place.
func lowered(text string) string {
	return strings.ReplaceAll(strings.ToLower(text), "ſ", "s")
}

// firstBetween returns where the first match that begins from offset from on and before to
// begins in text, which goes on before and behind; -1 where there is none.
func (f *finder) firstBetween(text string, from, to int) int {
	if low := strings.ToLower(text); len(f.words) > 0 && len(low) == len(text) {
		for at := from; ; at++ {
			i := strings.Index(low[at:], f.words[0])
			if i < 0 || at+i >= to {
				return -1
			}
			if at += i; f.wordsAt(low[at:]) {
				return at
			}
		}
	}
	if !f.mayMatch(text) {
		return -1
	}
	// At most one match begins at each of the offsets before.
	for _, m := range f.re.FindAllStringIndex(text, from+1) {
		if m[0] >= from {
			if m[0] < to && m[1] > m[0] {
				return m[0]
			}
			return -1
		}
	}
	return -1
}

// wordsAt reports whether lower-cased text begins with the words.
func (f *finder) wordsAt(low string) bool {
	for i, w := range f.words {
		rest := low
		if i > 0 {
			if rest = strings.TrimLeft(low, "\t\n\f\r "); len(rest) == len(low) {
				return false
			}
		}
		var ok bool
		if low, ok = strings.CutPrefix(rest, w); !ok {
			return false
		}
	}
	return true
}

func (f *finder) compile(toolName, expression string) error {
	re, err := regexp.Compile("(?im:" + expression + ")")
	if err != nil {
		return tool.Mistake(fmt.Sprintf("%s: find %s cannot be looked for: %s. Call it again with a simpler one.", toolName, tool.QuoteJSON(f.written), tool.OneLine(err.Error())))
	}
	if re.MatchString("") {
		return tool.Mistake(fmt.Sprintf("%s: find %s matches everywhere. Call it again with a pattern that needs at least one character.", toolName, tool.QuoteJSON(f.written)))
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
	// long says that text is a part of the line only, with so many characters before it.
	long   bool
	before int
}

// lines calls see with the lines of text in which matches begin, in order; first is the
// number of the first line of text. It ends early when the context does.
func (f *finder) lines(ctx context.Context, text string, first int, see func(matchedLine)) {
	low := ""
	if len(f.words) > 0 {
		if low = strings.ToLower(text); len(low) != len(text) {
			low = "" // offsets do not agree: do without
		}
	}
	for begin, number := 0, first; begin <= len(text) && ctx.Err() == nil; {
		if low != "" { // pass over all lines before the next one with the first word
			i := strings.Index(low[begin:], f.words[0])
			if i < 0 {
				return
			}
			number += strings.Count(text[begin:begin+i], "\n")
			begin = strings.LastIndexByte(text[:begin+i], '\n') + 1
		}
		end := begin
		for n := 0; n < blockLines && end < len(text); n++ {
			end = min(endOfLine(text, end)+1, len(text))
		}
		if low != "" {
			end = min(endOfLine(text, begin)+1, len(text))
		}
		if block := text[begin:reach(text, end)]; f.mayMatch(block) && f.re.MatchString(block) {
			f.linesBetween(text, begin, end, number, see)
		}
		if end == len(text) {
			return
		}
		number += strings.Count(text[begin:end], "\n")
		begin = end
	}
}

// linesBetween is lines for the lines from one offset to another. Each is looked at with
// the few lines behind it, on which a match may end: however far an expression could
// reach, a line costs no more than that. It begins with a line, so what an expression says
// about borders holds.
func (f *finder) linesBetween(text string, begin, end, number int, see func(matchedLine)) {
	for ; begin < end || begin == 0; number++ {
		lineEnd := endOfLine(text, begin)
		match := f.re.FindStringIndex(text[begin:reach(text, lineEnd)])
		if match != nil && match[1] > match[0] && begin+match[0] <= lineEnd {
			see(matchedLine{number: number, text: text[begin:lineEnd], at: match[0]})
		}
		begin = lineEnd + 1
	}
}

// reach returns the end of the text in which a match that begins before offset at is
// looked for.
func reach(text string, at int) int {
	for range overlapLines {
		if at < len(text) {
			at = endOfLine(text, at+1)
		}
	}
	return at
}

// endOfLine returns the offset of the line end at or behind at, or the end of text.
func endOfLine(text string, at int) int {
	if at > len(text) {
		return len(text)
	}
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
