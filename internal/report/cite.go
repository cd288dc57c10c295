package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"goserini/internal/lazyregexp"
	"goserini/internal/trajectory"
)

// target is a place that the answer cites, as far as the model saw it.
type target struct {
	docid string
	// step is the index of the call that showed it, -1 where none did.
	step int
	// from and to are the bytes of its text in what that call returned; empty where only
	// the call itself can be shown.
	from, to int
	// label names the lines or the rank; how says why these.
	label, how string
	quote      string
}

// phrase is a piece of the answer: plain text, or a citation.
type phrase struct {
	text string
	// cite is nil for plain text.
	cite *trajectory.Citation
	// target counts from 1; 0 where the model never saw the document.
	target int
}

// The ways a place is found, the surest first.
const (
	howNamed   = "the lines the answer names"
	howQuoted  = "the lines the answer quotes"
	howClosest = "the lines closest in words"
	howStart   = "the beginning of what was read"
	howHit     = "the entry the model was shown"
	howRanked  = "the search that ranked it; no entry was shown"
)

// brackets hold citations.
var brackets = lazyregexp.New(`[\[【［]([^\[\]【】［］]{1,900})[\]】］]`)

// resolve cuts the answer at its citations and finds what each of them points to. Afterwards
// every call's text is in pieces.
func (s *story) resolve(rec trajectory.Record) {
	r := resolver{story: s, pages: map[string][]page{}, cited: map[string]trajectory.Citation{}}
	for _, c := range rec.Answer.Citations {
		if c.DocID != "" {
			r.cited[c.DocID] = c
			r.ids = append(r.ids, c.DocID)
		}
	}
	slices.SortStableFunc(r.ids, func(a, b string) int { return len(b) - len(a) })
	text := rec.Answer.Explanation
	if text == "" {
		text = rec.Answer.Text
	}
	r.phrases(text)
	r.quoteNotes(rec.Notebook)
	s.split()
}

// resolver finds the places of one answer's citations.
type resolver struct {
	story *story
	cited map[string]trajectory.Citation
	// ids are the cited docids, longest first, so that none is taken for a part of another.
	ids   []string
	pages map[string][]page
}

func (r *resolver) phrases(text string) {
	at, from := 0, 0
	for _, m := range brackets.FindAllStringSubmatchIndex(text, -1) {
		inside := text[m[2]:m[3]]
		cites := r.within(inside)
		if len(cites) == 0 {
			continue
		}
		claim := text[from:m[0]]
		for _, c := range cites {
			start, end := m[2]+c.from, m[2]+c.to
			r.plain(text[at:start])
			cite := r.cited[c.docid]
			r.story.answer = append(r.story.answer, phrase{text: text[start:end], cite: &cite, target: r.place(c.docid, claim, text[end:m[3]])})
			at = end
		}
		from = m[1]
	}
	r.plain(text[at:])
}

func (r *resolver) plain(text string) {
	if text != "" {
		r.story.answer = append(r.story.answer, phrase{text: text})
	}
}

// found is a docid within brackets.
type found struct {
	docid    string
	from, to int
}

// within returns the cited docids in the text of one bracket, in order.
func (r *resolver) within(s string) []found {
	var out []found
	for _, id := range r.ids {
		for at := 0; ; {
			i := strings.Index(s[at:], id)
			if i < 0 {
				break
			}
			f := found{id, at + i, at + i + len(id)}
			at = f.to
			taken := slices.ContainsFunc(out, func(g found) bool { return f.from < g.to && g.from < f.to })
			if !taken && alone(s, f.from, f.to) {
				out = append(out, f)
			}
		}
	}
	slices.SortFunc(out, func(a, b found) int { return a.from - b.from })
	return out
}

// alone reports whether a stretch of text is not a part of a longer word.
func alone(s string, from, to int) bool {
	word := func(r rune, _ int) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	ends := func(at int) bool {
		return at == 0 || at == len(s) || !word(utf8.DecodeLastRuneInString(s[:at])) || !word(utf8.DecodeRuneInString(s[at:]))
	}
	return ends(from) && ends(to)
}

// place finds what a citation points to and returns the number of its target, 0 for none. Claim is the
// text before the brackets, suffix what follows the docid inside them.
func (r *resolver) place(docid, claim, suffix string) int {
	t, ok := r.opened(docid, claim, suffix)
	if !ok {
		t, ok = r.shown(docid)
	}
	if !ok {
		t, ok = r.ranked(docid)
	}
	if !ok {
		return 0
	}
	for i, old := range r.story.targets {
		if old.step != t.step || old.docid != t.docid {
			continue
		}
		if old.from == t.from && old.to == t.to || old.from < t.to && t.from < old.to {
			return i + 1 // the same lines, or some of them
		}
	}
	r.story.targets = append(r.story.targets, t)
	return len(r.story.targets)
}

// opened finds the cited lines among the pages that were read of a document.
func (r *resolver) opened(docid, claim, suffix string) (target, bool) {
	pages := r.pagesOf(docid)
	if len(pages) == 0 {
		return target{}, false
	}
	if first, last, ok := namedLines(claim, suffix); ok {
		for _, p := range pages {
			if i, j, ok := p.numbered(first, last); ok {
				return p.target(docid, i, j, howNamed), true
			}
		}
	}
	for _, quote := range quotes(claim) {
		for _, p := range pages {
			if i, j, ok := p.quoted(quote); ok {
				return p.target(docid, i, j, howQuoted), true
			}
		}
	}
	var best page
	var place closeness
	for i := range pages {
		if c := pages[i].closest(lastSentence(claim)); c.score > place.score {
			best, place = pages[i], c
		}
	}
	if place.score > 0 {
		return best.target(docid, place.first, place.last, howClosest), true
	}
	return pages[0].target(docid, 0, 0, howStart), true
}

// pagesOf are the pages that were read of a document.
func (r *resolver) pagesOf(docid string) []page {
	pages, known := r.pages[docid]
	if !known {
		pages = r.readPages(docid)
		r.pages[docid] = pages
	}
	return pages
}

func (r *resolver) readPages(docid string) []page {
	var out []page
	for i, st := range r.story.steps {
		if st.call == nil || st.call.result == nil || !slices.Contains(st.call.result.Access.Opened, docid) {
			continue
		}
		if p := readPage(i, st.call.result.Text); len(p.lines) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// shown finds the entry of a document on a page of hits.
func (r *resolver) shown(docid string) (target, bool) {
	for i, st := range r.story.steps {
		if st.call == nil || st.call.result == nil || !slices.Contains(st.call.result.Access.Previewed, docid) {
			continue
		}
		t := target{docid: docid, step: i, how: howHit}
		if rank, from, to, ok := hitEntry(st.call.result.Text, docid); ok {
			t.from, t.to, t.label = from, to, "rank "+rank
			t.quote = st.call.result.Text[from:to]
		}
		return t, true
	}
	return target{}, false
}

func (r *resolver) ranked(docid string) (target, bool) {
	for i, st := range r.story.steps {
		if st.call == nil || st.call.result == nil {
			continue
		}
		if rank := slices.Index(st.call.result.Access.Surfaced, docid); rank >= 0 {
			return target{docid: docid, step: i, how: howRanked, label: fmt.Sprintf("rank %d", rank+1)}, true
		}
	}
	return target{}, false
}

// hitHead begins an entry on a page of hits.
var hitHead = lazyregexp.New(`(?m)^(\d+)\. docid=(.*)$`)

// hitEntry finds the entry of a document on a page of hits.
func hitEntry(text, docid string) (rank string, from, to int, ok bool) {
	heads := hitHead.FindAllStringSubmatchIndex(text, -1)
	for i, m := range heads {
		rest := text[m[4]:m[5]]
		after, bare := strings.CutPrefix(rest, docid)
		if !bare {
			after, bare = strings.CutPrefix(rest, strconv.Quote(docid))
		}
		if !bare || after != "" && after[0] != ' ' {
			continue
		}
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		if blank := strings.Index(text[m[0]:end], "\n\n"); blank >= 0 {
			end = m[0] + blank
		}
		return text[m[2]:m[3]], m[0], m[0] + len(strings.TrimRight(text[m[0]:end], "\n")), true
	}
	return "", 0, 0, false
}

var (
	// linesInside are lines behind a docid within brackets: "doc:L9-12", "doc, lines 9 to 12".
	linesInside = lazyregexp.New(`(?i)^\s*(?:[:#@]\s*(?:L|lines?\s*)?|[,;]?\s*(?:L|lines?\s+|ll?\.\s*))(\d{1,9})(?:\s*(?:-|–|—|to)\s*L?(\d{1,9}))?`)
	// linesBefore are lines in the sentence: "(line 9)".
	linesBefore = lazyregexp.New(`(?i)\b(?:lines?|ll\.)\s+(\d{1,9})(?:\s*(?:-|–|—|to)\s*(\d{1,9}))?`)
)

// namedLines returns the lines that an answer names with a citation.
func namedLines(claim, suffix string) (first, last int, ok bool) {
	m := linesInside.FindStringSubmatch(suffix)
	if m == nil {
		all := linesBefore.FindAllStringSubmatch(claim, -1)
		if len(all) == 0 {
			return 0, 0, false
		}
		m = all[len(all)-1]
	}
	first, _ = strconv.Atoi(m[1]) // at most nine digits
	last = first
	if m[2] != "" {
		last, _ = strconv.Atoi(m[2])
	}
	return first, max(first, last), true
}

var (
	quotation = lazyregexp.New(`[“"«„]([^“”"«»„]{12,600})[”"»“]`)
	ellipsis  = lazyregexp.New(`\s*(?:…|\.\.\.|\[…\]|\[\.\.\.\])\s*`)
)

// quotes returns what a claim quotes, the nearest to its end first.
func quotes(claim string) []string {
	var out []string
	for _, m := range quotation.FindAllStringSubmatch(claim, -1) {
		for _, part := range ellipsis.Split(m[1], -1) {
			if len(part) >= 12 {
				out = append(out, part)
			}
		}
	}
	slices.Reverse(out)
	return out
}

// lastSentence is the last sentence of a claim.
func lastSentence(claim string) string {
	const longest = 600
	s := strings.TrimRight(claim, " \t\n.;:,(")
	s = s[max(0, len(s)-longest):]
	for _, end := range []string{". ", "! ", "? ", "\n", "。"} {
		if i := strings.LastIndex(s, end); i >= 0 {
			s = s[i+len(end):]
		}
	}
	return s
}
