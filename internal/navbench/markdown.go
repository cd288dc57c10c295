package navbench

import (
	_ "embed"
	"fmt"
	"strings"

	"goserini/internal/bm25"
	"goserini/internal/eval"
)

//go:embed navigation.md
var method string

// NotesHeading begins the part of the page that people write.
const NotesHeading = "## What it says"

// Markdown renders the page of tables. command is what makes it; notes is the text from
// NotesHeading on, kept as it is.
func Markdown(reports []Report, command, notes string) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(method, "COMMAND", command))
	section := func(title, text string, rows [][]string) {
		fmt.Fprintf(&b, "\n## %s\n\n", title)
		if text != "" {
			b.WriteString(text + "\n\n")
		}
		table(&b, rows)
	}
	section("Collections", "", collectionRows(reports))
	section("Targets", "", targetRows(reports))
	section("Answer shown in the excerpt of a gold document", "Share of gold documents at these ranks, at the setting that `--bm25 auto` chooses for the collection and at "+bm25.Paper.String()+". The whole document, of those that the paper's tools rank, is the most that an excerpt could show: of questions with several steps, some gold documents do not hold the answer.", shownRows(reports))
	section("Ranks of gold documents", "At the setting of `--bm25 auto`, with the difference to the paper's tools over the same questions. Tools that rank as the paper's do are left out.", rankRows(reports))
	section("What a page costs", "Mean tokens.", pageRows(reports))
	section("Evidence per 1,000 tokens of tool output", "First: documents judged evidence that stand on the pages. Second: gold documents of which the answer was shown.", yieldRows(reports))
	section("Tokens until the answer's line has been shown", "Known-item questions. The last columns are the same where only lines of the document count, not excerpts.", itemRows(reports))
	section("builtin/lexical", "Recalls of evidence documents, means over questions; accuracy by builtin/exact; tokens of tool output a question.", researchRows(reports))
	section("Each part alone", "At the setting of `--bm25 auto`. Each part alone is measured on the questions that n says, evenly spread; the ratio to the paper is over the same questions.", partRows(reports))
	section("Parts that act when asked", "Readers who ask for a part, against the same readers without it, over the same questions; the last column is the mean of the differences. "+
		"`find` counts tokens, where less is better.", useRows(reports))
	section("What the definitions cost", "Tokens of the names, descriptions and schemas of the three tools, which stand in every request (and in the prompt cache after the first).", definitionRows(reports))
	if notes = strings.TrimSpace(notes); notes != "" {
		b.WriteString("\n" + notes + "\n")
	}
	return b.String()
}

// Notes returns what people wrote into an earlier version of the page.
func Notes(page string) string {
	if at := strings.Index(page, "\n"+NotesHeading); at >= 0 {
		return page[at+1:]
	}
	return ""
}

func table(b *strings.Builder, rows [][]string) {
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
		}
	}
}

func collectionRows(reports []Report) [][]string {
	rows := [][]string{{"collection", "documents", "terms a document", "questions", "measured", "known items", "builtin/lexical", "auto BM25"}}
	for _, r := range reports {
		rows = append(rows, []string{r.Collection, fmt.Sprint(r.Documents), fmt.Sprintf("%.0f", r.MeanTerms), fmt.Sprint(r.Asked),
			fmt.Sprint(r.Questions), fmt.Sprint(r.Items), fmt.Sprint(r.Researched), r.Own.Params.String()})
	}
	return rows
}

func targetRows(reports []Report) [][]string {
	rows := [][]string{{"collection", "wanted", "navigator", ""}}
	for _, r := range reports {
		for _, t := range Targets(r) {
			rows = append(rows, []string{t.Collection, t.Wanted, t.Got, outcome(t)})
		}
	}
	return rows
}

func outcome(t Target) string {
	switch {
	case t.Met:
		return "met"
	case t.All:
		return "**missed**, though all that the documents hold is shown"
	}
	return "**missed**"
}

func shownRows(reports []Report) [][]string {
	rows := [][]string{{"collection", "tools", "auto: " + BandNames[0], BandNames[1], BandNames[2], bm25.Paper.String() + ": " + BandNames[0], BandNames[1], BandNames[2]}}
	for _, r := range reports {
		for _, f := range r.compared() {
			row := []string{r.Collection, f.Variant}
			for _, m := range append(f.Shown[:], f.ShownOther[:]...) {
				row = append(row, share(m))
			}
			rows = append(rows, row)
		}
		row := []string{r.Collection, "whole document"}
		for _, m := range r.Variants[0].Holding {
			row = append(row, share(m))
		}
		rows = append(rows, append(row, "", "", ""))
	}
	return rows
}

func rankRows(reports []Report) [][]string {
	rows := [][]string{{"collection", "tools", "nDCG@10", "difference", "R@5", "difference"}}
	for _, r := range reports {
		for i, f := range r.Variants {
			if i > 0 && !f.Ranks.Differ {
				continue
			}
			row := []string{r.Collection, f.Variant, rate(f.Ranks.NDCG), "", rate(f.Ranks.Recall), ""}
			if i > 0 {
				row[3], row[5] = rate(f.Ranks.NDCGGain), rate(f.Ranks.RecallGain)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// compared are the figures that the main tables have.
func (r Report) compared() []Figures {
	var all []Figures
	for _, f := range r.Variants {
		switch f.Variant {
		case "paper", "navigator":
			all = append(all, f)
		}
	}
	return all
}

func pageRows(reports []Report) [][]string {
	rows := [][]string{{"collection", "tools", "first page", "a further page", "hits on it"}}
	for _, r := range reports {
		for _, f := range r.compared() {
			rows = append(rows, []string{r.Collection, f.Variant, count(f.FirstTokens), count(f.PageTokens), fmt.Sprint(f.PageHits)})
		}
	}
	return rows
}

func yieldRows(reports []Report) [][]string {
	rows := [][]string{{"collection", "tools", "first page", "answer shown", "to rank 20", "answer shown", "builtin/lexical", "answer shown"}}
	for _, r := range reports {
		for _, f := range r.compared() {
			rows = append(rows, []string{r.Collection, f.Variant, rate(f.First.Previewed), rate(f.First.Shown),
				rate(f.ToTwenty.Previewed), rate(f.ToTwenty.Shown), rate(f.Lexical.Previewed), rate(f.Lexical.Shown)})
		}
	}
	return rows
}

func itemRows(reports []Report) [][]string {
	rows := [][]string{{"collection", "tools", "shown", "mean tokens", "median", "to the paper's", "shown by reading", "mean tokens", "to the paper's"}}
	for _, r := range reports {
		for _, f := range r.compared() {
			if f.Item == nil {
				continue
			}
			rows = append(rows, []string{r.Collection, f.Variant, share(f.Item.Found), count(f.Item.Tokens), fmt.Sprintf("%.0f", f.Item.Median), rate(f.Item.ToPaper),
				share(f.ItemReading.Found), count(f.ItemReading.Tokens), rate(f.ItemReading.ToPaper)})
		}
	}
	return rows
}

func researchRows(reports []Report) [][]string {
	rows := [][]string{{"collection", "tools", "surfaced", "previewed", "opened", "cited", "accuracy", "calls", "tokens"}}
	for _, r := range reports {
		for _, f := range r.Variants {
			if x := f.Research; x != nil {
				rows = append(rows, []string{r.Collection, f.Variant, share(x.Surfaced), share(x.Previewed), share(x.Opened), share(x.Cited), share(x.Accuracy), rate(x.Calls), count(x.Tokens)})
			}
		}
	}
	return rows
}

func partRows(reports []Report) [][]string {
	rows := [][]string{{"collection", "part", "shown at " + BandNames[0], "at " + BandNames[1], "first page, tokens", "answer shown per 1,000 tokens, to rank 20", "tokens to the line, to the paper's", "by reading alone"}}
	for _, r := range reports {
		for _, f := range r.Variants {
			row := []string{r.Collection, f.Variant, share(f.Shown[0]), share(f.Shown[1]), count(f.FirstTokens), rate(f.ToTwenty.Shown), "", ""}
			if f.Item != nil {
				row[6], row[7] = rate(f.Item.ToPaper), rate(f.ItemReading.ToPaper)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func useRows(reports []Report) [][]string {
	rows := [][]string{{"collection", "part", "reader", "measure", "without", "with", "difference"}}
	for _, r := range reports {
		for _, u := range r.Uses {
			of := rate
			if u.Measure == tokensMeasure {
				of = count
			}
			rows = append(rows, []string{r.Collection, u.Part, u.Reader, u.Measure, of(u.Without), of(u.With), of(u.Gain)})
		}
	}
	return rows
}

// definitionRows do not depend on the collection.
func definitionRows(reports []Report) [][]string {
	rows := [][]string{{"tools", "tokens", "more than the paper's"}}
	if len(reports) == 0 {
		return rows
	}
	for _, f := range reports[0].Variants {
		rows = append(rows, []string{f.Variant, fmt.Sprintf("%.0f", f.Definitions), fmt.Sprintf("%.0f", f.Definitions-reports[0].Variants[0].Definitions)})
	}
	return rows
}

func share(m *eval.Mean) string {
	if m == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f [%.1f, %.1f] n=%d", 100*m.Value, 100*m.Low, 100*m.High, m.N)
}

func rate(m *eval.Mean) string {
	if m == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f [%.2f, %.2f]", m.Value, m.Low, m.High)
}

func count(m *eval.Mean) string {
	if m == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f [%.0f, %.0f]", m.Value, m.Low, m.High)
}
