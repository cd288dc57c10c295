package controller

import (
	"fmt"
	"strings"
)

// Navigator switches on the parts of the navigator profile, each by itself. The zero
// value is the paper's interface.
type Navigator struct {
	// Excerpts shows the passages of a document that cover most of the query, with their
	// lines, at every rank.
	Excerpts bool `json:"excerpts"`
	// Find looks for a phrase or a regular expression in a document, in a ranking, or in
	// all rankings.
	Find bool `json:"find"`
	// ReadAtBest opens a document at the best passage for the search that surfaced it.
	ReadAtBest bool `json:"read_at_best"`
	// Syntax honours quotes, site:, -word, OR and prefix*.
	Syntax bool `json:"syntax"`
	// MultiQuery takes several queries in one call and fuses their rankings. It is in no
	// profile: measured with fixed ways to ask, it does not help.
	MultiQuery bool `json:"multi_query"`
	// Novelty marks what has been shown before.
	Novelty bool `json:"novelty"`
	// BudgetLine ends each result with what is left of the budget.
	BudgetLine bool `json:"budget_line"`
	// Passages ranks documents together with their best passages, and shows and opens them
	// there. It needs an index with passages, see [Options.Fits], and is in no profile.
	Passages bool `json:"passages,omitempty"`
	// Notebook and Verify are about the research as a whole: whoever runs the agent adds
	// internal/notebook for them. The three tools are the same with and without. They are
	// in no profile, since their worth is not measured.
	Notebook bool `json:"notebook,omitempty"`
	Verify   bool `json:"verify,omitempty"`
}

// The parts that are not the tools'. They change no tool, and so no page.
const (
	NotebookPart = "notebook"
	VerifyPart   = "verify"
)

// part is a switch of the navigator.
type part struct {
	name string
	on   *bool
	// extra parts are in no profile.
	extra bool
}

// parts are the switches in order.
func (n *Navigator) parts() []part {
	return []part{
		{"excerpts", &n.Excerpts, false},
		{"find", &n.Find, false},
		{"read-at-best", &n.ReadAtBest, false},
		{"syntax", &n.Syntax, false},
		{"multi-query", &n.MultiQuery, true},
		{"novelty", &n.Novelty, false},
		{"budget-line", &n.BudgetLine, false},
		{"passages", &n.Passages, true},
		{NotebookPart, &n.Notebook, true},
		{VerifyPart, &n.Verify, true},
	}
}

// Parts lists the names of the parts that are on.
func (n Navigator) Parts() []string {
	var on []string
	for _, p := range n.parts() {
		if *p.on {
			on = append(on, p.name)
		}
	}
	return on
}

// PartNames lists the names of all parts.
func PartNames() []string {
	var names []string
	for _, p := range new(Navigator).parts() {
		names = append(names, p.name)
	}
	return names
}

// ParseNavigator switches on the named parts; the name of the profile stands for all of
// its parts.
func ParseNavigator(parts ...string) (Navigator, error) {
	var n Navigator
	for _, name := range parts {
		known := false
		for _, p := range n.parts() {
			if p.name == name || name == navigatorProfile && !p.extra {
				*p.on, known = true, true
			}
		}
		if !known {
			return Navigator{}, fmt.Errorf("navigator part %q is unknown: use some of %s, or %s for those of that profile", name, strings.Join(PartNames(), ", "), navigatorProfile)
		}
	}
	return n, nil
}

const (
	paperProfile     = "paper"
	navigatorProfile = "navigator"
)

// Profiles lists the names that [Profile] knows, the paper's first.
func Profiles() []string { return []string{paperProfile, navigatorProfile} }

// Profile returns the options of a named profile.
func Profile(name string) (Options, error) {
	switch name {
	case paperProfile:
		return Options{}.resolved(), nil
	case navigatorProfile:
		all, err := ParseNavigator(navigatorProfile)
		return Options{Navigator: all}.resolved(), err
	}
	return Options{}, fmt.Errorf("tool profile %q is unknown: use one of %s", name, strings.Join(Profiles(), ", "))
}
