package navbench

import (
	"sync"

	"goserini/internal/analysis"
)

// heldPercent is the least share of a span's content words that must stand in a text for
// the text to hold the span.
const heldPercent = 60

// english takes stop words out and stems.
var english = sync.OnceValue(func() analysis.Analyzer {
	a, err := analysis.ByName("english")
	if err != nil {
		panic("navbench: " + err.Error()) // the analyzer is part of the program
	}
	return a
})

// contentWords are the distinct content words of a text.
func contentWords(text string) []string {
	var words []string
	seen := map[string]bool{}
	english().Analyze(text, func(t analysis.Token) {
		if !seen[string(t.Term)] {
			word := string(t.Term)
			seen[word] = true
			words = append(words, word)
		}
	})
	return words
}

// holds reports whether a text holds a span, given by its content words. No text holds a
// span without content words.
func holds(text string, span []string) bool {
	if len(span) == 0 || text == "" {
		return false
	}
	have := map[string]bool{}
	english().Analyze(text, func(t analysis.Token) { have[string(t.Term)] = true })
	n := 0
	for _, word := range span {
		if have[word] {
			n++
		}
	}
	return 100*n >= heldPercent*len(span)
}

// holdsAny reports whether a text holds one of the spans.
func holdsAny(text string, spans []span) bool {
	for _, s := range spans {
		if holds(text, s.words) {
			return true
		}
	}
	return false
}
