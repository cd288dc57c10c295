package navbench

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// marking is what a line of answers.jsonl marks as the evidence of a question, beyond the
// answer itself.
type marking struct {
	// sentences are texts marked in a document.
	sentences []string
	// turns are ranges of lines of the text, first and last, counted from 0.
	turns [][2]int
}

// markingLine is a line as it stands in the file. Other fields are passed over.
type markingLine struct {
	QueryID   json.RawMessage `json:"query_id"`
	Evidence  json.RawMessage `json:"evidence"`
	Sentences []string        `json:"evidence_sentences"`
	Turns     [][]json.Number `json:"turns"`
}

// readMarkings reads the markings of a file of answers by query id.
func readMarkings(path string) (map[string]marking, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read markings: %w", err)
	}
	markings := map[string]marking{}
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		n++
		if strings.TrimSpace(line) == "" {
			continue
		}
		id, m, err := parseMarking([]byte(line))
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		markings[id] = m
	}
	return markings, nil
}

func parseMarking(line []byte) (id string, m marking, err error) {
	var l markingLine
	if err := json.Unmarshal(line, &l); err != nil {
		return "", m, fmt.Errorf("markings are not as documented (evidence_sentences: texts; turns: pairs of numbers): %w", err)
	}
	if id = string(l.QueryID); strings.HasPrefix(id, `"`) {
		if err := json.Unmarshal(l.QueryID, &id); err != nil {
			return "", m, fmt.Errorf("field query_id: %w", err)
		}
	}
	m.sentences = l.Sentences
	var texts []string
	if json.Unmarshal(l.Evidence, &texts) == nil { // other collections use the name for other things
		m.sentences = append(m.sentences, texts...)
	}
	for _, pair := range l.Turns {
		if len(pair) != 2 {
			return "", m, fmt.Errorf("field turns: a range has %d numbers, want first and last", len(pair))
		}
		first, err1 := strconv.Atoi(pair[0].String())
		last, err2 := strconv.Atoi(pair[1].String())
		if err1 != nil || err2 != nil || first < 0 || last < first {
			return "", m, fmt.Errorf("field turns: %s to %s is no range of turns counted from 0", pair[0], pair[1])
		}
		m.turns = append(m.turns, [2]int{first, last})
	}
	return id, m, nil
}
