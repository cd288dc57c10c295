package controller

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

const (
	// findLines is the default number of matching lines shown of a document.
	findLines = 20
	// countBytes is how far matches are counted beyond those that are shown.
	countBytes = 32 << 20
)

// findPage is a find in one document.
type findPage struct {
	finder *finder
	d      ReadDetails
	// matched are the lines shown as matches; total counts all from the offset on.
	matched []matchedLine
	total   int
	// uncounted says that there may be matches beyond total.
	uncounted bool
	// longLines counts the lines that were not read whole.
	longLines int
	// context has the lines around matches, by number.
	context map[int]string
	// shown are the lines on the page.
	shown []tool.Line
}

func (c *Controller) beginFindInDocument(args tool.Arguments, d ReadDetails, pattern string) (work, error) {
	f, err := newFinder(ReadTool, pattern)
	if err != nil {
		return nil, err
	}
	d.Find = f.written
	d.Limit = args.Integer("limit", findLines)
	if f.note != "" {
		d.Notes = append(d.Notes, f.note)
	}
	return func(ctx context.Context) (tool.Result, error) {
		return c.findInDocument(ctx, &findPage{finder: f, d: d, context: map[int]string{}})
	}, nil
}

func (c *Controller) findInDocument(ctx context.Context, p *findPage) (tool.Result, error) {
	start := time.Now()
	if err := c.lookThrough(ctx, p); err != nil {
		return tool.Result{}, err
	}
	p.d.ReadMS = milliseconds(start)
	text := p.render(c.options)
	var access trajectory.Access
	if p.d.FirstLine > 0 {
		access.Opened = []string{p.d.DocID}
	}
	return tool.Result{Text: text, Access: access, Lines: p.shown, Details: p.d}, nil
}

// lookThrough finds the matching lines of a document block by block, so that a document
// of any size takes the memory of a block.
func (c *Controller) lookThrough(ctx context.Context, p *findPage) error {
	p.d.Matches = 0
	next := p.d.Offset
	seen := p.d.Offset - 1 // the last line in which a match was reported
	beyond := 0            // bytes looked through since the limit was reached
	for {
		chunk, err := c.readLines(ctx, &p.d, next, linesAtATime, documentBytes)
		if err != nil {
			return err
		}
		p.d.TotalLines = chunk.TotalLines
		if len(chunk.Lines) == 0 {
			return nil
		}
		lines := chunk.Lines
		text := strings.Join(lines, "\n")
		see := func(l matchedLine) {
			if l.number > seen {
				seen = l.number
				p.take(l, lines, next)
			}
		}
		if chunk.Cut {
			p.context[next] = firstCharacters(text, longestMatch+1)
			if err := c.lookThroughLongLine(ctx, p, next, see); err != nil {
				return err
			}
		} else {
			p.finder.lines(ctx, text, next, see)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		last := next + len(lines) - 1
		if last >= chunk.TotalLines {
			return nil
		}
		if p.total > p.d.Limit {
			if beyond += len(text); beyond > countBytes {
				p.uncounted = true
				return nil
			}
		}
		next = max(last+1-overlapLines, next+1)
	}
}

// lookThroughLongLine looks for the first match in a line that is too long to be read whole.
func (c *Controller) lookThroughLongLine(ctx context.Context, p *findPage, number int, see func(matchedLine)) error {
	p.longLines++
	if p.longLines == 1 {
		p.d.Notes = append(p.d.Notes, fmt.Sprintf("line %d has more than %d MB and was looked through by itself and in pieces, so matches of more than %d KB in it may be missed, and those that reach into other lines.",
			number, documentBytes>>20, overlapBytes>>10))
	}
	match, ok, err := c.findInLongLine(ctx, p.finder, p.d.DocID, number)
	if err != nil || !ok {
		return err
	}
	see(match)
	for _, n := range []int{number - 1, number + 1} {
		if n < 1 || n > p.d.TotalLines {
			continue
		}
		chunk, err := c.read(ctx, p.d.DocID, n, 1, utf8.UTFMax*(longestMatch+1))
		if err != nil {
			return err
		}
		p.context[n] = chunk.Lines[0]
	}
	return nil
}

// take notes a matching line and, while the limit allows, keeps it with its neighbours.
func (p *findPage) take(l matchedLine, lines []string, first int) {
	p.total++
	if p.total > p.d.Limit {
		if p.d.NextOffset == 0 {
			p.d.NextOffset = l.number
		}
		return
	}
	p.matched = append(p.matched, l)
	for _, n := range []int{l.number - 1, l.number + 1} {
		if i := n - first; i >= 0 && i < len(lines) {
			p.context[n] = lines[i]
		}
	}
}

// render shows the matching lines with one line before and after each.
func (p *findPage) render(o Options) string {
	d := &p.d
	d.Matches, d.Uncounted = p.total, p.uncounted
	longest := *d
	longest.FirstLine, longest.LastLine, longest.NextOffset, longest.CutBy = d.TotalLines, d.TotalLines, d.TotalLines, "bytes"
	pg := newPage(o, findInHead(longest), findInFoot(longest))
	written := 0
	for i, l := range p.matched {
		entry, lines := p.entry(l, i, written)
		if !pg.add(entry) {
			if !pg.empty {
				d.NextOffset, d.CutBy = l.number, pg.full
				break
			}
			pg.force(entry)
		}
		if d.FirstLine == 0 {
			d.FirstLine = l.number
		}
		d.LastLine, written = l.number, lines[len(lines)-1].Number
		p.shown = append(p.shown, lines...)
	}
	return pg.assemble(findInHead(*d), findInFoot(*d))
}

// entry renders a match and those of its neighbours that are not written yet and are no
// matches themselves; lines are those it shows.
func (p *findPage) entry(l matchedLine, i, written int) (entry string, lines []tool.Line) {
	var b strings.Builder
	write := func(l matchedLine) {
		piece := writePiece(&b, l)
		lines = append(lines, tool.Line{DocID: p.d.DocID, Number: l.number, Text: piece})
		written = l.number
	}
	neighbour := func(n int) {
		if text, ok := p.context[n]; ok && n > written {
			write(matchedLine{number: n, text: text})
		}
	}
	neighbour(l.number - 1)
	write(l)
	if i+1 == len(p.matched) || p.matched[i+1].number > l.number+1 {
		neighbour(l.number + 1)
	}
	return b.String(), lines
}

// writePiece writes a numbered line, or the piece of it around its match where it is long, and
// returns it; its number is then followed by the characters shown: "12:340-639<tab>text".
func writePiece(b *strings.Builder, l matchedLine) string {
	piece, first, last := around(l.text, l.at, longestMatch)
	if l.long && first == 0 {
		first, last = 1, utf8.RuneCountInString(piece)
	}
	gutter := fmt.Sprint(l.number)
	if first > 0 {
		gutter += fmt.Sprintf(":%d-%d", l.before+first, l.before+last)
	}
	b.WriteString(gutter + "\t" + piece + "\n")
	return piece
}

func findInHead(d ReadDetails) string {
	var b strings.Builder
	fmt.Fprintf(&b, "docid=%s lines %d-%d of %d\n", tool.ShowID(d.DocID), d.FirstLine, d.LastLine, d.TotalLines)
	atLeast := ""
	if d.Uncounted {
		atLeast = "at least "
	}
	fmt.Fprintf(&b, "find=%s: %s%d matching lines", tool.QuoteJSON(d.Find), atLeast, d.Matches)
	if d.Offset > 1 {
		fmt.Fprintf(&b, " from line %d on", d.Offset)
	}
	b.WriteString(", shown with the lines around them")
	for _, n := range d.Notes {
		b.WriteString("\nNote: " + n)
	}
	return b.String()
}

func findInFoot(d ReadDetails) string {
	switch {
	case d.Matches == 0 && d.Offset > 1:
		return "No line matches from there on."
	case d.Matches == 0:
		return "No line of the document matches. Try other words, or read it."
	case d.NextOffset == 0:
		return "No more matches. To read on from a line: read_document with its number as offset."
	}
	foot := ""
	if d.CutBy != "" {
		foot = fmt.Sprintf("The page is full: %d matching lines were asked for.\n", d.Limit)
	}
	return foot + fmt.Sprintf("More matches: read_document({\"reason\":\"...\",\"docid\":%s,\"find\":%s,\"offset\":%d,\"limit\":%d})",
		tool.QuoteJSON(d.DocID), tool.QuoteJSON(d.Find), d.NextOffset, d.Limit)
}

// readLines reads lines of the document of d, of whatever spelling of its docid exists, as many
// as fit into so many bytes.
func (c *Controller) readLines(ctx context.Context, d *ReadDetails, offset, limit, most int) (retrieval.Chunk, error) {
	wanted := *d
	wanted.Offset, wanted.Limit = offset, limit
	chunk, err := c.readChunk(ctx, &wanted, most)
	d.DocID = wanted.DocID
	return chunk, err
}
