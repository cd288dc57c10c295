package navbench

import (
	"fmt"
	"slices"
)

// Target is something the navigator should reach, and whether it did.
type Target struct {
	Collection string `json:"collection"`
	Wanted     string `json:"wanted"`
	Got        string `json:"got"`
	Met        bool   `json:"met"`
	// All says that no more answers could be shown: every gold document that holds one shows it.
	All bool `json:"all,omitempty"`
}

// shares are the targets of excerpts: the least share of gold documents whose excerpt holds a
// span, or the least multiple of the paper's share.
var shares = []struct {
	collection string
	least      float64
	times      float64
}{
	{"covidqa", 0.65, 0},
	{"wice", 0.85, 0},
	{"cuad", 0, 2.5},
	{"hotpotqa100", 0, 1.3},
	{"musique100", 0, 1.3},
}

const (
	// fewest is the least number of queries, or documents, that a target is checked on.
	fewest = 10
	// rounding is what a share may fall short by: 13 of 29 documents are 1.3 times 10 of 29, and
	// less in binary fractions.
	rounding = 1e-9
	// halfTokens is the most tokens of the paper's until a known item's line is shown.
	halfTokens = 0.5
)

// Targets checks a report against what the navigator should reach.
func Targets(r Report) []Target {
	i := slices.IndexFunc(r.Variants, func(f Figures) bool { return f.Variant == "navigator" })
	if i < 0 {
		return nil
	}
	paper, nav := r.Variants[0], r.Variants[i]
	var targets []Target
	if p, n := paper.PageTokens, nav.PageTokens; p != nil && n != nil {
		targets = append(targets, Target{
			Collection: r.Collection, Wanted: "tokens of a page: at most those of the paper's page of ten",
			Got: fmt.Sprintf("%.2f", n.Value/p.Value), Met: n.Value <= p.Value,
		})
	}
	for _, s := range shares {
		if s.collection != r.Collection {
			continue
		}
		for b, name := range BandNames {
			p, n := paper.Shown[b], nav.Shown[b]
			if p == nil || n == nil || n.N < fewest {
				continue
			}
			t := Target{Collection: r.Collection}
			switch {
			case s.times == 0:
				t.Wanted = fmt.Sprintf("answer shown at ranks %s: at least %s", name, percent(s.least))
				t.Got, t.Met = percent(n.Value), n.Value >= s.least
			case p.Value == 0:
				t.Wanted = fmt.Sprintf("answer shown at ranks %s, where the paper shows none", name)
				t.Got, t.Met = percent(n.Value), n.Value > 0
			default:
				t.Wanted = fmt.Sprintf("answer shown at ranks %s: at least %.1f times the paper's share", name, s.times)
				t.Got = fmt.Sprintf("%.2f times (%s to %s)", n.Value/p.Value, percent(p.Value), percent(n.Value))
				t.Met = n.Value >= s.times*p.Value-rounding
			}
			if h := nav.Holding[b]; h != nil {
				t.All = n.Value >= h.Value-rounding
			}
			targets = append(targets, t)
		}
	}
	if r.Long() && nav.Item != nil && r.Items >= fewest {
		targets = append(targets, Target{
			Collection: r.Collection, Wanted: "tokens until the answer's line is shown: at most half of the paper's",
			Got: fmt.Sprintf("%.2f", nav.Item.ToPaper.Value), Met: nav.Item.ToPaper.Value <= halfTokens,
		})
	}
	return targets
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
