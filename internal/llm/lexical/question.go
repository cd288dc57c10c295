package lexical

import (
	"slices"
	"strings"

	"goserini/internal/lazyregexp"
)

// kind is what a question asks for.
type kind int

const (
	thing kind = iota // a name or a noun phrase: which X, what X
	person
	place
	date
	year
	number
	choice  // one of two that the question names
	verdict // yes or no
	claim   // no question: a statement to be checked
	passage // why, how, describe: a sentence of the text
)

func (k kind) String() string {
	return [...]string{"a name", "a person", "a place", "a date", "a year", "a number", "one of two", "yes or no", "a claim to check", "a passage"}[k]
}

// question is a question taken apart.
type question struct {
	text string
	kind kind
	// head are the stems of the noun asked for, "maker" in "which maker"; for numbers the
	// unit, "day" in "how many days".
	head []string
	// options are the two alternatives of a choice.
	options [2]string
	// clues are the parts of the question; focus is the index of the one that asks.
	clues []clue
	focus int
	// stems are those of the whole question; known holds them as a set.
	stems []string
	known map[string]bool
	// refers says that the asking part points back to something described elsewhere in the
	// question (him, her, its, there): then that something is not the answer.
	refers bool
}

// clue is a part of a question that can be searched for by itself: a clause without the
// names in it, or one of the names.
type clue struct {
	text     string
	from, to int // byte offsets in the question
	stems    []string
	name     bool
}

func (c clue) has(at int) bool { return c.from <= at && at < c.to }

var (
	questionLabel = lazyregexp.New(`(?m)^Question:[ \t]*`)
	sentenceEnd   = lazyregexp.New(`[.?!][")\]”’']*\s+`)
	// clauseBreak separates clues inside a sentence.
	clauseBreak = lazyregexp.New(`(?i)\s*[;:,—–]\s+|\s+(?:and|but|or|who|whose|whom|which|that|where|when|while|after|before|because|since|although|until)\s+`)
	relative    = lazyregexp.New(`(?i)^\W*(?:who|whose|whom|which|that|where)\b`)
	backward    = lazyregexp.New(`(?i)\b(he|him|his|she|her|hers|it|its|they|them|their|there)\b`)
)

// questionOf finds the question in the first message: what follows the label "Question:",
// or all of it.
func questionOf(message string) string {
	if at := questionLabel.FindStringIndex(message); at != nil {
		message = message[at[1]:]
	}
	return strings.TrimSpace(message)
}

// Bounds of what is taken apart: bytes of a question, clauses of a sentence, clues in all.
// What is beyond them is not forgotten by accident: real questions are far shorter.
const (
	longestQuestion = 8 << 10
	mostClauses     = 32
	mostClues       = 48
)

// parse takes a question apart. Any text will do.
func parse(text string) question {
	if len(text) > longestQuestion {
		text = strings.ToValidUTF8(text[:longestQuestion], "")
	}
	q := question{text: text, known: map[string]bool{}}
	q.stems = stems(text)
	for _, s := range q.stems {
		q.known[s] = true
	}
	a := findAsk(text)
	q.kind, q.head = a.kind, a.head
	q.clues, q.focus = split(text, a)
	if q.kind == choice {
		q.options = a.options
	}
	q.refers = len(q.clues) > 1 && backward.MatchString(q.clues[q.focus].text)
	return q
}

// split cuts the question into clues and returns which of them asks.
func split(text string, a ask) (clues []clue, focus int) {
	parts := joinAsking(clausesOf(text), text, a)
	for _, p := range parts {
		asks := p.has(a.at)
		if !asks && len(clues) >= mostClues {
			continue
		}
		rest, names := withoutNames(text, p)
		if asks && len(rest.stems) == 0 && len(names) > 0 {
			rest = p // it asks by a name alone
		}
		if asks {
			focus = len(clues)
		}
		if asks || len(rest.stems) > 0 {
			rest.text = strings.TrimSpace(text[p.from:p.to])
			clues = append(clues, rest)
		}
		clues = append(clues, names[:min(len(names), mostClues)]...)
	}
	if len(clues) == 0 {
		clues = []clue{{text: text}}
	}
	return clues, focus
}

// clausesOf cuts the question into clauses with at least two content words each, where
// its sentences have that many.
func clausesOf(text string) []clue {
	var out []clue
	for _, s := range pieces(text, sentenceEnd) {
		var parts []clue
		for _, c := range clauses(text[s[0]:s[1]]) {
			from, to := s[0]+c[0], s[0]+c[1]
			parts = append(parts, clue{from: from, to: to, stems: stems(text[from:to])})
		}
		out = append(out, joinShort(text, parts)...)
	}
	return out
}

// joinShort joins clauses of a single content word: with the relative clause that follows
// ("after the schoolmistress | who had taught her"), else with the clause before.
func joinShort(text string, parts []clue) []clue {
	join := func(i int) {
		parts[i].to = parts[i+1].to
		for _, s := range parts[i+1].stems {
			if !slices.Contains(parts[i].stems, s) {
				parts[i].stems = append(parts[i].stems, s)
			}
		}
		parts = slices.Delete(parts, i+1, i+2)
	}
	for i := len(parts) - 2; i >= 0; i-- {
		if len(parts[i].stems) < 2 && relative.MatchString(text[parts[i+1].from:parts[i+1].to]) {
			join(i)
		}
	}
	for i := len(parts) - 2; i >= 0; i-- {
		if len(parts[i+1].stems) < 2 || len(parts[i].stems) == 0 {
			join(i)
		}
	}
	return parts
}

// joinAsking makes the clause that asks one with the next where it has no verb yet: "In
// what year was the judge | who decided the matter born?"
func joinAsking(parts []clue, text string, a ask) []clue {
	enough := 0
	if a.kind == date || a.kind == year || a.kind == number || a.kind == place {
		enough = 1
	}
	for i := range parts {
		if !parts[i].has(a.at) || i+1 == len(parts) || len(without(parts[i].stems, a.head)) > enough {
			continue
		}
		parts[i].to = parts[i+1].to
		parts[i].stems = stems(text[parts[i].from:parts[i].to])
		return slices.Delete(parts, i+1, i+2)
	}
	return parts
}

func without(stems, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(stems), func(s string) bool { return slices.Contains(drop, s) })
}

// withoutNames takes the names and quotations out of a clause and makes a clue of each.
func withoutNames(text string, p clue) (rest clue, names []clue) {
	part := text[p.from:p.to]
	rest = p
	for _, n := range questionNames(part, p.from == 0 || strings.ContainsAny(text[max(0, p.from-2):p.from], ".?!")) {
		c := clue{text: n.text, from: p.from + n.start, to: p.from + n.end, stems: stems(n.text), name: true}
		if len(c.stems) > 0 {
			names = append(names, c)
			rest.stems = without(rest.stems, c.stems)
		}
	}
	return rest, names
}

// questionNames finds quotations and runs of words with capitals; the first word of a
// sentence only counts where more follow.
func questionNames(part string, opens bool) []span {
	var out []span
	for _, m := range quoted.FindAllStringSubmatchIndex(part, -1) {
		out = append(out, cut(part, m[2], m[3], 1))
	}
	for _, n := range runs(part, func(word) bool { return false }) {
		alone := !strings.Contains(n.text, " ")
		if opens && n.start <= 1 && alone && !strings.HasPrefix(part[n.end:], "'s") || alone && monthOrDay()[strings.ToLower(n.text)] || overlaps(out, []int{n.start, n.end}) {
			continue
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b span) int { return a.start - b.start })
	return out
}

// pieces returns the byte ranges between the matches of sep; separators stay with the part before.
func pieces(text string, sep *lazyregexp.Regexp) [][2]int {
	var out [][2]int
	from := 0
	for _, m := range sep.FindAllStringIndex(text, -1) {
		if from < m[1] {
			out = append(out, [2]int{from, m[1]})
		}
		from = m[1]
	}
	if from < len(text) {
		out = append(out, [2]int{from, len(text)})
	}
	return out
}

// clauses returns the byte ranges of the clauses of a sentence; the conjunction stays with
// the clause it opens.
func clauses(sentence string) [][2]int {
	var out [][2]int
	from := 0
	for _, m := range clauseBreak.FindAllStringIndex(sentence, mostClauses) {
		if strings.TrimSpace(strings.ToLower(sentence[m[0]:m[1]])) == "that" && !startsClause(sentence[m[1]:]) {
			continue
		}
		out = append(out, [2]int{from, m[0]})
		from = m[0]
	}
	return append(out, [2]int{from, len(sentence)})
}

// startsClause tells "that was formed" from "that second organ".
func startsClause(rest string) bool {
	next := scan(rest)
	return len(next) > 0 && (!next[0].content() || looksVerbal(strings.ToLower(next[0].text)))
}

// others are the indices of the clues that do not ask.
func (q question) others() []int {
	var out []int
	for i := range q.clues {
		if i != q.focus && len(q.clues[i].stems) > 0 {
			out = append(out, i)
		}
	}
	return out
}

// holds reports whether the stems of s all stand in the question.
func (q question) holds(s string) bool {
	parts := stems(s)
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p string) bool { return !q.known[p] })
}
