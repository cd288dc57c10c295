package controller

import (
	"context"
	"strings"
)

// What is read of a document to choose passages from it: lines at a time, and bytes in
// all. Find and read_document reach the rest of longer ones.
const (
	linesAtATime  = 2000
	documentBytes = 4 << 20
)

// document is a document as far as it was read for choosing passages.
type document struct {
	title string
	text  string
	// totalLines is the number of lines of the document, which may be more than text has.
	totalLines int
	// whole says that text is all of it.
	whole bool
}

// document reads a document up to documentBytes.
func (c *Controller) document(ctx context.Context, docid string) (document, error) {
	var d document
	var lines []string
	size := 0
	for offset := 1; ; offset = len(lines) + 1 {
		chunk, err := c.read(ctx, docid, offset, linesAtATime, documentBytes+1-size)
		if err != nil {
			return document{}, err
		}
		d.title, d.totalLines = chunk.Title, chunk.TotalLines
		for _, line := range chunk.Lines {
			size += len(line) + 1
		}
		lines = append(lines, chunk.Lines...)
		d.whole = len(lines) >= d.totalLines && !chunk.Cut
		if len(chunk.Lines) == 0 || d.whole || chunk.Cut || size > documentBytes {
			break
		}
	}
	d.text = strings.Join(lines, "\n")
	if len(d.text) > documentBytes {
		d.text, d.whole = fitting(d.text, documentBytes), false
	}
	return d, nil
}

// meta is what the head of a document says about it.
type meta struct {
	title, source, date string
}

// frontMatterLines bounds the search for the end of front matter.
const frontMatterLines = 60

// body returns what the head of a document says about it and the byte offset at which
// its text proper begins: behind its title line and behind front matter, which stands
// between two lines of three dashes and has "name: value" lines.
func (d document) body() (meta, int) {
	m := meta{title: d.title}
	from := 0
	first, _, more := strings.Cut(d.text, "\n")
	if more && d.title != "" && first == strings.TrimSpace(d.title) {
		from = len(first) + 1
	}
	fields, size := frontMatter(d.text[from:])
	if m.title == "" {
		m.title = fields["title"]
	}
	for _, name := range []string{"url", "source", "link"} {
		if m.source == "" {
			m.source = fields[name]
		}
	}
	for _, name := range []string{"date", "published", "publish_date"} {
		if m.date == "" {
			m.date = fields[name]
		}
	}
	return m, from + size
}

// frontMatter returns the fields of front matter at the beginning of text, in lower
// case, and its size in bytes; 0 where there is none.
func frontMatter(text string) (map[string]string, int) {
	line, rest, _ := strings.Cut(text, "\n")
	if strings.TrimRight(line, " ") != "---" {
		return nil, 0
	}
	fields := map[string]string{}
	size := len(line) + 1
	for range frontMatterLines {
		line, next, more := strings.Cut(rest, "\n")
		size += len(line) + 1
		if strings.TrimRight(line, " ") == "---" {
			return fields, min(size, len(text))
		}
		if !more {
			break
		}
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[strings.ToLower(strings.TrimSpace(name))] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
		rest = next
	}
	return nil, 0
}
