// Package answer reads the final answer of a model: its three labelled parts, its
// confidence and its citations. It is tolerant in form and strict in meaning: what it
// had to interpret, it notes; what it cannot know, it does not guess.
//
//	a := answer.Parse("Explanation: seen in [d2].\nExact Answer: Orrin\nConfidence: 80%",
//		answer.Docs{Sets: sets, Exists: index.Has})
//	// a.Exact == "Orrin", *a.Confidence == 80, a.Citations == [{d2 opened}]
//
// The rules are in docs/agent.md.
package answer

import (
	"strings"

	"goserini/internal/trajectory"
)

// Notes that others branch on.
const (
	// NoLabel: the text has no label for the exact answer, so all of it is the answer.
	NoLabel = "no label"
	// NoAnswer: nothing is left when reasoning is taken away.
	NoAnswer = "no answer"
	// UnclosedTag: a reasoning tag was opened and never closed.
	UnclosedTag = "unclosed tag"
	// EmptyExact: the label of the exact answer is there and nothing follows it.
	EmptyExact = "empty exact answer"
)

// Docs is what is known about documents when an answer is read.
type Docs struct {
	// Sets are the documents the tools have touched so far.
	Sets trajectory.Sets
	// Exists reports whether the collection has a document, nil where nobody can tell.
	Exists func(docid string) bool
}

// Parse reads an answer. Text is what the model wrote without its reasoning.
func Parse(text string, docs Docs) trajectory.Answer {
	text, unclosed := withoutReasoning(strings.ToValidUTF8(text, "\uFFFD"))
	a := trajectory.Answer{Text: text}
	if unclosed {
		a.Notes = append(a.Notes, UnclosedTag)
	}
	if text == "" {
		a.Notes = append(a.Notes, NoAnswer)
		return a
	}
	parts := split(text)
	var note string
	a.Confidence, note = parts.confidence()
	a.Notes = appendNote(a.Notes, note)
	c := newCitations(docs)
	a.Citations = c.read(text)
	a.Notes = append(a.Notes, c.notes...)
	a.Explanation = parts.explanation()
	exact, labelled := parts.exact()
	a.Exact = c.trim(unwrap(exact))
	switch {
	case !labelled:
		a.Notes = append(a.Notes, NoLabel)
	case a.Exact == "":
		a.Notes = append(a.Notes, EmptyExact)
	}
	return a
}

func appendNote(notes []string, note string) []string {
	if note == "" {
		return notes
	}
	return append(notes, note)
}

// unwrap takes emphasis away that encloses a whole part.
func unwrap(s string) string {
	s = strings.TrimSpace(s)
	for _, mark := range []string{"**", "__", "*", "_"} {
		inner, ok := strings.CutPrefix(s, mark)
		if !ok {
			continue
		}
		if inner, ok = strings.CutSuffix(inner, mark); ok && !strings.Contains(inner, mark) {
			return strings.TrimSpace(inner)
		}
	}
	return s
}
