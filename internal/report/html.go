package report

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed" // the page's template, style and script
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"goserini/internal/chart"
)

//go:embed page.tmpl
var pageTemplate string

//go:embed style.css
var pageStyle string

//go:embed script.js
var pageScript string

var pages = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageTemplate)) })

// HTML writes runs as one file that needs nothing else. Without script, all figures, the answers and a
// short list of steps can be read; with it, opening a question shows everything that is in the file of it.
func HTML(runs []Run, o Options) (Document, error) {
	d, err := load(runs, o)
	if err != nil {
		return Document{}, err
	}
	sections, err := d.sections()
	if err != nil {
		return Document{}, err
	}
	p := pageWriter{data: d, sections: sections}
	most := o.maxBytes() * len(d.runs)
	at, err := p.chooseLevel(most)
	if err != nil {
		return Document{}, err
	}
	for {
		out, err := p.write(at)
		if err != nil {
			return Document{}, err
		}
		if len(out) <= most || at == len(levels)-1 {
			return Document{Bytes: out, Notes: append(d.notes, sizeNotes(len(out), most, at)...)}, nil
		}
		at++
	}
}

// sizeNotes say what was left out to keep to a size.
func sizeNotes(size, most, at int) []string {
	var notes []string
	if size > most {
		notes = append(notes, fmt.Sprintf("the report has %s bytes: with nothing that tools returned it is still larger than %s", count(size), count(most)))
	}
	if l := levels[at]; l.text < maxInt {
		notes = append(notes, fmt.Sprintf("to stay within %s bytes, %s; --max-size allows more", count(most), l.shows()))
	}
	return notes
}

// pageWriter writes the page of a report.
type pageWriter struct {
	*data
	sections []section
}

// write renders the page at a level of detail.
func (p pageWriter) write(at int) ([]byte, error) {
	var b bytes.Buffer
	if err := p.front(&b); err != nil {
		return nil, err
	}
	for _, rd := range p.runs {
		if err := p.questions(&b, rd, levels[at], rd.items); err != nil {
			return nil, err
		}
	}
	if err := p.back(&b); err != nil {
		return nil, err
	}
	for _, rd := range p.runs {
		if err := pack(&b, rd, levels[at], rd.items); err != nil {
			return nil, err
		}
	}
	b.WriteString("<script>" + pageScript + "</script>\n</body>\n</html>\n")
	return b.Bytes(), nil
}

// chooseLevel finds the fullest level whose page is about as small as asked for, from a sample of
// the questions.
func (p pageWriter) chooseLevel(most int) (int, error) {
	fixed, err := p.sizeOf(levels[0], func(*runData) []*item { return nil })
	if err != nil {
		return 0, err
	}
	at, found := slices.BinarySearchFunc(levels, most, func(l level, most int) int {
		size := fixed
		for _, rd := range p.runs {
			part := sample(rd.items)
			n, partErr := p.sizeOf(l, func(r *runData) []*item {
				if r == rd {
					return part
				}
				return nil
			})
			err = errors.Join(err, partErr)
			size += (n - fixed) * len(rd.items) / max(len(part), 1)
		}
		return most - size // sizes fall from level to level
	})
	if !found && at == len(levels) {
		at--
	}
	return at, err
}

// sizeOf is the size of a page with only some of the questions.
func (p pageWriter) sizeOf(l level, items func(*runData) []*item) (int, error) {
	var c counter
	if err := p.front(&c); err != nil {
		return 0, err
	}
	for _, rd := range p.runs {
		if err := p.questions(&c, rd, l, items(rd)); err != nil {
			return 0, err
		}
		if err := pack(&c, rd, l, items(rd)); err != nil {
			return 0, err
		}
	}
	return c.n + len(pageScript) + 1000, nil
}

type counter struct{ n int }

func (c *counter) Write(b []byte) (int, error) { c.n += len(b); return len(b), nil }

// sample takes questions at equal distances.
func sample(items []*item) []*item {
	const most = 32
	step := (len(items) + most - 1) / most
	var out []*item
	for i := 0; i < len(items); i += max(step, 1) {
		out = append(out, items[i])
	}
	return out
}

type headView struct {
	Policy, Title string
	Style         template.HTML
	Facts         []string
	Notices       []string
	Tiles         []tileView
	Nav           []navView
}

type tileView struct{ Label, Value, Note string }
type navView struct{ ID, Title string }

func (p pageWriter) front(w io.Writer) error {
	style := pageStyle + chart.CSS
	h := headView{Title: p.pageTitle(), Facts: p.facts(), Notices: p.notices(), Style: template.HTML("<style>" + style + "</style>")} //nolint:gosec // our own file
	h.Policy = fmt.Sprintf("default-src 'none'; img-src data:; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hash(style), hash(pageScript))
	if len(p.runs) == 1 {
		for _, t := range p.runs[0].tiles() {
			h.Tiles = append(h.Tiles, tileView{clean(t.label), t.value, clean(t.note)})
		}
	}
	nav, settings := []navView{}, []navView{}
	for _, s := range p.sections {
		if s.id == "settings" {
			settings = append(settings, navView{s.id, s.title})
			continue
		}
		nav = append(nav, navView{s.id, s.title})
	}
	for _, rd := range p.runs {
		nav = append(nav, navView{questionsID(rd), clean(p.title("Questions", rd))})
	}
	h.Nav = append(nav, settings...)
	if err := pages().ExecuteTemplate(w, "head", h); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	for _, s := range p.sections {
		if s.id != "settings" {
			if err := writeSection(w, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// back writes what stands after the questions.
func (p pageWriter) back(w io.Writer) error {
	for _, s := range p.sections {
		if s.id == "settings" {
			if err := writeSection(w, s); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(w, "<footer><p>Made by goserini report. What every figure means: docs/evaluation.md and docs/report.md of goserini.</p></footer>\n</main>\n</div>\n")
	return err
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func questionsID(rd *runData) string {
	if rd.index == 0 {
		return "questions"
	}
	return fmt.Sprintf("questions-%d", rd.index+1)
}

type questionsView struct {
	ID, Title, Lead string
	Total           int
	Counts          []countView
}

type countView struct {
	Outcome string
	N       int
}

func (p pageWriter) questions(w io.Writer, rd *runData, l level, items []*item) error {
	v := questionsView{ID: questionsID(rd), Title: clean(p.title("Questions", rd)), Total: len(rd.items)}
	v.Lead = "Each with its answer, what it cites, and its steps. Opened with script, a question shows every call with its reason and what the model saw; a citation leads to the cited lines."
	if l.text < maxInt {
		v.Lead += " To keep this file small, " + l.shows() + "; every gap says its size, and the run directory has the whole."
	}
	for _, o := range outcomes {
		n := 0
		for _, it := range rd.items {
			if it.outcome() == o {
				n++
			}
		}
		if n > 0 {
			v.Counts = append(v.Counts, countView{string(o), n})
		}
	}
	if err := pages().ExecuteTemplate(w, "questions", v); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	for _, it := range items {
		if err := pages().ExecuteTemplate(w, "card", it.card(l)); err != nil {
			return fmt.Errorf("write question %s: %w", it.id, err)
		}
	}
	_, err := io.WriteString(w, "</section>\n")
	return err
}

// packBytes is about how much text one block holds: enough to compress well, little enough to be
// inflated at a click.
const packBytes = 512 << 10

// pack writes the full text of questions as compressed blocks.
func pack(w io.Writer, rd *runData, l level, items []*item) error {
	var text bytes.Buffer
	first := 0
	flush := func(next int) error {
		if next == first {
			return nil
		}
		packed, err := compress(text.Bytes())
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "<script type=\"application/octet-stream\" data-run=\"%s\" data-card=\"%d\" data-count=\"%d\">%s</script>\n",
			strings.TrimSuffix(anchorOf(rd.index, 0), "1"), first+1, next-first, packed)
		text.Reset()
		first = next
		return err
	}
	for i, it := range items {
		if i > first {
			text.WriteByte(0)
		}
		if err := pages().ExecuteTemplate(&text, "opened", it.opened(l)); err != nil {
			return fmt.Errorf("write question %s: %w", it.id, err)
		}
		if text.Len() >= packBytes {
			if err := flush(i + 1); err != nil {
				return err
			}
		}
	}
	return flush(len(items))
}

func compress(text []byte) (string, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(text); err != nil {
		return "", fmt.Errorf("compress: %w", err)
	}
	if err := z.Close(); err != nil {
		return "", fmt.Errorf("compress: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

// pageTitle names the runs.
func (d *data) pageTitle() string {
	names := d.names()
	for i := range names {
		names[i] = clean(names[i])
	}
	return strings.Join(names, ", ")
}

// facts stand under the title.
func (d *data) facts() []string {
	if len(d.runs) > 1 {
		return []string{fmt.Sprintf("%d runs side by side", len(d.runs))}
	}
	rd := d.runs[0]
	m := rd.Manifest
	var out []string
	if m.Spec.Benchmark != "" {
		name := "benchmark " + baseName(m.Spec.Benchmark)
		if m.Spec.QuerySet != "" {
			name += ", " + m.Spec.QuerySet
		}
		out = append(out, clean(name))
	}
	out = append(out, clean(m.Spec.Model.Name), plural(rd.Scores.Queries, "question"))
	if when := rd.when(); when != "" {
		out = append(out, when)
	}
	return out
}

// notices are what a reader must know before all figures.
func (d *data) notices() []string {
	var out []string
	for _, rd := range d.runs {
		name := ""
		if len(d.runs) > 1 {
			name = clean(rd.Name) + ": "
		}
		if !rd.Manifest.Finished {
			out = append(out, name+"the run is not finished; questions without a result count like those that found nothing.")
		}
		for _, f := range rd.Manifest.Findings {
			out = append(out, clean(name+f.String()))
		}
		if rd.Redact {
			out = append(out, name+"the benchmark keeps its questions and answers out of public files, so this report shows none of them, nor what models and tools wrote.")
		}
		if rd.Scores.Accuracy == nil {
			out = append(out, name+"the run is not judged, so there is no accuracy.")
		}
		if n := len(rd.Scores.NotInSet); n > 0 {
			out = append(out, fmt.Sprintf("%s%s not in the query set and left out.", name, plural(n, "record")))
		}
	}
	return out
}
