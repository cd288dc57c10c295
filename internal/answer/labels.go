package answer

import (
	"strings"

	"goserini/internal/lazyregexp"
)

// part is a labelled part of an answer.
type part int

const (
	explanation part = iota
	exactAnswer
	plainAnswer // "Answer:", of use only without a better label
	confidence
)

var partNames = map[string]part{
	"explanation": explanation, "reasoning": explanation,
	"exact answer": exactAnswer, "final answer": exactAnswer, "final exact answer": exactAnswer,
	"answer":     plainAnswer,
	"confidence": confidence, "confidence score": confidence, "confidence level": confidence,
}

// labelLine finds a label at the beginning of a line: quote marks, a list mark, a heading and
// emphasis may come before it, a remark in brackets, emphasis and a separator after it.
var labelLine = lazyregexp.New(`(?i)^\s*(?:>\s*)*(?:[-*+•]\s+|\d{1,2}[.)]\s+)?(?:#{1,6}\s+)?([*_]{0,3})\s*` +
	`(explanation|reasoning|exact\s+answer|final\s+exact\s+answer|final\s+answer|answer|confidence(?:\s+score|\s+level)?)` +
	`\s*(?:\([^)\n]*\)|\[[^\]\n]*\])?\s*([*_]{0,3})\s*([:：]|[-–—=])?\s*([*_]{0,3})\s*(.*?)\s*$`)

// label is a label and what follows it on its line.
type label struct {
	part part
	rest string
}

// readLabel reads the label a line begins with. A label has a colon behind it, or stands
// alone on its line; a dash or an equals sign is enough before the number of a
// confidence.
func readLabel(line string) (label, bool) {
	m := labelLine.FindStringSubmatch(line)
	if m == nil {
		return label{}, false
	}
	l := label{part: partNames[strings.ToLower(strings.Join(strings.Fields(m[2]), " "))], rest: m[6]}
	switch separator := m[4]; separator {
	case ":", "：":
	case "":
		if l.rest != "" {
			return label{}, false
		}
	default:
		if l.part != confidence || !startsWithNumber.MatchString(l.rest) {
			return label{}, false
		}
	}
	open, closed := m[1], m[3]
	switch {
	case open == "" || closed != "":
		l.rest = m[5] + l.rest // emphasis behind the separator belongs to what follows
	case m[5] == "": // opened before the label, closed at the end of the line
		l.rest = strings.TrimSpace(strings.TrimSuffix(l.rest, open))
	}
	return l, true
}

var startsWithNumber = lazyregexp.New(`^[~≈]?\s*[\d０-９]`)

// parts are the lines of an answer by label.
type parts struct {
	// before is what comes before the first label; sections follow in order.
	before   []string
	sections []section
}

type section struct {
	part  part
	lines []string
}

// tailConfidence finds a confidence at the end of a line that began otherwise.
var tailConfidence = lazyregexp.New(`(?i)^(.*\S)[\s;,|(–—-]+[*_]{0,3}(confidence[*_]{0,3}\s*[:：=][*_]{0,3}\s*[~≈]?\d+(?:[.,]\d+)?\s*(?:%|percent|/\s*100)?)[)*_.\s]*$`)

func split(text string) parts {
	var p parts
	quoted := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			quoted = !quoted
		}
		line = strings.TrimRight(line, "\r\n")
		if l, ok := readLabel(line); !quoted && (!ok || l.part != confidence) {
			if m := tailConfidence.FindStringSubmatch(line); m != nil {
				p.add(m[1])
				line = m[2]
			}
		}
		p.add(line)
	}
	return p
}

func (p *parts) add(line string) {
	if l, ok := readLabel(line); ok {
		p.sections = append(p.sections, section{part: l.part, lines: []string{l.rest}})
		return
	}
	if len(p.sections) == 0 {
		p.before = append(p.before, line)
		return
	}
	s := &p.sections[len(p.sections)-1]
	s.lines = append(s.lines, line)
}

// exact returns the exact answer and whether it had a label. The last label that is
// followed by something counts. Without one the answer is the whole text but for its
// confidence.
func (p parts) exact() (string, bool) {
	for _, want := range []part{exactAnswer, plainAnswer} {
		found, text := false, ""
		for _, s := range p.sections {
			if s.part != want {
				continue
			}
			found = true
			if t := firstParagraph(s.lines); t != "" {
				text = t
			}
		}
		if found {
			return text, true
		}
	}
	lines := p.before
	for _, s := range p.sections {
		if s.part == explanation {
			lines = append(lines, s.lines...)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n")), false
}

// firstParagraph is the text up to the first blank line or rule behind its beginning.
func firstParagraph(lines []string) string {
	var out []string
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		rule := len(trimmed) >= 3 && strings.Trim(trimmed, "-*_") == ""
		switch {
		case trimmed == "" && len(out) == 0:
		case trimmed == "" || rule:
			return strings.Join(out, "\n")
		default:
			out = append(out, trimmed)
		}
	}
	return strings.Join(out, "\n")
}

// explanation is the labelled part of that name, or what stands before the other labels.
func (p parts) explanation() string {
	var out []string
	for _, s := range p.sections {
		if s.part == explanation {
			out = append(out, strings.TrimSpace(strings.Join(s.lines, "\n")))
		}
	}
	if len(out) == 0 && len(p.sections) > 0 {
		return strings.TrimSpace(strings.Join(p.before, "\n"))
	}
	return strings.Join(out, "\n\n")
}
