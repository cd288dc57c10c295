package controller

import (
	"fmt"
	"slices"
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
	// MultiQuery takes several queries in one call and fuses their rankings.
	MultiQuery bool `json:"multi_query"`
	// Novelty marks what has been shown before.
	Novelty bool `json:"novelty"`
	// BudgetLine ends each result with what is left of the budget.
	BudgetLine bool `json:"budget_line"`
}

// parts names the switches in order.
func (n *Navigator) parts() []struct {
	name string
	on   *bool
} {
	return []struct {
		name string
		on   *bool
	}{
		{"excerpts", &n.Excerpts},
		{"find", &n.Find},
		{"read-at-best", &n.ReadAtBest},
		{"syntax", &n.Syntax},
		{"multi-query", &n.MultiQuery},
		{"novelty", &n.Novelty},
		{"budget-line", &n.BudgetLine},
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

// ParseNavigator switches on the named parts.
func ParseNavigator(parts ...string) (Navigator, error) {
	var n Navigator
	for _, name := range parts {
		i := slices.Index(PartNames(), name)
		if i < 0 {
			return Navigator{}, fmt.Errorf("navigator part %q is unknown: use some of %s", name, strings.Join(PartNames(), ", "))
		}
		*n.parts()[i].on = true
	}
	return n, nil
}

// Profiles lists the names that [Profile] knows, the paper's first.
func Profiles() []string { return []string{"paper", "navigator"} }

// Profile returns the options of a named profile.
func Profile(name string) (Options, error) {
	switch name {
	case "paper":
		return Options{}.resolved(), nil
	case "navigator":
		all, err := ParseNavigator(PartNames()...)
		return Options{Navigator: all}.resolved(), err
	}
	return Options{}, fmt.Errorf("tool profile %q is unknown: use one of %s", name, strings.Join(Profiles(), ", "))
}
