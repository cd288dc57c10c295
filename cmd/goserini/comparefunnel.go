package main

import (
	"fmt"
	"strings"

	"goserini/internal/eval"
)

// runFunnel says how far the relevant documents came in one of the runs compared, over the queries that all
// of them have.
type runFunnel struct {
	Run     string `json:"run"`
	Queries int    `json:"queries"`
	// Evidence and Gold are nil without such judgments.
	Evidence *eval.Coverage `json:"evidence"`
	Gold     *eval.Coverage `json:"gold"`
}

// funnelsOf measures the runs over their common queries. There are some, for [eval.Compare] found them for
// each pair; of several runs there may be none that all have.
func funnelsOf(runs []comparedRun) ([]runFunnel, error) {
	in := map[string]int{}
	for _, r := range runs {
		for _, q := range r.scores.PerQuery {
			in[q.QueryID]++
		}
	}
	var common []string
	for id, n := range in {
		if n == len(runs) {
			common = append(common, id)
		}
	}
	if len(common) == 0 {
		return nil, fmt.Errorf("the %d runs have no query that all of them have", len(runs))
	}
	var out []runFunnel
	for _, r := range runs {
		scores := r.scores
		if len(common) < scores.Queries {
			restricted := r.in
			restricted.QuerySet = common
			var err error
			if scores, err = eval.Evaluate(restricted); err != nil {
				return nil, err
			}
		}
		out = append(out, runFunnel{r.name, scores.Queries, scores.Evidence, scores.Gold})
	}
	return out, nil
}

func showFunnels(term *terminal, funnels []runFunnel) {
	judged := false
	for _, f := range funnels {
		judged = judged || f.Evidence != nil || f.Gold != nil
	}
	if !judged {
		return
	}
	term.print("\nrecall over the %d queries that all have: macro (a query without such documents counts 0), and documents\n%-24s", funnels[0].Queries, "")
	for _, f := range funnels {
		term.print("%s", beneath(printable(f.Run), funnelColumn))
	}
	term.print("\n")
	showFunnelOf(term, "evidence", funnels, func(f runFunnel) *eval.Coverage { return f.Evidence })
	showFunnelOf(term, "gold", funnels, func(f runFunnel) *eval.Coverage { return f.Gold })
}

// funnelColumn is the width of a run's column.
const funnelColumn = 26

// beneath puts a text at the right of a column of n characters.
func beneath(s string, n int) string {
	s = clip(s, n-2)
	return strings.Repeat(" ", n-len([]rune(s))) + s
}

func showFunnelOf(term *terminal, name string, funnels []runFunnel, of func(runFunnel) *eval.Coverage) {
	rows := map[string][]string{}
	var order []string
	add := func(row, text string) {
		if rows[row] == nil {
			order = append(order, row)
		}
		rows[row] = append(rows[row], text)
	}
	for _, f := range funnels {
		c := of(f)
		if c == nil {
			c = &eval.Coverage{}
			add(name, "not judged")
		} else {
			add(name, "judged "+fmt.Sprintf("%7s", count(c.Funnel.Relevant)))
		}
		for _, row := range recalls(c) {
			text := ""
			if row.r.Macro != nil {
				text = fmt.Sprintf("%.4f %7s", row.r.Macro.Value, count(row.r.Hits))
			}
			add("  "+row.set, text)
		}
	}
	for _, row := range order {
		term.print("%-24s", row)
		for _, text := range rows[row] {
			term.print("%s", beneath(text, funnelColumn))
		}
		term.print("\n")
	}
}
