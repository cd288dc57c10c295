package rpcserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"goserini/internal/analysis"
	"goserini/internal/index"
)

// The lucene mode reads the part of the classic query syntax that needs no places of words:
// words, + and -, AND OR NOT && || !, parentheses, FIELD:, ^BOOST, and backslashes. Phrases
// of several words, wildcards, ~ and ranges are refused by name. Words are lower-cased but
// not stemmed, as the original does it, so a word finds documents only where it is its own
// stem.

// node is a word, or a group of clauses.
type node struct {
	word    string
	clauses []clause
	boost   float64
	// nothing stands for a field that no document has.
	nothing bool
}

type clause struct {
	occur occur
	node  node
}

type occur int

const (
	should occur = iota
	must
	mustNot
)

// Bounds of a query: Lucene's number of clauses, and parentheses inside each other.
const (
	maxClauses = 1024
	maxDepth   = 100
)

type luceneParser struct {
	text    string
	clauses int
	depth   int
}

func parseLucene(query string) (node, error) {
	p := &luceneParser{text: query}
	n, err := p.group(false)
	if err != nil {
		return node{}, err
	}
	return n, nil
}

func (p *luceneParser) peek() byte {
	p.text = strings.TrimLeft(p.text, " \t\n\r\u3000")
	if p.text == "" {
		return 0
	}
	return p.text[0]
}

// eat consumes a mark; a word such as AND only where it stands alone.
func (p *luceneParser) eat(mark string) bool {
	p.peek()
	rest, ok := strings.CutPrefix(p.text, mark)
	if !ok || mark[0] >= 'A' && rest != "" && !strings.ContainsAny(rest[:1], " \t\n\r(") {
		return false
	}
	p.text = rest
	return true
}

// group reads clauses up to a closing parenthesis, or the end.
func (p *luceneParser) group(inside bool) (node, error) {
	g := node{boost: 1}
	if p.depth++; p.depth > maxDepth {
		return g, errTooDeep
	}
	defer func() { p.depth-- }()
	for {
		switch c := p.peek(); {
		case c == 0 && inside:
			return g, errors.New("a parenthesis is not closed")
		case c == 0:
			return g, nil
		case c == ')' && inside:
			p.text = p.text[1:]
			return g, nil
		}
		if err := p.clause(&g); err != nil {
			return g, err
		}
	}
}

// clause reads one clause with the conjunction before it. AND makes its left side required
// too, as Lucene's parser does.
func (p *luceneParser) clause(g *node) error {
	and := p.eat("AND") || p.eat("&&")
	or := !and && (p.eat("OR") || p.eat("||"))
	if (and || or) && len(g.clauses) == 0 {
		return errors.New("a conjunction stands without anything before it")
	}
	o := should
	switch {
	case p.eat("+"):
		o = must
	case p.eat("-"), p.eat("!"), p.eat("NOT"):
		o = mustNot
	}
	if and {
		if left := &g.clauses[len(g.clauses)-1]; left.occur == should {
			left.occur = must
		}
		if o == should {
			o = must
		}
	}
	n, err := p.unit()
	if err != nil {
		return err
	}
	if p.clauses++; p.clauses > maxClauses {
		return fmt.Errorf("more than %d clauses", maxClauses)
	}
	g.clauses = append(g.clauses, clause{o, n})
	return nil
}

// unit reads a word or a group, with its field and boost.
func (p *luceneParser) unit() (node, error) {
	field, err := p.field()
	if err != nil {
		return node{}, err
	}
	var n node
	switch c := p.peek(); c {
	case '(':
		p.text = p.text[1:]
		n, err = p.group(true)
	case '"':
		n, err = p.quoted()
	case '[', '{':
		err = errors.New("ranges are not supported")
	case '/':
		err = errors.New("regular expressions are not supported")
	default:
		var word string
		if word, err = p.word(); err == nil {
			n = words(word)
		}
	}
	if err != nil {
		return n, err
	}
	if n.boost, err = p.boost(); err != nil {
		return n, err
	}
	n.nothing = field != "" && field != "contents"
	return n, nil
}

// field reads a name and the colon behind it, if there are both.
func (p *luceneParser) field() (string, error) {
	p.peek()
	before := p.text
	name := p.text[:len(p.text)-len(strings.TrimLeftFunc(p.text, fieldRune))]
	if rest := p.text[len(name):]; name != "" && strings.HasPrefix(rest, ":") {
		p.text = rest[1:]
		if p.peek() == 0 {
			return "", fmt.Errorf("nothing follows the field %s", name)
		}
		return name, nil
	}
	p.text = before
	return "", nil
}

func fieldRune(r rune) bool {
	return r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// quoted reads a phrase, which may hold one word only.
func (p *luceneParser) quoted() (node, error) {
	end := strings.IndexByte(p.text[1:], '"')
	if end < 0 {
		return node{}, errors.New("a quote is not closed")
	}
	n := words(p.text[1 : 1+end])
	p.text = p.text[end+2:]
	if len(n.clauses) > 0 {
		return n, errors.New("phrases of several words are not supported")
	}
	return n, nil
}

// word reads characters up to one that has a meaning; a backslash takes it away.
func (p *luceneParser) word() (string, error) {
	var b strings.Builder
	for p.text != "" {
		r, size := utf8.DecodeRuneInString(p.text)
		switch {
		case r == '\\' && len(p.text) > 1:
			r, n := utf8.DecodeRuneInString(p.text[1:])
			b.WriteRune(r)
			p.text = p.text[1+n:]
			continue
		case r == '\\':
			return "", errors.New("a backslash stands at the end")
		case r == '*' || r == '?':
			return "", errors.New("wildcards are not supported")
		case r == '~':
			return "", errors.New("fuzzy words and ~ are not supported")
		case strings.ContainsRune(" \t\n\r\u3000^()", r):
			if b.Len() == 0 {
				return "", fmt.Errorf("%q stands where a word belongs", r)
			}
			return b.String(), nil
		case strings.ContainsRune(`"[]{}:/`, r), b.Len() == 0 && strings.ContainsRune("+-!", r):
			return "", fmt.Errorf("%q stands where it has no meaning", r)
		}
		b.WriteRune(r)
		p.text = p.text[size:]
	}
	if b.Len() == 0 {
		return "", errors.New("the query ends where a word belongs")
	}
	return b.String(), nil
}

// boost reads ^NUMBER, 1 if there is none.
func (p *luceneParser) boost() (float64, error) {
	if strings.HasPrefix(p.text, "~") {
		return 0, errors.New("fuzzy words and ~ are not supported")
	}
	rest, ok := strings.CutPrefix(p.text, "^")
	if !ok {
		return 1, nil
	}
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789."))]
	f, err := strconv.ParseFloat(digits, 32)
	if err != nil {
		return 0, errors.New("no number follows ^")
	}
	p.text = rest[len(digits):]
	return f, nil
}

// words analyzes a piece of the query as Lucene's standard analyzer does; several words are
// alternatives.
func words(piece string) node {
	var group node
	for _, t := range standardTerms(piece) {
		group.clauses = append(group.clauses, clause{should, node{word: t, boost: 1}})
	}
	if len(group.clauses) == 1 {
		return node{word: group.clauses[0].node.word, boost: 1}
	}
	group.boost = 1
	return group
}

func standardTerms(text string) []string {
	a, err := analysis.ByName("none")
	if err != nil {
		return nil // the analyzer is built in
	}
	return analysis.Terms(a, text)
}

// scored are the documents that match, with their scores, taken in float64.
type scored map[index.Ordinal]luceneHit

type luceneHit struct {
	docid string
	score float64
}

func (c *indexed) evaluate(ctx context.Context, n node) (scored, error) {
	switch {
	case n.nothing:
		return scored{}, nil
	case n.word != "":
		return c.documentsOf(ctx, n)
	}
	return c.combine(ctx, n)
}

// documentsOf are the documents that hold a word. A word that is not its own stem stands in
// no document under that form.
func (c *indexed) documentsOf(ctx context.Context, n node) (scored, error) {
	if terms := analysis.Terms(c.ix.Analyzer(), n.word); len(terms) != 1 || terms[0] != n.word {
		return scored{}, nil
	}
	found, err := c.ix.Search(ctx, index.Query{Text: n.word, Params: c.params, Depth: int(max(c.ix.Stats().Documents, 1))})
	if err != nil {
		return nil, err
	}
	out := make(scored, len(found.Hits))
	for _, h := range found.Hits {
		out[h.Ordinal] = luceneHit{h.DocID, float64(h.Score) * n.boost}
	}
	return out, nil
}

// combine evaluates a group: a document matches if it holds every required clause, or any
// where none is required, and no forbidden one. Its score is the sum over the clauses it
// holds.
func (c *indexed) combine(ctx context.Context, n node) (scored, error) {
	sum, required := scored{}, 0
	held := map[index.Ordinal]int{} // required clauses
	var forbidden []scored
	for _, cl := range n.clauses {
		found, err := c.evaluate(ctx, cl.node)
		if err != nil {
			return nil, err
		}
		if cl.occur == mustNot {
			forbidden = append(forbidden, found)
			continue
		}
		for ord, h := range found {
			sum[ord] = luceneHit{h.docid, sum[ord].score + h.score}
			if cl.occur == must {
				held[ord]++
			}
		}
		if cl.occur == must {
			required++
		}
	}
	for ord, h := range sum {
		sum[ord] = luceneHit{h.docid, h.score * n.boost}
		if held[ord] < required {
			delete(sum, ord)
		}
	}
	for _, f := range forbidden {
		for ord := range f {
			delete(sum, ord)
		}
	}
	return sum, nil
}

// best are the k documents of the highest scores, ties by docid.
func (c *indexed) best(found scored, k int) []Scored {
	ranking := make([]Scored, 0, len(found))
	for _, h := range found {
		ranking = append(ranking, Scored{h.docid, float32(h.score)})
	}
	slices.SortFunc(ranking, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.DocID, b.DocID))
	})
	return ranking[:min(k, len(ranking))]
}
