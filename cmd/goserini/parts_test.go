package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"goserini/internal/controller"
	"goserini/internal/experiment"
	"goserini/internal/trajectory"
)

// The same model, documents and question with each part alone: what belongs to the part is in the
// trajectory, nothing that belongs to another one is, and the manifest names it.
func TestEachPartAloneWorksAndStandsInTheManifest(t *testing.T) {
	// marks are expressions for what the tools say, or what is said beside them, where the part is on.
	marks := map[string]string{
		"excerpts":              "   Source: 1902-05-01\n",
		"find":                  "matching lines, shown with the lines around them",
		"read-at-best":          "\n   Also line ",
		"syntax":                "Read as: words",
		"multi-query":           "Found by: query 1 rank",
		"novelty":               `\n   Seen: s1 rank 1`,
		"budget-line":           `Budget left for research: \d+ s of 300 s`,
		"passages":              `   Lines: \d+-\d+\n`,
		controller.NotebookPart: "Noted. 1 of 1 constraints are not met.",
		controller.VerifyPart:   "is held back until it is checked",
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	filler := strings.Repeat("Harbour dues and tide tables fill this page.\n", 300)
	docs, err := json.Marshal(map[string]string{"id": "register", "text": "---\ndate: 1902-05-01\n---\n" + filler + "The first keeper kept a diary of the lamp oil.\n" + filler + "Another diary speaks of the lamp.\n" + filler})
	if err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, "my.index")
	must(t, "index", write("docs.jsonl", string(docs)+"\n"), "--index", index, "--passages")
	model := write("turns.json", `{"version": 1, "after_last": "repeat", "turns": [
  {"calls": [{"name": "search", "arguments": {"reason": "r", "query": "\"lamp oil\" keeper", "queries": ["diary"]}}]},
  {"calls": [{"name": "read_document", "arguments": {"reason": "r", "docid": "register"}}, {"name": "read_document", "arguments": {"reason": "r", "docid": "register", "find": "diary"}}, {"name": "search", "arguments": {"reason": "r", "query": "diary of the keeper"}}]},
  {"calls": [{"name": "note", "arguments": {"constraints": ["kept a diary"]}}]},
  {"text": "Explanation: It says so [register].\nExact Answer: the first keeper\nConfidence: 90%"}]}`)
	for _, part := range controller.PartNames() {
		t.Run(part, func(t *testing.T) {
			out := filepath.Join(dir, part)
			must(t, "ask", "--index", index, "Who kept a diary?", "--parts", part, "--model", "script/"+model, "--timeout", "300s", "--out", out)
			raw, err := os.ReadFile(filepath.Join(out, "manifest.json"))
			if err != nil {
				t.Fatal(err)
			}
			var m experiment.Manifest
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			want, err := controller.ParseNavigator(part)
			if err != nil {
				t.Fatal(err)
			}
			beside := part == controller.NotebookPart || part == controller.VerifyPart
			if tools := m.Spec.Tools; !slices.Equal(tools.Parts, []string{part}) || !reflect.DeepEqual(tools.Options.Navigator, want) || len(tools.Hash) != 64 || (tools.NotebookHash != "") != beside {
				t.Errorf("the manifest says %+v", tools)
			}
			file, err := trajectory.ReadFile(filepath.Join(out, "trajectories", "ask.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			for _, e := range file.Events {
				switch {
				case e.Observation != nil:
					if e.Observation.IsError && (e.Observation.Tool != "note" || part == controller.NotebookPart) {
						t.Errorf("%s: %s", e.Observation.Tool, e.Observation.Text)
					}
					said += e.Observation.Text + "\n"
				case e.Steer != nil:
					said += e.Steer.Text + "\n"
				case e.End != nil && (e.End.Status != trajectory.Completed || e.End.Answer.Exact != "the first keeper"):
					t.Errorf("it ended as %s with %q", e.End.Status, e.End.Answer.Exact)
				}
			}
			for other, mark := range marks {
				if regexp.MustCompile(mark).MatchString(said) != (other == part) {
					t.Errorf("%q of %s is there: %v\n%.3000s", mark, other, other != part, said)
				}
			}
		})
	}
	if len(marks) != len(controller.PartNames()) {
		t.Errorf("%d parts have a mark, want all %d", len(marks), len(controller.PartNames()))
	}
}
