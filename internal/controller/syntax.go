package controller

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
)

// plan is a query as agents write it, taken apart.
type plan struct {
	// words is the bag of words to rank by, without the prefixes: the query itself where it
	// has no operators.
	words    string
	phrases  []string
	without  []string // words and phrases a document must not hold
	sites    []string
	prefixes []string
	// or says that the word OR was taken as an operator.
	or bool
}

// operators reports whether the query had any.
func (p plan) operators() bool {
	return len(p.phrases)+len(p.without)+len(p.sites)+len(p.prefixes) > 0 || p.or
}

// Bounds of the operators of one query: their number, and the bytes of a phrase. What
// goes beyond is read as words.
const (
	maxOperators = 20
	maxPhrase    = 500
)

// parsePlan reads "phrases", site:HOST, -word, -"phrase", OR, +word and prefix*. Whatever
// does not look like one of them is a word.
func parsePlan(query string) plan {
	var p plan
	var words []string
	operators := 0
	for rest := query; ; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" {
			break
		}
		piece, quoted, next := nextPiece(rest)
		rest = next
		if operators == maxOperators {
			words = append(words, piece)
			continue
		}
		word, used := p.take(piece, quoted)
		if used {
			operators++
		}
		if word != "" {
			words = append(words, word)
		}
	}
	if !p.operators() {
		p.words = query
		return p
	}
	p.words = strings.Join(words, " ")
	if !hasWord(p.words) && len(p.prefixes) == 0 { // only exclusions or a site: nothing to rank by, so they are words
		p = plan{words: query}
	}
	return p
}

// quotes are the marks that open a phrase, and the ones that close it.
var quotes = map[rune]string{'"': `"`, '“': `”“"`, '”': `”"`, '„': `“”"`, '«': `»`}

// nextPiece cuts the next blank-separated piece off, or a whole phrase with what stands
// directly before its opening mark.
func nextPiece(s string) (piece string, quoted bool, rest string) {
	for i, r := range s {
		if unicode.IsSpace(r) {
			return s[:i], false, s[i:]
		}
		closing, ok := quotes[r]
		if !ok || i > 1 || i == 1 && s[0] != '-' && s[0] != '+' {
			continue
		}
		after := s[i+len(string(r)):]
		if end := strings.IndexAny(after, closing); end > 0 {
			mark := []rune(after[end:])[0]
			return s[:i] + after[:end], true, after[end+len(string(mark)):]
		}
	}
	return s, false, ""
}

// take reads one piece and returns what of it is to be ranked by.
func (p *plan) take(piece string, quoted bool) (word string, operator bool) {
	bare := strings.TrimLeft(piece, "-+")
	sign := piece[:len(piece)-len(bare)]
	site, isSite := strings.CutPrefix(strings.ToLower(piece), "site:")
	stem, isPrefix := strings.CutSuffix(bare, "*")
	switch {
	case len(piece) > maxPhrase:
		return bare, false
	case sign == "-" && hasLetter(bare):
		p.without = append(p.without, bare)
		return "", true
	case quoted:
		if len(strings.Fields(bare)) > 1 {
			p.phrases = append(p.phrases, bare)
			return bare, true
		}
		return bare, false
	case isSite && site != "":
		p.sites = append(p.sites, strings.Trim(site, "/*"))
		return "", true
	case piece == "OR" || piece == "|":
		p.or = true
		return "", true
	case isPrefix && len(stem) > 1 && hasWord(stem) && !strings.Contains(stem, "*"):
		p.prefixes = append(p.prefixes, stem)
		return "", true
	}
	return piece, false
}

func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// Bounds of what operators cost: documents whose text is looked at where the retriever
// is on this machine and where it is not, and words a prefix stands for.
const (
	lookedAtHere  = 1000
	lookedAtThere = 50
	prefixWords   = 20
)

// searchPlan ranks by the words of a query and applies its operators to the ranking. What
// would leave nothing is not applied, and the reading says so.
func (c *Controller) searchPlan(ctx context.Context, query string) (*found, error) {
	p := parsePlan(query)
	var reading []string
	words := p.words
	for _, prefix := range p.prefixes {
		expanded, note := c.expand(prefix)
		words = strings.TrimSpace(words + " " + expanded)
		reading = append(reading, note)
	}
	ranking, err := c.retriever.Search(ctx, c.request(words))
	if err != nil {
		return nil, err
	}
	if p.or {
		reading = append(reading, "OR: any of the words may match, as always")
	}
	ranking, note := p.keepSites(ranking)
	reading = append(reading, note...)
	if len(p.without)+len(p.phrases) > 0 && len(ranking) > 0 {
		if ranking, note, err = c.lookInside(ctx, p, ranking); err != nil {
			return nil, err
		}
		reading = append(reading, note...)
	}
	if p.operators() {
		reading = append([]string{"words " + tool.QuoteJSON(firstCharacters(words, queryShown))}, reading...)
		reading = []string{"Read as: " + strings.Join(reading, "; ")}
	}
	if unknown := c.unknownWords(words); unknown != "" {
		reading = append(reading, unknown)
	}
	return &found{ranking: ranking, terms: words, reading: reading}, nil
}

// expand returns the words a prefix stands for.
func (c *Controller) expand(prefix string) (words, note string) {
	name := shortWord(prefix) + "*"
	expander, ok := c.retriever.(retrieval.PrefixExpander)
	if !ok {
		return prefix, name + " as the word alone, since this collection cannot list words"
	}
	list := expander.WordsWithPrefix(strings.ToLower(prefix), prefixWords)
	switch len(list) {
	case 0:
		return prefix, name + " (no word begins so)"
	case prefixWords:
		return strings.Join(list, " "), fmt.Sprintf("%s as the %d commonest words that begin so", name, len(list))
	}
	return strings.Join(list, " "), fmt.Sprintf("%s as %s", name, firstCharacters(strings.Join(list, ", "), queryShown))
}

// keepSites keeps the hits whose address is on one of the sites.
func (p plan) keepSites(ranking retrieval.Ranking) (retrieval.Ranking, []string) {
	if len(p.sites) == 0 || len(ranking) == 0 {
		return ranking, nil
	}
	names := "site " + shortWord(strings.Join(p.sites, ", "))
	if !slices.ContainsFunc(ranking, func(h retrieval.Hit) bool { return address(h) != "" }) {
		return ranking, []string{names + " ignored: no hit has an address"}
	}
	kept := slices.DeleteFunc(slices.Clone(ranking), func(h retrieval.Hit) bool {
		return !slices.ContainsFunc(p.sites, func(site string) bool { return onSite(address(h), site) })
	})
	if len(kept) == 0 {
		return ranking, []string{names + " ignored: none of the hits is on it"}
	}
	return kept, []string{fmt.Sprintf("%s (%d of %d hits)", names, len(kept), len(ranking))}
}

// address is where a document came from: its URL, or a docid that is one.
func address(h retrieval.Hit) string {
	if h.URL == "" && strings.Contains(h.DocID, "://") {
		return h.DocID
	}
	return h.URL
}

// onSite reports whether an address is on the host (or below it) and under the path of a site.
func onSite(address, site string) bool {
	_, rest, ok := strings.Cut(strings.ToLower(address), "://")
	if !ok {
		rest = strings.ToLower(address)
	}
	host, path, _ := strings.Cut(rest, "/")
	wantHost, wantPath, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(site, "https://"), "http://"), "/")
	host, _, _ = strings.Cut(host, ":")
	return (host == wantHost || strings.HasSuffix(host, "."+wantHost)) && strings.HasPrefix(path, wantPath)
}

// lookInside reads the best hits, leaves out those that hold what the query excludes, and
// puts first those that hold its phrases.
func (c *Controller) lookInside(ctx context.Context, p plan, ranking retrieval.Ranking) (retrieval.Ranking, []string, error) {
	depth := lookedAtThere
	stats, here := c.retriever.(retrieval.TermStats)
	if here {
		depth = lookedAtHere
	}
	depth = min(depth, len(ranking))
	phrases, err := phrasePatterns(p.phrases)
	if err != nil {
		return nil, nil, err
	}
	without, err := phrasePatterns(p.without)
	if err != nil {
		return nil, nil, err
	}
	out := make([]bool, depth)
	holds := make([]int, depth)
	partly := make([]bool, depth)
	err = inParallel(depth, func(i int) error {
		d, err := c.document(ctx, ranking[i].DocID)
		if errors.Is(err, retrieval.ErrNoDocument) {
			return nil
		}
		if err != nil {
			return err
		}
		partly[i] = !d.whole
		for j, re := range without {
			out[i] = out[i] || re.MatchString(d.text) || holdsTerm(d.text, p.without[j], stats)
		}
		for _, re := range phrases {
			if re.MatchString(d.text) {
				holds[i]++
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	ranked, note := arrange(p, ranking, out, holds)
	if depth < len(ranking) && len(note) > 0 {
		note[len(note)-1] += fmt.Sprintf(", of the first %d hits", depth)
	}
	if slices.Contains(partly, true) && len(note) > 0 {
		note[len(note)-1] += fmt.Sprintf(", looked for in the first %d MB of a document", documentBytes>>20)
	}
	return ranked, note, nil
}

// holdsTerm reports whether text has a single excluded word in any form the index takes
// for the same.
func holdsTerm(text, word string, stats retrieval.TermStats) bool {
	if stats == nil || len(strings.Fields(word)) != 1 {
		return false
	}
	return len(retrieval.NewMatcher(word, stats).Outline(text, 0, 1, 1)) > 0
}

// arrange drops and reorders by what was found inside the documents.
func arrange(p plan, ranking retrieval.Ranking, out []bool, holds []int) (retrieval.Ranking, []string) {
	type looked struct {
		hit   retrieval.Hit
		holds int
	}
	var kept []looked
	dropped, first := 0, 0
	for i, hit := range ranking {
		l := looked{hit: hit}
		if i < len(out) {
			if out[i] {
				dropped++
				continue
			}
			l.holds = holds[i]
		}
		if l.holds == len(p.phrases) {
			first++
		}
		kept = append(kept, l)
	}
	var note []string
	if len(p.without) > 0 {
		names := "without " + quotedList(p.without)
		if len(kept) == 0 {
			return ranking, []string{names + " ignored: every hit holds it"}
		}
		note = append(note, fmt.Sprintf("%s (%d hits left out)", names, dropped))
	}
	if len(p.phrases) > 0 {
		slices.SortStableFunc(kept, func(a, b looked) int { return b.holds - a.holds })
		name := "phrase " + quotedList(p.phrases)
		if len(p.phrases) > 1 {
			name = "phrases " + quotedList(p.phrases)
		}
		if first == 0 {
			note = append(note, name+": no hit holds "+all(len(p.phrases))+", ranked by words")
		} else {
			note = append(note, fmt.Sprintf("%s: held by %d hits, which come first", name, first))
		}
	}
	arranged := make(retrieval.Ranking, len(kept))
	for i, l := range kept {
		arranged[i] = l.hit
	}
	return arranged, note
}

func all(n int) string {
	if n == 1 {
		return "it"
	}
	return "all of them"
}

func quotedList(words []string) string {
	shown := make([]string, len(words))
	for i, w := range words {
		shown[i] = tool.QuoteJSON(firstCharacters(w, 80))
	}
	return strings.Join(shown, ", ")
}

func shortWord(w string) string { return firstCharacters(tool.OneLine(w), 80) }

// phrasePatterns match phrases whatever their letter case and the blanks between words,
// at word borders.
func phrasePatterns(phrases []string) ([]*regexp.Regexp, error) {
	patterns := make([]*regexp.Regexp, len(phrases))
	for i, p := range phrases {
		re, err := regexp.Compile(`(?i)(?:^|[^\pL\pN])` + literalPattern(p) + `(?:$|[^\pL\pN])`)
		if err != nil {
			return nil, tool.Mistake(fmt.Sprintf("search: the phrase %s cannot be looked for. Call search again without it.", tool.QuoteJSON(p)))
		}
		patterns[i] = re
	}
	return patterns, nil
}

// literalPattern matches the words of text with any blanks between them.
func literalPattern(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	return strings.Join(words, `\s+`)
}

// unknownWords names the words of a query that no document holds, where the retriever
// can tell.
func (c *Controller) unknownWords(words string) string {
	stats, ok := c.retriever.(retrieval.TermStats)
	if !ok {
		return ""
	}
	terms := retrieval.QueryTerms(words, stats)
	if len(terms) == 0 {
		return "No word of the query can be searched: only words too common to be indexed, or none."
	}
	var unknown []string
	for _, t := range terms {
		if t.DF == 0 {
			unknown = append(unknown, t.Word)
		}
	}
	if len(unknown) == 0 {
		return ""
	}
	if len(unknown) > maxOperators {
		unknown = append(unknown[:maxOperators], "…")
	}
	return "Not in the collection: " + quotedList(unknown)
}
