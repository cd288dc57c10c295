package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"goserini/internal/lazyregexp"
	"goserini/internal/retrieval"
)

// place is a position in a document: a line and a character in it, both from 1.
type place struct{ line, column int }

var start = place{1, 1}

// String is L12, or L12C301 inside a line.
func (p place) String() string {
	s := "L" + strconv.Itoa(p.line)
	if p.column > 1 {
		s += "C" + strconv.Itoa(p.column)
	}
	return s
}

// span is what of a document is asked for: from a place up to the end of a line, or of the
// document where last is 0.
type span struct {
	from place
	last int
}

var spanForm = lazyregexp.New(`^L([1-9][0-9]{0,8})(?:C([1-9][0-9]{0,8}))?(?:-L?([1-9][0-9]{0,8}))?$`)

// parseSpan reads L12, L12-L80, L12C301 or L12C301-L80.
func parseSpan(s string) (span, bool) {
	m := spanForm.FindStringSubmatch(s)
	if m == nil {
		return span{}, false
	}
	number := func(s string, def int) int {
		if n, err := strconv.Atoi(s); err == nil {
			return n
		}
		return def
	}
	sp := span{place{number(m[1], 1), number(m[2], 1)}, number(m[3], 0)}
	return sp, sp.last == 0 || sp.last >= sp.from.line
}

// piece is a part of a document.
type piece struct {
	docid, title, text string
	first, last, total int // lines
	// next is where to go on; its line is 0 where nothing is left of what was asked for.
	next place
}

// whole says that the piece is all of its document.
func (p piece) whole(asked span) bool { return p.next.line == 0 && asked == span{from: start} }

// linesAtOnce is the number of lines that are fetched at a time.
const linesAtOnce = 500

// readPiece reads at most limit bytes of a span. It ends at the end of a line, or inside a
// line that is longer than the limit.
func readPiece(ctx context.Context, r retrieval.Retriever, docid string, asked span, limit int) (piece, error) {
	p := piece{docid: docid, first: asked.from.line}
	var text strings.Builder
	at := asked.from
	for {
		want := linesAtOnce
		if asked.last > 0 {
			want = min(want, asked.last-at.line+1)
		}
		chunk, err := r.Read(ctx, retrieval.ReadRequest{DocID: docid, Offset: at.line, Limit: want})
		if err != nil {
			return piece{}, err
		}
		p.title, p.total = chunk.Title, chunk.TotalLines
		for _, line := range chunk.Lines {
			rest := afterColumn(line, at.column)
			if text.Len() > 0 && text.Len()+1+len(rest) > limit {
				p.next = at
				p.text = text.String()
				return p, nil
			}
			if at.line > asked.from.line {
				text.WriteByte('\n')
			}
			p.last = at.line
			if shown := cutBytes(rest, limit); len(shown) < len(rest) {
				text.WriteString(shown)
				p.next = place{at.line, at.column + utf8.RuneCountInString(shown)}
				p.text = text.String()
				return p, nil
			}
			text.WriteString(rest)
			at = place{at.line + 1, 1}
		}
		if len(chunk.Lines) == 0 || at.line > p.total || asked.last > 0 && at.line > asked.last {
			p.text = text.String()
			return p, nil
		}
	}
}

// afterColumn is the line from its n-th character on.
func afterColumn(line string, n int) string {
	for ; n > 1 && line != ""; n-- {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	return line
}

// cutBytes is the longest beginning of at most n bytes, at least one character, that cuts
// no character.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(s)
	}
	return s[:n]
}

// findDocument reads a piece of the document that an id means: the id itself, or an id with
// the place to begin at behind a #.
func findDocument(ctx context.Context, r retrieval.Retriever, id string, limit int) (piece, span, error) {
	asked := span{from: start}
	p, err := readPiece(ctx, r, id, asked, limit)
	i := strings.LastIndexByte(id, '#')
	if !errors.Is(err, retrieval.ErrNoDocument) || i < 0 {
		return p, asked, err
	}
	asked, ok := parseSpan(id[i+1:])
	if !ok {
		return p, asked, err
	}
	p, err = readPiece(ctx, r, id[:i], asked, limit)
	return p, asked, err
}

// notice says in a line of its own what a piece leaves out. how tells the way to go on.
func (p piece) notice(how string) string {
	if p.next.line == 0 {
		return ""
	}
	return fmt.Sprintf("[This is a part of the document, up to line %d of %d. It goes on at %s: %s]", p.last, p.total, p.next, how)
}
