package notebook

import (
	"fmt"
	"slices"
	"strings"

	"goserini/internal/lazyregexp"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

const (
	// maxReopened is how often an answer's check may open the research again.
	maxReopened = 2
	// maxUnshown bounds how many conditions are named that are not shown.
	maxUnshown = 16
	// maxExact is how much of an exact answer is repeated, in characters.
	maxExact = 200
)

// The states of a verification.
const (
	idle     = iota // no answer was held back, or its check opened the research again
	asked           // an answer is held back, its checks were asked for
	reopened        // the research was opened again, nothing was called since
	done
)

// verification holds answers back and reads their checks.
type verification struct {
	state   int
	outcome string
	exact   string // the answer held back last
	held    []string
	checks  int
	// reopenings counts how often research went on after an answer.
	reopenings int
	unshown    []string
}

// looked says that a tool of the research was called.
func (v *verification) looked() {
	switch v.state {
	case asked: // instead of checks
		v.reopenings++
		v.state = idle
	case reopened:
		v.state = idle
	}
}

// review takes an answer, or the checks of one.
func (v *verification) review(n *Notebook, a trajectory.Answer) string {
	switch v.state {
	case asked:
		return v.read(n, parseChecks(a.Text))
	case reopened: // it has nothing to add
		return v.end("failed")
	case done:
		return ""
	}
	if v.reopenings > maxReopened { // it went on instead of checking
		return v.end("unchecked")
	}
	v.exact = firstOf(a.Exact, maxExact)
	v.held = append(v.held, v.exact)
	v.checks++
	v.state = asked
	what := splitText
	if len(n.constraints) > 0 {
		what = notedText + "\n" + n.list(&quotes{opened: n.opened, left: maxQuotes})
	}
	return fmt.Sprintf(checkText, tool.QuoteJSON(v.exact), what)
}

func (v *verification) end(outcome string) string {
	v.state, v.outcome = done, outcome
	return ""
}

// read takes the checks of an answer.
func (v *verification) read(n *Notebook, checks []check) string {
	if len(checks) == 0 {
		return v.end("unchecked")
	}
	v.unshown = nil
	for _, c := range checks {
		if problem := c.problem(n.opened); problem != "" {
			v.unshown = append(v.unshown, fmt.Sprintf("%s (%s)", c.condition, problem))
		}
	}
	if left := len(n.constraints) - len(checks); left > 0 {
		v.unshown = append(v.unshown, fmt.Sprintf("%d of the %d constraints in your notebook (no check was given)", left, len(n.constraints)))
	}
	switch {
	case len(v.unshown) == 0:
		return v.end("passed")
	case v.reopenings >= maxReopened:
		return v.end("failed")
	}
	v.reopenings++
	v.state = reopened
	return fmt.Sprintf(reopenText, v.missing(), tool.QuoteJSON(v.exact))
}

// missing lists what is not shown.
func (v *verification) missing() string {
	lines := v.unshown[:min(len(v.unshown), maxUnshown)]
	text := "- " + strings.Join(lines, "\n- ")
	if more := len(v.unshown) - len(lines); more > 0 {
		text += fmt.Sprintf("\n- and %d more", more)
	}
	return text
}

// memory is what the last check found missing, while research goes on because of it.
func (v *verification) memory() string {
	if len(v.unshown) == 0 {
		return ""
	}
	return fmt.Sprintf(missingText, tool.QuoteJSON(v.exact), v.missing())
}

func (v *verification) record() *trajectory.Verification {
	out := &trajectory.Verification{Outcome: v.outcome, Checks: v.checks, Reopened: v.reopenings,
		Unshown: slices.Clone(v.unshown), HeldBack: slices.Clone(v.held)}
	if v.state != done {
		out.Outcome = "unfinished"
		if v.checks == 0 {
			out.Outcome = "skipped"
		}
	}
	return out
}

// check is one line of the checks of an answer.
type check struct {
	condition string
	cites     string
	shown     bool
}

// parseChecks reads the lines "Check: condition | lines | shown", whatever marks of a list or
// emphasis stand before them. A line without a bar is none.
func parseChecks(text string) []check {
	var out []check
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "*_#>-+ \t0123456789.)")
		label := checkLabel.FindString(line)
		fields := strings.Split(line[len(label):], "|")
		if label == "" || len(fields) < 2 {
			continue
		}
		last := len(fields) - 1
		c := check{shown: saysShown(fields[last])}
		if last > 1 {
			last--
			c.cites = strings.Trim(fields[last], " \t*_`")
		}
		c.condition = firstOf(strings.Trim(strings.Join(fields[:last], "|"), " \t*_"), maxText)
		out = append(out, c)
	}
	return out
}

var checkLabel = lazyregexp.New(`(?i)^check\s*\d*\s*[:：]`)

// saysShown reads a verdict: only one that plainly says so is "shown".
func saysShown(verdict string) bool {
	verdict = strings.ToLower(strings.Trim(verdict, " \t*_`.{}"))
	return strings.HasPrefix(verdict, "shown") || strings.HasPrefix(verdict, "yes")
}

// problem is why a condition is not shown, "" where it is.
func (c check) problem(o opened) string {
	if !c.shown {
		return "not shown"
	}
	lines, err := citations(c.cites, o)
	switch {
	case err != nil:
		return err.Error()
	case len(lines) == 0:
		return "no line is cited for it"
	}
	for _, l := range lines {
		if unread := o.unread(l); unread != "" {
			return l.String() + ": " + unread
		}
	}
	return ""
}

// citations reads one citation or several. One that was opened is not looked for separators.
func citations(text string, o opened) ([]citation, error) {
	if l, err := parseCitation(text); err == nil && o.all(l) {
		return []citation{l}, nil
	}
	var out []citation
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == '，' || r == '、' }) {
		part = strings.TrimSpace(part)
		if part == "" || strings.EqualFold(part, "none") {
			continue
		}
		l, err := parseCitation(part)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}
