// Package notebook keeps a model company through one question, in two parts that can be had
// alone:
//
//   - a notebook: the tool note keeps the question's constraints, each with its status, the
//     candidate it is about and the lines that show it. What it holds survives the shortening
//     of the history and is shown before the model has to answer. Beside it stands a guard,
//     which names a branch that was searched in vain and restates the constraints.
//   - verification: an answer is held back until the model has checked it, condition by
//     condition, against lines it has opened; where one is not shown the research goes on.
//
// A cited line counts only if it was opened: tools say which lines they showed, and every
// other one is marked wherever it is cited. What the parts say to the model is in texts.go
// and in docs/agent.md.
package notebook

import (
	"fmt"
	"slices"
	"strings"

	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// Options switch the parts on.
type Options struct {
	Notes, Verify bool
}

// The statuses of a constraint.
const (
	open   = "open"
	met    = "met"
	failed = "failed"
)

// Bounds of what a notebook holds. What would exceed them is refused with a sentence.
const (
	maxConstraints = 16
	maxText        = 300  // characters of a constraint
	maxCandidate   = 120  // characters
	maxCited       = 4    // ranges cited for one constraint
	maxBody        = 4000 // bytes of the notebook without the lines it quotes
	// maxRejected candidates that failed are remembered, the latest ones.
	maxRejected = 20
	// maxQuotes bounds the lines quoted in one text, in bytes, and maxQuoted about those of one
	// citation, in characters.
	maxQuotes = 3000
	maxQuoted = 300
)

// Notebook belongs to one question. It is not safe for concurrent use: the agent begins all
// calls and asks everything else on one goroutine.
type Notebook struct {
	question string
	options  Options

	constraints []constraint
	// candidate is the one noted last; rejected are those that failed.
	candidate string
	rejected  []string

	opened opened
	guard  guard
	check  verification
}

// constraint is one thing that the answer has to meet.
type constraint struct {
	text, status, candidate string
	lines                   []citation
}

// New returns the company for a question.
func New(question string, o Options) *Notebook {
	return &Notebook{question: question, options: o, opened: opened{}, guard: newGuard(question)}
}

// Tools are the tools to offer beside the others.
func (n *Notebook) Tools() []tool.Tool {
	if !n.options.Notes {
		return nil
	}
	return []tool.Tool{n.tool()}
}

// Observe takes the calls of a turn, in order. It returns a warning where a branch has
// been searched in vain.
func (n *Notebook) Observe(calls []tool.Exchange) string {
	for _, c := range calls {
		opened := n.opened.add(c.Result.Lines)
		if n.options.Notes {
			n.guard.see(c, opened && len(n.constraints) == 0)
		}
		if c.Call.Tool != Tool {
			n.check.looked()
		}
	}
	branch := n.guard.branch(n.candidate)
	if branch == "" {
		return ""
	}
	root := "The question is: " + firstOf(n.question, maxQuestion)
	if len(n.constraints) > 0 {
		root = "The constraints of the question are:\n" + n.list(nil)
	}
	return fmt.Sprintf(branchText, patience, tool.QuoteJSON(branch), root, tool.QuoteJSON(branch))
}

// maxQuestion bounds how much of a question is restated, in characters.
const maxQuestion = 1000

// Memory is what must not be lost: the notes with the lines they cite, and what the last
// check found missing.
func (n *Notebook) Memory() string {
	var parts []string
	if len(n.constraints) > 0 {
		parts = append(parts, memoryText+"\n"+n.list(&quotes{opened: n.opened, left: maxQuotes}))
	}
	if missing := n.check.memory(); missing != "" {
		parts = append(parts, missing)
	}
	return strings.Join(parts, "\n\n")
}

// Review holds an answer back to have it checked, and reads the checks.
func (n *Notebook) Review(a trajectory.Answer) string {
	if !n.options.Verify {
		return ""
	}
	return n.check.review(n, a)
}

// Record is what the notebook holds and what the verification came to.
func (n *Notebook) Record() (*trajectory.Notebook, *trajectory.Verification) {
	var notes *trajectory.Notebook
	var checked *trajectory.Verification
	if n.options.Notes {
		notes = &trajectory.Notebook{Constraints: []trajectory.Constraint{}, Rejected: slices.Clone(n.rejected), Warnings: n.guard.warnings}
		for _, c := range n.constraints {
			out := trajectory.Constraint{Text: c.text, Status: c.status, Candidate: c.candidate}
			for _, l := range c.lines {
				out.Lines = append(out.Lines, trajectory.LineRange{DocID: l.docid, First: l.first, Last: l.last, Opened: n.opened.all(l)})
			}
			notes.Constraints = append(notes.Constraints, out)
		}
	}
	if n.options.Verify {
		checked = n.check.record()
	}
	return notes, checked
}

// list shows the constraints, one a line, and the candidates that failed; with quotes also
// what the cited lines say.
func (n *Notebook) list(q *quotes) string {
	var b strings.Builder
	for i, c := range n.constraints {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(n.entry(i+1, c, q))
	}
	if len(n.rejected) > 0 {
		names := make([]string, len(n.rejected))
		for i, name := range n.rejected {
			names[i] = shown(name)
		}
		b.WriteString("\nCandidates that failed: " + strings.Join(names, "; "))
	}
	return b.String()
}

// entry shows one constraint: its number, status, candidate, text and lines.
func (n *Notebook) entry(number int, c constraint, q *quotes) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d. [%s", number, c.status)
	if c.candidate != "" {
		b.WriteString(": " + shown(c.candidate))
	}
	b.WriteString("] " + shown(c.text))
	for i, l := range c.lines {
		sep := ", "
		if i == 0 {
			sep = " | "
		}
		b.WriteString(sep + l.String() + n.opened.mark(l))
	}
	for _, l := range c.lines {
		b.WriteString(q.of(l, c))
	}
	return b.String()
}

// shown is text of the model as it stands in the notebook: in quotes where it has one of the
// notebook's own marks, so that it cannot look like a status or a citation.
func shown(text string) string {
	if strings.ContainsAny(text, `[]|;"`) {
		return tool.QuoteJSON(text)
	}
	return text
}

// firstOf is text on one line, cut to a number of characters, which it then says.
func firstOf(text string, characters int) string {
	shown, total, cut := tool.Clip(strings.TrimSpace(tool.OneLine(text)), characters)
	if cut {
		return fmt.Sprintf("%s … (%d characters in all)", shown, total)
	}
	return shown
}
