// Package expectation reads from an experiment file what its runs should come to, and compares. A
// published number stands in such a file with its tolerance, so that whoever repeats the run
// can check it. The file is the one that goserini run takes; settings are none of this package's business.
//
//	file, err := expectation.Read("experiments/demo.toml")
//	condition, err := file.Choose("", "lexical")       // by the name of the run's folder
//	differences, err := condition.Check(settings, scores)
//
// The format is described in docs/report.md.
package expectation

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// File is what an experiment file expects.
type File struct {
	// Conditions are those of the file; a file without conditions is one without a name.
	Conditions []Condition
	path       string
}

// Condition is one run of an experiment and what it should come to.
type Condition struct {
	Name   string
	Expect []Expected
}

// Expected is one line of what a run should come to: a figure of its scores within a tolerance, or a
// setting of its manifest.
type Expected struct {
	// Figure is the path of a number in scores.json, parted by dots, for example
	// accuracy.accuracy or evidence.surfaced.macro; where that is an object, its "value" is meant.
	Figure string
	// Setting is the dotted name of a field of the manifest's spec, as goserini show run prints them.
	Setting string
	// Value is JSON: a number for a figure.
	Value string
	// Tolerance is the greatest difference of a figure that is none.
	Tolerance float64
}

// Difference is something that is not as expected.
type Difference struct {
	Expected
	// Got is JSON, empty where there is no such setting, or where the figure is not defined.
	Got string
}

func (d Difference) String() string {
	got := d.Got
	if d.Setting != "" {
		if got == "" {
			got = "not set"
		}
		return fmt.Sprintf("setting %s: %s, want %s", d.Setting, got, d.Value)
	}
	if got == "" {
		got = "not defined"
	}
	if d.Tolerance == 0 {
		return fmt.Sprintf("%s: %s, want exactly %s", d.Figure, got, d.Value)
	}
	return fmt.Sprintf("%s: %s, want %s ± %v", d.Figure, got, d.Value, d.Tolerance)
}

// maxFile bounds an experiment file, in bytes.
const maxFile = 1 << 20

// Read reads an experiment file. Errors name the file, the place and the fix.
func Read(path string) (File, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return File{}, fmt.Errorf("open experiment file: %w", err)
	}
	f, err := Parse(raw)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	f.path = path
	return f, nil
}

// table is a table of TOML whose keys are settings but for these.
type table struct {
	Name      string           `toml:"name"`
	Expect    []map[string]any `toml:"expect"`
	Condition []table          `toml:"condition"`
}

// Parse reads the text of an experiment file.
func Parse(raw []byte) (File, error) {
	if len(raw) > maxFile {
		return File{}, fmt.Errorf("%d bytes are no experiment file: at most %d are read", len(raw), maxFile)
	}
	var top table
	if err := toml.Unmarshal(raw, &top); err != nil {
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			line, column := decode.Position()
			return File{}, fmt.Errorf("line %d, column %d: %w", line, column, err)
		}
		return File{}, err
	}
	common, err := expected(top.Expect)
	if err != nil {
		return File{}, err
	}
	if len(top.Condition) == 0 {
		return File{Conditions: []Condition{{Expect: common}}}, nil
	}
	var f File
	for i, t := range top.Condition {
		if t.Name == "" {
			return File{}, fmt.Errorf("condition %d has no name", i+1)
		}
		if slices.ContainsFunc(f.Conditions, func(c Condition) bool { return c.Name == t.Name }) {
			return File{}, fmt.Errorf("two conditions are called %q", t.Name)
		}
		own, err := expected(t.Expect)
		if err != nil {
			return File{}, fmt.Errorf("condition %q: %w", t.Name, err)
		}
		f.Conditions = append(f.Conditions, Condition{t.Name, slices.Concat(common, own)})
	}
	return f, nil
}

func expected(tables []map[string]any) ([]Expected, error) {
	var out []Expected
	for i, t := range tables {
		e, err := readExpected(t)
		if err != nil {
			return nil, fmt.Errorf("[[expect]] %d: %w", i+1, err)
		}
		out = append(out, e)
	}
	return out, nil
}

func readExpected(t map[string]any) (Expected, error) {
	var e Expected
	for _, key := range slices.Sorted(maps.Keys(t)) {
		if !slices.Contains([]string{"figure", "setting", "value", "tolerance"}, key) {
			return e, fmt.Errorf("no field is called %s: there are figure or setting, value and tolerance", key)
		}
	}
	e.Figure, _ = t["figure"].(string)
	e.Setting, _ = t["setting"].(string)
	if (e.Figure == "") == (e.Setting == "") {
		return e, errors.New("it needs either a figure or a setting, by name")
	}
	name := e.Figure + e.Setting
	value, ok := t["value"]
	if !ok {
		return e, fmt.Errorf("%s has no value", name)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return e, fmt.Errorf("%s: value %v: want a number, a text or a truth value", name, value)
	}
	e.Value = string(raw)
	if e.Setting != "" {
		if _, ok := t["tolerance"]; ok {
			return e, fmt.Errorf("%s is a setting: it has no tolerance", name)
		}
		return e, nil
	}
	if _, ok := number(value); !ok {
		return e, fmt.Errorf("%s: value %v: want a number", name, value)
	}
	if e.Tolerance, ok = number(t["tolerance"]); !ok || e.Tolerance < 0 {
		return e, fmt.Errorf("%s: tolerance %v: want a number, 0 for a figure that must be equal", name, t["tolerance"])
	}
	return e, nil
}

// number is a finite number of TOML.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, !math.IsNaN(n) && !math.IsInf(n, 0)
	}
	return 0, false
}

// Choose returns the condition that was asked for by name, or else the one called as the run's folder is,
// or else the only one.
func (f File) Choose(asked, folder string) (Condition, error) {
	var names []string
	for _, c := range f.Conditions {
		names = append(names, c.Name)
	}
	at := slices.Index(names, asked)
	switch {
	case asked != "" && at < 0:
		return Condition{}, fmt.Errorf("%s has no condition %q: it has %s", f.path, asked, strings.Join(names, ", "))
	case asked == "":
		if at = slices.Index(names, folder); at < 0 && len(names) == 1 {
			at = 0
		}
	}
	if at < 0 {
		return Condition{}, fmt.Errorf("%s has the conditions %s, and none is called %s as the run's folder is: name one", f.path, strings.Join(names, ", "), folder)
	}
	c := f.Conditions[at]
	if len(c.Expect) == 0 {
		return c, fmt.Errorf("%s expects nothing of condition %q: add [[condition.expect]]", f.path, c.Name)
	}
	return c, nil
}

// Check compares a run with what is expected of it and returns every difference, in the order of the file.
// Settings are JSON by dotted name, scores the JSON of scores.json.
func (c Condition) Check(settings map[string]string, scores []byte) ([]Difference, error) {
	var tree any
	if err := json.Unmarshal(scores, &tree); err != nil {
		return nil, fmt.Errorf("read scores: %w", err)
	}
	var out []Difference
	for _, e := range c.Expect {
		if e.Setting != "" {
			if got := settings[e.Setting]; !equalJSON(got, e.Value) {
				out = append(out, Difference{e, got})
			}
			continue
		}
		got, err := find(tree, e.Figure)
		if err != nil {
			return nil, err
		}
		if got == nil {
			out = append(out, Difference{e, ""})
			continue
		}
		var want float64
		if err := json.Unmarshal([]byte(e.Value), &want); err != nil {
			return nil, fmt.Errorf("expected value of %s: %w", e.Figure, err)
		}
		// Decimal numbers such as 0.7 + 0.05 are not exact in binary.
		const rounding = 1e-12
		if !(math.Abs(*got-want) <= e.Tolerance+rounding*max(1, math.Abs(want))) {
			out = append(out, Difference{e, fmt.Sprint(*got)})
		}
	}
	return out, nil
}

// equalJSON compares two JSON texts; 1 and 1.0 are equal.
func equalJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	p, err1 := json.Marshal(x)
	q, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && string(p) == string(q)
}

// find returns the number at a path, nil where it is null.
func find(tree any, path string) (*float64, error) {
	at := tree
	names := strings.Split(path, ".")
	for i, name := range names {
		if at == nil {
			return nil, nil // a part of the scores that this run does not have
		}
		object, ok := at.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("no figure %s: %s is no object", path, strings.Join(names[:i], "."))
		}
		next, ok := object[name]
		if !ok {
			return nil, fmt.Errorf("no figure %s: there is no %q; there are %s", path, name, strings.Join(slices.Sorted(maps.Keys(object)), ", "))
		}
		at = next
	}
	if object, ok := at.(map[string]any); ok {
		at = object["value"]
	}
	switch v := at.(type) {
	case nil:
		return nil, nil
	case float64:
		return &v, nil
	}
	return nil, fmt.Errorf("no figure %s: it is no number", path)
}
