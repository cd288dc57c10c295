package notebook

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"goserini/internal/tool"
)

// Tool is the name of the tool.
const Tool = "note"

//go:embed note.md
var description string

// Details are the details of a note.
type Details struct {
	// Evidence says that the note got the research on: constraints, another candidate, one
	// that failed, or lines that were opened and not cited for the constraint before.
	Evidence bool `json:"evidence"`
	// Open is the number of constraints that are not met, of all.
	Open int `json:"open"`
	All  int `json:"all"`
}

var statuses = []string{open, met, failed}

var parameters = []tool.Parameter{
	{Name: "constraints", Kind: tool.List,
		About: fmt.Sprintf("Constraints to add, at most %d in all, each under %d characters. They are numbered from 1.", maxConstraints, maxText)},
	{Name: "constraint", Kind: tool.Integer,
		About: "The number of the constraint that the other arguments are about."},
	{Name: "status", Kind: tool.Text, Values: statuses,
		About: "met: the cited lines show that the candidate meets it. failed: they show that it does not. open: not known."},
	{Name: "candidate", Kind: tool.Text,
		About: "Who or what may be the answer, or the thing the constraint is about."},
	{Name: "lines", Kind: tool.List,
		About: fmt.Sprintf("The lines that show it, each as docid:line or docid:first-last; at most %d entries. They take the place of those cited for it before.", maxCited)},
}

// tool is the note tool. All of its work is done when a call begins, so notes take effect in
// the order of the calls.
func (n *Notebook) tool() tool.Tool {
	return tool.Tool{
		Name: Tool, Description: strings.TrimSpace(description), Schema: tool.Schema(parameters),
		Begin: func(raw json.RawMessage) func(context.Context) (tool.Result, error) {
			result, err := n.note(raw)
			var m tool.Mistake
			if errors.As(err, &m) {
				result, err = tool.Result{Text: string(m), IsError: true}, nil
			}
			return func(context.Context) (tool.Result, error) { return result, err }
		},
	}
}

// note takes one note. What is refused changes nothing.
func (n *Notebook) note(raw json.RawMessage) (tool.Result, error) {
	args, err := tool.ParseArguments(Tool, parameters, raw)
	if err != nil {
		return tool.Result{}, err
	}
	draft := *n
	draft.constraints = slices.Clone(n.constraints)
	draft.rejected = slices.Clone(n.rejected)
	notes := args.Notes
	added, err := draft.addConstraints(args.Lists["constraints"])
	if err != nil {
		return tool.Result{}, err
	}
	evidence := len(added.numbers) > 0
	notes = append(notes, added.notes...)
	changed := added.numbers
	number, numbered := args.Integers["constraint"]
	candidate := oneLine(args.Texts["candidate"])
	if err := n.checkArguments(numbered, args, candidate); err != nil {
		return tool.Result{}, err
	}
	if candidate != "" {
		evidence = evidence || plain(candidate) != plain(draft.candidate)
		draft.candidate = candidate
	}
	if numbered {
		settled, err := draft.settle(number, args, candidate)
		if err != nil {
			return tool.Result{}, err
		}
		evidence = evidence || settled.evidence
		notes = append(notes, settled.notes...)
		if !slices.Contains(changed, number) {
			changed = append(changed, number)
		}
	}
	if size := len(draft.list(nil)); size > maxBody {
		return tool.Result{}, tool.Mistake(fmt.Sprintf("note: the notebook would hold %d bytes and takes %d, so nothing was noted. Call note again with shorter constraints, or fewer.", size, maxBody))
	}
	n.constraints, n.rejected, n.candidate = draft.constraints, draft.rejected, draft.candidate
	return n.noted(changed, candidate, notes, evidence), nil
}

// oneLine is text of the model as it is kept.
func oneLine(text string) string {
	return strings.Join(strings.Fields(tool.OneLine(strings.ToValidUTF8(text, "\uFFFD"))), " ")
}

// addition is what became of new constraints.
type addition struct {
	numbers []int
	notes   []string
}

func (n *Notebook) addConstraints(given []string) (addition, error) {
	var a addition
	if len(given) > maxConstraints {
		return a, tool.Mistake(fmt.Sprintf("note: %d constraints are too many, so nothing was noted; at most %d are kept. Call note again with fewer, and join those that belong together.", len(given), maxConstraints))
	}
	for _, text := range given {
		text = oneLine(text)
		if text == "" {
			continue
		}
		if i := slices.IndexFunc(n.constraints, func(c constraint) bool { return plain(c.text) == plain(text) }); i >= 0 {
			a.notes = append(a.notes, fmt.Sprintf("%s is constraint %d already.", tool.QuoteJSON(firstOf(text, 60)), i+1))
			continue
		}
		if size := utf8.RuneCountInString(text); size > maxText {
			return a, tool.Mistake(fmt.Sprintf("note: a constraint has %d characters and takes %d, so nothing was noted. It begins: %s. Call note again with what it demands in a few words.", size, maxText, tool.QuoteJSON(firstOf(text, 60))))
		}
		if len(n.constraints) == maxConstraints {
			return a, tool.Mistake(fmt.Sprintf("note: there would be more than %d constraints, so nothing was noted (%d are there). Call note again with fewer, and join those that belong together.", maxConstraints, maxConstraints-len(a.numbers)))
		}
		n.constraints = append(n.constraints, constraint{text: text, status: open})
		a.numbers = append(a.numbers, len(n.constraints))
	}
	return a, nil
}

// checkArguments refuses what cannot be noted whatever the constraint.
func (n *Notebook) checkArguments(numbered bool, args tool.Arguments, candidate string) error {
	if size := utf8.RuneCountInString(candidate); size > maxCandidate {
		return tool.Mistake(fmt.Sprintf("note: candidate has %d characters and takes %d, so nothing was noted. Call note again with its name alone.", size, maxCandidate))
	}
	if !numbered && (oneLine(args.Texts["status"]) != "" || len(args.Lists["lines"]) > 0) {
		return tool.Mistake(fmt.Sprintf("note: status and lines need the number of a constraint, so nothing was noted. Call note again with constraint, for example %s.", example))
	}
	return nil
}

const example = `{"constraint":1,"status":"met","candidate":"NAME","lines":["DOCID:12-14"]}`

// settlement is what became of a constraint.
type settlement struct {
	evidence bool
	notes    []string
}

// settle notes how a constraint stands.
func (n *Notebook) settle(number int, args tool.Arguments, candidate string) (settlement, error) {
	var s settlement
	if number > len(n.constraints) {
		has := "none yet: give them first, as constraints"
		if k := len(n.constraints); k > 0 {
			has = fmt.Sprintf("%d, numbered from 1", k)
		}
		return s, tool.Mistake(fmt.Sprintf("note: there is no constraint %d, so nothing was noted; there are %s.", number, has))
	}
	c := &n.constraints[number-1]
	before := *c
	if candidate != "" && plain(candidate) != plain(c.candidate) {
		c.status, c.lines = open, nil // what was known is about another one
	}
	if candidate != "" {
		c.candidate = candidate
	}
	switch status := strings.ToLower(oneLine(args.Texts["status"])); {
	case status == "":
	case slices.Contains(statuses, status):
		c.status = status
	default:
		return s, tool.Mistake(fmt.Sprintf("note: status %s is none, so nothing was noted. Call note again with open, met or failed.", tool.QuoteJSON(firstOf(status, 40))))
	}
	if err := n.cite(c, args.Lists["lines"], &s); err != nil {
		return s, err
	}
	if c.status == met && len(c.lines) == 0 {
		s.notes = append(s.notes, fmt.Sprintf("constraint %d is met without a line that shows it: cite the lines.", number))
	}
	n.reject(*c)
	fresh := slices.ContainsFunc(c.lines, func(l citation) bool { return n.opened.all(l) && !slices.Contains(before.lines, l) })
	s.evidence = fresh || c.status == failed && before.status != failed
	return s, nil
}

// cite puts citations in the place of those of a constraint.
func (n *Notebook) cite(c *constraint, given []string, s *settlement) error {
	var lines []citation
	for _, written := range given {
		if strings.TrimSpace(written) == "" {
			continue
		}
		l, err := parseCitation(written)
		if err != nil {
			return tool.Mistake("note: nothing was noted, as " + err.Error() + ".")
		}
		if !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	if len(lines) > maxCited {
		return tool.Mistake(fmt.Sprintf("note: %d citations are too many, so nothing was noted. Call note again with the %d that show it best.", len(lines), maxCited))
	}
	if len(lines) > 0 {
		c.lines = lines
	}
	for _, l := range lines {
		if !n.opened.all(l) {
			s.notes = append(s.notes, fmt.Sprintf("%s%s: lines show nothing until you have opened them.", l, n.opened.mark(l)))
		}
	}
	return nil
}

// reject keeps the list of candidates that failed: those of which a constraint did, the latest last.
func (n *Notebook) reject(c constraint) {
	if c.candidate == "" {
		return
	}
	same := func(name string) bool { return plain(name) == plain(c.candidate) }
	if c.status == failed {
		if !slices.ContainsFunc(n.rejected, same) {
			n.rejected = append(n.rejected, c.candidate)
			n.rejected = n.rejected[max(0, len(n.rejected)-maxRejected):]
		}
		return
	}
	fails := slices.ContainsFunc(n.constraints, func(other constraint) bool { return other.status == failed && same(other.candidate) })
	if !fails && c.status == met {
		n.rejected = slices.DeleteFunc(n.rejected, same)
	}
}

// noted says what was noted, or shows the whole notebook where nothing was.
func (n *Notebook) noted(changed []int, candidate string, notes []string, evidence bool) tool.Result {
	d := Details{Evidence: evidence, All: len(n.constraints)}
	for _, c := range n.constraints {
		if c.status != met {
			d.Open++
		}
	}
	var b strings.Builder
	q := &quotes{opened: n.opened, left: maxQuotes}
	switch {
	case len(n.constraints) == 0 && candidate == "":
		b.WriteString("The notebook is empty. Give the constraints of the question, for example " + `{"constraints":["…","…"]}` + ".")
	case len(n.constraints) == 0:
		b.WriteString("Noted: the candidate is " + tool.QuoteJSON(candidate) + ". No constraints are noted yet.")
	case len(changed) == 0 && candidate == "":
		fmt.Fprintf(&b, "%d of %d constraints are not met.\n%s", d.Open, d.All, n.list(q))
	case len(changed) == 0:
		fmt.Fprintf(&b, "Noted: the candidate is %s. %d of %d constraints are not met.", tool.QuoteJSON(candidate), d.Open, d.All)
	default:
		fmt.Fprintf(&b, "Noted. %d of %d constraints are not met.", d.Open, d.All)
		for _, number := range changed {
			b.WriteString("\n" + n.entry(number, n.constraints[number-1], q))
		}
	}
	for _, note := range notes {
		b.WriteString("\nNote: " + note)
	}
	return tool.Result{Text: b.String(), Details: d}
}
