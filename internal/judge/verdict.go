package judge

import (
	"goserini/internal/eval"
	"goserini/internal/trajectory"
)

// State says how a verdict came about.
type State string

// The states of a verdict. Only Judged carries the judge's own decision.
const (
	// Judged: the judge decided.
	Judged State = "judged"
	// Undecided: a judge without a model cannot tell; a reader or a model could.
	Undecided State = "undecided"
	// NotJudged: nothing to judge, because the question did not end with an answer. It counts as not correct.
	NotJudged State = "not_judged"
	// Unparsed: the judge's reply held no decision, also when asked again. It counts
	// as not correct and is shown apart.
	Unparsed State = "unparsed"
	// WrongEcho: the reply repeated another correct answer than the real one, so that its
	// decision is about something else. Treated as Unparsed is.
	WrongEcho State = "wrong_echo"
	// NoReference: there is no known answer to compare with. Counts as not correct, shown apart.
	NoReference State = "no_reference"
	// Broken: the judge could not be asked.
	Broken State = "error"
)

// Verdict is one line of verdicts.jsonl.
type Verdict struct {
	QueryID string `json:"query_id"`
	// Judge names who decided; a number derived from verdicts repeats it.
	Judge string `json:"judge"`
	Mode  Mode   `json:"mode"`
	State State  `json:"state"`

	// ExtractedFinalAnswer is the answer the judge found in the response, nil if none.
	ExtractedFinalAnswer *string `json:"extracted_final_answer"`
	// CorrectAnswer is the known answer, nil without a reference.
	CorrectAnswer *string `json:"correct_answer"`
	Reasoning     *string `json:"reasoning"`
	// Correct is nil where there is no decision; it counts as not correct then.
	Correct *bool `json:"correct"`
	// Confidence is what the judge says of the response's confidence, 0 to 100.
	Confidence *float64 `json:"confidence"`

	// Unanswerable repeats the reference: right was to say that nothing was found.
	Unanswerable bool `json:"unanswerable,omitempty"`
	// MissingFields names side fields that the judge left out.
	MissingFields []string `json:"missing_fields,omitempty"`
	// Error says why there is no decision.
	Error string `json:"error,omitempty"`
	// Tries counts how often the judge was asked.
	Tries int              `json:"tries,omitempty"`
	Usage trajectory.Usage `json:"usage,omitzero"`
	// Reply is the judge's last reply as it came.
	Reply string `json:"reply,omitempty"`
	// Key identifies what was judged, by whom and how; see Key.
	Key string `json:"key"`
}

// settled reports whether asking again could not help.
func (v Verdict) settled() bool {
	return v.decided() || v.State == Undecided || v.State == NotJudged || v.State == NoReference
}

// decided reports whether the judge made a decision.
func (v Verdict) decided() bool { return v.State == Judged && v.Correct != nil }

// Outcome is what the evaluation needs of a verdict.
func (v Verdict) Outcome() eval.Outcome {
	return eval.Outcome{
		Decided:      v.decided(),
		Correct:      v.Correct != nil && *v.Correct,
		Unanswerable: v.Unanswerable,
		Judged:       v.State != NotJudged,
	}
}

// Names lists the judges of a set of verdicts in order of first appearance.
func Names(verdicts []Verdict) []string {
	var names []string
	seen := map[string]bool{}
	for _, v := range verdicts {
		if !seen[v.Judge] {
			seen[v.Judge] = true
			names = append(names, v.Judge)
		}
	}
	return names
}

// Outcomes returns the decisions of one judge by query id.
func Outcomes(verdicts []Verdict, judge string) map[string]eval.Outcome {
	out := make(map[string]eval.Outcome)
	for _, v := range verdicts {
		if v.Judge == judge {
			out[v.QueryID] = v.Outcome()
		}
	}
	return out
}

// notJudged is the verdict on a question that ended without an answer.
func notJudged(j Judge, it Item) Verdict {
	wrong := false
	v := newVerdict(j, it)
	v.State = NotJudged
	v.Correct = &wrong
	if it.blank() {
		v.Error = "no answer to judge"
	} else {
		v.Error = "only completed questions are judged, this one ended as " + string(it.Status)
	}
	return v
}

func newVerdict(j Judge, it Item) Verdict {
	v := Verdict{QueryID: it.QueryID, Judge: j.Name(), Mode: j.Mode(), Unanswerable: it.Reference.Unanswerable, Key: Key(j, it)}
	if j.Mode() == GoldAnswer && it.Reference.Answer != "" && !it.Reference.Unanswerable {
		answer := it.Reference.Answer
		v.CorrectAnswer = &answer
	}
	return v
}
