package controller

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// arguments are what the model sent, converted to the parameters of a tool.
type arguments struct {
	texts    map[string]string
	integers map[string]int
	booleans map[string]bool
	lists    map[string][]string
	// notes tell the model what was not taken as it stood.
	notes []string
}

// integer returns an integer argument, or def where it was not given.
func (a arguments) integer(name string, def int) int {
	if n, ok := a.integers[name]; ok {
		return n
	}
	return def
}

// mistake is a sentence about arguments that the model can act on.
type mistake string

func (m mistake) Error() string { return string(m) }

// rawShown bounds how much of unreadable arguments is repeated to the model, in characters.
const rawShown = 200

// parseArguments converts raw arguments leniently: nothing at all counts as {}, an
// object inside a JSON string is unwrapped, numbers are taken for strings with their
// digits kept, numeric strings for numbers; integers are rounded down and raised to 1
// with a note. Unknown fields are ignored with a note. The error is a mistake.
func parseArguments(tool string, params []parameter, raw json.RawMessage) (arguments, error) {
	args := arguments{texts: map[string]string{}, integers: map[string]int{}, booleans: map[string]bool{}, lists: map[string][]string{}}
	fields, err := objectFields(raw)
	if err != nil {
		shown, _, cut := clip(oneLine(string(raw)), rawShown)
		if cut {
			shown += " …"
		}
		return args, mistake(fmt.Sprintf("The arguments of %s are not a JSON object: %v. They began: %s\nCall %s again with %s.",
			tool, err, shown, tool, expected(params)))
	}
	for _, p := range params {
		value, given := fields[p.name]
		delete(fields, p.name)
		if !given || string(value) == "null" {
			continue
		}
		if err := args.take(p, value); err != nil {
			return args, mistake(fmt.Sprintf("%s: %v. Call %s again with %s.", tool, err, tool, expected(params)))
		}
	}
	args.noteUnknown(tool, params, fields)
	return args, nil
}

// missing says that a required argument was not given.
func missing(tool, name, example string, params []parameter) error {
	return mistake(fmt.Sprintf("%s: %s is missing or empty. Call %s again with %s, for example %s.",
		tool, name, tool, expected(params), example))
}

// objectFields reads exactly one JSON object.
func objectFields(raw json.RawMessage) (map[string]json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return map[string]json.RawMessage{}, nil
	}
	if raw[0] == '"' {
		var inner string
		if json.Unmarshal(raw, &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") {
			raw = json.RawMessage(inner)
		}
	}
	var fields map[string]json.RawMessage
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&fields); err != nil {
		return nil, jsonProblem(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("text follows the object at byte %d", d.InputOffset())
	}
	return fields, nil
}

// jsonProblem rewords an error of encoding/json for the model: what and where.
func jsonProblem(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%s at byte %d", syntax.Error(), syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Errorf("found %s where an object belongs", article(kind.Value))
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("they end too early")
	}
	return err
}

// take converts one value to its parameter.
func (a *arguments) take(p parameter, value json.RawMessage) error {
	scalar, kind := scalarOf(value)
	switch {
	case p.kind == text && kind != "":
		a.texts[p.name] = scalar
		return nil
	case p.kind == integer && kind != "":
		if n, err := strconv.ParseFloat(strings.TrimSpace(scalar), 64); err == nil || errors.Is(err, strconv.ErrRange) {
			a.takeNumber(p, n, scalar)
			return nil
		}
	case p.kind == boolean && kind != "":
		if on, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(scalar))); err == nil {
			a.booleans[p.name] = on
			return nil
		}
	case p.kind == list:
		if texts, ok := textsOf(value, scalar, kind); ok {
			a.lists[p.name] = texts
			return nil
		}
	}
	shown, _, _ := clip(oneLine(string(value)), 60)
	return fmt.Errorf("%s must be %s, not %s", p.name, article(p.kind.words()), shown)
}

// takeNumber floors n and raises it to 1. What is not a finite number stands for the
// default.
func (a *arguments) takeNumber(p parameter, n float64, written string) {
	written, _, _ = clip(oneLine(written), 40)
	if math.IsNaN(n) || math.IsInf(n, 0) && !strings.ContainsAny(written, "0123456789") {
		a.notes = append(a.notes, fmt.Sprintf("%s=%s is no number; the default was used.", p.name, written))
		return
	}
	whole := int(min(max(math.Floor(n), 1), math.MaxInt32))
	if float64(whole) != n {
		a.notes = append(a.notes, fmt.Sprintf("%s=%s was taken as %d.", p.name, written, whole))
	}
	a.integers[p.name] = whole
}

// scalarOf returns a JSON string decoded, or a number or boolean as written, and its
// kind; kind is empty for everything else.
func scalarOf(value json.RawMessage) (scalar, kind string) {
	switch value[0] {
	case '"':
		var s string
		if json.Unmarshal(value, &s) != nil {
			return "", ""
		}
		return s, "string"
	case 't', 'f':
		return string(value), "boolean"
	case '{', '[', 'n':
		return "", ""
	}
	return string(value), "number"
}

// textsOf reads a list of strings; one string counts as a list of one, and a list inside
// a string is unwrapped.
func textsOf(value json.RawMessage, scalar, kind string) ([]string, bool) {
	if kind == "string" && strings.HasPrefix(strings.TrimSpace(scalar), "[") {
		value, kind = json.RawMessage(scalar), ""
	}
	if kind != "" {
		return []string{scalar}, true
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return nil, false
	}
	texts := make([]string, len(items))
	for i, item := range items {
		scalar, kind := scalarOf(item)
		if kind == "" {
			return nil, false
		}
		texts[i] = scalar
	}
	return texts, true
}

func (a *arguments) noteUnknown(tool string, params []parameter, rest map[string]json.RawMessage) {
	if len(rest) == 0 {
		return
	}
	names := make([]string, 0, len(rest))
	for name := range rest {
		shown, _, _ := clip(name, 40)
		names = append(names, quoteJSON(shown))
	}
	slices.Sort(names)
	more := ""
	if n := len(names); n > 5 {
		names, more = names[:5], fmt.Sprintf(" and %d more", n-5)
	}
	a.notes = append(a.notes, fmt.Sprintf("unknown argument %s%s ignored; %s takes %s.",
		strings.Join(names, ", "), more, tool, nameList(params)))
}

// expected describes the arguments of a tool in one clause.
func expected(params []parameter) string {
	parts := make([]string, len(params))
	for i, p := range params {
		parts[i] = fmt.Sprintf("%s (%s", p.name, p.kind.words())
		if !p.required {
			parts[i] += ", optional"
		}
		parts[i] += ")"
	}
	return "a JSON object of " + strings.Join(parts, ", ")
}

func nameList(params []parameter) string {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.name
	}
	return strings.Join(names, ", ")
}

// words names the kind in a sentence.
func (k kind) words() string {
	if k == list {
		return "array of strings"
	}
	return string(k)
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
