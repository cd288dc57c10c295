package report

import (
	"fmt"
	"strings"
)

// Markdown writes runs as one Markdown text: the tables of the HTML report, the data of its charts,
// and one line a question.
func Markdown(runs []Run, o Options) (Document, error) {
	d, err := load(runs, o)
	if err != nil {
		return Document{}, err
	}
	sections, err := d.sections()
	if err != nil {
		return Document{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", inline(d.pageTitle()), inline(strings.Join(d.facts(), " · ")))
	for _, n := range d.notices() {
		fmt.Fprintf(&b, "\n> %s\n", inline(n))
	}
	for _, s := range sections {
		if s.id == "settings" {
			d.markdownQuestions(&b)
		}
		markdownSection(&b, s)
	}
	return Document{Bytes: []byte(b.String()), Notes: d.notes}, nil
}

func markdownSection(b *strings.Builder, s section) {
	fmt.Fprintf(b, "\n## %s\n", inline(s.title))
	if s.lead != "" {
		fmt.Fprintf(b, "\n%s\n", inline(s.lead))
	}
	for _, bl := range s.blocks {
		switch {
		case bl.table != nil:
			markdownTable(b, *bl.table)
		case bl.figure != nil:
			markdownFigure(b, *bl.figure)
		default:
			fmt.Fprintf(b, "\n%s\n", inline(bl.text))
		}
	}
}

func markdownTable(b *strings.Builder, t table) {
	if t.caption != "" {
		fmt.Fprintf(b, "\n### %s\n", inline(t.caption))
	}
	b.WriteString("\n|")
	for _, h := range t.head {
		b.WriteString(" " + inline(h.name) + " |")
	}
	b.WriteString("\n|")
	for _, h := range t.head {
		if h.number {
			b.WriteString("---:|")
		} else {
			b.WriteString("---|")
		}
	}
	b.WriteByte('\n')
	for _, r := range t.rows {
		b.WriteByte('|')
		if r.label != "" {
			b.WriteString(" **" + inline(r.label) + "** |" + strings.Repeat("  |", len(t.head)-1) + "\n")
			continue
		}
		for _, c := range r.cells {
			text := inline(c.text)
			if c.sub != "" {
				text += " (" + inline(c.sub) + ")"
			}
			b.WriteString(" " + text + " |")
		}
		b.WriteByte('\n')
	}
}

// mostMarkdownRows is how long the data of a chart may be to stand in the text.
const mostMarkdownRows = 40

func markdownFigure(b *strings.Builder, f figure) {
	if len(f.data.rows) == 0 || len(f.data.rows) > mostMarkdownRows {
		return
	}
	t := table{caption: f.title, head: texts(f.data.head...)}
	for _, r := range f.data.rows {
		cells := make([]cell, len(r))
		for i, v := range r {
			cells[i] = plain(v)
			if i > 0 && isNumber(v) {
				t.head[i].number = true
			}
		}
		t.row(cells...)
	}
	markdownTable(b, t)
}

func (d *data) markdownQuestions(b *strings.Builder) {
	for _, rd := range d.runs {
		fmt.Fprintf(b, "\n## %s\n", inline(d.title("Questions", rd)))
		t := table{head: texts("question", "outcome", "answer", "known answer")}
		t.head = append(t.head, numbers("confidence", "calls", "seconds")...)
		t.head = append(t.head, texts("cited")...)
		for _, it := range rd.items {
			t.row(it.markdownCells()...)
		}
		markdownTable(b, t)
	}
}

func (it *item) markdownCells() []cell {
	cells := []cell{plain(it.id), plain(string(it.outcome())), plain(none), plain(clip(it.knownAnswer(), 200)), plain(none), plain(count(it.calls())), plain(fmt.Sprintf("%.1f", it.scores.ElapsedSeconds)), plain("")}
	if it.record == nil {
		return cells
	}
	a := it.record.Answer
	cells[2] = plain(clip(oneLine(a.Exact), 200))
	if a.Confidence != nil {
		cells[4] = plain(fmt.Sprintf("%g %%", *a.Confidence))
	}
	var cited []string
	for _, c := range a.Citations {
		text := c.DocID
		if mark := badge(c); mark != "" {
			text += " (" + mark + ")"
		}
		cited = append(cited, text)
	}
	cells[7] = plain(clip(strings.Join(cited, ", "), 300))
	return cells
}

// inline makes a text safe to stand on one line of Markdown, also in a table: nothing in it is markup.
func inline(s string) string {
	s = oneLine(clean(s))
	var b strings.Builder
	for i, r := range s {
		switch r {
		case '\\', '`', '*', '_', '[', ']', '|', '#', '~', '$':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '+', '-':
			if i == 0 && len(s) > 1 && s[1] == ' ' {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return autolink.Replace(b.String())
}

// autolink keeps addresses in foreign text from becoming links.
var autolink = strings.NewReplacer("://", ":\u200b//", "www.", "www\u200b.")
