package report

import (
	"encoding/csv"
	"strings"
)

// section is a part of a report, the same for every format.
type section struct {
	id, title string
	// lead says how to read what follows.
	lead   string
	blocks []block
}

// block is a table, a figure, or a paragraph.
type block struct {
	text   string
	table  *table
	figure *figure
}

func (s *section) say(text string)    { s.blocks = append(s.blocks, block{text: text}) }
func (s *section) tabulate(t table)   { s.blocks = append(s.blocks, block{table: &t}) }
func (s *section) draw(f figure)      { s.blocks = append(s.blocks, block{figure: &f}) }
func (s *section) empty() bool        { return len(s.blocks) == 0 }
func (t *table) row(cells ...cell)    { t.rows = append(t.rows, row{cells: cells}) }
func (t *table) section(label string) { t.rows = append(t.rows, row{label: label}) }

// table has a head and rows. Columns of numbers are aligned on the right.
type table struct {
	caption string
	head    []column
	rows    []row
	// csv is the name of the file that the table can be saved as; no link without one.
	csv string
	// beside puts the table into the grid with figures and tables like it, in HTML.
	beside bool
	// stacked puts the third column beneath the second on a narrow screen, in HTML.
	stacked bool
	// folded hides the table until it is asked for, in HTML.
	folded bool
}

// withoutEmptyColumns drops columns behind the first that have neither a name nor a text, or a name only.
func (t table) withoutEmptyColumns() table {
	out := t
	out.head, out.rows = nil, make([]row, len(t.rows))
	for i, r := range t.rows {
		out.rows[i] = row{label: r.label, paper: r.paper}
	}
	for c, h := range t.head {
		used := c == 0
		for _, r := range t.rows {
			used = used || c < len(r.cells) && r.cells[c].text+r.cells[c].sub != ""
		}
		if !used {
			continue
		}
		out.head = append(out.head, h)
		for i, r := range t.rows {
			if c < len(r.cells) {
				out.rows[i].cells = append(out.rows[i].cells, r.cells[c])
			}
		}
	}
	return out
}

// class says how the table is laid out in HTML.
func (t table) class() string {
	const many = 8 // columns that do not fit beside one another in the usual size
	switch {
	case t.stacked:
		return "stacked"
	case len(t.head) >= many:
		return "dense"
	}
	return ""
}

type column struct {
	name   string
	number bool
}

// row is a line of a table; one with a label is a heading over the rows below.
type row struct {
	label string
	cells []cell
	// paper marks figures of the paper.
	paper bool
}

// cell is a text, with a smaller one beneath, and where it leads to. Writers treat every text as foreign.
type cell struct{ text, sub, href string }

func plain(s string) cell { return cell{text: s} }

func texts(names ...string) []column {
	out := make([]column, len(names))
	for i, n := range names {
		out[i] = column{name: n}
	}
	return out
}

func numbers(names ...string) []column {
	out := texts(names...)
	for i := range out {
		out[i].number = true
	}
	return out
}

// figure is a chart with its data.
type figure struct {
	title string
	// note says what is drawn.
	note string
	svg  string
	data csvData
	// tall charts scroll inside the page.
	tall bool
}

// csvData is the data of a chart as a table.
type csvData struct {
	name string
	head []string
	rows [][]string
}

func (c *csvData) add(values ...string) { c.rows = append(c.rows, values) }

// String writes the data as CSV after RFC 4180, with line feeds. A text that a spreadsheet would take for
// a formula is kept from being one by an apostrophe.
func (c csvData) String() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	for _, r := range append([][]string{c.head}, c.rows...) {
		safe := make([]string, len(r))
		for i, v := range r {
			safe[i] = noFormula(v)
		}
		w.Write(safe) //nolint:errcheck // a strings.Builder takes everything
	}
	w.Flush()
	return b.String()
}

func noFormula(s string) string {
	if s == "" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) || isNumber(s) {
		return s
	}
	return "'" + s
}

func isNumber(s string) bool {
	return strings.Trim(s, "+-0123456789.eE") == ""
}

// data turns a table into CSV rows, heading rows becoming a first column.
func (t table) data() csvData {
	c := csvData{name: t.csv}
	grouped := false
	for _, r := range t.rows {
		grouped = grouped || r.label != ""
	}
	if grouped {
		c.head = append(c.head, "group")
	}
	for _, h := range t.head {
		c.head = append(c.head, h.name)
	}
	group := ""
	for _, r := range t.rows {
		if r.label != "" {
			group = r.label
			continue
		}
		var values []string
		if grouped {
			values = append(values, group)
		}
		for _, x := range r.cells {
			values = append(values, strings.TrimSpace(x.text+" "+x.sub))
		}
		c.rows = append(c.rows, values)
	}
	return c
}
