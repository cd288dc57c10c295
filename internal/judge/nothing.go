package judge

import (
	"slices"
	"strings"
)

// nothingWhole are normal forms that say "nothing found" when they are the whole answer.
var nothingWhole = map[string]bool{
	"none": true, "nothing": true, "unknown": true, "unanswerable": true, "undetermined": true,
	"n a": true, "na": true, "nil": true, "null": true, "no answer": true, "inconclusive": true,
}

// nothingPhrases say it anywhere in the answer. Apostrophes are gone in normal form.
var nothingPhrases = []string{
	"nothing found", "nothing was found", "not found", "none found", "no answer found", "no answer was found",
	"no answer could be found", "no matching document", "no matching documents", "no relevant document",
	"no relevant documents", "no evidence", "no information", "not enough information",
	"insufficient information", "insufficient evidence", "not available", "not specified", "not stated",
	"not mentioned", "not provided", "not given in the", "not answerable", "unable to find",
	"unable to determine", "cannot be determined", "cannot be answered", "cannot be found", "cannot determine",
	"cannot answer", "could not find", "could not be found", "could not determine", "could not be determined",
	"couldnt find", "did not find", "didnt find", "do not know", "dont know", "does not contain the answer",
	"do not contain the answer", "do not contain an answer", "does not say", "do not say",
}

// SaysNothingFound reports whether an answer states that the documents do not hold one.
// It knows common English phrases and no others; an empty answer says nothing at all.
func SaysNothingFound(answer string) bool {
	text := strings.Join(words(withoutCitations(answer)), " ")
	return nothingWhole[text] || slices.ContainsFunc(nothingPhrases, func(phrase string) bool {
		return strings.Contains(" "+text+" ", " "+phrase+" ")
	})
}
