package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// reaches reports whether the text read of a document goes as far as a stretch, if there is one.
func (d document) reaches(s retrieval.Stretch) bool {
	at, ok := lineOffset(d.text, s.FirstLine)
	return d.whole || !s.Known() || ok && at+s.Begin < len(d.text)
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
	chunk, err := c.read(ctx, hit.DocID, s.FirstLine, s.LastLine-s.FirstLine+1, documentBytes)
	if err != nil {
		return "", 0, err
	}
	if next := s.FirstLine + len(chunk.Lines); chunk.Cut || len(chunk.Lines) > 0 && next <= s.LastLine && next <= chunk.TotalLines {
		return c.stretchInPieces(ctx, hit)
	}
	lines := slices.Clone(chunk.Lines)
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

// ofPassage shows the passage of a hit: the stretches of it that cover most of the query, in
// at most length characters, or its beginning where none has a word of the query.
func (p *previews) ofPassage(ctx context.Context, hit retrieval.Hit, length int) (preview, error) {
	text, _, err := p.c.stretch(ctx, hit)
	if errors.Is(err, retrieval.ErrNoDocument) {
		return preview{}, nil // ranked but not stored: the page says that there is no excerpt
	}
	if err != nil {
		return preview{}, err
	}
	v := preview{lines: lineRange(hit.Passage.FirstLine, hit.Passage.LastLine)}
	chosen := p.match(func(m *retrieval.Matcher) []retrieval.Passage { return m.Passages(text, 0, length) })
	if len(chosen) == 0 && text != "" {
		chosen = []retrieval.Passage{{End: len(firstCharacters(text, length))}}
	}
	for _, c := range chosen {
		v.texts = append(v.texts, elided(text, c, 0))
	}
	return v, nil
}
