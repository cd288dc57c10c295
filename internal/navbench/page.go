package navbench

import (
	"encoding/json"
	"strconv"
	"strings"
)

// excerptsOf returns the excerpts on a page of hits by docid; a hit without one has "".
func excerptsOf(page string) map[string]string {
	excerpts := map[string]string{}
	docid := ""
	for line := range strings.Lines(page) {
		line = strings.TrimRight(line, "\n")
		if id, ok := hitLine(line); ok {
			docid = id
			excerpts[docid] = ""
		} else if text, ok := strings.CutPrefix(line, "   Excerpt: "); ok && docid != "" {
			excerpts[docid] += text + "\n"
		}
	}
	return excerpts
}

// hitLine returns the docid of the first line of a hit.
func hitLine(line string) (string, bool) {
	rank, rest, ok := strings.Cut(line, ". docid=")
	if _, err := strconv.Atoi(rank); !ok || err != nil {
		return "", false
	}
	if strings.HasPrefix(rest, `"`) {
		var id string
		err := json.NewDecoder(strings.NewReader(rest)).Decode(&id)
		return id, err == nil
	}
	id, _, _ := strings.Cut(rest, " ")
	return id, true
}

// shownLine is a line, or from its column-th character on a piece of one, on a page of a document.
type shownLine struct {
	line, column int
	text         string
	// part says that the line may go on behind the text.
	part bool
}

// linesOf returns the lines on a page of a document.
func linesOf(page string) []shownLine {
	var shown []shownLine
	for text := range strings.Lines(page) {
		label, text, ok := strings.Cut(strings.TrimSuffix(text, "\n"), "\t")
		if !ok {
			continue
		}
		number, column, piece := strings.Cut(label, ":")
		s := shownLine{column: 1, text: text}
		var err error
		if s.line, err = strconv.Atoi(number); err != nil {
			continue
		}
		if piece {
			column, _, s.part = strings.Cut(column, "-")
			if s.column, err = strconv.Atoi(column); err != nil {
				continue
			}
		}
		shown = append(shown, s)
	}
	return shown
}

// proposedRead is the call with which a page of a document says to go on, if it does.
func proposedRead(page string) (readArguments, bool) {
	var a readArguments
	at := strings.LastIndex(page, "\nMore lines: read_document(")
	if at < 0 {
		return a, false
	}
	_, call, _ := strings.Cut(page[at:], "(")
	err := json.NewDecoder(strings.NewReader(call)).Decode(&a)
	return a, err == nil
}

// otherPlaces are the lines that the head of a page names as other places of the words.
func otherPlaces(page string) []int {
	head, _, _ := strings.Cut(page, "\n\n")
	var lines []int
	for text := range strings.Lines(head) {
		if rest, ok := strings.CutPrefix(text, "   Also line "); ok {
			number, _, _ := strings.Cut(rest, ":")
			if n, err := strconv.Atoi(number); err == nil {
				lines = append(lines, n)
			}
		}
	}
	return lines
}
