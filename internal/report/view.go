package report

import (
	"fmt"
	"html/template"
	"io"
	"strings"
)

// sectionView is a section as the template takes it: figures in a row share a grid.
type sectionView struct {
	ID, Title, Lead string
	Blocks          []blockView
}

type blockView struct {
	Text  string
	Table *tableView
	// Grid holds what stands side by side where there is room.
	Grid []gridView
}

type gridView struct {
	Figure *figureView
	Table  *tableView
}

type tableView struct {
	Caption string
	Head    []columnView
	Rows    []rowView
	Data    *dataView
	Folded  bool
	// Class is how it is laid out, empty for the usual way.
	Class string
}

type columnView struct {
	Name   string
	Number bool
}

type rowView struct {
	Label string
	Span  int
	Cells []cellView
	Paper bool
}

type cellView struct {
	Text, Sub, Href string
	Number          bool
}

type figureView struct {
	Title, Note string
	SVG         template.HTML
	Data        *dataView
	Tall        bool
}

// dataView is CSV to read and to save.
type dataView struct {
	Name, Text string
	Href       template.URL
}

func writeSection(w io.Writer, s section) error {
	v := sectionView{ID: s.id, Title: s.title, Lead: s.lead}
	for _, b := range s.blocks {
		switch {
		case b.table != nil && !b.table.beside:
			t := viewTable(*b.table)
			v.Blocks = append(v.Blocks, blockView{Table: &t})
		case b.table != nil:
			t := viewTable(*b.table)
			v.beside(gridView{Table: &t})
		case b.figure != nil:
			f := viewFigure(*b.figure)
			v.beside(gridView{Figure: &f})
		default:
			v.Blocks = append(v.Blocks, blockView{Text: clean(b.text)})
		}
	}
	if err := pages().ExecuteTemplate(w, "section", v); err != nil {
		return fmt.Errorf("write section %s: %w", s.id, err)
	}
	return nil
}

// beside puts something into the grid at the end of the section, or begins one.
func (v *sectionView) beside(g gridView) {
	if n := len(v.Blocks); n == 0 || v.Blocks[n-1].Grid == nil {
		v.Blocks = append(v.Blocks, blockView{})
	}
	last := &v.Blocks[len(v.Blocks)-1]
	last.Grid = append(last.Grid, g)
}

func viewTable(t table) tableView {
	v := tableView{Caption: clean(t.caption), Folded: t.folded, Class: t.class()}
	for _, h := range t.head {
		v.Head = append(v.Head, columnView{clean(h.name), h.number})
	}
	for _, r := range t.rows {
		rv := rowView{Label: clean(r.label), Span: len(t.head), Paper: r.paper}
		for i, c := range r.cells {
			rv.Cells = append(rv.Cells, cellView{clean(c.text), clean(c.sub), c.href, i < len(t.head) && t.head[i].number})
		}
		v.Rows = append(v.Rows, rv)
	}
	if t.csv != "" {
		d := viewData(t.data())
		d.Text = ""
		v.Data = &d
	}
	return v
}

func viewFigure(f figure) figureView {
	d := viewData(f.data)
	return figureView{Title: clean(f.title), Note: clean(f.note), SVG: template.HTML(f.svg), Data: &d, Tall: f.tall} //nolint:gosec // made by package chart, which escapes
}

// shownData bounds the CSV that stands in the page to be read, in bytes; the link always has all.
const shownData = 12 << 10

func viewData(c csvData) dataView {
	text := c.String()
	v := dataView{Name: c.name, Href: template.URL("data:text/csv;charset=utf-8," + escapeURL(text)), Text: clean(text)} //nolint:gosec // every special byte is escaped
	if len(v.Text) > shownData {
		head := v.Text[:lineEnd(v.Text, shownData)]
		v.Text = head + fmt.Sprintf("… %s more lines in the file", count(strings.Count(v.Text[len(head):], "\n")))
	}
	return v
}

// escapeURL leaves in a data URL only what stands for itself there and in HTML.
func escapeURL(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_.,:;/~$*()!@", c) >= 0:
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(hex[c>>4])
			b.WriteByte(hex[c&15])
		}
	}
	return b.String()
}
