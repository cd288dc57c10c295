package trajectory

// Notebook is what the model noted of a question, as it stood at the end.
type Notebook struct {
	Constraints []Constraint `json:"constraints"`
	// Rejected are candidates that failed a constraint, in the order in which they did.
	Rejected []string `json:"rejected,omitempty"`
	// Warnings is how often the model was told that it searches a branch in vain.
	Warnings int `json:"warnings,omitempty"`
}

// Constraint is one thing that the answer has to meet, and how it stands.
type Constraint struct {
	Text string `json:"text"`
	// Status is open, met or failed.
	Status string `json:"status"`
	// Candidate is whom or what the status is about.
	Candidate string      `json:"candidate,omitempty"`
	Lines     []LineRange `json:"lines,omitempty"`
}

// LineRange are lines of a document that were cited for a constraint.
type LineRange struct {
	DocID string `json:"docid"`
	// First and Last count from 1 and are both in it.
	First int `json:"first"`
	Last  int `json:"last"`
	// Opened says that every one of the lines was read.
	Opened bool `json:"opened"`
}

// Verification is what the checking of an answer came to.
type Verification struct {
	// Outcome is one of
	//
	//	passed      every condition that was checked is shown
	//	failed      some are not, and the research was not opened again
	//	unchecked   asked to check, the model gave no checks
	//	unfinished  the question ended first
	//	skipped     there was no answer to check while research could go on
	Outcome string `json:"outcome"`
	// Checks is how often an answer was held back to be checked, and Reopened how often the
	// research went on after that.
	Checks   int `json:"checks"`
	Reopened int `json:"reopened,omitempty"`
	// Unshown are the conditions that the latest checks found not shown.
	Unshown []string `json:"unshown,omitempty"`
	// HeldBack are the exact answers that were held back, in order.
	HeldBack []string `json:"held_back,omitempty"`
}
