package controller

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
)

const (
	// outlinePlaces and outlineLength bound the list of other places, the latter in characters.
	outlinePlaces = 6
	outlineLength = 90
	// leadShare is the share of an opening page that may come before the best passage.
	leadShare = 0.1
)

// opening is where and why a document is opened at a place of its own.
type opening struct {
	searchID, query string
	// line is that of the best passage.
	line int
	// outline are the other places where words of the query stand.
	outline []retrieval.Passage
	text    string
	// room is the length of the page in bytes.
	room int
}

// openAtBest moves a read without an offset to the best passage for the latest search
// that ranked the document. It returns nil where there is no such search, where the
// document fits on one page, and where its text holds none of the words. Without
// Navigator.ReadAtBest the best passage is the one that the hit has.
func (c *Controller) openAtBest(ctx context.Context, d *ReadDetails) (*opening, error) {
	s, f, hit := c.latestRanking(d.DocID)
	readAtBest := c.options.Navigator.ReadAtBest
	if s == nil || !readAtBest && !hit.Passage.Known() {
		return nil, nil
	}
	doc, err := c.document(ctx, d.DocID)
	if err != nil {
		return nil, err
	}
	length := c.options.OpeningLength
	if !readAtBest {
		length = c.options.PageBytes
	}
	if doc.whole && doc.totalLines <= d.Limit && utf8.RuneCountInString(doc.text) <= length {
		return nil, nil
	}
	query := strings.Join(s.request.queries, " / ")
	if !readAtBest || !doc.reaches(hit.Passage) {
		d.Offset = hit.Passage.FirstLine
		_, d.Column, err = c.stretch(ctx, hit)
		return &opening{searchID: s.id, query: query, line: d.Offset, room: length}, err
	}
	_, from := doc.body()
	stats, _ := c.retriever.(retrieval.TermStats)
	m := retrieval.NewMatcher(f.terms, stats)
	best := m.Passages(doc.text, from, retrieval.PassageLength)
	if len(best) == 0 {
		return nil, nil
	}
	d.Offset, d.Column = leadIn(doc.text, best[0], int(leadShare*float64(length)))
	shown, _, _ := tool.Clip(doc.text[best[0].Start:], length)
	return &opening{
		searchID: s.id, query: query, line: best[0].FirstLine,
		outline: m.Outline(doc.text, from, outlinePlaces, outlineLength),
		text:    doc.text,
		room:    max(len(shown), length),
	}, nil
}

// latestRanking returns the latest search kept that ranked the document, what it found and
// the document's hit.
func (c *Controller) latestRanking(docid string) (*slot, *found, retrieval.Hit) {
	kept := c.rankings.kept()
	for i := len(kept) - 1; i >= 0; i-- {
		if f := kept[i].peek(); f != nil {
			for _, hit := range f.ranking {
				if hit.DocID == docid {
					return kept[i], f, hit
				}
			}
		}
	}
	return nil, nil, retrieval.Hit{}
}

// leadIn returns the line and the character in it to begin at, so that at most lead
// characters come before the passage: at the beginning of a line where one is near.
func leadIn(text string, p retrieval.Passage, lead int) (line, column int) {
	low := p.Start
	for n := lead; n > 0 && low > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:low])
		low -= size
	}
	line = p.FirstLine - strings.Count(text[low:p.Start], "\n")
	if low == 0 {
		return 1, 1
	}
	if newline := strings.IndexByte(text[low:p.Start], '\n'); newline >= 0 {
		return line + 1, 1
	}
	if lineStart := strings.LastIndexByte(text[:p.Start], '\n') + 1; lineStart < low {
		return line, utf8.RuneCountInString(text[lineStart:low]) + 1
	}
	return line, 1
}

// head says where the page opens and what lies elsewhere.
func (o *opening) head(d ReadDetails) string {
	var b strings.Builder
	shown := firstCharacters(o.query, 100)
	fmt.Fprintf(&b, "\nOpened at the best passage for %s %s, line %d.", o.searchID, tool.QuoteJSON(shown), o.line)
	if d.FirstLine > 1 {
		b.WriteString(" The document begins at offset 1.")
	}
	for _, p := range o.outline {
		if p.FirstLine < d.FirstLine || p.FirstLine > d.LastLine {
			fmt.Fprintf(&b, "\n   Also line %d: %s", p.FirstLine, squeeze(o.text[p.Start:p.End]))
		}
	}
	return b.String()
}
