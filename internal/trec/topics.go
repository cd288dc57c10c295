package trec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Topic is one stated information need.
type Topic struct {
	// ID is exact text: not empty, valid UTF-8; a number in JSON keeps its digits.
	ID string
	// Text is what is asked. It may be empty.
	Text string
	// Line is the 1-based line where the topic begins.
	Line int
}

// ReadTopics reads a topics file, which may be gzip-compressed. The first
// non-blank line decides the format:
//
//   - "{": JSON, one object a line. The id is under query_id, _id, id, qid or
//     topic_id, the text under query, text, question or title; the earlier name wins.
//   - "<": TREC topics, <top> with <num> and <title>, or <topic number="…"> with
//     <query> or <title>.
//   - otherwise TSV: id, tab, text. Later tabs and quotes belong to the text. A
//     first line of well-known column names is a header and is passed over.
//
// Bad lines and repeated ids are errors; the topics of the good lines, in file
// order, come along with the error.
func ReadTopics(path string) ([]Topic, error) {
	r, c, err := openText(path)
	if err != nil {
		return nil, fmt.Errorf("read topics: %w", err)
	}
	defer func() { _ = c.Close() }()
	return ParseTopics(r, path)
}

// ParseTopics is ReadTopics over an open stream that errors call name.
func ParseTopics(r io.Reader, name string) ([]Topic, error) {
	p := topicParser{complaints: complaints{name: name}}
	if err := eachLine(r, name, p.line); err != nil {
		return p.topics, fmt.Errorf("read topics: %w", err)
	}
	p.finish()
	if err := errors.Join(p.err(), repeatedTopics(name, p.topics)); err != nil {
		return p.topics, fmt.Errorf("read topics: %w", err)
	}
	if len(p.topics) == 0 {
		return nil, fmt.Errorf("read topics: %s: %w", name, ErrEmpty)
	}
	return p.topics, nil
}

// topicParser takes the lines of one file; parse is chosen by the first of them.
type topicParser struct {
	complaints
	topics []Topic
	parse  func(line)
	sgml   sgmlTopics
}

func (p *topicParser) line(l line) error {
	if l.blank() {
		return nil
	}
	if !utf8.ValidString(l.text) {
		p.add(l.number, "not valid UTF-8: convert the file to UTF-8")
		return nil
	}
	if p.parse == nil {
		if p.parse = p.recognise(l); p.parse == nil {
			p.parse = p.tsv
			return nil
		}
	}
	p.parse(l)
	return nil
}

// recognise returns the parser for a file that begins with l, nil if l is a TSV
// header.
func (p *topicParser) recognise(l line) func(line) {
	switch strings.TrimLeft(l.text, asciiSpace)[0] {
	case '{':
		return p.json
	case '<':
		return p.sgmlLine
	}
	id, text, _ := strings.Cut(l.text, "\t")
	if slices.Contains(topicIDKeys, id) && slices.Contains(topicTextKeys, text) {
		return nil
	}
	return p.tsv
}

func (p *topicParser) finish() {
	p.sgml.finish(p)
}

// take adds a topic, or says why it is none.
func (p *topicParser) take(t Topic) {
	if strings.Trim(t.ID, asciiSpace) == "" {
		p.add(t.Line, "topic without an id")
		return
	}
	p.topics = append(p.topics, t)
}

func (p *topicParser) tsv(l line) {
	id, text, ok := strings.Cut(l.text, "\t")
	if !ok {
		p.add(l.number, "no tab in %s: a topic is an id, a tab and the text", shorten(l.text))
		return
	}
	p.take(Topic{ID: id, Text: text, Line: l.number})
}

var (
	topicIDKeys   = []string{"query_id", "_id", "id", "qid", "topic_id"}
	topicTextKeys = []string{"query", "text", "question", "title"}
)

func (p *topicParser) json(l line) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(l.text), &object); err != nil {
		p.add(l.number, "not a JSON object: %w", err)
		return
	}
	id, err := jsonField(object, topicIDKeys, true)
	if err != nil {
		p.add(l.number, "topic id: %w", err)
		return
	}
	text, err := jsonField(object, topicTextKeys, false)
	if err != nil {
		p.add(l.number, "text of topic %s: %w", shorten(id), err)
		return
	}
	p.take(Topic{ID: id, Text: text, Line: l.number})
}

// jsonField returns the string, or the number as it is written, under the first of
// the keys that the object has.
func jsonField(object map[string]json.RawMessage, keys []string, numbers bool) (string, error) {
	for _, key := range keys {
		raw, ok := object[key]
		if !ok {
			continue
		}
		if numbers && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
			return string(raw), nil
		}
		var s *string
		if err := json.Unmarshal(raw, &s); err != nil || s == nil {
			return "", fmt.Errorf("key %q holds %s, not a string", key, shorten(string(bytes.TrimSpace(raw))))
		}
		return *s, nil
	}
	found := make([]string, 0, len(object))
	for key := range object {
		found = append(found, key)
	}
	slices.Sort(found)
	return "", fmt.Errorf("none of the keys %s; the object has %s", strings.Join(keys, ", "), shorten(strings.Join(found, ", ")))
}

// repeatedTopics names every id that several topics share, with all their lines.
func repeatedTopics(name string, topics []Topic) error {
	lines := make(map[string][]int)
	for _, t := range topics {
		lines[t.ID] = append(lines[t.ID], t.Line)
	}
	var c complaints
	c.name = name
	for _, t := range topics {
		if at := lines[t.ID]; len(at) > 1 && at[0] == t.Line {
			c.add(at[1], "topic id %s stands on lines %s: an id names one topic", shorten(t.ID), numbers(at))
		}
	}
	return c.err()
}

// numbers lists line numbers for a message.
func numbers(ns []int) string {
	words := make([]string, 0, len(ns))
	for i, n := range ns {
		if i == maxErrors {
			words = append(words, "…")
			break
		}
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, ", ")
}
