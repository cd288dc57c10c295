package tool

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

// Arguments are what the model sent, converted to the parameters of a tool.
type Arguments struct {
	Texts    map[string]string
	Integers map[string]int
	Booleans map[string]bool
	Lists    map[string][]string
	// Notes tell the model what was not taken as it stood.
	Notes []string
}

// Integer returns an integer argument, or def where it was not given.
func (a Arguments) Integer(name string, def int) int {
	if n, ok := a.Integers[name]; ok {
		return n
	}
	return def
}

// Mistake is a sentence about arguments that the model can act on.
type Mistake string

func (m Mistake) Error() string { return string(m) }

// rawShown bounds how much of unreadable arguments is repeated to the model, in characters.
const rawShown = 200

// ParseArguments converts raw arguments leniently: nothing at all counts as {}, an
// object inside a JSON string is unwrapped, numbers are taken for strings with their
// digits kept, numeric strings for numbers; integers are rounded down and raised to 1
// with a note. Unknown fields are ignored with a note. The error is a Mistake.
func ParseArguments(tool string, params []Parameter, raw json.RawMessage) (Arguments, error) {
	args := Arguments{Texts: map[string]string{}, Integers: map[string]int{}, Booleans: map[string]bool{}, Lists: map[string][]string{}}
	fields, err := objectFields(raw)
	if err != nil {
		shown, _, cut := Clip(OneLine(string(raw)), rawShown)
		if cut {
			shown += " …"
		}
		return args, Mistake(fmt.Sprintf("The arguments of %s are not a JSON object: %v. They began: %s\nCall %s again with %s.",
			tool, err, shown, tool, expected(params)))
	}
	for _, p := range params {
		value, given := fields[p.Name]
		delete(fields, p.Name)
		if !given || string(value) == "null" {
			continue
		}
		if err := args.take(p, value); err != nil {
			return args, Mistake(fmt.Sprintf("%s: %v. Call %s again with %s.", tool, err, tool, expected(params)))
		}
	}
	args.noteUnknown(tool, params, fields)
	return args, nil
}

// Missing says that a required argument was not given.
func Missing(tool, name, example string, params []Parameter) error {
	return Mistake(fmt.Sprintf("%s: %s is missing or empty. Call %s again with %s, for example %s.",
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
func (a *Arguments) take(p Parameter, value json.RawMessage) error {
	scalar, kind := scalarOf(value)
	switch {
	case p.Kind == Text && kind != "":
		a.Texts[p.Name] = scalar
		return nil
	case p.Kind == Integer && kind != "":
		if n, err := strconv.ParseFloat(strings.TrimSpace(scalar), 64); err == nil || errors.Is(err, strconv.ErrRange) {
			a.takeNumber(p, n, scalar)
			return nil
		}
	case p.Kind == Boolean && kind != "":
		if on, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(scalar))); err == nil {
			a.Booleans[p.Name] = on
			return nil
		}
	case p.Kind == List:
		if texts, ok := textsOf(value, scalar, kind); ok {
			a.Lists[p.Name] = texts
			return nil
		}
	}
	shown, _, _ := Clip(OneLine(string(value)), 60)
	return fmt.Errorf("%s must be %s, not %s", p.Name, article(p.Kind.words()), shown)
}

// takeNumber floors n and raises it to 1. What is not a finite number stands for the
// default.
func (a *Arguments) takeNumber(p Parameter, n float64, written string) {
	written, _, _ = Clip(OneLine(written), 40)
	if math.IsNaN(n) || math.IsInf(n, 0) && !strings.ContainsAny(written, "0123456789") {
		a.Notes = append(a.Notes, fmt.Sprintf("%s=%s is no number; the default was used.", p.Name, written))
		return
	}
	whole := int(min(max(math.Floor(n), 1), math.MaxInt32))
	if float64(whole) != n {
		a.Notes = append(a.Notes, fmt.Sprintf("%s=%s was taken as %d.", p.Name, written, whole))
	}
	a.Integers[p.Name] = whole
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

func (a *Arguments) noteUnknown(tool string, params []Parameter, rest map[string]json.RawMessage) {
	if len(rest) == 0 {
		return
	}
	names := make([]string, 0, len(rest))
	for name := range rest {
		shown, _, _ := Clip(name, 40)
		names = append(names, QuoteJSON(shown))
	}
	slices.Sort(names)
	more := ""
	if n := len(names); n > 5 {
		names, more = names[:5], fmt.Sprintf(" and %d more", n-5)
	}
	a.Notes = append(a.Notes, fmt.Sprintf("unknown argument %s%s ignored; %s takes %s.",
		strings.Join(names, ", "), more, tool, nameList(params)))
}

// expected describes the arguments of a tool in one clause.
func expected(params []Parameter) string {
	parts := make([]string, len(params))
	for i, p := range params {
		parts[i] = fmt.Sprintf("%s (%s", p.Name, p.Kind.words())
		if !p.Required {
			parts[i] += ", optional"
		}
		parts[i] += ")"
	}
	return "a JSON object of " + strings.Join(parts, ", ")
}

func nameList(params []Parameter) string {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

// words names the kind in a sentence.
func (k Kind) words() string {
	if k == List {
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
