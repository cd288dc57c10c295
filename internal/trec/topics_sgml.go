package trec

import (
	"html"
	"strings"

	"goserini/internal/lazyregexp"
)

// sgmlTopics gathers one topic over several lines. In these files a field begins
// with its tag and lasts to the next tag; closing tags are optional.
type sgmlTopics struct {
	open  bool
	topic Topic
	// hasQuery says that Text comes from <query>, which wins over <title>.
	hasQuery bool
	// field is the tag being read; number the text of <num>.
	field string
	num   strings.Builder
	text  strings.Builder
}

var (
	sgmlTag    = lazyregexp.New(`<(/?)([A-Za-z][A-Za-z0-9_.-]*)([^<>]*)>`)
	numberAttr = lazyregexp.New(`(?i)\b(?:number|id)\s*=\s*(?:"([^"]*)"|'([^']*)')`)
)

// sgmlLine takes one line apart into tags and text.
func (p *topicParser) sgmlLine(l line) {
	rest := l.text
	for {
		at := sgmlTag.FindStringSubmatchIndex(rest)
		if at == nil {
			p.sgml.add(rest + "\n")
			return
		}
		p.sgml.add(rest[:at[0]])
		closing, tag, attrs := rest[at[2]:at[3]] == "/", strings.ToLower(rest[at[4]:at[5]]), rest[at[6]:at[7]]
		p.sgmlTag(l.number, closing, tag, attrs)
		rest = rest[at[1]:]
	}
}

func (p *topicParser) sgmlTag(number int, closing bool, tag, attrs string) {
	s := &p.sgml
	switch tag {
	case "top", "topic":
		if s.open && !closing {
			p.add(number, "<%s> begins inside the topic of line %d: close that one with </%s>", tag, s.topic.Line, tag)
		}
		s.finish(p)
		if closing {
			return
		}
		*s = sgmlTopics{open: true, topic: Topic{Line: number}}
		if m := numberAttr.FindStringSubmatch(attrs); m != nil {
			s.num.WriteString(m[1] + m[2])
		}
	default:
		s.endField()
		if !closing {
			s.field = tag
		}
	}
}

// add gives text to the field being read.
func (s *sgmlTopics) add(text string) {
	switch s.field {
	case "num":
		s.num.WriteString(text)
	case "title", "query":
		s.text.WriteString(text)
	}
}

// endField closes the field being read.
func (s *sgmlTopics) endField() {
	if s.field == "query" || s.field == "title" && !s.hasQuery {
		text := strings.Join(strings.Fields(html.UnescapeString(s.text.String())), " ")
		s.topic.Text = trimLabel(text, "Topic:")
		s.hasQuery = s.field == "query"
	}
	s.text.Reset()
	s.field = ""
}

// finish hands the open topic over, if there is one.
func (s *sgmlTopics) finish(p *topicParser) {
	if !s.open {
		return
	}
	s.endField()
	s.open = false
	s.topic.ID = trimLabel(strings.TrimSpace(html.UnescapeString(s.num.String())), "Number:")
	p.take(s.topic)
}

// trimLabel removes the label that some years' topics repeat inside the field.
func trimLabel(s, label string) string {
	if len(s) >= len(label) && strings.EqualFold(s[:len(label)], label) {
		return strings.TrimSpace(s[len(label):])
	}
	return s
}
