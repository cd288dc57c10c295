package lexical

import (
	"strings"

	"goserini/internal/lazyregexp"
)

// ask is what a question asks for and where in its text it does so.
type ask struct {
	at      int // byte offset of the asking word
	kind    kind
	head    []string
	options [2]string
}

var (
	// asking finds question words. Those that follow a comma or a noun are relative pronouns
	// more often than not, so that the place decides (see findAsk).
	asking = lazyregexp.New(`(?i)\b(who|whom|whose|when|where|which|what|how|why)\b`)
	// opens matches what may stand before the question word of a sentence.
	opens = lazyregexp.New(`(?i)^\W*(?:(?:and|but|so|then|in|on|at|to|from|by|of|for|with|since|until|during|after|under|into|about|name|tell me|please|identify|besides [^,]+,)\s+)*$`)
	// afterPhrase matches a phrase and a comma before a question word.
	afterPhrase = lazyregexp.New(`^[^,]{0,120}(?:,[^,]{0,30})?,\s*$`)
	auxiliary   = lazyregexp.New(`(?i)^\s*(?:did|does|do)\b`)
	// governed matches a preposition or verb right before "which X" or "what X" inside a sentence.
	governed = lazyregexp.New(`(?i)\b(?:in|on|at|to|from|by|of|for|with|is|was|are|were|has|had|under|into|about|during|played|starred|stared|called)\s+$`)
	truth    = lazyregexp.New(`(?i)^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might)\b`)
	telling  = lazyregexp.New(`(?i)^\W*(?:summari[sz]e|describe|explain|discuss|compare|list|outline|analy[sz]e|evaluate|tell me about)\b`)
	either   = lazyregexp.New(`(?:[,:]|\bbetween\b|\bin\b|\bby\b|\b[Oo]f\b|\bwas\b|\bis\b|\bfirst\b|\bformed\b)\s+([^,?;:]{2,80}?),?\s+(?:or|and)\s+([^,?;]{2,80}?)\s*(?:[,?]|$)`)
	orOnly   = lazyregexp.New(`(?i)\bor\b`)
)

// findAsk finds the asking word. The last sentence that has one decides.
func findAsk(text string) ask {
	sentences := pieces(text, sentenceEnd)
	for i := len(sentences) - 1; i >= 0; i-- {
		s := sentences[i]
		if a, ok := askIn(text[s[0]:s[1]]); ok {
			a.at += s[0]
			return a
		}
	}
	if telling.MatchString(text) || strings.Contains(text, "?") {
		return ask{kind: passage}
	}
	return ask{kind: claim}
}

// mostAsking bounds the question words of one sentence that are looked at.
const mostAsking = 32

// askIn looks in one sentence: first for a question word that opens it, also behind a
// phrase and a comma; then for one governed by a preposition or verb; then for a sentence
// that opens with a verb.
func askIn(sentence string) (ask, bool) {
	if telling.MatchString(sentence) {
		return ask{kind: passage}, true
	}
	words := asking.FindAllStringIndex(sentence, mostAsking)
	for _, m := range words {
		if opens.MatchString(sentence[:m[0]]) || opensLate(sentence, m) {
			return classify(sentence, m), true
		}
	}
	if !strings.Contains(sentence, "?") {
		return ask{}, false
	}
	for i := len(words) - 1; i >= 0; i-- {
		a := classify(sentence, words[i])
		w := strings.ToLower(sentence[words[i][0]:words[i][1]])
		if (w == "which" || w == "what") && governed.MatchString(sentence[:words[i][0]]) && (a.kind != thing || !truth.MatchString(sentence)) {
			return a, true
		}
	}
	if truth.MatchString(sentence) {
		return truthOrChoice(sentence), true
	}
	if len(words) > 0 { // "…, who in 1988 became the first?": the last question word will have to do
		return classify(sentence, words[len(words)-1]), true
	}
	return ask{}, false
}

// opensLate reports whether a question word behind a phrase and a comma asks, and is no
// relative pronoun: what and how always, others before a form of do, which before a noun.
func opensLate(sentence string, m []int) bool {
	if !afterPhrase.MatchString(sentence[:m[0]]) {
		return false
	}
	rest := sentence[m[1]:]
	switch strings.ToLower(sentence[m[0]:m[1]]) {
	case "what", "how":
		return true
	case "which":
		next := scan(rest)
		return len(next) > 0 && next[0].content() && !looksVerbal(strings.ToLower(next[0].text))
	}
	return auxiliary.MatchString(rest)
}

func truthOrChoice(sentence string) ask {
	if o, ok := twoOptions(sentence); ok && orOnly.MatchString(sentence) {
		return ask{kind: choice, options: o}
	}
	return ask{kind: verdict}
}

// classify says what the question word at m asks for.
func classify(sentence string, m []int) ask {
	a := ask{at: m[0]}
	rest := sentence[m[1]:]
	switch strings.ToLower(sentence[m[0]:m[1]]) {
	case "who", "whom", "whose":
		a.kind = person
	case "when":
		a.kind = date
	case "where":
		a.kind = place
	case "why":
		a.kind = passage
	case "how":
		a.kind, a.head = howMuch(rest)
	default: // which, what
		a.kind, a.head = whichNoun(rest)
	}
	if o, ok := twoOptions(sentence); ok && (a.kind == person || a.kind == thing || a.kind == place) && orOnly.MatchString(sentence) {
		a.kind, a.options = choice, o
	}
	return a
}

// measures are the adjectives that ask for a number after "how".
var measures = set(`many much long old tall high far wide deep large big often heavy fast`)

func howMuch(rest string) (kind, []string) {
	words := scan(rest)
	if len(words) == 0 || !measures()[strings.ToLower(words[0].text)] {
		return passage, nil
	}
	if w := strings.ToLower(words[0].text); w == "many" || w == "much" {
		return number, stems(headNoun(rest[words[0].end:]))
	}
	return number, nil
}

// kindOf maps nouns after which or what to the kind of their answers.
var kindOf = map[kind]func() map[string]bool{
	date:   set(`date day`),
	year:   set(`year years`),
	number: set(`percentage percent number amount population height length size age distance price cost rate total revenue quantity proportion share ratio`),
	place:  set(`city town village country state county province district region continent island place location area neighborhood neighbourhood municipality territory`),
	person: set(`person man woman artist actor actress author king queen president director writer player captain poet politician scientist philosopher architect rapper star boy girl explorer model`),
}

// personEnds are endings of nouns for people.
var personEnds = lazyregexp.New(`(?:ist|ician|maker|keeper|painter|singer|composer|designer|writer|builder|founder|teacher|leader|ruler|minister|officer|general|engineer|drummer)$`)

// whichNoun reads the noun after which or what: the last of the content words before a
// verb, a preposition or a stop.
func whichNoun(rest string) (kind, []string) {
	noun := headNoun(rest)
	lower := strings.ToLower(noun)
	for _, k := range []kind{year, date, number, place, person} {
		if kindOf[k]()[lower] || kindOf[k]()[strings.TrimSuffix(lower, "s")] {
			return k, stems(noun)
		}
	}
	if personEnds.MatchString(strings.TrimSuffix(lower, "s")) || strings.HasSuffix(lower, "actresses") {
		return person, stems(noun)
	}
	return thing, stems(noun)
}

func headNoun(rest string) string {
	noun := ""
	end := 0
	for i, w := range scan(rest) {
		lower := strings.ToLower(w.text)
		stop := strings.ContainsAny(rest[end:w.start], ",;:.?!\"“(")
		end = w.end
		switch {
		case stop || i > 8:
			return noun
		case sorts()[lower]:
			noun = ""
		case !w.content():
			if noun != "" || !leading()[lower] {
				return noun
			}
		case looksVerbal(lower) && noun != "":
			return noun
		default:
			noun = w.text
		}
		if w.possessive {
			noun = ""
		}
	}
	return noun
}

// sorts are nouns that stand for the one behind their "of".
var sorts = set(`kind type sort form name`)

// leading are the words that may stand between which and its noun.
var leading = set(`of the those these his her its their a an is was are were and two three same other only did`)

// pasts are common past forms that no ending betrays.
var pasts = set(`brought led built wrote won held sent left found lost kept ran sang sold spoke stood taught thought threw wore bought caught chose cut drew drove fell felt flew fought grew heard hit hung knew laid lay lent met paid read rode rose sank saw shot shut sat slept spent struck swam swept told understood woke`)

// nouns have the endings of verbs or adverbs and are none.
var nouns = set(`family assembly monopoly anomaly italy july king thing ring spring building wedding painting meeting seed breed ruling`)

// looksVerbal tells a verb or adverb behind the noun, by a list and by endings. It errs on
// the side of the noun.
func looksVerbal(lower string) bool {
	for _, end := range []string{"ed", "ing", "ly"} {
		if strings.HasSuffix(lower, end) && len(lower) > 4 && !nouns()[lower] {
			return true
		}
	}
	return pasts()[lower]
}

// twoOptions finds "A or B" at the end of a question or after "between" or "of".
func twoOptions(sentence string) ([2]string, bool) {
	ms := either.FindAllStringSubmatch(sentence, mostAsking)
	for i := len(ms) - 1; i >= 0; i-- {
		a, b := trimOption(ms[i][1]), trimOption(ms[i][2])
		if a != "" && b != "" {
			return [2]string{a, b}, true
		}
	}
	return [2]string{}, false
}

// trimOption reduces an option to what begins with its first capital letter or digit, since
// the pattern may have taken words before it. What has neither is none.
func trimOption(s string) string {
	for _, w := range scan(s) {
		if w.upper || w.digits {
			return strings.TrimSpace(s[w.start:])
		}
	}
	return ""
}
