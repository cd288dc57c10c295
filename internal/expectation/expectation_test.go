package expectation_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"goserini/internal/expectation"
)

const scores = `{"queries": 12, "accuracy": {"judge": "x", "accuracy": {"value": 0.75, "low": 0.5, "high": 1, "n": 12}, "correct": 9},
 "gold": null, "effort": {"tool_calls_by_tool": {"search": {"value": 9.25}}}}`

var settings = map[string]string{"model.name": `"a/b"`, "retrieval.bm25.k1": "25", "retrieval.bm25.b": "0.4"}

func check(t *testing.T, text string) []string {
	t.Helper()
	f, err := expectation.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Choose("", "")
	if err != nil {
		t.Fatal(err)
	}
	differences, err := c.Check(settings, []byte(scores))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range differences {
		out = append(out, d.String())
	}
	return out
}

func TestDifferencesAreListedInOrder(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{"a mean within its tolerance", "[[expect]]\nfigure = 'accuracy.accuracy'\nvalue = 0.7\ntolerance = 0.05\n", ""},
		{"a mean just outside", "[[expect]]\nfigure = 'accuracy.accuracy'\nvalue = 0.7\ntolerance = 0.049\n", "accuracy.accuracy: 0.75, want 0.7 ± 0.049"},
		{"a bound of an interval", "[[expect]]\nfigure = 'accuracy.accuracy.low'\nvalue = 0.5\ntolerance = 0\n", ""},
		{"a count", "[[expect]]\nfigure = 'accuracy.correct'\nvalue = 10\ntolerance = 0\n", "accuracy.correct: 9, want exactly 10"},
		{"a tool's calls", "[[expect]]\nfigure = 'effort.tool_calls_by_tool.search'\nvalue = 9.25\ntolerance = 0\n", ""},
		{"a figure that is not defined", "[[expect]]\nfigure = 'gold.surfaced.macro'\nvalue = 1\ntolerance = 1\n", "gold.surfaced.macro: not defined, want 1 ± 1"},
		{"a setting", "[[expect]]\nsetting = 'model.name'\nvalue = 'a/b'\n[[expect]]\nsetting = 'retrieval.bm25.k1'\nvalue = 25.0\n", ""},
		{"settings that differ", "[[expect]]\nsetting = 'retrieval.bm25.b'\nvalue = 1\n[[expect]]\nsetting = 'retrieval.depth'\nvalue = 5\n",
			"setting retrieval.bm25.b: 0.4, want 1\nsetting retrieval.depth: not set, want 5"},
		{"settings of the run are passed over", "benchmark = 'demo'\nmodel = 'x'\n[[condition]]\nname = 'c'\nk1 = 3\n[[condition.expect]]\nfigure = 'queries'\nvalue = 12\ntolerance = 0\n", ""},
		{"what all conditions share comes first", "[[expect]]\nfigure = 'queries'\nvalue = 1\ntolerance = 0\n[[condition]]\nname = 'c'\n[[condition.expect]]\nfigure = 'accuracy.correct'\nvalue = 1\ntolerance = 0\n",
			"queries: 12, want exactly 1\naccuracy.correct: 9, want exactly 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := strings.Join(check(t, tc.file), "\n"); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestFilesAreRefusedWithThePlaceAndTheFix(t *testing.T) {
	for _, tc := range []struct{ name, file, want string }{
		{"no TOML", "a = \n", "line 1, column"},
		{"no tolerance", "[[expect]]\nfigure = 'queries'\nvalue = 1\n", "queries: tolerance <nil>: want a number, 0 for a figure that must be equal"},
		{"a negative tolerance", "[[expect]]\nfigure = 'queries'\nvalue = 1\ntolerance = -1\n", "tolerance -1"},
		{"no number", "[[expect]]\nfigure = 'queries'\nvalue = 'many'\ntolerance = 0\n", "queries: value many: want a number"},
		{"not a number", "[[expect]]\nfigure = 'queries'\nvalue = nan\ntolerance = 0\n", "queries: value NaN"},
		{"no value", "[[expect]]\nfigure = 'queries'\ntolerance = 0\n", "queries has no value"},
		{"neither figure nor setting", "[[expect]]\nvalue = 1\n", "either a figure or a setting"},
		{"a misspelt field", "[[expect]]\nfigure = 'queries'\nvalue = 1\nbound = 0\n", "no field is called bound"},
		{"a tolerance of a setting", "[[expect]]\nsetting = 'depth'\nvalue = 1\ntolerance = 0\n", "it has no tolerance"},
		{"a condition without a name", "[[condition]]\nk1 = 1\n", "condition 1 has no name"},
		{"two conditions of one name", "[[condition]]\nname = 'a'\n[[condition]]\nname = 'a'\n", `two conditions are called "a"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := expectation.Parse([]byte(tc.file))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestAFigureThatDoesNotExistIsAMistakeOfTheFile(t *testing.T) {
	for figure, want := range map[string]string{
		"correctness.accuracy":      `there is no "correctness"; there are accuracy, effort, gold, queries`,
		"accuracy.judge":            "it is no number",
		"queries.value":             "queries is no object",
		"accuracy.accuracy.value.x": "is no object",
	} {
		c := expectation.Condition{Expect: []expectation.Expected{{Figure: figure, Value: "1"}}}
		if _, err := c.Check(nil, []byte(scores)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", figure, err, want)
		}
	}
}

func TestConditionsAreChosenByNameThenByFolder(t *testing.T) {
	const expect = "[[condition.expect]]\nfigure = 'queries'\nvalue = 1\ntolerance = 0\n"
	two, err := expectation.Parse([]byte("[[condition]]\nname = 'a'\n" + expect + "[[condition]]\nname = 'b'\n" + expect + "[[condition]]\nname = 'idle'\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ asked, folder, want string }{
		{"a", "b", "a"}, {"", "b", "b"}, {"", "c", ""}, {"c", "a", ""}, {"idle", "a", ""},
	} {
		c, err := two.Choose(tc.asked, tc.folder)
		if (err == nil) != (tc.want != "") || err == nil && c.Name != tc.want {
			t.Errorf("asked %q in folder %q: got %q, %v, want %q", tc.asked, tc.folder, c.Name, err, tc.want)
		}
	}
}

func TestTheExperimentsOfThisProjectCanBeRead(t *testing.T) {
	paths, err := filepath.Glob("../../experiments/*.toml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no experiment files: %v", err)
	}
	for _, path := range paths {
		if _, err := expectation.Read(path); err != nil {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	if raw, err := os.ReadFile("../../experiments/demo.toml"); err == nil {
		f.Add(raw)
	}
	f.Add([]byte("[[expect]]\nfigure = 'a.b'\nvalue = 1\ntolerance = 0\n"))
	f.Add([]byte("[[condition]]\nname = 'a'\nexpect = [{setting = 'x', value = [1, {a = 2}]}]\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := expectation.Parse(raw)
		if err != nil {
			return
		}
		if len(file.Conditions) == 0 {
			t.Error("a file without conditions is one without a name")
		}
		for _, c := range file.Conditions {
			if _, err := c.Check(settings, []byte(scores)); err == nil && len(c.Expect) > 0 {
				continue
			}
		}
	})
}
