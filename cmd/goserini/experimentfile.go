package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// experimentFile is a TOML file with the settings of one or more runs. Its keys are the names of
// the flags of goserini run, with dashes or underscores; a [[condition]] is one run, whose settings come
// before those of the file, and flags of the command line come before both. What the file expects of
// the results is read by goserini eval --check.
type experimentFile struct {
	path       string
	settings   map[string]any
	conditions []experimentCondition
}

// experimentCondition is one run of several.
type experimentCondition struct {
	name     string
	settings map[string]any
}

// notSettings are keys for people and for comparing results.
var notSettings = []string{"name", "title", "note", "expect", "condition"}

// notInFiles are flags that make no sense in an experiment file.
var notInFiles = []string{"experiment", "condition", "help", "dry-run", "override"}

func readExperiment(path string) (*experimentFile, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read experiment: %w", err)
	}
	e := &experimentFile{path: path}
	if err := toml.Unmarshal(b, &e.settings); err != nil {
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			line, column := decode.Position()
			return nil, fmt.Errorf("%s:%d:%d: %w", path, line, column, err)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	list, ok := e.settings["condition"].([]any)
	if e.settings["condition"] != nil && !ok {
		return nil, fmt.Errorf("%s: condition: want a list of tables, [[condition]]", path)
	}
	for i, entry := range list {
		settings, _ := entry.(map[string]any)
		name, _ := settings["name"].(string)
		if name == "" || filepath.Base(name) != name || strings.HasPrefix(name, ".") {
			return nil, fmt.Errorf("%s: condition %d needs a name that can be that of a folder", path, i+1)
		}
		if slices.ContainsFunc(e.conditions, func(other experimentCondition) bool { return strings.EqualFold(other.name, name) }) {
			return nil, fmt.Errorf("%s: two conditions are called %q", path, name)
		}
		e.conditions = append(e.conditions, experimentCondition{name, settings})
	}
	return e, nil
}

// runExperiment carries out the conditions of an experiment file, each as a run of its own.
func runExperiment(term *terminal, cmd *cobra.Command, o runOptions) error {
	e, err := readExperiment(o.experiment)
	if err != nil {
		return err
	}
	chosen, err := e.choose(o.conditions)
	if err != nil {
		return &usageError{command: cmd.CommandPath(), err: err}
	}
	var failed []error
	for _, c := range chosen {
		one := newRun(term)
		one.SetContext(cmd.Context())
		if err := e.apply(one, c, cmd.Flags()); err != nil {
			return err
		}
		if c.name != "" {
			out := one.Flags().Lookup("out").Value.String()
			if out != "" {
				if err := one.Flags().Set("out", filepath.Join(out, c.name)); err != nil {
					return err
				}
			}
			term.say("%s", term.paint(bold, "condition "+printable(c.name)))
		}
		err := one.RunE(one, nil)
		var some *failedQueriesError
		if errors.As(err, &some) {
			failed = append(failed, err)
			continue // the other conditions are worth running all the same
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}

// choose returns the conditions to run: those named, else all; a file without conditions is one.
func (e *experimentFile) choose(names []string) ([]experimentCondition, error) {
	if len(e.conditions) == 0 {
		if len(names) > 0 {
			return nil, fmt.Errorf("%s has no conditions", e.path)
		}
		return []experimentCondition{{}}, nil
	}
	if len(names) == 0 {
		return e.conditions, nil
	}
	var out []experimentCondition
	for _, name := range names {
		i := slices.IndexFunc(e.conditions, func(c experimentCondition) bool { return c.name == name })
		if i < 0 {
			var have []string
			for _, c := range e.conditions {
				have = append(have, c.name)
			}
			return nil, fmt.Errorf("%s has no condition %q: it has %s", e.path, name, strings.Join(have, ", "))
		}
		out = append(out, e.conditions[i])
	}
	return out, nil
}

// apply sets the flags of a fresh command: those of the command line as they were given, then those
// of the condition and of the file where nothing is set yet.
func (e *experimentFile) apply(cmd *cobra.Command, c experimentCondition, given *pflag.FlagSet) error {
	var err error
	given.Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"experiment", "condition"}, f.Name) {
			err = errors.Join(err, copyFlag(cmd.Flags(), f))
		}
	})
	if err != nil {
		return err
	}
	for _, layer := range []struct {
		where    string
		settings map[string]any
	}{{fmt.Sprintf("condition %q: ", c.name), c.settings}, {"", e.settings}} {
		if err := applySettings(cmd.Flags(), layer.settings); err != nil {
			return &usageError{command: cmd.CommandPath(), err: fmt.Errorf("%s: %s%w", e.path, layer.where, err)}
		}
	}
	return nil
}

func copyFlag(to *pflag.FlagSet, f *pflag.Flag) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		for _, v := range list.GetSlice() {
			if err := to.Set(f.Name, v); err != nil {
				return err
			}
		}
		return nil
	}
	return to.Set(f.Name, f.Value.String())
}

// exclusive are flags of which one takes the place of another.
var exclusive = map[string][]string{
	"bm25": {"k1", "b"}, "k1": {"bm25"}, "b": {"bm25"},
	"timeout": {"max-seconds"}, "max-seconds": {"timeout"},
	"profile": {"parts"}, "parts": {"profile"},
	"index": {"retriever"}, "retriever": {"index"},
}

func applySettings(flags *pflag.FlagSet, settings map[string]any) error {
	before := map[string]bool{}
	flags.Visit(func(f *pflag.Flag) { before[f.Name] = true })
	for _, key := range sortedKeys(settings) {
		if slices.Contains(notSettings, key) {
			continue
		}
		name := strings.ReplaceAll(key, "_", "-")
		f := flags.Lookup(name)
		if f == nil || slices.Contains(notInFiles, name) {
			return fmt.Errorf("key %q: there is no such setting; the keys are the flags of goserini run", key)
		}
		if before[name] || slices.ContainsFunc(exclusive[name], func(other string) bool { return before[other] }) {
			continue
		}
		if err := setFlag(flags, name, settings[key]); err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
	}
	return nil
}

func setFlag(flags *pflag.FlagSet, name string, value any) error {
	switch v := value.(type) {
	case string, int64, float64, bool:
		return flags.Set(name, fmt.Sprint(v))
	case []any:
		if _, ok := flags.Lookup(name).Value.(pflag.SliceValue); !ok {
			return errors.New("takes one value, not a list")
		}
		for _, item := range v {
			if err := setFlag(flags, name, item); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("a %T is no value of a setting", value)
}
