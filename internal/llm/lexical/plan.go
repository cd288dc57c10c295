package lexical

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The bounds of the research for one question.
const (
	maxTurns = 9
	maxCalls = 26

	queryWords   = 40 // of a long question the first say what it is about; its clues are searched for singly
	clueSearches = 4
	readLines    = 200  // the tool's own default: a moderate first look
	readOnLines  = 2000 // as much as a page may hold
)

// call is a tool call to be made.
type call struct {
	tool string
	args arguments
}

// plan returns the calls of the next turn, none when it is time to answer.
func (s *session) plan() []call {
	if s.steered || s.turns >= maxTurns {
		return nil
	}
	for stage := s.turns; stage < maxTurns; stage++ {
		calls := s.stage(stage)
		if room := maxCalls - s.calls; len(calls) > room {
			calls = calls[:max(room, 0)]
		}
		if len(calls) > 0 {
			return calls
		}
	}
	return nil
}

// stage returns the calls of one stage; a stage that has nothing to do is passed over.
func (s *session) stage(n int) []call {
	if n == 0 {
		if query := words(s.q.text); query != "" {
			return []call{s.search(query, "the whole question in its own words")}
		}
		return nil
	}
	v := newView(s.library)
	switch n {
	case 1:
		return append(s.searchClues(), s.browse()...)
	case 2:
		return s.readBest(v, 5)
	case 3:
		return append(s.follow(v, 3), s.readOn(v, 1)...)
	case 4:
		return append(s.readBest(v, 4), s.readOn(v, 1)...)
	case 5:
		return s.follow(v, 2)
	case 6:
		return append(s.readBest(v, 3), s.readOn(v, 2)...)
	}
	return s.readOn(v, 2)
}

func (s *session) search(query, why string) call {
	return call{"search", arguments{Reason: why, Query: query}}
}

// words are the content words of a text as a query, each once, at most queryWords.
func words(text string) string {
	var out []string
	for _, w := range scan(text) {
		if w.content() && len(out) < queryWords && !slices.Contains(out, w.text) {
			out = append(out, w.text)
		}
	}
	if len(out) == 0 {
		return strings.Join(strings.Fields(text), " ")
	}
	return strings.Join(out, " ")
}

// searchClues searches for the clues one by one, those with most words first.
func (s *session) searchClues() []call {
	if len(s.q.clues) < 2 {
		return nil
	}
	clues := slices.Clone(s.q.clues)
	slices.SortStableFunc(clues, func(a, b clue) int { return cmp.Compare(len(b.stems), len(a.stems)) })
	var out []call
	for _, c := range clues[:min(len(clues), clueSearches)] {
		if q := words(c.text); q != "" && !s.queries[key(q)] {
			out = append(out, s.search(q, fmt.Sprintf("one clue by itself: %s", short(c.text, clueWords))))
		}
	}
	return out
}

// browse looks further down the first ranking.
func (s *session) browse() []call {
	if len(s.searches) == 0 || s.searches[0].shown >= s.searches[0].total {
		return nil
	}
	r := s.searches[0]
	return []call{{"read_search_results", arguments{
		Reason: "the first page of the whole question is short; look further down", SearchID: r.id, Offset: r.shown + 1, Limit: 10,
	}}}
}

// readBest opens the most promising documents that have not been opened: at the beginning,
// or where a page has told that an excerpt stands further down than a first look goes.
func (s *session) readBest(v *view, n int) []call {
	var out []call
	for _, i := range v.byPromise() {
		d := v.order[i]
		if len(out) == n {
			break
		}
		if d.opened || s.tried[d.id] {
			continue
		}
		offset := 1
		if d.excerptLine > readLines {
			offset = d.excerptLine - linesBefore
		}
		out = append(out, call{"read_document", arguments{
			Reason: "its excerpts have " + v.covered(i), DocID: d.id, Offset: offset, Limit: readLines,
		}})
	}
	return out
}

// linesBefore is how far before an excerpt reading begins.
const linesBefore = 20

// Weights, against the share of the question, of the fused reciprocal ranks of a document
// and of what its title carries.
const (
	rankWeight  = 4
	titleWeight = 0.2
)

// byPromise returns the documents, those first that share most with the question, rank
// best, or have a title that carries clues.
func (v *view) byPromise() []int {
	value := make([]float64, len(v.order))
	out := make([]int, len(v.order))
	for i, d := range v.order {
		out[i] = i
		value[i] = v.share(i) + rankWeight*d.fused
		if !d.opened && d.titleKey != "" {
			value[i] += titleWeight * v.carriedShare(d.titleKey)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(value[b], value[a]) })
	return out
}

// carriedShare is the largest share of a clue that a name carries.
func (v *view) carriedShare(name string) float64 {
	best := 0.0
	for k := range v.clues {
		best = max(best, v.strength(name, k))
	}
	return best
}

// share is the share of all clues, by weight, that the best sentences of a document have.
func (v *view) share(i int) float64 {
	sum, total := 0.0, 0.0
	for k := range v.clues {
		sum += v.best[i][k] * v.sum[k]
		total += v.sum[k]
	}
	if total == 0 {
		return 0
	}
	return sum / total
}

// covered says which clue a document speaks to best, for the reason of a call.
func (v *view) covered(i int) string {
	best, at := 0.0, -1
	for k := range v.clues {
		if v.best[i][k] > best {
			best, at = v.best[i][k], k
		}
	}
	if at < 0 {
		return "the best rank of those not yet read"
	}
	return fmt.Sprintf("%.0f%% of the clue: %s", 100*best, short(v.q.clues[at].text, clueWords))
}

// follow searches for names that stand where the clues are met, with the words of the part that asks.
func (s *session) follow(v *view, n int) []call {
	asking := words(v.q.clues[v.q.focus].text)
	var out []call
	for _, name := range v.leads() {
		if len(out) == n {
			break
		}
		query := words(name + " " + asking) // without quotes and signs that a search could read as syntax
		if s.queries[key(query)] {
			continue
		}
		out = append(out, s.search(query, "a name found beside the clues, "+short(name, 6)+", with what is asked"))
	}
	return out
}

// leads returns the names that carry most of the clues other than the asking one, best first.
func (v *view) leads() []string {
	clues := v.q.others()
	if len(clues) == 0 {
		clues = []int{v.q.focus}
	}
	type lead struct {
		key   string
		value float64
	}
	var leads []lead
	for name := range v.carried {
		best, sum, total := 0.0, 0.0, 0.0
		for _, k := range clues {
			x := v.strength(name, k)
			best = max(best, x)
			sum += x * v.sum[k]
			total += v.sum[k]
		}
		if total > 0 {
			leads = append(leads, lead{name, best + sum/total})
		}
	}
	slices.SortFunc(leads, func(a, b lead) int { return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.key, b.key)) })
	out := make([]string, len(leads))
	for i, l := range leads {
		out[i] = v.text[l.key]
	}
	return out
}

// worthReadingOn is the number of the best documents that are read beyond a first look.
const worthReadingOn = 6

// readOn goes on in the best of the documents of which lines are left.
func (s *session) readOn(v *view, n int) []call {
	var out []call
	for at, i := range v.byPromise() {
		d := v.order[i]
		if len(out) == n || at >= worthReadingOn {
			break
		}
		if !d.opened || d.upTo >= d.total || s.reads[readKey{d.id, d.upTo + 1}] {
			continue
		}
		out = append(out, call{"read_document", arguments{
			Reason: fmt.Sprintf("it goes on after line %d and has %s", d.upTo, v.covered(i)), DocID: d.id, Offset: d.upTo + 1, Limit: readOnLines,
		}})
	}
	return out
}

// short cuts a text to n words.
func short(text string, n int) string {
	f := strings.Fields(text)
	if len(f) <= n {
		return strings.Join(f, " ")
	}
	return strings.Join(f[:n], " ") + " …"
}
