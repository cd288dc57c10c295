package corpus

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// toUTF8 decodes a page that is not UTF-8 from the character set it declares, or
// Windows-1252 as browsers do, and says whether it did.
func toUTF8(data []byte) ([]byte, bool) {
	if utf8.Valid(data) {
		return data, false
	}
	encoding, name, _ := charset.DetermineEncoding(data, "text/html")
	if name == "utf-8" {
		return data, false
	}
	decoded, err := encoding.NewDecoder().Bytes(data)
	if err != nil {
		return data, false
	}
	return decoded, true
}

// htmlPage returns the text of a page, one paragraph a line, a blank line between
// paragraphs. Headings and list items are marked as in Markdown. Scripts, styles,
// navigation and pictures are left out. Title, date and address come from the head.
// It reads tags as they come, without a tree: the depth of a page costs nothing.
func htmlPage(data []byte) Document {
	p := pageReader{tokens: html.NewTokenizer(bytes.NewReader(data))}
	for {
		kind := p.tokens.Next()
		if kind == html.ErrorToken && p.tokens.Err() != nil {
			break
		}
		p.token(kind)
	}
	p.doc.Text = strings.TrimSpace(p.out.String())
	p.doc.Title = oneLine(p.doc.Title)
	if p.doc.Title == "" {
		p.doc.Title = p.firstHeading
	}
	return p.doc
}

// pageReader turns the tags and texts of a page into lines.
type pageReader struct {
	tokens *html.Tokenizer
	doc    Document
	out    lineWriter
	// firstHeading stands in for a missing title; headingFrom is where the heading being
	// read begins in the output, -1 outside headings.
	firstHeading string
	heading      strings.Builder
	inHeading    bool
	// raw is the element whose text comes next and is handled apart: title or one that is
	// left out.
	raw atom.Atom
	// lists and pre count the open elements of that kind.
	lists, pre int
	// cells counts the cells of the table row being read.
	cells int
	// left is the region being left out, if any.
	left leftOut
}

// leftOut is an element whose text is thrown away when it is closed: one that never
// closes keeps its text, for then it is the page that is broken.
type leftOut struct {
	tag   atom.Atom
	depth int
	mark  lineWriter
	size  int
}

func (p *pageReader) token(kind html.TokenType) {
	switch kind {
	case html.TextToken:
		p.text(p.tokens.Text())
	case html.StartTagToken, html.SelfClosingTagToken:
		name, more := p.tokens.TagName()
		tag := atom.Lookup(name)
		attrs := p.attributes(more)
		if kind == html.SelfClosingTagToken {
			p.tokens.NextIsNotRawText()
			if !isVoid(tag) {
				return
			}
		}
		p.open(tag, attrs)
	case html.EndTagToken:
		name, _ := p.tokens.TagName()
		p.close(atom.Lookup(name))
	}
}

// pageAttrs are the attributes that matter.
type pageAttrs struct {
	name, content, rel, href, role string
	hidden                         bool
}

func (p *pageReader) attributes(more bool) (a pageAttrs) {
	for more {
		var key, value []byte
		key, value, more = p.tokens.TagAttr()
		switch string(key) {
		case "name", "property":
			a.name = string(value)
		case "content":
			a.content = string(value)
		case "rel":
			a.rel = string(value)
		case "href":
			a.href = string(value)
		case "role":
			a.role = string(value)
		case "hidden":
			a.hidden = true
		case "style":
			a.hidden = a.hidden || bytes.Contains(bytes.ReplaceAll(value, []byte(" "), nil), []byte("display:none"))
		}
	}
	return a
}

func isVoid(tag atom.Atom) bool {
	return tag == atom.Br || tag == atom.Hr || tag == atom.Meta || tag == atom.Link
}

// text writes what stands between tags.
func (p *pageReader) text(raw []byte) {
	switch p.raw {
	case atom.Title:
		if p.doc.Title == "" {
			p.doc.Title = html.UnescapeString(string(raw))
		}
		return
	case 0:
	default:
		return
	}
	s := html.UnescapeString(string(raw))
	if p.inHeading {
		p.heading.WriteString(s)
	}
	if p.pre > 0 {
		p.out.verbatim(s)
	} else {
		p.out.words(s)
	}
}

// open handles an opening tag.
func (p *pageReader) open(tag atom.Atom, a pageAttrs) {
	if p.left.tag == 0 && isLeftOut(tag, a) {
		p.left = leftOut{tag: tag, mark: p.out.state(), size: p.out.len()}
	}
	if tag == p.left.tag && tag != 0 {
		p.left.depth++
	}
	switch tag {
	case atom.Title, atom.Script, atom.Style, atom.Iframe, atom.Noscript, atom.Noembed, atom.Noframes:
		p.raw = tag
		return
	case atom.Meta, atom.Link:
		p.meta(a)
		return
	case atom.Ul, atom.Ol, atom.Menu:
		p.out.gap(p.gapAround(tag))
		p.lists++
	case atom.Pre, atom.Xmp, atom.Listing, atom.Plaintext:
		p.pre++
	case atom.Tr:
		p.cells = 0
	case atom.Td, atom.Th:
		p.cells++
		if p.cells > 1 {
			p.out.join(" | ")
		}
		return
	}
	p.out.gap(p.gapAround(tag))
	switch {
	case tag == atom.Li:
		p.out.prefix(strings.Repeat("  ", max(0, min(p.lists, 20)-1)) + "- ")
	case headingLevel(tag) > 0:
		p.out.prefix(strings.Repeat("#", headingLevel(tag)) + " ")
		p.inHeading = p.firstHeading == ""
	}
}

// close handles a closing tag.
func (p *pageReader) close(tag atom.Atom) {
	if tag == p.raw {
		p.raw = 0
	}
	switch tag {
	case atom.Ul, atom.Ol, atom.Menu:
		p.lists = max(0, p.lists-1)
	case atom.Pre, atom.Xmp, atom.Listing:
		p.pre = max(0, p.pre-1)
	}
	if headingLevel(tag) > 0 && p.inHeading {
		p.inHeading = false
		p.firstHeading = oneLine(p.heading.String())
		p.heading.Reset()
	}
	p.out.gap(p.gapAround(tag))
	if tag == p.left.tag && tag != 0 {
		if p.left.depth--; p.left.depth == 0 {
			p.out.restore(p.left.mark, p.left.size)
			p.left = leftOut{}
		}
	}
}

// meta takes date and address from the head.
func (p *pageReader) meta(a pageAttrs) {
	if strings.EqualFold(a.rel, "canonical") && p.doc.URL == "" {
		p.doc.URL = a.href
	}
	if f := p.doc.metaField(a.name); f != nil && *f == "" && a.content != "" && f != &p.doc.Title {
		*f = a.content
	}
}

// isLeftOut tells whether an element is no text of the page.
func isLeftOut(tag atom.Atom, a pageAttrs) bool {
	switch tag {
	case atom.Nav, atom.Template, atom.Svg, atom.Object, atom.Canvas, atom.Audio, atom.Video, atom.Select, atom.Button:
		return true
	}
	return a.hidden && !neverCloses(tag) || strings.EqualFold(a.role, "navigation")
}

// neverCloses tells whether an element has no closing tag, or one that is often left
// out: it cannot be left out whole.
func neverCloses(tag atom.Atom) bool {
	switch tag {
	case atom.P, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Td, atom.Th, atom.Option, atom.Input, atom.Img, atom.Br, atom.Hr, atom.Body, atom.Html:
		return true
	}
	return false
}

func headingLevel(tag atom.Atom) int {
	switch tag {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	}
	return 0
}

// gapAround is the number of line ends around an element: none inside a line, one, or
// two for a blank line. A list inside a list has no blank line around it.
func (p *pageReader) gapAround(tag atom.Atom) int {
	switch tag {
	case atom.Ul, atom.Ol, atom.Menu:
		if p.lists > 0 {
			return 1
		}
		return 2
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Xmp, atom.Listing, atom.Plaintext,
		atom.Blockquote, atom.Table, atom.Dl, atom.Hr, atom.Article, atom.Section:
		return 2
	case atom.Div, atom.Li, atom.Br, atom.Tr, atom.Dt, atom.Dd, atom.Main, atom.Header, atom.Footer, atom.Aside,
		atom.Figure, atom.Figcaption, atom.Caption, atom.Address, atom.Form, atom.Fieldset, atom.Legend, atom.Details,
		atom.Summary, atom.Option, atom.Body, atom.Head, atom.Nav, atom.Center, atom.Thead, atom.Tbody, atom.Textarea:
		return 1
	}
	return 0
}
