package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"goserini/internal/retrieval"
)

// Fits returns an error that says what to do where the options ask for what r cannot do.
func (o Options) Fits(r retrieval.Retriever) error {
	if !o.Navigator.Passages {
		return nil
	}
	ranker, ok := r.(retrieval.PassageRanker)
	if !ok {
		return errors.New("tools: the part passages needs an index with passages: build one with `goserini index SOURCE... --index DIR --passages`, or leave the part out")
	}
	if err := ranker.HoldsPassages(); err != nil {
		return fmt.Errorf("tools: the part passages: %w, or leave the part out", err)
	}
	return nil
}

// opensAtBest says that documents are opened at a passage unless told otherwise. A passage
// is remembered from a search, which tools without memory do not.
func (o Options) opensAtBest() bool {
	return o.Navigator.ReadAtBest || o.Navigator.Passages && !o.Stateless
}

// request asks the retriever for the ranking of a query.
func (c *Controller) request(query string) retrieval.SearchRequest {
	return retrieval.SearchRequest{Query: query, Depth: c.options.Depth, Passages: c.options.Navigator.Passages}
}

// place is where in a document an excerpt is chosen from: text[from:to].
type place struct {
	// text is that of the document as far as it was read, or of the passage that lies behind.
	text     string
	from, to int
	// linesBefore counts the lines of the document before text.
	linesBefore int
	// body is where the document's text proper begins in text.
	body int
	// passage says that the place is a passage; column is the character of its first line
	// that it begins with.
	passage bool
	column  int
}

// placeOf is the passage of a hit, or, where the hit has none, all of the document's text
// proper, which begins at body.
func (c *Controller) placeOf(ctx context.Context, hit retrieval.Hit, d document, body int) (place, error) {
	all := place{text: d.text, from: body, to: len(d.text), body: body}
	if !hit.Passage.Known() {
		return all, nil
	}
	from, to, ok := d.offsets(hit.Passage)
	if ok {
		line := d.text[from-hit.Passage.Begin : from]
		return place{text: d.text, from: min(max(from, body), to), to: to, body: body, passage: true, column: 1 + utf8.RuneCountInString(line)}, nil
	}
	text, column, err := c.stretch(ctx, hit)
	if err != nil {
		return all, err
	}
	return place{text: text, to: len(text), linesBefore: hit.Passage.FirstLine - 1, passage: true, column: column}, nil
}

// offsets returns where a stretch begins and ends in the text of a document, if that was read
// so far.
func (d document) offsets(s retrieval.Stretch) (from, to int, ok bool) {
	from, ok = lineOffset(d.text, s.FirstLine)
	to, known := lineOffset(d.text, s.LastLine)
	from += s.Begin
	end := strings.IndexByte(d.text[to:], '\n')
	switch {
	case s.End > 0:
		to += s.End
	case end >= 0:
		to += end
	default:
		to, known = len(d.text), known && d.whole
	}
	return from, to, ok && known && from <= to && to <= len(d.text)
}

// lineOffset returns the offset of a 1-based line, if text has it.
func lineOffset(text string, line int) (int, bool) {
	at := 0
	for ; line > 1; line-- {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			return at, false
		}
		at += end + 1
	}
	return at, true
}

// stretch reads the passage of a hit, and tells which character of its first line it begins
// with.
func (c *Controller) stretch(ctx context.Context, hit retrieval.Hit) (text string, column int, err error) {
	s := hit.Passage
	chunk, err := c.retriever.Read(ctx, retrieval.ReadRequest{DocID: hit.DocID, Offset: s.FirstLine, Limit: s.LastLine - s.FirstLine + 1})
	if err != nil {
		return "", 0, err
	}
	lines := chunk.Lines
	if last := len(lines) - 1; last == s.LastLine-s.FirstLine && s.End > 0 && s.End <= len(lines[last]) {
		lines[last] = lines[last][:s.End]
	}
	column = 1
	if len(lines) > 0 && s.Begin <= len(lines[0]) {
		column += utf8.RuneCountInString(lines[0][:s.Begin])
		lines[0] = lines[0][s.Begin:]
	}
	return strings.Join(lines, "\n"), column, nil
}

// ofPassage makes the paper's preview of the passage of a hit.
func (p *previews) ofPassage(ctx context.Context, hit retrieval.Hit) (preview, error) {
	text, _, err := p.c.stretch(ctx, hit)
	if err != nil {
		return preview{}, err
	}
	v := preview{lines: lineRange(hit.Passage.FirstLine, hit.Passage.LastLine)}
	if e := retrieval.EarliestExcerpt(p.terms, text, retrieval.EarliestLength); e.Text != "" {
		v.texts = []string{e.Text}
	}
	return v, nil
}
