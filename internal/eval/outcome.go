package eval

// Outcome is what a judge made of one answer.
type Outcome struct {
	// Correct implies Decided or an answer that was not worth judging.
	Correct bool
	// Decided is false where the judge gave no decision. The query counts as not correct
	// all the same, and is counted apart.
	Decided bool
	// Judged is false where there was nothing to judge: no answer, or none in time.
	Judged bool
	// Unanswerable says that right was to say that nothing was found.
	Unanswerable bool
}
