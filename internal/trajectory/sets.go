package trajectory

// Access says which documents one tool call touched, recorded by the controller
// where it happens. Docids are in rank or reading order. Surfaced is a whole ranking
// from its first rank on: ranks are counted from it.
type Access struct {
	Surfaced  []string `json:"surfaced,omitempty"`
	Previewed []string `json:"previewed,omitempty"`
	Opened    []string `json:"opened,omitempty"`
}

// IsZero reports whether the call touched nothing.
func (a Access) IsZero() bool {
	return len(a.Surfaced) == 0 && len(a.Previewed) == 0 && len(a.Opened) == 0
}

// Sets are the document sets of one question, each docid once, in order of
// first appearance.
//
//   - surfaced: in a ranking returned by search, shown or not
//   - previewed: its excerpt entered the model's context
//   - opened: its text was read
//   - cited: named in the final answer
type Sets struct {
	Surfaced  []string `json:"surfaced_docids"`
	Previewed []string `json:"previewed_docids"`
	Opened    []string `json:"opened_docids"`
	Cited     []string `json:"cited_docids"`
}

// Behavior is opened ∪ cited, opened first.
func (s Sets) Behavior() []string { return union(s.Opened, s.Cited) }

// Add unites the documents of one call into the sets.
func (s *Sets) Add(a Access) {
	s.Surfaced = union(s.Surfaced, a.Surfaced)
	s.Previewed = union(s.Previewed, a.Previewed)
	s.Opened = union(s.Opened, a.Opened)
}

func union(a, b []string) []string {
	seen := make(map[string]bool, len(a)+len(b))
	out := make([]string, 0, len(a)+len(b))
	for _, list := range [][]string{a, b} {
		for _, id := range list {
			if !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	return out
}
