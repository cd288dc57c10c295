package report

import (
	"fmt"
	"strings"

	"goserini/internal/eval"
	"goserini/internal/trajectory"
)

// condense keeps of the documents that calls touched what a report shows, and lets the long
// lists go: their number, and which relevant ones a call ranked, showed or opened as the first to do so.
func (s *story) condense(fates []eval.Fate) {
	relevant := make(map[string]eval.Fate, len(fates))
	for _, f := range fates {
		relevant[f.DocID] = f
	}
	seen := map[string]bool{}
	for _, st := range s.steps {
		if st.call == nil || st.call.result == nil {
			continue
		}
		r := *st.call.result
		st.call.ranked, st.call.shown, st.call.read = len(r.Access.Surfaced), len(r.Access.Previewed), len(r.Access.Opened)
		st.call.evidence = newEvidence(r.Access, relevant, seen)
		r.Access, r.Details = trajectory.Access{}, nil
		st.call.result = &r
	}
}

// newEvidence names the relevant documents that a call ranked, showed or opened as the first to do so.
func newEvidence(a trajectory.Access, relevant map[string]eval.Fate, seen map[string]bool) []string {
	var order []string
	said := map[string][]string{}
	note := func(docid, how string, at int) {
		if _, ok := relevant[docid]; !ok || seen[how+docid] {
			return
		}
		seen[how+docid] = true
		text := how
		if at > 0 {
			text = "rank " + count(at)
		}
		if said[docid] == nil {
			order = append(order, docid)
		}
		said[docid] = append(said[docid], text)
	}
	for i, id := range a.Surfaced {
		note(id, "ranked", i+1)
	}
	for _, id := range a.Previewed {
		note(id, "shown", 0)
	}
	for _, id := range a.Opened {
		note(id, "opened", 0)
	}
	var out []string
	const most = 12
	for i, id := range order {
		if i == most {
			return append(out, fmt.Sprintf("and %d more", len(order)-most))
		}
		out = append(out, fmt.Sprintf("%s (%s): %s", clean(id), judgedAs(relevant[id]), strings.Join(said[id], ", ")))
	}
	return out
}
