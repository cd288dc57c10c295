package corpus

import (
	"bytes"
	"cmp"
	"html"
	"slices"
	"strings"
)

// What the elements of a TREC document mean, by upper-case name.
var (
	sgmlTitles = []string{"TITLE", "HEADLINE", "HEAD", "HL", "TTL", "DOCTITLE"}
	sgmlDates  = []string{"DATE", "DD", "DATE_TIME"}
	sgmlURLs   = []string{"URL", "DOCURL"}
	sgmlTexts  = []string{"TEXT", "LEADPARA", "LP"}
	// sgmlHidden identify the document and are no text of it.
	sgmlHidden = []string{"DOCID", "DOCHDR", "DOCOLDNO", "PARENT", "FILEID"}
)

// sgmlDecoder turns the inside of a <DOC> into a document: the elements that make a
// title, date or address, and of the others the text elements, or, where there are none,
// all that is left.
type sgmlDecoder struct{}

func (sgmlDecoder) decode(rec *Record) (Document, error) {
	attrs, body := splitTag(rec.data)
	var p sgmlParts
	p.split(body)
	doc := Document{
		DocID: p.docno,
		Title: oneLine(strings.Join(p.titles, " ")),
		Date:  p.date,
		URL:   p.url,
	}
	if doc.DocID == "" {
		doc.DocID = attribute(attrs, "id")
	}
	if doc.DocID == "" {
		return doc, &RecordError{Location: rec.loc, Field: "DOCNO", Problem: "missing or empty", Fix: "give every <DOC> a <DOCNO>"}
	}
	if indexFold(p.rest.Bytes(), []byte("<html")) >= 0 && len(p.texts) == 0 {
		page := htmlPage(p.rest.Bytes())
		doc.Text = page.Text
		if doc.Title == "" {
			doc.Title = page.Title
		}
		return doc, nil
	}
	rest := plainSGML(p.rest.Bytes())
	if len(p.texts) == 0 {
		p.texts = []string{rest}
	} else if strings.TrimSpace(rest) != "" {
		rec.src.notes.add(noteOutsideText, rec)
	}
	doc.Text = strings.Trim(strings.Join(p.texts, "\n"), "\n")
	return doc, nil
}

// sgmlParts is a document taken apart.
type sgmlParts struct {
	docno, date, url string
	titles, texts    []string
	// rest is everything that is no title, date, address, text or identifier.
	rest bytes.Buffer
	// unclosed are the known elements of which no closing tag follows, so that it is
	// looked for only once.
	unclosed []string
}

// split walks over the tags of the document and files the elements of known name.
func (p *sgmlParts) split(body []byte) {
	for {
		i := bytes.IndexByte(body, '<')
		if i < 0 {
			p.rest.Write(body)
			return
		}
		p.rest.Write(body[:i])
		body = body[i:]
		after := p.element(body)
		if after == nil {
			p.rest.WriteByte('<')
			after = body[1:]
		}
		body = after
	}
}

// element files the element that b begins with under what it means and returns what
// follows it; nil if b begins with no known element.
func (p *sgmlParts) element(b []byte) (after []byte) {
	name := tagName(b)
	file := p.filing(name)
	if file == nil || slices.Contains(p.unclosed, name) {
		return nil
	}
	_, inside := splitTag(b)
	closing := []byte("</" + name + ">")
	end := indexFold(inside, closing)
	if end < 0 {
		p.unclosed = append(p.unclosed, name)
		return nil
	}
	file(inside[:end])
	return inside[end+len(closing):]
}

// filing is what to do with the inside of an element of that name; nil if it is not
// known.
func (p *sgmlParts) filing(name string) func(inside []byte) {
	switch {
	case name == "DOCNO":
		return func(inside []byte) { p.docno = strings.TrimSpace(html.UnescapeString(string(inside))) }
	case slices.Contains(sgmlHidden, name):
		return func([]byte) {}
	case slices.Contains(sgmlTitles, name):
		return func(inside []byte) { p.titles = append(p.titles, plainSGML(inside)) }
	case slices.Contains(sgmlTexts, name):
		return func(inside []byte) { p.texts = append(p.texts, strings.Trim(plainSGML(inside), "\n")) }
	case slices.Contains(sgmlDates, name):
		return func(inside []byte) { p.date = cmp.Or(p.date, oneLine(plainSGML(inside))) }
	case slices.Contains(sgmlURLs, name):
		return func(inside []byte) { p.url = cmp.Or(p.url, oneLine(plainSGML(inside))) }
	}
	return nil
}

// oneLine joins the words of s by single blanks.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// tagName is the upper-case name of the opening tag that b begins with, empty if it
// begins with none.
func tagName(b []byte) string {
	n := 1
	for n < len(b) && (isLetter(b[n]) || n > 1 && (isDigit(b[n]) || b[n] == '_' || b[n] == '-')) {
		n++
	}
	if n == 1 || n == len(b) || b[n] != '>' && spaceLen(b[n:n+1]) == 0 {
		return ""
	}
	return strings.ToUpper(string(b[1:n]))
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// splitTag returns what stands inside the tag that b begins with and what follows it.
func splitTag(b []byte) (attrs, after []byte) {
	end := bytes.IndexByte(b, '>')
	if end < 0 {
		return b, nil
	}
	return b[:end], b[end+1:]
}

// attribute reads a quoted attribute of a tag.
func attribute(tag []byte, name string) string {
	for _, quote := range []string{`"`, `'`} {
		if _, after, ok := strings.Cut(string(tag), " "+name+"="+quote); ok {
			if value, _, ok := strings.Cut(after, quote); ok {
				return html.UnescapeString(value)
			}
		}
	}
	return ""
}

// sgmlInline are tags that do not part words.
var sgmlInline = []string{"B", "I", "EM", "STRONG", "U", "SUB", "SUP", "FONT", "A", "SPAN"}

// sgmlEntities are those of the TREC disks that HTML does not know.
var sgmlEntities = strings.NewReplacer("&hyph;", "-", "&blank;", " ")

// plainSGML is text without its tags and with its entities resolved.
func plainSGML(b []byte) string {
	var out strings.Builder
	out.Grow(len(b))
	lastComment := bytes.LastIndex(b, []byte("-->"))
	size := len(b)
	for {
		i := bytes.IndexByte(b, '<')
		if i < 0 {
			out.Write(b)
			break
		}
		out.Write(b[:i])
		b = b[i:]
		n := tagLen(b, size-len(b) < lastComment)
		if n == 0 {
			out.WriteByte('<')
			b = b[1:]
			continue
		}
		out.WriteString(inPlaceOf(b[:n]))
		b = b[n:]
	}
	return html.UnescapeString(sgmlEntities.Replace(out.String()))
}

// tagLen is the length of the tag or comment that b begins with, 0 if it is neither.
// closed says that a comment's end follows somewhere.
func tagLen(b []byte, closed bool) int {
	if bytes.HasPrefix(b, []byte("<!--")) && closed {
		if end := bytes.Index(b, []byte("-->")); end >= 0 {
			return end + len("-->")
		}
		return 0
	}
	if len(b) < 2 || !isLetter(b[1]) && b[1] != '/' && b[1] != '!' && b[1] != '?' {
		return 0
	}
	end := bytes.IndexAny(b[1:], "<>")
	if end < 0 || b[1+end] == '<' {
		return 0
	}
	return end + 2
}

// inPlaceOf is what stands for a tag in plain text.
func inPlaceOf(tag []byte) string {
	name := strings.ToUpper(strings.Trim(string(tag), "</>"))
	name, _, _ = strings.Cut(name, " ")
	switch {
	case slices.Contains(sgmlInline, name):
		return ""
	case name == "P" || name == "BR":
		return "\n"
	}
	return " "
}
