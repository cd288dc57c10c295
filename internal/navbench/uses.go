package navbench

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"goserini/internal/controller"
	"goserini/internal/eval"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/local"
)

// Use is what a part that acts only when asked is worth to a reader who asks for it by a
// fixed policy.
type Use struct {
	Part    string `json:"part"`
	Reader  string `json:"reader"`
	Measure string `json:"measure"`
	// Without and With are means over the same questions, Gain the mean of the differences.
	Without *eval.Mean `json:"without"`
	With    *eval.Mean `json:"with"`
	Gain    *eval.Mean `json:"gain"`
}

// What is compared.
const (
	tokensMeasure = "tokens until the answer's line is shown"
	perThousand   = "gold documents on the pages per 1,000 tokens"
	// findWords is the number of words that a reader looks for in a document.
	findWords = 3
)

// uses measures the parts that no reader of the other tables uses.
func (m *measurer) uses(ctx context.Context) ([]Use, error) {
	r := local.New(m.c.index, m.c.own.Params)
	uses, err := m.finds(ctx, r)
	if err != nil {
		return nil, err
	}
	plain := func(q question) []string { return []string{q.text} }
	quoting := func(q question) []string { return []string{quoted(q.text)} }
	halving := func(q question) []string { return withRarer(q.text, r) }
	naming := func(q question) []string { return withNames(q.text) }
	all, fusing := navigatorWithout(""), navigatorOf("navigator", "multi-query")
	for _, u := range []struct {
		part, reader  string
		without, with asking
	}{
		{"syntax", "puts names of several words in quotes", asking{navigatorWithout("syntax"), quoting}, asking{all, quoting}},
		{"multi-query", "asks for the rarer half of the words, too", asking{all, plain}, asking{fusing, halving}},
		{"multi-query", "asks for each name of several words, too", asking{all, plain}, asking{fusing, naming}},
	} {
		more, err := m.rankings(ctx, r, u.part, u.reader, u.without, u.with)
		if err != nil {
			return nil, err
		}
		uses = append(uses, more...)
	}
	novelty, err := m.twice(ctx, r)
	return append(uses, novelty), err
}

// navigatorWithout is the navigator without a part, or with all of them.
func navigatorWithout(part string) Variant {
	var parts []string
	all, err := controller.Profile("navigator")
	if err != nil {
		panic("navbench: " + err.Error()) // the profile is part of the program
	}
	for _, p := range all.Navigator.Parts() {
		if p != part {
			parts = append(parts, p)
		}
	}
	return navigatorOf(parts...)
}

// navigatorOf is the navigator with those parts.
func navigatorOf(parts ...string) Variant {
	nav, err := controller.ParseNavigator(parts...)
	if err != nil {
		panic("navbench: " + err.Error()) // so are its parts
	}
	return Variant{"navigator", controller.Options{Navigator: nav, Budget: fixedBudget}}
}

// finds compares readers of known items who look for the rarest words of the question in
// the document before they open it with those who open it at once.
func (m *measurer) finds(ctx context.Context, r *local.Retriever) ([]Use, error) {
	var uses []Use
	if len(m.items) == 0 {
		return nil, nil
	}
	find, err := controller.ParseNavigator("find")
	if err != nil {
		return nil, err
	}
	for _, tools := range []struct {
		name string
		v    Variant
	}{
		{"find, paper's tools", Variant{"find", controller.Options{Navigator: find, Budget: fixedBudget}}},
		{"find, navigator", navigatorWithout("")},
	} {
		var cost [2][]float64
		for i := range cost {
			readings, err := each(ctx, m, tools.name, m.items, func(q question) (reading, error) {
				pattern := ""
				if i == 1 {
					pattern = findPattern(q.text, r)
				}
				return seekFinding(ctx, r, tools.v, q, true, pattern)
			})
			if err != nil {
				return nil, err
			}
			cost[i] = values(readings, func(x reading) float64 { return tokens(x.bytes) })
		}
		uses = append(uses, compare(tools.name, "looks for the three rarest words first", tokensMeasure, cost))
	}
	return uses, nil
}

// asking is a way to ask: with which tools, and for which queries together.
type asking struct {
	tools   Variant
	queries func(question) []string
}

// rankings compares how well gold documents are ranked.
func (m *measurer) rankings(ctx context.Context, r *local.Retriever, part, reader string, without, with asking) ([]Use, error) {
	var ndcg, recall [2][]float64
	for i, ask := range []asking{without, with} {
		found, err := each(ctx, m, part, m.questions, func(q question) ([]string, error) {
			page, _, err := newConversation(r, ask.tools).searchAll(ctx, ask.queries(q), false)
			return page.Access.Surfaced, err
		})
		if err != nil {
			return nil, err
		}
		all := make([]browsing, len(found))
		for j, ranking := range found {
			all[j].ranking = ranking[:min(ranksKept, len(ranking))]
		}
		kept := map[string]ranked{}
		if _, err := ranks(m.questions, all, kept); err != nil {
			return nil, err
		}
		ndcg[i] = values(m.questions, func(q question) float64 { return kept[q.id].ndcg })
		recall[i] = values(m.questions, func(q question) float64 { return kept[q.id].recall })
	}
	return []Use{
		compare(part, reader, "nDCG@10 of gold documents", ndcg),
		compare(part, reader, "R@5 of gold documents", recall),
	}, nil
}

// twice compares readers who ask for all words and then for the rarer half of them, and look
// at the first page of each: of the second only what is new, or all.
func (m *measurer) twice(ctx context.Context, r *local.Retriever) (Use, error) {
	var per [2][]float64
	for i := range per {
		got, err := each(ctx, m, "novelty", m.questions, func(q question) (float64, error) {
			talk := newConversation(r, navigatorWithout(""))
			shown := map[string]bool{}
			for n, query := range withRarer(q.text, r) {
				page, _, err := talk.searchAll(ctx, []string{query}, i == 1 && n == 1)
				if err != nil {
					return 0, err
				}
				for _, docid := range page.Access.Previewed {
					if slices.Contains(q.gold, docid) {
						shown[docid] = true
					}
				}
			}
			return 1000 * float64(len(shown)) / tokens(talk.bytes), nil
		})
		if err != nil {
			return Use{}, err
		}
		per[i] = got
	}
	return compare("novelty", "asks again for the rarer half of the words, with new_only", perThousand, per), nil
}

// compare makes a Use of figures without and with a part.
func compare(part, reader, measure string, figures [2][]float64) Use {
	gain := make([]float64, len(figures[0]))
	for i := range gain {
		gain[i] = figures[1][i] - figures[0][i]
	}
	return Use{part, reader, measure, eval.MeanOf(figures[0], draws), eval.MeanOf(figures[1], draws), eval.MeanOf(gain, draws)}
}

// rarest are the distinct terms of a question that occur in the collection, the rarest first.
func rarest(text string, stats retrieval.TermStats) []retrieval.QueryTerm {
	terms := slices.DeleteFunc(retrieval.QueryTerms(text, stats), func(t retrieval.QueryTerm) bool { return t.DF == 0 })
	slices.SortStableFunc(terms, func(a, b retrieval.QueryTerm) int { return a.DF - b.DF })
	return terms
}

// withRarer are a question and a query of the rarer half of its words, in their order, if
// any word of it occurs in the collection.
func withRarer(text string, stats retrieval.TermStats) []string {
	terms := rarest(text, stats)
	terms = terms[:(len(terms)+1)/2]
	var words []string
	for _, t := range retrieval.QueryTerms(text, stats) {
		if slices.ContainsFunc(terms, func(k retrieval.QueryTerm) bool { return k.Term == t.Term }) {
			words = append(words, t.Word)
		}
	}
	if len(words) == 0 {
		return []string{text}
	}
	return []string{text, strings.Join(words, " ")}
}

// findPattern matches the rarest words of a question, "" where it has none.
func findPattern(text string, stats retrieval.TermStats) string {
	var words []string
	for _, t := range rarest(text, stats) {
		if len(words) < findWords {
			words = append(words, regexp.QuoteMeta(t.Word))
		}
	}
	if len(words) == 0 {
		return ""
	}
	return `/\b(?:` + strings.Join(words, "|") + `)/`
}

// mostNames is the most names that a reader asks for by themselves.
const mostNames = 4

// withNames are a question and the distinct names of several words in it.
func withNames(text string) []string {
	queries := []string{text}
	for _, p := range nameParts(text) {
		if p.name && !slices.Contains(queries, p.text) && len(queries) <= mostNames {
			queries = append(queries, p.text)
		}
	}
	return queries
}

// quoted puts every name of several words in quotes. Quotes that the text has are left out.
func quoted(text string) string {
	var out []string
	for _, p := range nameParts(text) {
		if p.name {
			p.text = `"` + p.text + `"`
		}
		out = append(out, p.text+p.behind)
	}
	return strings.Join(out, " ")
}

// namePart is a word of a text or a name in it, and the punctuation behind the name.
type namePart struct {
	text, behind string
	name         bool
}

// nameParts splits a text. A name is a run of two or more capitalized words; the first word of
// the text belongs to none, and punctuation ends one.
func nameParts(text string) []namePart {
	words := strings.Fields(strings.ReplaceAll(text, `"`, ""))
	var parts []namePart
	for i := 0; i < len(words); {
		end := i
		for i > 0 && end < len(words) && capitalized(words[end]) {
			end++
			if !endsInLetter(words[end-1]) {
				break
			}
		}
		if end-i < 2 {
			parts = append(parts, namePart{text: words[i]})
			i++
			continue
		}
		run := strings.Join(words[i:end], " ")
		name := strings.TrimRightFunc(run, unicode.IsPunct)
		parts = append(parts, namePart{name, run[len(name):], true})
		i = end
	}
	return parts
}

func capitalized(word string) bool {
	for _, r := range word {
		return unicode.IsUpper(r)
	}
	return false
}

func endsInLetter(word string) bool {
	runes := []rune(word)
	last := runes[len(runes)-1]
	return unicode.IsLetter(last) || unicode.IsDigit(last)
}
