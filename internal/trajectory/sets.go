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
func (s Sets) Behavior() []string {
	var u union
	u.add(s.Opened)
	u.add(s.Cited)
	return u.docids
}

// union collects docids, each once, in order of first appearance. The zero value is ready.
type union struct {
	docids []string
	seen   map[string]bool
}

func (u *union) add(docids []string) {
	if u.seen == nil {
		u.seen = make(map[string]bool, len(docids))
	}
	for _, id := range docids {
		if !u.seen[id] {
			u.seen[id] = true
			u.docids = append(u.docids, id)
		}
	}
}

// list returns what was collected: a list of its own that is empty, not null, in JSON.
func (u *union) list() []string { return append([]string{}, u.docids...) }
