package corpus

import "strings"

// markdownPage keeps the text as it is written, so that lines stay where the author
// sees them. The title is that of the front matter, or else the first heading; a heading
// that begins the text becomes the title and is not repeated. Title, date and address
// are taken out of the front matter; its other lines stay.
func markdownPage(text string) Document {
	text = lineEnds.Replace(text)
	doc, text := frontMatter(text)
	if doc.Title == "" {
		doc.Title, text = heading(text)
	}
	doc.Text = text
	return doc
}

// frontMatter reads lines of "key: value" (YAML) or "key = value" (TOML) at the head of
// the text.
func frontMatter(text string) (doc Document, rest string) {
	fence, separator := "---\n", ":"
	if strings.HasPrefix(text, "+++\n") {
		fence, separator = "+++\n", "="
	}
	if !strings.HasPrefix(text, fence) {
		return doc, text
	}
	head, body, ok := strings.Cut(text[len(fence):], "\n"+fence)
	if !ok {
		return doc, text
	}
	var kept []string
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, separator)
		if f := doc.metaField(strings.TrimSpace(key)); f != nil && *f == "" && !strings.HasPrefix(line, " ") {
			*f = unquoteScalar(strings.TrimSpace(value))
			continue
		}
		kept = append(kept, line)
	}
	kept = append(kept, body)
	return doc, strings.TrimLeft(strings.Join(kept, "\n"), "\n")
}

// metaField is the field that a key of the front matter or a <meta> name stands for.
func (d *Document) metaField(name string) *string {
	switch strings.ToLower(name) {
	case "title":
		return &d.Title
	case "date", "published", "article:published_time", "dc.date", "dcterms.date":
		return &d.Date
	case "url", "permalink", "canonical", "og:url":
		return &d.URL
	}
	return nil
}

// unquoteScalar removes the quotes around a value.
func unquoteScalar(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// heading finds the first heading outside code. Where only blank lines stand before it,
// it is removed from the text.
func heading(text string) (title, rest string) {
	inCode, blank := false, true
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := min(at+len(line)+1, len(text))
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			inCode = !inCode
		}
		title, size := "", 0
		if !inCode {
			title, size = headingAt(line, text[next:])
		}
		if title != "" && blank {
			return title, strings.TrimLeft(text[next+size:], "\n")
		}
		if title != "" {
			return title, text
		}
		blank = blank && strings.TrimSpace(line) == ""
		at = next
	}
	return "", text
}

// headingAt reads "# title", or a line underlined with = or -, whose length is then
// returned as well.
func headingAt(line, rest string) (title string, underline int) {
	hashes := len(line) - len(strings.TrimLeft(line, "#"))
	if hashes > 0 && hashes <= 6 && len(line) > hashes && (line[hashes] == ' ' || line[hashes] == '\t') {
		return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(line[hashes:]), "#")), 0
	}
	under, _, _ := strings.Cut(rest, "\n")
	marks := strings.TrimSpace(under)
	if strings.TrimSpace(line) == "" || len(marks) < 3 || strings.Trim(marks, "=") != "" && strings.Trim(marks, "-") != "" {
		return "", 0
	}
	return strings.TrimSpace(line), min(len(under)+1, len(rest))
}
