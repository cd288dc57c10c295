package notebook

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"goserini/internal/tool"
)

const (
	// patience is how many searches of one branch may bring nothing before the model is told.
	patience = 4
	// maxWarnings is how often it is told for one question.
	maxWarnings = 3
	// shortestWord is the least length of a word that can name a branch, in characters.
	shortestWord = 3
)

// guard finds a branch that is searched in vain: searches in a row that all name the same
// candidate, or share a word that the question does not have, and after which nothing was
// noted. Until a constraint is noted, a document opened for the first time counts as well.
// The paper calls this failure premature branch commitment (arXiv 2605.10848, section 7).
type guard struct {
	question map[string]bool
	// searches are the queries of each search since the last evidence.
	searches [][]string
	warnings int
}

func newGuard(question string) guard {
	g := guard{question: map[string]bool{}}
	for _, w := range words(question) {
		g.question[singular(w)] = true
	}
	return g
}

// see takes a call. Evidence says that it brought some beyond what it may have noted.
func (g *guard) see(c tool.Exchange, evidence bool) {
	details, _ := c.Result.Details.(Details)
	if evidence || details.Evidence {
		g.searches = nil
	}
	if queries := queriesOf(c.Call.Arguments); len(queries) > 0 && !c.Result.IsError {
		g.searches = append(g.searches, queries)
		g.searches = g.searches[max(0, len(g.searches)-patience):]
	}
}

// branch names what was searched in vain, once; "" where nothing was.
func (g *guard) branch(candidate string) string {
	if len(g.searches) < patience || g.warnings == maxWarnings {
		return ""
	}
	name := candidate
	if name == "" || !g.all(func(query string) bool { return strings.Contains(plain(query), plain(name)) }) {
		name = strings.Join(g.shared(), " ")
	}
	if name != "" {
		g.warnings++
		g.searches = nil
	}
	return name
}

// all reports whether something holds for every query.
func (g *guard) all(holds func(query string) bool) bool {
	for _, queries := range g.searches {
		if slices.ContainsFunc(queries, func(q string) bool { return !holds(q) }) {
			return false
		}
	}
	return true
}

// shared are the words that all queries have and the question has not.
func (g *guard) shared() []string {
	var out []string
	for _, w := range words(g.searches[0][0]) {
		if g.question[singular(w)] || slices.Contains(out, w) || commonWords[w] || utf8.RuneCountInString(w) < shortestWord {
			continue
		}
		if g.all(func(query string) bool {
			return slices.ContainsFunc(words(query), func(other string) bool { return singular(other) == singular(w) })
		}) {
			out = append(out, w)
		}
	}
	return out
}

// commonWords say nothing about what is searched.
var commonWords = map[string]bool{
	"the": true, "and": true, "for": true, "with": true, "from": true, "that": true, "who": true, "what": true,
	"when": true, "where": true, "which": true, "how": true, "was": true, "were": true, "are": true, "his": true, "her": true, "its": true,
}

// plain is text without case, with single blanks.
func plain(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

func singular(word string) string { return strings.TrimSuffix(word, "s") }

// queriesOf are the queries of a call: a call that has some is a search.
func queriesOf(arguments json.RawMessage) []string {
	var args struct {
		Query   json.RawMessage `json:"query"`
		Queries json.RawMessage `json:"queries"`
	}
	if json.Unmarshal(arguments, &args) != nil {
		return nil
	}
	var out []string
	for _, raw := range []json.RawMessage{args.Query, args.Queries} {
		var one string
		var many []string
		if json.Unmarshal(raw, &one) == nil {
			many = []string{one}
		} else if json.Unmarshal(raw, &many) != nil {
			continue
		}
		for _, q := range many {
			if strings.TrimSpace(q) != "" {
				out = append(out, q)
			}
		}
	}
	return out
}
