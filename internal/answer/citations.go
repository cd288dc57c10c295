package answer

import (
	"strconv"
	"strings"
	"unicode"

	"goserini/internal/lazyregexp"
	"goserini/internal/trajectory"
)

// The accesses of a citation, the deepest first.
const (
	Opened    = "opened"
	Previewed = "previewed"
	Surfaced  = "surfaced"
	Never     = "never"
)

// maxBracket bounds what stands between brackets, in bytes, and maxDepth how deep brackets
// may stand in one another.
const (
	maxBracket = 4 << 10
	maxDepth   = 8
)

// maxRange bounds how many documents one range such as [12-14] may name.
const maxRange = 50

// citations reads the citations of one answer.
type citations struct {
	docs   Docs
	access map[string]string
	// shapes are the shapes of the ids the model was shown.
	shapes map[string]bool
	notes  []string
}

func newCitations(docs Docs) *citations {
	c := &citations{docs: docs, access: map[string]string{}, shapes: map[string]bool{}}
	for _, level := range []struct {
		access string
		docids []string
	}{{Surfaced, docs.Sets.Surfaced}, {Previewed, docs.Sets.Previewed}, {Opened, docs.Sets.Opened}} {
		for _, id := range level.docids {
			c.access[id] = level.access
			c.shapes[shape(id)] = true
		}
	}
	return c
}

// read returns the documents cited in square, full-width or lenticular brackets, each once,
// in order of first appearance.
func (c *citations) read(text string) []trajectory.Citation {
	var out []trajectory.Citation
	seen := map[string]bool{}
	for _, g := range c.groups(text) {
		for _, id := range g.docids {
			if !seen[id] {
				seen[id] = true
				out = append(out, c.citation(id))
			}
		}
	}
	return out
}

func (c *citations) citation(id string) trajectory.Citation {
	access, ok := c.access[id]
	if !ok {
		return trajectory.Citation{DocID: id, Access: Never, Unknown: c.docs.Exists != nil && !c.docs.Exists(id)}
	}
	return trajectory.Citation{DocID: id, Access: access}
}

// trim takes citations away from the end of an exact answer.
func (c *citations) trim(text string) string {
	groups := c.groups(text)
	for i := len(groups) - 1; i >= 0; i-- {
		g := groups[i]
		if len(g.docids) == 0 || strings.Trim(text[g.end:], " .\t\n") != "" {
			break
		}
		text = strings.TrimRight(text[:g.start], " \t\n")
	}
	return text
}

// group is one pair of brackets, as byte offsets, and the documents it names.
type group struct {
	start, end int
	docids     []string
}

// closers are the brackets that may hold citations.
var closers = map[rune]rune{'[': ']', '［': '］', '【': '】'}

// groups finds the brackets of a text that may be citations. Code is left out, unless it
// stands within the brackets.
func (c *citations) groups(text string) []group {
	var out []group
	quoted := code.FindAllStringIndex(text, -1)
	skip, lineStart := 0, 0
	for i, r := range text {
		if r == '\n' {
			lineStart = i + 1
		}
		closer, opens := closers[r]
		if i < skip || !opens || within(quoted, i) {
			continue
		}
		width := len(string(r))
		end := c.bracketEnd(text, i, r, closer)
		if end < 0 {
			continue
		}
		content := text[i+width : end-len(string(closer))]
		if r == '[' && !c.citable(text[lineStart:i], content, text[end:]) {
			if strings.HasPrefix(text[end:], "(") {
				skip = end // the text of a link holds no citation either
			}
			continue
		}
		docids, note := c.resolve(content)
		if note != "" {
			c.notes = append(c.notes, note)
		}
		if len(docids) > 0 {
			skip = end
		}
		out = append(out, group{start: i, end: end, docids: docids})
	}
	return out
}

// bracketEnd returns the offset behind the bracket that closes the one at start: the
// matching one where the whole content is a document, else the next one, -1 without one.
func (c *citations) bracketEnd(text string, start int, opener, closer rune) int {
	limit := text[start:min(len(text), start+maxBracket)]
	if p := strings.Index(limit, "\n\n"); p >= 0 {
		limit = limit[:p]
	}
	depth, first := 0, -1
	for i, r := range limit {
		switch r {
		case opener:
			if depth++; depth > maxDepth {
				return first
			}
		case closer:
			depth--
			end := start + i + len(string(closer))
			if first < 0 {
				first = end
			}
			if depth == 0 {
				if end != first && c.known(oneLine(limit[len(string(opener)):i])) {
					return end
				}
				return first
			}
		}
	}
	return first
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// definition is a link definition behind a bracket.
var definition = lazyregexp.New(`^:\s*<?(?:https?://|www\.)`)

// citable reports whether a square bracket is not a link, a footnote, a check box, a link
// definition or one that holds another bracket. line is what stands before it on its line,
// behind is all that follows.
func (c *citations) citable(line, content, behind string) bool {
	line = line[max(0, len(line)-maxListMark):]
	atItem := strings.Trim(line, " \t") != "" && strings.Trim(line, " \t-*+0123456789.)") == ""
	switch {
	case strings.HasPrefix(behind, "("),
		strings.HasPrefix(content, "^"),
		strings.Contains(content, "[") && !c.known(oneLine(content)),
		atItem && (strings.TrimSpace(content) == "" || content == "x" || content == "X"),
		strings.TrimSpace(line) == "" && definition.MatchString(behind[:min(len(behind), maxListMark)]):
		return false
	}
	return true
}

// maxListMark bounds, in bytes, how far around a bracket list marks and link definitions are
// looked for.
const maxListMark = 64

func (c *citations) known(id string) bool {
	if id == "" {
		return false
	}
	if _, ok := c.access[id]; ok {
		return true
	}
	return c.docs.Exists != nil && c.docs.Exists(id)
}

// resolve reads what stands between brackets. A list of which a part is neither a
// document, nor looks like one, nor is a place within one, names nothing: what it is
// cannot be known.
func (c *citations) resolve(content string) (docids []string, note string) {
	content = oneLine(strings.TrimSuffix(content, `\`))
	if c.known(content) && !c.year(content) {
		return []string{content}, ""
	}
	items := c.items(content)
	var found, doubtful, guesses []string
	for _, item := range items {
		ids, kind := c.item(item)
		switch kind {
		case document:
			found = append(found, ids...)
		case lookalike:
			guesses = append(guesses, ids...)
			found = append(found, ids...)
		case place:
			if len(found) == 0 {
				doubtful = append(doubtful, item)
			}
		case bareNumber:
			if len(items) == 1 {
				guesses = append(guesses, ids...)
				found = append(found, ids...)
			} else {
				doubtful = append(doubtful, item)
			}
		default:
			doubtful = append(doubtful, item)
		}
	}
	if len(doubtful) == 0 {
		return found, ""
	}
	if len(found) > len(guesses) {
		return nil, "not read as a citation, because of an unknown part: [" + content + "]"
	}
	return nil, ""
}

// items splits a list at semicolons, then commas, then "and", but never a known document.
func (c *citations) items(content string) []string {
	for _, separators := range []string{";；", ",，、"} {
		if parts := strings.FieldsFunc(content, func(r rune) bool { return strings.ContainsRune(separators, r) }); len(parts) > 1 {
			return c.each(parts)
		}
	}
	if parts := conjunction.Split(content, -1); len(parts) > 1 {
		return c.each(parts)
	}
	return []string{content}
}

var conjunction = lazyregexp.New(`\s+(?:and|&)\s+`)

func (c *citations) each(parts []string) []string {
	var out []string
	for _, p := range parts {
		p = strings.TrimSpace(p)
		if c.known(p) {
			out = append(out, p)
		} else if p != "" {
			out = append(out, c.items(p)...)
		}
	}
	return out
}

// kind is what an item of a bracket is.
type kind int

const (
	other kind = iota
	document
	lookalike  // no known document, but written like one
	bareNumber // a number that is no known document
	place      // lines or pages within the document before it
)

var (
	// docPrefix announces an id.
	docPrefix = lazyregexp.New(`(?i)^(?:doc(?:ument)?s?|doc[_ -]?ids?|ids?)\s*(?:[:=#]\s*|\s+)`)
	// placeSuffix is a place behind an id: lines, pages, a section.
	placeSuffix = lazyregexp.New(`(?i)(?:\s*[:#@]\s*(?:L|lines?\s*|p\.?\s*)?|[\s:#@]+(?:L|lines?\s*|ll?\.\s*|pp?\.?\s*|pages?\s*|§+\s*|sections?\s*|sec\.\s*|paragraphs?\s*|para\.\s*))\d+(?:\s*[-–—]\s*(?:L|p\.?)?\s*\d+)?$`)
	placeOnly   = lazyregexp.New(`(?i)^(?:L|lines?\s*|ll?\.\s*|pp?\.?\s*|pages?\s*|§+\s*|sections?\s*|sec\.\s*|paragraphs?\s*|para\.\s*)\d+(?:\s*[-–—]\s*(?:L|p\.?)?\s*\d+)?$`)
	numberRange = lazyregexp.New(`^(\d{1,18})\s*[-–—]\s*(\d{1,18})$`)
	digits      = lazyregexp.New(`^\d+$`)
)

// quotes may enclose an id.
const quotes = "\"'`“”‘’«»*_ "

// item reads one item of a bracket.
func (c *citations) item(item string) ([]string, kind) {
	item, _, _ = strings.Cut(item, "†")
	item = strings.TrimSpace(item)
	for _, id := range []string{item, strings.Trim(item, quotes)} {
		if c.known(id) {
			if c.year(id) {
				return nil, other
			}
			return []string{id}, document
		}
	}
	item = strings.Trim(item, quotes)
	if p := docPrefix.FindString(item); p != "" {
		if id := strings.Trim(item[len(p):], quotes); id != "" {
			return c.announced(id)
		}
	}
	if loc := placeSuffix.FindStringIndex(item); loc != nil && c.known(strings.Trim(item[:loc[0]], quotes)) {
		return []string{strings.Trim(item[:loc[0]], quotes)}, document
	}
	if placeOnly.MatchString(item) {
		return nil, place
	}
	if m := numberRange.FindStringSubmatch(item); m != nil {
		return c.expand(m[1], m[2])
	}
	return c.unknown(item)
}

// announced reads what follows "doc:" and its like: it is meant as an id, known or not.
func (c *citations) announced(id string) ([]string, kind) {
	if ids, kind := c.item(id); kind == document {
		return ids, document
	}
	if strings.ContainsAny(id, " \t") {
		return nil, other
	}
	return []string{id}, lookalike
}

// expand reads a range of numeric ids where the collection has all of them.
func (c *citations) expand(from, to string) ([]string, kind) {
	low, err1 := strconv.ParseInt(from, 10, 64)
	high, err2 := strconv.ParseInt(to, 10, 64)
	if err1 != nil || err2 != nil || low >= high || high-low >= maxRange {
		return nil, other
	}
	var ids []string
	for n := low; n <= high; n++ {
		id := strconv.FormatInt(n, 10)
		if !c.known(id) || c.year(id) {
			return nil, other
		}
		ids = append(ids, id)
	}
	return ids, document
}

// unknown reads an item that is no known document: written like the ids the model was
// shown, or a number that is no year, it is a made-up citation and is kept as one.
func (c *citations) unknown(item string) ([]string, kind) {
	switch {
	case digits.MatchString(item):
		if yearLike(item) {
			return nil, other
		}
		return []string{item}, bareNumber
	case telling(item) && c.shapes[shape(item)]:
		return []string{item}, lookalike
	}
	return nil, other
}

// year reports whether an id is a year and not a document the model was shown.
func (c *citations) year(id string) bool {
	_, shown := c.access[id]
	return !shown && yearLike(id)
}

func yearLike(s string) bool {
	return len(s) == 4 && digits.MatchString(s) && s >= "1000" && s <= "2099"
}

// telling reports whether the shape of an id says something: a plain word's does not.
func telling(item string) bool {
	return !strings.ContainsAny(item, " \t") && strings.ContainsFunc(item, func(r rune) bool { return !unicode.IsLetter(r) })
}

// shape is an id with every run of lower-case letters, capitals and digits reduced to one
// sign: "AB-77" gives "A-9".
func shape(id string) string {
	var b strings.Builder
	last := rune(-1)
	for _, r := range id {
		switch {
		case unicode.IsDigit(r):
			r = '9'
		case unicode.IsUpper(r):
			r = 'A'
		case unicode.IsLetter(r):
			r = 'a'
		}
		if r == last && (r == '9' || r == 'A' || r == 'a') {
			continue
		}
		last = r
		b.WriteRune(r)
	}
	return b.String()
}
