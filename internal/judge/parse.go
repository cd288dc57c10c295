package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"goserini/internal/lazyregexp"
)

// Reply is what a judge's text says. Fields that are absent or empty are nil.
type Reply struct {
	ExtractedFinalAnswer *string
	CorrectAnswer        *string
	Reasoning            *string
	Correct              *bool
	Confidence           *float64
	// NoAnswer says that the judge gave null for the extracted answer, as it is told to where
	// the response holds none.
	NoAnswer bool
	// Missing names the side fields that are absent or unreadable; one that is null is not.
	Missing []string
}

// maxReply bounds what is parsed, in bytes.
const maxReply = 1 << 20

var errNoDecision = errors.New("the reply holds no decision: expected a JSON object with the field \"correct\"")

// ParseReply reads a judge's text. Tried in this order:
//
//  1. the whole text, without one code fence around it, is a JSON object;
//  2. JSON objects anywhere in the text, outside <think> blocks; an array of objects counts
//     as its objects;
//  3. lines that begin with a label, as in "**correct:** yes".
//
// The decision is the field "correct", whatever its case: true or false, 1 or 0, or a text that
// begins with yes, no, true or false. Two decisions that contradict each other are no
// decision, and neither is any other text: it is for the caller to ask again. Python's
// notation ('correct': True) is not read.
func ParseReply(text string) (Reply, error) {
	if len(text) > maxReply {
		return Reply{}, fmt.Errorf("the reply is longer than %d bytes", maxReply)
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if fields, ok := wholeObject(text); ok {
		return fields.reply()
	}
	text = withoutThinking(text)
	if fields, ok := wholeObject(text); ok {
		return fields.reply()
	}
	if reply, found, err := scanObjects(text); found {
		return reply, err
	}
	return parseLines(text)
}

var codeFence = lazyregexp.New("(?s)^```[A-Za-z]*\\s*\n(.*)\n?```$")

// wholeObject reads a text that is one JSON object and nothing else.
func wholeObject(text string) (object, bool) {
	if m := codeFence.FindStringSubmatch(text); m != nil {
		text = strings.TrimSpace(m[1])
	}
	if !strings.HasPrefix(text, "{") {
		return nil, false
	}
	fields, rest, err := decodeObject([]byte(text))
	return fields, err == nil && len(bytes.TrimSpace(rest)) == 0
}

var thinking = lazyregexp.New(`(?is)<think(?:ing)?>.*?</think(?:ing)?>`)

// withoutThinking drops reasoning blocks; one that never ends takes the rest with it.
func withoutThinking(text string) string {
	text = thinking.ReplaceAllString(text, "")
	if i := strings.Index(strings.ToLower(text), "<think"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

// object holds the fields of a JSON object by lower-case name, each with all its values.
type object map[string][]json.RawMessage

// decodeObject reads the object at the beginning of data, keeping repeated keys, which
// encoding/json would overwrite.
func decodeObject(data []byte) (object, []byte, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, nil, errors.Join(errNoDecision, err)
	}
	fields := object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		name, _ := key.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, nil, err
		}
		name = strings.ToLower(strings.TrimSpace(name))
		fields[name] = append(fields[name], value)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, err
	}
	return fields, data[d.InputOffset():], nil
}

// scanObjects looks for objects with a decision; found is false if there are none.
func scanObjects(text string) (reply Reply, found bool, err error) {
	data := []byte(text)
	// Each try costs at most the rest of the text, so their number is bounded.
	for tries := 0; tries < 100; tries++ {
		i := bytes.IndexByte(data, '{')
		if i < 0 {
			break
		}
		fields, rest, decodeErr := decodeObject(data[i:])
		if decodeErr != nil {
			data = data[i+1:]
			continue
		}
		data = rest
		if fields["correct"] == nil {
			continue
		}
		r, err := fields.reply()
		if err != nil {
			return Reply{}, true, err
		}
		if found && *r.Correct != *reply.Correct {
			return Reply{}, true, errors.New("the reply holds two decisions that contradict each other")
		}
		if !found {
			reply, found = r, true
		}
	}
	return reply, found, nil
}

// reply reads the fields of a verdict.
func (o object) reply() (Reply, error) {
	values := o["correct"]
	if len(values) == 0 {
		return Reply{}, errNoDecision
	}
	var r Reply
	for _, raw := range values {
		decision, err := decide(raw)
		if err != nil {
			return Reply{}, err
		}
		if r.Correct != nil && *r.Correct != decision {
			return Reply{}, errors.New(`the reply gives "correct" twice, with different values`)
		}
		r.Correct = &decision
	}
	r.NoAnswer = o.null("extracted_final_answer")
	r.ExtractedFinalAnswer = o.text("extracted_final_answer")
	r.CorrectAnswer = o.text("correct_answer")
	r.Reasoning = o.text("reasoning")
	if s := o.text("confidence"); s != nil {
		r.Confidence = parsePercent(*s)
	}
	r.note("extracted_final_answer", r.ExtractedFinalAnswer != nil || r.NoAnswer)
	r.note("reasoning", r.Reasoning != nil)
	r.note("confidence", r.Confidence != nil || o.null("confidence"))
	return r, nil
}

// note records a side field that is not there.
func (r *Reply) note(name string, there bool) {
	if !there {
		r.Missing = append(r.Missing, name)
	}
}

func (o object) null(name string) bool {
	return len(o[name]) > 0 && string(o[name][0]) == "null"
}

// text returns a scalar field as text; nil if it is absent, null, empty or no scalar.
func (o object) text(name string) *string {
	if len(o[name]) == 0 {
		return nil
	}
	raw := o[name][0]
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
		if s == "null" || strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
			return nil
		}
	}
	if s = strings.TrimSpace(s); s == "" {
		return nil
	}
	return &s
}

// decide reads the value of the field "correct".
func decide(raw json.RawMessage) (bool, error) {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		s = string(raw)
	}
	decision, ok := decideText(s)
	if !ok {
		return false, fmt.Errorf(`the reply's "correct" is neither yes nor no: %.60q`, s)
	}
	return decision, nil
}

var decisionWord = lazyregexp.New(`(?i)^[\s*_"'` + "`" + `]*(yes|no|true|false|1|0)(?:[\s*_"'` + "`" + `.,;:!]|$)`)

// decideText reads a text that begins with a decision.
func decideText(s string) (decision, ok bool) {
	m := decisionWord.FindStringSubmatch(s)
	if m == nil {
		return false, false
	}
	return slices.Contains([]string{"yes", "true", "1"}, strings.ToLower(m[1])), true
}

var percentNumber = lazyregexp.New(`^\s*([-+]?\d+(?:\.\d+)?)\s*(?:%|percent)?\s*$`)

// parsePercent reads a number of percent and brings it into the range 0 to 100; nil if it is none.
func parsePercent(s string) *float64 {
	m := percentNumber.FindStringSubmatch(s)
	if m == nil {
		return nil
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil || math.IsNaN(v) {
		return nil
	}
	v = min(max(v, 0), 100)
	return &v
}

var labelled = lazyregexp.New(`(?im)^[ \t>*_#-]*(extracted_final_answer|correct_answer|reasoning|correct|confidence)[ \t*_]*:[ \t*_]*(.*)$`)

// parseLines reads labelled lines, the form of the older graders. A field is what stands on its
// label's line.
func parseLines(text string) (Reply, error) {
	var r Reply
	for _, m := range labelled.FindAllStringSubmatch(text, -1) {
		value := strings.TrimSpace(strings.TrimRight(m[2], "*_ \t\r"))
		switch name := strings.ToLower(m[1]); {
		case name == "correct":
			decision, ok := decideText(value)
			if !ok {
				return Reply{}, fmt.Errorf("the reply's line \"correct\" is neither yes nor no: %.60q", value)
			}
			if r.Correct != nil && *r.Correct != decision {
				return Reply{}, errors.New("the reply holds two decisions that contradict each other")
			}
			r.Correct = &decision
		case value == "":
		case name == "extracted_final_answer":
			r.ExtractedFinalAnswer = &value
		case name == "correct_answer":
			r.CorrectAnswer = &value
		case name == "reasoning":
			r.Reasoning = &value
		case name == "confidence":
			r.Confidence = parsePercent(value)
		}
	}
	if r.Correct == nil {
		return Reply{}, errNoDecision
	}
	r.note("extracted_final_answer", r.ExtractedFinalAnswer != nil)
	r.note("reasoning", r.Reasoning != nil)
	r.note("confidence", r.Confidence != nil)
	return r, nil
}
