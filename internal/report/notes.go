package report

import (
	"fmt"
	"slices"
	"strings"

	"goserini/internal/trajectory"
)

// notesView is what became of a question's notebook and of the checking of its answer, as an opened
// card shows it.
type notesView struct {
	// Head is the standing in one line.
	Head        string
	Constraints []constraintView
	// Rest are labelled texts: candidates that failed, warnings, what was not shown.
	Rest []noteView
}

type noteView struct {
	Label string
	Texts []string
}

type constraintView struct {
	Status, Class, Text, Candidate string
	Lines                          []linesView
}

// linesView are cited lines; Quote is what they say, where the model read them.
type linesView struct {
	Place, Quote string
	Unread       bool
}

// standing says how the constraints of a question stand and what the checking came to, in short.
func (it *item) standing() []string {
	if it.record == nil {
		return nil
	}
	var out []string
	if n := it.record.Notebook; n != nil && len(n.Constraints) > 0 {
		out = append(out, fmt.Sprintf("%d of %s met", tallyOf(*n).met, plural(len(n.Constraints), "constraint")))
	}
	if v := it.record.Verification; v != nil {
		out = append(out, "answer check: "+clean(v.Outcome))
	}
	return out
}

// notes is nil for a question whose model had neither a notebook nor an answer to check.
func (it *item) notes(l level) *notesView {
	if it.record == nil || it.record.Notebook == nil && it.record.Verification == nil {
		return nil
	}
	v := &notesView{}
	var head []string
	add := func(label string, texts []string) {
		if len(texts) > 0 {
			v.Rest = append(v.Rest, noteView{label, texts})
		}
	}
	if n := it.record.Notebook; n != nil {
		t := tallyOf(*n)
		head = append(head, fmt.Sprintf("notebook: %d of %s met, %d failed, %d open", t.met, plural(len(n.Constraints), "constraint"), t.failed, t.open))
		if t.unread > 0 {
			head = append(head, plural(t.unread, "citation")+" of lines not opened")
		}
		for _, c := range n.Constraints {
			v.Constraints = append(v.Constraints, it.constraint(c, l))
		}
		add("candidates that failed", shortened(n.Rejected, l.field))
		if n.Warnings > 0 {
			head = append(head, plural(n.Warnings, "warning")+" of a branch searched in vain")
			add("warned", it.warnings(l))
		}
	}
	if c := it.record.Verification; c != nil {
		head = append(head, fmt.Sprintf("answer check: %s (held back %s, research reopened %s)", clean(c.Outcome), times(c.Checks), times(c.Reopened)))
		add("not shown in the last check", shortened(c.Unshown, l.field))
		add("answers held back", shortened(c.HeldBack, l.field))
	}
	if !l.facts && len(v.Constraints)+len(v.Rest) > 0 { // the least of a page
		v.Constraints, v.Rest = nil, nil
		head = append(head, "not shown here in full")
	}
	v.Head = strings.Join(head, " · ")
	return v
}

func (it *item) constraint(c trajectory.Constraint, l level) constraintView {
	v := constraintView{Status: clean(c.Status), Class: "none", Text: clip(clean(oneLine(c.Text)), l.field), Candidate: clip(clean(oneLine(c.Candidate)), l.field)}
	switch c.Status {
	case noteMet:
		v.Class = "good"
	case noteFailed:
		v.Class = "bad"
	}
	for _, r := range c.Lines {
		line := linesView{Place: fmt.Sprintf("%s, line %d", clean(r.DocID), r.First), Unread: !r.Opened}
		if r.Last > r.First {
			line.Place = fmt.Sprintf("%s, lines %d–%d", clean(r.DocID), r.First, r.Last)
		}
		if r.Opened {
			const longest = 240
			line.Quote = clip(clean(oneLine(it.story.noted[r])), min(l.field, longest))
		}
		v.Lines = append(v.Lines, line)
	}
	return v
}

// The statuses of a constraint; every other one counts as open.
const (
	noteMet    = "met"
	noteFailed = "failed"
	noteOpen   = "open"
)

// checkOutcomes are what the checking of an answer may come to.
var checkOutcomes = []string{"passed", "failed", "unchecked", "unfinished", "skipped"}

// noteTally counts a notebook.
type noteTally struct{ met, failed, open, cited, unread int }

func tallyOf(n trajectory.Notebook) noteTally {
	var t noteTally
	for _, c := range n.Constraints {
		switch c.Status {
		case noteMet:
			t.met++
		case noteFailed:
			t.failed++
		default:
			t.open++
		}
		for _, l := range c.Lines {
			t.cited++
			if !l.Opened {
				t.unread++
			}
		}
	}
	return t
}

// warnings are the first lines of what the model was told of branches searched in vain.
func (it *item) warnings(l level) []string {
	var out []string
	for _, st := range it.story.steps {
		if st.steer != nil && st.steer.Reason == trajectory.SteerBranch && st.steer.Text != "" {
			first, _, _ := strings.Cut(st.steer.Text, "\n")
			out = append(out, seconds(float64(st.atMS)/1000)+": "+clip(clean(oneLine(first)), min(l.field, 240)))
		}
	}
	return out
}

// quoteNotes keeps what the model read of the lines that its notebook cites, as far as they were opened.
func (r *resolver) quoteNotes(n *trajectory.Notebook) {
	if n == nil {
		return
	}
	r.story.noted = map[trajectory.LineRange]string{}
	for _, c := range n.Constraints {
		for _, l := range c.Lines {
			if !l.Opened {
				continue
			}
			for _, p := range r.pagesOf(l.DocID) {
				if i, j, ok := p.numbered(l.First, l.Last); ok {
					r.story.noted[l] = p.target(l.DocID, i, j, "").quote
					break
				}
			}
		}
	}
}

func shortened(texts []string, most int) []string {
	var out []string
	for _, s := range texts {
		out = append(out, clip(clean(oneLine(s)), most))
	}
	return out
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return count(n) + " times"
}

// redactNotes leaves numbers, docids and statuses of what a model noted.
func redactNotes(rec *trajectory.Record) {
	if rec.Notebook != nil {
		n := *rec.Notebook
		n.Constraints, n.Rejected = slices.Clone(n.Constraints), veil(n.Rejected)
		for i := range n.Constraints {
			n.Constraints[i].Text = redacted
			if n.Constraints[i].Candidate != "" {
				n.Constraints[i].Candidate = redacted
			}
			if s := n.Constraints[i].Status; s != noteMet && s != noteFailed {
				n.Constraints[i].Status = noteOpen // a record may be of another program's making
			}
		}
		rec.Notebook = &n
	}
	if rec.Verification != nil {
		v := *rec.Verification
		v.Unshown, v.HeldBack = veil(v.Unshown), veil(v.HeldBack)
		if !slices.Contains(checkOutcomes, v.Outcome) {
			v.Outcome = redacted
		}
		rec.Verification = &v
	}
}

// veil stands for texts that are left out.
func veil(texts []string) []string {
	if len(texts) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d %s", len(texts), redacted)}
}

// noteLines are the summary's figures on notebooks and checks, defined for runs that had them.
func noteLines() []line {
	counted := func(label string, of func(trajectory.Record) (n int, has bool)) line {
		return line{label, func(rd *runData) (cell, string) {
			sum, over := 0, 0
			for _, it := range rd.items {
				if it.record == nil {
					continue
				}
				if n, has := of(*it.record); has {
					sum += n
					over++
				}
			}
			if over == 0 {
				return plain(none), ""
			}
			return plain(count(sum)), count(over)
		}}
	}
	noted := func(label string, of func(trajectory.Notebook, noteTally) int) line {
		return counted(label, func(r trajectory.Record) (int, bool) {
			if r.Notebook == nil {
				return 0, false
			}
			return of(*r.Notebook, tallyOf(*r.Notebook)), true
		})
	}
	checked := func(label string, of func(trajectory.Verification) int) line {
		return counted(label, func(r trajectory.Record) (int, bool) {
			if r.Verification == nil {
				return 0, false
			}
			return of(*r.Verification), true
		})
	}
	lines := []line{
		noted("questions with notes", func(n trajectory.Notebook, _ noteTally) int { return min(len(n.Constraints), 1) }),
		noted("constraints noted", func(n trajectory.Notebook, _ noteTally) int { return len(n.Constraints) }),
		noted("of them met", func(_ trajectory.Notebook, t noteTally) int { return t.met }),
		noted("of them failed", func(_ trajectory.Notebook, t noteTally) int { return t.failed }),
		noted("of them open", func(_ trajectory.Notebook, t noteTally) int { return t.open }),
		noted("citations of lines", func(_ trajectory.Notebook, t noteTally) int { return t.cited }),
		noted("of them not opened", func(_ trajectory.Notebook, t noteTally) int { return t.unread }),
		noted("warnings of a branch searched in vain", func(n trajectory.Notebook, _ noteTally) int { return n.Warnings }),
	}
	for _, name := range checkOutcomes {
		lines = append(lines, checked("answer checks: "+name, func(v trajectory.Verification) int {
			if v.Outcome == name {
				return 1
			}
			return 0
		}))
	}
	return append(lines,
		checked("answers held back", func(v trajectory.Verification) int { return v.Checks }),
		checked("research reopened", func(v trajectory.Verification) int { return v.Reopened }),
	)
}
