package judge

import (
	"context"
	"slices"
	"strings"
)

// Match is what a comparison without a model can say.
type Match int

// The three results of a comparison.
const (
	// Different: the answer is wrong as far as its form shows.
	Different Match = iota
	// Unsure: it takes a reader to tell.
	Unsure
	// Same: the answer is right.
	Same
)

func (m Match) String() string { return [...]string{"different", "unsure", "same"}[m] }

// exactRules changes when Compare decides otherwise on some pair, so that old verdicts are
// not reused.
const exactRules = "1"

// Exact is the judge without a model. It compares forms, not meanings: "NYC" is not "New
// York City" to it unless an alias says so. Every verdict carries its name.
type Exact struct{}

// Name is builtin/exact.
func (Exact) Name() string { return "builtin/exact" }

// Mode is always GoldAnswer.
func (Exact) Mode() Mode { return GoldAnswer }

// Fingerprint names the version of the rules.
func (Exact) Fingerprint() string { return exactRules }

// Judge compares the short answer, or the whole response where there is none, with the
// reference. An unanswerable question is answered correctly iff the answer says that
// nothing was found.
func (e Exact) Judge(_ context.Context, it Item) (Verdict, error) {
	v := newVerdict(e, it)
	v.State = Judged
	answer := strings.TrimSpace(it.Exact)
	if answer == "" {
		answer = strings.TrimSpace(it.Response)
	}
	v.ExtractedFinalAnswer = &answer

	match, why := Compare(answer, it.Reference)
	v.Reasoning = &why
	if match == Unsure {
		v.State = Undecided
		v.Error = why
		return v, nil
	}
	correct := match == Same
	v.Correct = &correct
	return v, nil
}

// Compare decides whether an answer is the reference or one of its aliases, and says why.
// The best match counts.
func Compare(answer string, ref Reference) (Match, string) {
	answer = withoutCitations(answer)
	if answer == "" {
		return Different, "there is no answer"
	}
	if ref.Unanswerable {
		if SaysNothingFound(answer) {
			return Same, "the question is unanswerable and the answer says that nothing was found"
		}
		return Different, "the question is unanswerable and the answer does not say that nothing was found"
	}
	best, why := compareTexts(answer, ref.Answer)
	for _, alias := range ref.Aliases {
		if m, w := compareTexts(answer, alias); m > best {
			best, why = m, "alias: "+w
		}
	}
	return best, why
}

func compareTexts(answer, truth string) (Match, string) {
	a, b := words(answer), words(truth)
	if len(a) == 0 || len(b) == 0 { // nothing but punctuation
		if fold(answer) == fold(truth) && fold(answer) != "" {
			return Same, "equal texts"
		}
		return Different, "the texts differ"
	}
	qa, aIsQuantity := parseQuantity(answer)
	qb, bIsQuantity := parseQuantity(truth)
	if aIsQuantity && bIsQuantity {
		return compareQuantities(qa, qb)
	}
	if slices.Equal(a, b) {
		return Same, "equal in normal form"
	}
	if da, db := parseDate(answer), parseDate(truth); da != nil && db != nil {
		return compareDates(da, db)
	}
	if m, why, ok := compareYesNo(a, b); ok {
		return m, why
	}
	if m, why := compareWords(a, b); m != Different || !SaysNothingFound(answer) {
		return m, why
	}
	return Different, "the answer says that nothing was found"
}

// compareYesNo decides where the reference is a plain yes or no.
func compareYesNo(answer, truth []string) (Match, string, bool) {
	if len(truth) != 1 || truth[0] != "yes" && truth[0] != "no" {
		return Different, "", false
	}
	switch answer[0] {
	case truth[0]:
		return Same, "begins with the right yes or no", true
	case "yes", "no":
		return Different, "begins with the opposite yes or no", true
	}
	return Unsure, "neither yes nor no", true
}

// compareWords decides on texts in different words: one inside the other ("not Orrin" and "Orrin",
// too), or the same words in another order, may mean the same or not.
func compareWords(a, b []string) (Match, string) {
	if contains(a, b) || contains(b, a) {
		return Unsure, "one text is part of the other"
	}
	x, y := slices.Clone(a), slices.Clone(b)
	slices.Sort(x)
	slices.Sort(y)
	if slices.Equal(x, y) {
		return Unsure, "the same words in another order"
	}
	return Different, "the texts differ"
}
