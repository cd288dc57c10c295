// Package judge decides whether an answer is right.
//
// A Judge looks at one answer and gives a Verdict. Exact needs no model: it compares
// normal forms, numbers with units, dates and aliases, and says "undecided" where only a
// reader could tell. Model asks a language model, fences the answer off as data and parses
// what comes back with tolerance. Run puts a judge to work on a whole run and reuses every
// verdict whose inputs have not changed.
//
//	v, err := judge.Exact{}.Judge(ctx, judge.Item{
//		QueryID: "q1", Status: trajectory.Completed, Exact: "lake orrin.",
//		Reference: judge.Reference{Answer: "Lake Orrin"},
//	})
//	// *v.Correct == true, v.Judge == "builtin/exact"
package judge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"goserini/internal/trajectory"
)

// Mode says what the judge compares the answer with.
type Mode string

// The modes of judging.
const (
	// GoldAnswer compares with a known answer.
	GoldAnswer Mode = "gold-answer"
	// ReferenceFree has no known answer: the judge decides by its own reasoning.
	ReferenceFree Mode = "reference-free"
)

// Reference is what is known to be right.
type Reference struct {
	Answer string
	// Aliases are other texts that are equally right.
	Aliases []string
	// Unanswerable says that the collection does not hold the answer: right is to say
	// that nothing was found, and nothing else.
	Unanswerable bool
}

// known reports whether there is anything to compare with.
func (r Reference) known() bool {
	return r.Unanswerable || strings.TrimSpace(r.Answer) != "" || len(r.Aliases) > 0
}

// Item is one answer to be judged.
type Item struct {
	QueryID  string
	Question string
	// Status is how the question ended; only completed questions are judged.
	Status trajectory.Status
	// Exact is the short answer, Response the whole final answer.
	Exact, Response string
	Reference       Reference
}

// NewItem takes from a record what a judge needs.
func NewItem(rec trajectory.Record, ref Reference) Item {
	return Item{
		QueryID:   rec.QueryID,
		Question:  rec.Question,
		Status:    rec.Status,
		Exact:     rec.Answer.Exact,
		Response:  rec.Answer.Text,
		Reference: ref,
	}
}

// blank reports whether there is nothing to judge.
func (it Item) blank() bool {
	return strings.TrimSpace(it.Exact) == "" && strings.TrimSpace(it.Response) == ""
}

// Judge decides on one answer. A Judge is safe for concurrent use.
type Judge interface {
	// Name is stored in every verdict, for example "builtin/exact".
	Name() string
	// Mode says what answers are compared with.
	Mode() Mode
	// Fingerprint changes whenever the same item might be judged otherwise: another
	// model, prompt or setting.
	Fingerprint() string
	// Judge returns an error only where the machinery broke; a reply that cannot be read
	// is a verdict of state Unparsed.
	Judge(ctx context.Context, it Item) (Verdict, error)
}

// Key identifies what a judge was given to decide on: two equal keys need one verdict.
func Key(j Judge, it Item) string {
	// The array of fields as JSON keeps neighbouring fields apart.
	b, err := json.Marshal([]any{
		j.Name(), j.Mode(), j.Fingerprint(),
		it.QueryID, it.Question, it.Status, it.Exact, it.Response,
		it.Reference.Answer, it.Reference.Aliases, it.Reference.Unanswerable,
	})
	if err != nil { // strings, booleans and slices of strings always marshal
		panic(err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
