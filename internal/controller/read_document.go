package controller

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// ReadDetails are the details of a page of a document.
type ReadDetails struct {
	DocID string `json:"docid"`
	// Offset and Limit are the lines asked for, Column the character within the first.
	Offset int `json:"offset"`
	Limit  int `json:"limit"`
	Column int `json:"column"`
	// FirstLine and LastLine are the lines shown; 0 where none was.
	FirstLine  int `json:"first_line"`
	LastLine   int `json:"last_line"`
	TotalLines int `json:"total_lines"`
	// NextOffset is the line to go on from, 0 where there is none; NextColumn the
	// character within it, 0 where that is its first.
	NextOffset int `json:"next_offset,omitempty"`
	NextColumn int `json:"next_column,omitempty"`
	// Find and Matches are, for a find, what was looked for and the number of matching
	// lines from Offset on.
	Find    string `json:"find,omitempty"`
	Matches int    `json:"matches,omitempty"`
	// Uncounted says that there may be more matches: the rest was not looked through.
	Uncounted bool `json:"uncounted,omitempty"`
	// OpenedFor is the search for whose best passage the page was opened where it was.
	OpenedFor string `json:"opened_for,omitempty"`
	// CutBy is "lines" or "bytes" where that limit ended the page early.
	CutBy  string   `json:"cut_by,omitempty"`
	ReadMS float64  `json:"read_ms"`
	Notes  []string `json:"notes,omitempty"`

	// short says that the page is bounded by Options.OpeningLength, not by a limit asked for.
	short bool
}

func (c *Controller) readParameters() []tool.Parameter {
	nav := c.options.Navigator
	params := []tool.Parameter{
		reason,
		{Name: "docid", Kind: tool.Text, Required: true,
			About: "The docid of a hit, exactly as shown (without surrounding quotes if it was shown in quotes)."},
		{Name: "offset", Kind: tool.Integer, Default: 1,
			About: "First line to show, counted from 1."},
		{Name: "limit", Kind: tool.Integer, Default: c.options.ReadLines,
			About: "Number of lines to show."},
		{Name: "column", Kind: tool.Integer, Default: 1,
			About: "First character to show of the line at offset, counted from 1. Only for going on inside a line too long for one page, as the page then says."},
	}
	if c.options.opensAtBest() {
		params[2].Default = 0
		params[2].About += " Without it the document opens at its best passage for the search that found it."
	}
	if nav.ReadAtBest {
		params[3].Default = 0
		params[3].About += fmt.Sprintf(" Without it a page has at most %d lines and about %d characters.", c.options.ReadLines, c.options.OpeningLength)
	}
	if nav.Find {
		params = append(params, tool.Parameter{Name: "find", Kind: tool.Text,
			About: "A phrase or regular expression; shows the lines of the document that match, from offset on, instead of all lines."})
	}
	return params
}

func (c *Controller) beginRead(args tool.Arguments) (work, error) {
	id := args.Texts["docid"]
	if id == "" {
		return nil, tool.Missing(ReadTool, "docid", `{"reason":"check the date","docid":"DOCID"}`, c.readParameters())
	}
	if len(id) > longestDocID {
		return nil, tool.Mistake(fmt.Sprintf("read_document: docid has %d bytes; none longer than %d can be read. Give a docid as search or read_search_results showed it.", len(id), longestDocID))
	}
	d := ReadDetails{
		DocID:  id,
		Offset: args.Integer("offset", 1),
		Limit:  args.Integer("limit", c.options.ReadLines),
		Column: args.Integer("column", 1),
		Notes:  args.Notes,
	}
	if find := args.Texts["find"]; strings.TrimSpace(find) != "" {
		return c.beginFindInDocument(args, d, find)
	}
	_, hasOffset := args.Integers["offset"]
	_, hasColumn := args.Integers["column"]
	_, hasLimit := args.Integers["limit"]
	d.short = c.options.Navigator.ReadAtBest && !hasLimit
	atBest := c.options.opensAtBest() && !hasOffset && !hasColumn
	return func(ctx context.Context) (tool.Result, error) { return c.readDocument(ctx, d, atBest) }, nil
}

func (c *Controller) readDocument(ctx context.Context, d ReadDetails, atBest bool) (tool.Result, error) {
	start := time.Now()
	most := max(pieceBytes, 2*c.options.PageBytes)
	chunk, err := c.readChunk(ctx, &d, most)
	if err != nil {
		return tool.Result{}, err
	}
	var at *opening
	if atBest {
		if at, err = c.openAtBest(ctx, &d); err != nil {
			return tool.Result{}, err
		}
		if at != nil {
			d.OpenedFor = at.searchID
			if chunk, err = c.readChunk(ctx, &d, most); err != nil {
				return tool.Result{}, err
			}
		}
	}
	var long *longLine
	if chunk.Cut {
		if long, err = c.lookAtLongLine(ctx, d); err != nil {
			return tool.Result{}, err
		}
	}
	d.ReadMS = milliseconds(start)
	d.TotalLines = chunk.TotalLines
	if len(chunk.Lines) == 0 {
		return tool.Result{Text: pastEnd(d), Details: d}, nil
	}
	text, lines, err := c.renderLines(chunk, &d, at, long)
	if err != nil {
		return tool.Result{}, err
	}
	if c.options.Navigator.Novelty {
		c.history.recordRead(d.DocID, d.FirstLine, d.LastLine)
	}
	return tool.Result{Text: text, Access: trajectory.Access{Opened: []string{d.DocID}}, Lines: lines, Details: d}, nil
}

// readChunk reads the lines asked for, never more than a page can hold. A docid that
// is not in the collection is tried again without the decoration models put around it. Lines
// take at most so many bytes, see [Controller.read].
func (c *Controller) readChunk(ctx context.Context, d *ReadDetails, most int) (retrieval.Chunk, error) {
	for _, id := range []string{d.DocID, undecorated(d.DocID)} {
		chunk, err := c.read(ctx, id, d.Offset, min(d.Limit, c.options.PageLines), most)
		if err == nil {
			d.DocID = id
			return chunk, nil
		}
		if !errors.Is(err, retrieval.ErrNoDocument) {
			return retrieval.Chunk{}, err
		}
	}
	return retrieval.Chunk{}, tool.Mistake(fmt.Sprintf(
		"No document has the docid %s. Give a docid exactly as search or read_search_results showed it.", shortID(d.DocID)))
}

// undecorated strips blanks, brackets, a "docid=" and the quotes of the quoted form.
func undecorated(id string) string {
	id = strings.TrimSpace(id)
	if inner, ok := strings.CutPrefix(id, "["); ok {
		id = strings.TrimSuffix(inner, "]")
	}
	id = strings.TrimPrefix(id, "docid=")
	if unquoted, ok := tool.UnquoteJSON(id); ok {
		return unquoted
	}
	return id
}

// renderLines fills a page with numbered lines, fills in what it showed, and returns the
// lines as shown as well. Long is what is known of a line that the chunk has not whole.
func (c *Controller) renderLines(chunk retrieval.Chunk, d *ReadDetails, at *opening, long *longLine) (string, []tool.Line, error) {
	d.FirstLine = d.Offset
	longest := *d
	longest.LastLine, longest.NextOffset, longest.NextColumn, longest.CutBy = d.TotalLines, d.TotalLines, 1<<40, "bytes"
	pg := newPage(c.options, readHead(longest, &span{1 << 40, 1 << 40, 1 << 40, 1 << 40}, at), readFoot(longest))
	switch {
	case at != nil:
		pg.bytes = min(pg.bytes, at.room)
	case d.short && long != nil:
		pg.bytes = min(pg.bytes, room([]string{long.rest}, 1, c.options.OpeningLength))
	case d.short:
		pg.bytes = min(pg.bytes, room(chunk.Lines, d.Column, c.options.OpeningLength))
	}

	lines := chunk.Lines[:min(d.Limit, len(chunk.Lines))]
	var part *span
	var on []tool.Line
	for i, line := range lines {
		number, column := d.Offset+i, 1
		if long != nil {
			column, line = d.Column, long.rest
			part = &span{number: number, first: column}
		} else if i == 0 && d.Column > 1 {
			column = d.Column
			rest, err := fromColumn(line, column, *d)
			if err != nil {
				return "", nil, err
			}
			line = rest
			part = &span{number: number, first: column}
		}
		if pg.add(numbered(number, column, line) + "\n") {
			d.LastLine = number
			on = append(on, tool.Line{DocID: d.DocID, Number: number, Text: line})
			continue
		}
		if pg.empty {
			shown := fitting(line, pg.bytes-len(numbered(number, column, ""))-1)
			pg.force(numbered(number, column, shown) + "\n")
			d.LastLine = number
			on = append(on, tool.Line{DocID: d.DocID, Number: number, Text: shown})
			if len(shown) < len(line) {
				d.NextColumn = column + utf8.RuneCountInString(shown)
				part = &span{number: number, first: column}
			}
		}
		break
	}
	if part != nil {
		part.total = utf8.RuneCountInString(lines[0])
		if long != nil {
			part.total = long.characters
		}
		part.last = part.total
		if d.NextColumn != 0 {
			part.last = d.NextColumn - 1
		}
	}
	asked := len(lines)
	if next := len(chunk.Lines) + d.Offset; long == nil && asked < d.Limit && d.LastLine == next-1 && next <= d.TotalLines {
		asked, pg.full = asked+1, "bytes" // the line that follows was too long to be read with these
	}
	d.next(asked, pg.full)
	return pg.assemble(readHead(*d, part, at), readFoot(*d)), on, nil
}

// room is the length in bytes of the first length characters of lines from a character of
// the first on, but at least length; no bound where there are no more.
func room(lines []string, column, length int) int {
	text := strings.Join(lines, "\n")
	text = text[prefixBytes(text, column-1):]
	bytes := prefixBytes(text, length)
	if bytes == len(text) {
		return math.MaxInt
	}
	return max(bytes, length)
}

// prefixBytes is the length in bytes of the first n characters of text.
func prefixBytes(text string, n int) int {
	shown, _, _ := tool.Clip(text, n)
	return len(shown)
}

// next sets where to go on.
func (d *ReadDetails) next(asked int, full string) {
	switch {
	case d.NextColumn != 0:
		d.NextOffset, d.CutBy = d.LastLine, full
	case d.LastLine < d.TotalLines:
		d.NextOffset = d.LastLine + 1
		if d.LastLine < d.Offset+asked-1 {
			d.CutBy = full
		}
	}
}

// span is the part of a line that a page shows.
type span struct {
	number, first, last int
	total               int
}

// fromColumn returns line from a 1-based character on. The error is a mistake.
func fromColumn(line string, column int, d ReadDetails) (string, error) {
	at, left := 0, column-1
	for ; left > 0 && at < len(line); left-- {
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	if at == len(line) {
		return "", pastLine(d, column-1-left)
	}
	return line[at:], nil
}

// fitting returns the longest beginning of line of at most n bytes that cuts no
// character, but at least one character.
func fitting(line string, n int) string {
	if len(line) <= n {
		return line
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(line[n]) {
		n--
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(line)
	}
	return line[:n]
}

// numbered puts the line number before a line: "12<tab>text", or "12:5001<tab>text" where
// the text begins at a later character.
func numbered(number, column int, line string) string {
	gutter := strconv.Itoa(number)
	if column > 1 {
		gutter += ":" + strconv.Itoa(column)
	}
	return gutter + "\t" + line
}

func readHead(d ReadDetails, part *span, at *opening) string {
	var b strings.Builder
	fmt.Fprintf(&b, "docid=%s lines %d-%d of %d", tool.ShowID(d.DocID), d.FirstLine, d.LastLine, d.TotalLines)
	if part != nil {
		fmt.Fprintf(&b, "\nLine %d is long: characters %d-%d of its %d are on this page.", part.number, part.first, part.last, part.total)
	}
	for _, n := range d.Notes {
		b.WriteString("\nNote: " + n)
	}
	if at != nil {
		b.WriteString(at.head(d))
	}
	return b.String()
}

func readFoot(d ReadDetails) string {
	if d.NextOffset == 0 {
		return "End of the document."
	}
	var b strings.Builder
	if d.CutBy != "" && d.OpenedFor == "" && !d.short {
		fmt.Fprintf(&b, "The page is full: lines up to %d were asked for.\n", min(d.Offset+d.Limit-1, d.TotalLines))
	}
	fmt.Fprintf(&b, "More lines: read_document({\"reason\":\"...\",\"docid\":%s,\"offset\":%d", tool.QuoteJSON(d.DocID), d.NextOffset)
	if d.NextColumn != 0 {
		fmt.Fprintf(&b, ",\"column\":%d", d.NextColumn)
	}
	if !d.short {
		fmt.Fprintf(&b, ",\"limit\":%d", d.Limit)
	}
	b.WriteString("})")
	return b.String()
}

// pastEnd is the page without lines.
func pastEnd(d ReadDetails) string {
	head := readHead(d, nil, nil)
	if d.TotalLines == 0 {
		return head + "\n\nThe document is empty."
	}
	return fmt.Sprintf("%s\n\nThere is no line %d: the document ends at line %d.", head, d.Offset, d.TotalLines)
}
