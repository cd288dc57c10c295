package rpcserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDocIDs bounds the previews of one command: others wait for its turn. Clients ask for 50.
const maxDocIDs = 10_000

// defaultSnippet is the length of an excerpt that asks for none, in UTF-16 units.
const defaultSnippet = 220

// Excerpts that stand for documents. Clients know the first one.
const (
	noDocument         = "[Document not found]"
	unreadableDocument = "[Document could not be read]"
)

type renderData struct {
	Mode       string         `json:"mode"`
	DocIDs     []string       `json:"docids"`
	Clues      []clue         `json:"highlight_clues"`
	Highlights bool           `json:"inline_highlights"`
	Results    []renderResult `json:"results"`
	Timing     timing         `json:"timing_ms"`
}

type renderResult struct {
	DocID     string   `json:"docid"`
	Title     *string  `json:"title"`
	Terms     []string `json:"matched_terms"`
	Excerpt   string   `json:"excerpt"`
	Truncated bool     `json:"excerpt_truncated"`
}

func (s *Server) render(ctx context.Context, p params, t func() timing) (any, error) {
	docids, err := p.docIDs()
	if err != nil {
		return nil, err
	}
	length, err := p.positive("snippet_max_chars", defaultSnippet, "render_search_results snippet_max_chars must be a positive integer")
	if err != nil {
		return nil, err
	}
	highlights, err := p.flag("inline_highlights", true, "render_search_results inline_highlights must be a boolean")
	if err != nil {
		return nil, err
	}
	clues, err := p.clues("highlight_clues")
	if err != nil {
		return nil, err
	}
	d := renderData{Mode: "render_search_results", DocIDs: docids, Clues: clues, Highlights: highlights, Results: make([]renderResult, len(docids))}
	for i, id := range docids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d.Results[i] = s.preview(id, clues, length, highlights)
	}
	d.Timing = t()
	return d, nil
}

func (p params) docIDs() ([]string, error) {
	var raw []json.RawMessage
	if v, ok := p.given("docids"); !ok || json.Unmarshal(v, &raw) != nil {
		return nil, errors.New("render_search_results docids must be a JSON array of strings")
	}
	if len(raw) > maxDocIDs {
		return nil, fmt.Errorf("render_search_results docids must be at most %d", maxDocIDs)
	}
	docids := make([]string, len(raw))
	for i, r := range raw {
		var s string
		if r[0] != '"' || json.Unmarshal(r, &s) != nil || strings.TrimSpace(s) == "" {
			return nil, errors.New("render_search_results docids must hold non-empty strings only")
		}
		docids[i] = s
	}
	return docids, nil
}

func (s *Server) preview(docid string, clues []clue, length int, highlights bool) renderResult {
	r := renderResult{DocID: docid, Terms: []string{}}
	d, ok, err := s.collection.Document(docid)
	switch {
	case err != nil:
		r.Excerpt = unreadableDocument
		return r
	case !ok:
		r.Excerpt = noDocument
		return r
	}
	r.Terms = matchedTerms(clues, d.haystack())
	r.Excerpt = excerpt(d.Contents, r.Terms, length)
	r.Truncated = units(r.Excerpt) < units(d.Contents)
	title := d.Title
	if highlights {
		r.Excerpt, title = highlight(r.Excerpt, r.Terms), highlight(title, r.Terms)
	}
	if strings.TrimSpace(d.Title) != "" {
		r.Title = &title
	}
	return r
}

// haystack is what clues are looked for in.
func (d Document) haystack() string {
	if d.Title == "" {
		return lower(d.Contents)
	}
	return lower(d.Title + "\n" + d.Contents)
}

// lower lower-cases as Java does: İ becomes an i and a dot above, two characters.
func lower(s string) string {
	return strings.ToLower(strings.ReplaceAll(s, "İ", "i̇"))
}

// excerpt is a stretch of contents, of at most length UTF-16 units, around the earliest
// place where a term occurs; a quarter of the length, but at least 20, comes before it. That
// place is counted in the lower-cased text, so it shifts where lower-casing makes characters
// more; clients have always seen it so. No character is cut.
func excerpt(contents string, terms []string, length int) string {
	text := strings.TrimFunc(contents, func(r rune) bool { return r <= ' ' })
	if text == "" {
		return ""
	}
	start := 0
	if at := earliest(lower(text), terms); at >= 0 {
		start = max(0, at-max(20, length/4))
	}
	from, started := offset(text, start)
	to, _ := offset(text[from:], max(0, length-(started-start)))
	to += from
	shown := strings.TrimFunc(text[from:to], func(r rune) bool { return r <= ' ' })
	if start > 0 {
		shown = "..." + shown
	}
	if to < len(text) {
		shown += "..."
	}
	return shown
}

// earliest returns the place in UTF-16 units where the first of the terms occurs, or -1.
func earliest(text string, terms []string) int {
	best := -1
	for _, t := range terms {
		if i := strings.Index(text, t); i >= 0 && (best < 0 || i < best) {
			best = i
		}
	}
	if best < 0 {
		return -1
	}
	return units(text[:best])
}

// units is the length of s in UTF-16 units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += unitsOf(r)
	}
	return n
}

func unitsOf(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// offset returns the byte offset of the n-th UTF-16 unit of s, that of the character before
// where n is inside one, and the number of units before that offset. Past the end it is the
// length.
func offset(s string, n int) (at, before int) {
	for at < len(s) {
		r, size := utf8.DecodeRuneInString(s[at:])
		if before+unitsOf(r) > n {
			break
		}
		before += unitsOf(r)
		at += size
	}
	return at, before
}

// highlight puts every occurrence of a term, the longest ones first, into double brackets.
func highlight(text string, terms []string) string {
	ordered := slices.Clone(terms)
	slices.SortStableFunc(ordered, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, t := range ordered {
		text = replaceFold(text, t, "[["+t+"]]")
	}
	return text
}

// replaceFold replaces an ASCII term whatever the case of its letters.
func replaceFold(text, term, by string) string {
	var b strings.Builder
	folded := strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
	if len(folded) != len(text) { // broken bytes would shift offsets
		return text
	}
	for {
		i := strings.Index(folded, term)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i] + by)
		text, folded = text[i+len(term):], folded[i+len(term):]
	}
}
