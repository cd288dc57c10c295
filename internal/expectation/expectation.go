// Package expectation reads experiment files: which runs an experiment consists of, and the figures
// that each of them should come to, with tolerances. A published number stands in such a
// file, so that whoever repeats the run can check it.
//
//	file, err := expectation.Read("experiments/demo.toml")
//	condition, err := file.Match(settings)       // settings of a run's manifest by dotted name
//	differences, err := condition.Check(scores)  // what scores.json holds
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

// File is an experiment file.
type File struct {
	// Name is a short word, Title a sentence for people, and Command what makes the runs.
	Name    string `toml:"name"`
	Title   string `toml:"title"`
	Command string `toml:"command"`
	// Run holds what goserini run reads of the file: flags of all its conditions.
	Run map[string]any `toml:"run"`
	// Conditions are the rows of the table behind which the experiment stands.
	Conditions []Condition `toml:"condition"`

	path string
}

// Condition is a run with certain settings and what it should come to.
type Condition struct {
	Name string `toml:"name"`
	// Run holds what goserini run reads of the condition.
	Run map[string]any `toml:"run"`
	// Settings are fields of the manifest's spec by dotted name, as goserini show run prints
	// them; a run that has all of them is a run of this condition.
	Settings map[string]any `toml:"settings"`
	Expect   []Figure       `toml:"expect"`
}

// Figure is one expected value.
type Figure struct {
	// Figure is the path of a number in scores.json, parted by dots, for example
	// accuracy.accuracy or evidence.surfaced.macro; where an object has a "value", that is meant.
	Figure string  `toml:"figure"`
	Value  float64 `toml:"value"`
	// Tolerance is the greatest difference that is none. It must be given.
	Tolerance *float64 `toml:"tolerance"`
}

// Difference is a figure that is not as expected.
type Difference struct {
	Figure    string  `json:"figure"`
	Want      float64 `json:"want"`
	Tolerance float64 `json:"tolerance"`
	// Got is nil where the scores have no such figure or it is not defined.
	Got *float64 `json:"got"`
}

func (d Difference) String() string {
	if d.Got == nil {
		return fmt.Sprintf("%s: not defined, want %v ± %v", d.Figure, d.Want, d.Tolerance)
	}
	return fmt.Sprintf("%s: %v, want %v ± %v", d.Figure, *d.Got, d.Want, d.Tolerance)
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

// Parse reads the text of an experiment file.
func Parse(raw []byte) (File, error) {
	var f File
	if len(raw) > maxFile {
		return f, fmt.Errorf("an experiment file of %d bytes: at most %d are read", len(raw), maxFile)
	}
	dec := toml.NewDecoder(strings.NewReader(string(raw))).DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return File{}, explain(err)
	}
	return f, f.check()
}

// explain gives the line of what TOML complains about.
func explain(err error) error {
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, column := decode.Position()
		return fmt.Errorf("line %d, column %d: %w", line, column, err)
	}
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		line, _ := strict.Errors[0].Position()
		return fmt.Errorf("line %d: no field is called %s", line, strings.Join(strict.Errors[0].Key(), "."))
	}
	return err
}

func (f File) check() error {
	if len(f.Conditions) == 0 {
		return errors.New("it has no [[condition]]")
	}
	names := map[string]bool{}
	for i, c := range f.Conditions {
		switch {
		case c.Name == "":
			return fmt.Errorf("condition %d has no name", i+1)
		case names[c.Name]:
			return fmt.Errorf("two conditions are called %q", c.Name)
		case len(c.Expect) == 0:
			return fmt.Errorf("condition %q expects nothing: add [[condition.expect]]", c.Name)
		}
		names[c.Name] = true
		for _, e := range c.Expect {
			if err := e.check(); err != nil {
				return fmt.Errorf("condition %q: %w", c.Name, err)
			}
		}
	}
	return nil
}

func (e Figure) check() error {
	switch {
	case e.Figure == "":
		return errors.New("an expected value has no figure")
	case e.Tolerance == nil:
		return fmt.Errorf("%s has no tolerance: give 0 for a figure that must be equal", e.Figure)
	case !(*e.Tolerance >= 0) || math.IsInf(*e.Tolerance, 0):
		return fmt.Errorf("%s: tolerance %v: want a number that is not negative", e.Figure, *e.Tolerance)
	case math.IsNaN(e.Value) || math.IsInf(e.Value, 0):
		return fmt.Errorf("%s: expected value %v: want a number", e.Figure, e.Value)
	}
	return nil
}

// ErrNoCondition is wrapped where no condition, or more than one, has a run's settings.
var ErrNoCondition = errors.New("no condition fits the run")

// Condition returns a condition by name.
func (f File) Condition(name string) (Condition, error) {
	var names []string
	for _, c := range f.Conditions {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return Condition{}, fmt.Errorf("%s has no condition %q: it has %s", f.path, name, strings.Join(names, ", "))
}

// Match returns the one condition whose settings a run has. Settings are JSON by dotted name.
func (f File) Match(settings map[string]string) (Condition, error) {
	var found []Condition
	var misses []string
	for _, c := range f.Conditions {
		differing, err := c.mismatch(settings)
		if err != nil {
			return Condition{}, fmt.Errorf("%s: condition %q: %w", f.path, c.Name, err)
		}
		if len(differing) == 0 {
			found = append(found, c)
			continue
		}
		misses = append(misses, fmt.Sprintf("  %s: %s", c.Name, strings.Join(differing, "; ")))
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Condition{}, fmt.Errorf("%s: %w:\n%s", f.path, ErrNoCondition, strings.Join(misses, "\n"))
	}
	names := make([]string, len(found))
	for i, c := range found {
		names[i] = c.Name
	}
	return Condition{}, fmt.Errorf("%s: the conditions %s all fit the run: tell them apart by their settings", f.path, strings.Join(names, ", "))
}

// mismatch lists the settings that a run does not have as the condition wants them.
func (c Condition) mismatch(settings map[string]string) ([]string, error) {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(flat(c.Settings))) {
		want, err := json.Marshal(flat(c.Settings)[name])
		if err != nil {
			return nil, fmt.Errorf("setting %s: %w", name, err)
		}
		got, ok := settings[name]
		if !ok {
			out = append(out, fmt.Sprintf("the run has no %s, want %s", name, want))
		} else if !equalJSON(got, string(want)) {
			out = append(out, fmt.Sprintf("%s is %s, want %s", name, got, want))
		}
	}
	return out, nil
}

// flat joins the names of nested tables with dots: a.b = 1 in TOML is a table within a table.
func flat(m map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range m {
		inner, ok := v.(map[string]any)
		if !ok {
			out[name] = v
			continue
		}
		for k, x := range flat(inner) {
			out[name+"."+k] = x
		}
	}
	return out
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

// Check compares the JSON of scores with what is expected and returns every difference, in the order
// of the file.
func (c Condition) Check(scores []byte) ([]Difference, error) {
	var tree any
	if err := json.Unmarshal(scores, &tree); err != nil {
		return nil, fmt.Errorf("read scores: %w", err)
	}
	var out []Difference
	for _, e := range c.Expect {
		got, err := find(tree, e.Figure)
		if err != nil {
			return nil, err
		}
		if got == nil || !(math.Abs(*got-e.Value) <= *e.Tolerance) {
			out = append(out, Difference{Figure: e.Figure, Want: e.Value, Tolerance: *e.Tolerance, Got: got})
		}
	}
	return out, nil
}

// find returns the number at a path, nil where it is null.
func find(tree any, path string) (*float64, error) {
	at := tree
	for i, name := range strings.Split(path, ".") {
		if at == nil {
			return nil, nil // a part of the scores that this run does not have
		}
		object, ok := at.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("no figure %s: %s is no object", path, strings.Join(strings.Split(path, ".")[:i], "."))
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
