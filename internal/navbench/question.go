package navbench

import (
	"slices"
	"strings"

	"goserini/internal/benchmark"
)

// question is one that has documents to be found and spans to be shown.
type question struct {
	id, text string
	answer   *benchmark.Answer
	// gold are the documents that hold the answer, sorted.
	gold  []string
	spans []span
	// holding are those of gold that hold a span somewhere.
	holding map[string]bool
	// item is set where there is one such document and its spans were found in it.
	item *item
}

// span is a marked text and its distinct content words.
type span struct {
	text  string
	words []string
}

// item is the document of a known-item question.
type item struct {
	docid    string
	contents string
	// places are byte ranges of contents where spans stand.
	places []place
}

// place is a span at bytes start to end of a document.
type place struct {
	start, end int
	words      []string
}

// shortestTurn is the least number of content words of a marked line for it to count as a
// span: a turn of a conversation such as "Okay." is no evidence.
const shortestTurn = 5

// spansOf are the spans of a question: marked sentences, else marked turns, else the answer
// and its aliases. lines are those of the document that turns are counted in, nil if there
// is no such document.
func spansOf(m marking, answer *benchmark.Answer, lines []string) []span {
	texts := m.sentences
	if len(texts) == 0 {
		return answerSpans(m, answer, lines)
	}
	return makeSpans(texts, 1)
}

func answerSpans(m marking, answer *benchmark.Answer, lines []string) []span {
	var turns []string
	for _, r := range m.turns {
		if r[0] < len(lines) {
			turns = append(turns, lines[r[0]:min(r[1]+1, len(lines))]...)
		}
	}
	if spans := makeSpans(turns, shortestTurn); len(spans) > 0 {
		return spans
	}
	if answer == nil || answer.Unanswerable {
		return nil
	}
	return makeSpans(append([]string{answer.Text}, answer.Aliases...), 1)
}

func makeSpans(texts []string, least int) []span {
	var spans []span
	for _, text := range texts {
		if words := contentWords(text); len(words) >= least {
			spans = append(spans, span{text, words})
		}
	}
	return spans
}

// locate finds the spans in a document, whatever the case and the blanks between words.
// A span that stands there several times has several places.
func locate(contents string, spans []span) []place {
	folded, offsets := fold(contents)
	var places []place
	for _, s := range spans {
		wanted, _ := fold(s.text)
		wanted = strings.TrimSpace(wanted)
		for from := 0; wanted != ""; {
			at := strings.Index(folded[from:], wanted)
			if at < 0 {
				break
			}
			at += from
			from = at + len(wanted)
			if wholeWords(folded, at, from) {
				places = append(places, place{offsets[at], offsets[from-1] + 1, s.words})
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int { return a.start - b.start })
	return places
}

// fold puts ASCII letters in lower case and every run of blanks into one, and says for each
// byte where it stood.
func fold(text string) (string, []int) {
	folded := make([]byte, 0, len(text))
	offsets := make([]int, 0, len(text))
	for i := range len(text) {
		b := text[i]
		switch {
		case b == ' ' || b == '\t' || b == '\n' || b == '\r' || b == '\f' || b == '\v':
			if len(folded) > 0 && folded[len(folded)-1] == ' ' {
				continue
			}
			b = ' '
		case 'A' <= b && b <= 'Z':
			b += 'a' - 'A'
		}
		folded = append(folded, b)
		offsets = append(offsets, i)
	}
	return string(folded), offsets
}

// wholeWords reports whether text[from:to] neither begins nor ends within a word of ASCII
// letters and digits: "35" does not stand in "1350".
func wholeWords(text string, from, to int) bool {
	inner := func(i int) bool { return i > 0 && i < len(text) && alphanumeric(text[i-1]) && alphanumeric(text[i]) }
	return !inner(from) && !inner(to)
}

func alphanumeric(b byte) bool { return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' }
