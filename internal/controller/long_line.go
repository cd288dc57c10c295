package controller

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
)

// Lines that are longer than a page by far are never read whole where the retriever is a
// [retrieval.LineReader]: a document may be one line of hundreds of megabytes.
const (
	// pieceBytes is read of such a line at a time.
	pieceBytes = 256 << 10
	// overlapBytes are looked at again with the next piece: a longer match of find may not
	// be found at the end of a piece.
	overlapBytes = 64 << 10
	// lookBehind is what stands before the place where matches count, so that an expression
	// sees what comes before it.
	lookBehind = 1 << 10
)

// read reads lines of a document, as many as fit into so many bytes. A line that alone does
// not is cut, if the retriever can read the rest of it. Broken bytes, which only a foreign
// retriever gives, become U+FFFD each.
func (c *Controller) read(ctx context.Context, docid string, offset, limit, most int) (retrieval.Chunk, error) {
	req := retrieval.ReadRequest{DocID: docid, Offset: offset, Limit: limit}
	if _, ok := c.retriever.(retrieval.LineReader); ok {
		req.MaxBytes = most
	}
	chunk, err := c.retriever.Read(ctx, req)
	for i, line := range chunk.Lines {
		if !utf8.ValidString(line) {
			chunk.Lines = slices.Clone(chunk.Lines)
			chunk.Lines[i] = strings.Map(func(r rune) rune { return r }, line)
		}
	}
	return chunk, err
}

// pieces calls see with the text of a line piece by piece, from byte from on, and with the
// offset of each piece, until see says that it has enough. Pieces end with a character.
func (c *Controller) pieces(ctx context.Context, docid string, line int, from int64, see func(text string, at, length int64) (enough bool)) error {
	reader, ok := c.retriever.(retrieval.LineReader)
	if !ok {
		return fmt.Errorf("read line %d of %q in pieces: the retriever cut it and has no way to read on", line, docid)
	}
	for at := from; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, length, err := reader.LineBytes(ctx, docid, line, at, pieceBytes)
		if err != nil {
			return err
		}
		if at+int64(len(text)) < length {
			text = wholeCharacters(text)
		}
		if text == "" || see(text, at, length) {
			return nil
		}
		at += int64(len(text))
	}
}

// wholeCharacters cuts the beginning of a character off the end of text that goes on.
func wholeCharacters(text string) string {
	for n := 1; n < min(utf8.UTFMax, len(text)); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// longLine is what a page needs of a line that was not read whole.
type longLine struct {
	// characters is the number of all of its characters.
	characters int
	// rest is its text from Column on, or the beginning of that.
	rest string
}

// lookAtLongLine reads the line at the offset of d from its column on and counts its characters.
func (c *Controller) lookAtLongLine(ctx context.Context, d ReadDetails) (*longLine, error) {
	var l longLine
	err := c.pieces(ctx, d.DocID, d.Offset, 0, func(text string, _, _ int64) bool {
		n := utf8.RuneCountInString(text)
		if skip := max(d.Column-1-l.characters, 0); skip < n && len(l.rest) < c.options.PageBytes {
			l.rest += text[prefixBytes(text, skip):]
		}
		l.characters += n
		return false
	})
	if err == nil && d.Column > l.characters {
		err = pastLine(d, l.characters)
	}
	return &l, err
}

// pastLine is the mistake of a column behind the end of the line.
func pastLine(d ReadDetails, characters int) error {
	return tool.Mistake(fmt.Sprintf("Line %d of docid %s has %d characters; column %d is past its end. Go on with offset %d and no column.",
		d.Offset, tool.ShowID(d.DocID), characters, d.Column, d.Offset+1))
}

// stretchInPieces is stretch for a passage with a line that is too long to be read whole.
func (c *Controller) stretchInPieces(ctx context.Context, hit retrieval.Hit) (string, int, error) {
	s := hit.Passage
	column := 1
	var b strings.Builder
	for line := s.FirstLine; line <= s.LastLine && b.Len() < documentBytes; line++ {
		begin, end := 0, math.MaxInt
		if line == s.FirstLine {
			begin = s.Begin
		} else {
			b.WriteByte('\n')
		}
		if line == s.LastLine && s.End > 0 {
			end = s.End
		}
		err := c.pieces(ctx, hit.DocID, line, 0, func(text string, at, _ int64) bool {
			from := min(max(begin-int(at), 0), len(text))
			to := max(min(end-int(at), len(text)), from)
			if line == s.FirstLine {
				column += utf8.RuneCountInString(text[:from])
			}
			b.WriteString(text[from:to])
			return int(at)+len(text) >= end || b.Len() >= documentBytes
		})
		if err != nil {
			return "", 0, err
		}
	}
	return b.String(), column, nil
}

// findInLongLine returns the first match in a line that was not read whole. It looks through
// the line in pieces, each with a little of what comes before and behind.
func (c *Controller) findInLongLine(ctx context.Context, f *finder, docid string, number int) (matchedLine, bool, error) {
	window, from, before := "", 0, 0 // matches count from offset from on; before are the characters before the window
	var match matchedLine
	found := false
	err := c.pieces(ctx, docid, number, 0, func(text string, at, length int64) bool {
		window += text
		to := len(window)
		if at+int64(len(text)) < length {
			to = max(to-overlapBytes, from)
		}
		if i := f.firstBetween(window, from, to); i >= 0 {
			begin, end := characterStart(window, i-4*longestMatch), characterStart(window, i+8*longestMatch)
			match = matchedLine{number: number, text: window[begin:end], at: i - begin, long: true,
				before: before + utf8.RuneCountInString(window[:begin])}
			found = true
			return true
		}
		keep := characterStart(window, to-lookBehind)
		before += utf8.RuneCountInString(window[:keep])
		window, from = window[keep:], to-keep
		return false
	})
	return match, found, err
}

// characterStart is the beginning of the character at an offset, which may lie outside text.
func characterStart(text string, at int) int {
	at = min(max(at, 0), len(text))
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
