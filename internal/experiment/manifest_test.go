package experiment

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"goserini/internal/trajectory"
)

// edit changes the text of a manifest as somebody with an editor would.
func edit(t *testing.T, dir, from, to string) {
	t.Helper()
	path := filepath.Join(dir, manifestFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), from) {
		t.Fatalf("the manifest has no %s: %s", from, b)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), from, to, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestManifestsEditedByHand(t *testing.T) {
	for _, c := range []struct{ from, to, read, goOn string }{
		{`"questions": 2`, `"questions": -2`, "spec.questions is -2", "spec.questions is -2"},
		{`"questions": 2`, `"questions": 99999999999`, "spec.questions is 99999999999", "spec.questions"},
		{`"questions": 2`, `"questions": "two"`, "damaged manifest", "damaged manifest"},
		{`"questions": 2`, `"questions": 3`, "", "questions: 3 there, 2 now"},
		{`"depth": 0`, `"depth": 0, "rerank": true`, "", `unknown field "rerank"`},
		{`"format": 1`, `"format": 2`, "run format 2", "use the goserini that wrote it"},
		{`"format": 1`, `"format"`, "damaged manifest", "damaged manifest"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		plan, ran := answering("a", "b")
		mustRun(t, dir, plan, Options{})
		edit(t, dir, c.from, c.to)
		if _, err := ReadStatus(dir, Known{}); c.read == "" && err != nil || c.read != "" && (err == nil || !strings.Contains(err.Error(), c.read)) {
			t.Errorf("%s: reading: got %v, want %q", c.to, err, c.read)
		}
		if _, err := Run(t.Context(), dir, plan, Options{}); err == nil || !strings.Contains(err.Error(), c.goOn) {
			t.Errorf("%s: going on: got %v, want %q", c.to, err, c.goOn)
		}
		if n := ran()["a"]; n != 1 {
			t.Errorf("%s: question a was run %d times", c.to, n)
		}
	}
}

func TestSessionsNoteAnotherProgramAndOtherInputs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering("a")
	plan.Program = []byte(`{"version":"1"}`)
	plan.Inputs = map[string]Input{"answers": {Path: "answers.jsonl", SHA256: "old"}}
	mustRun(t, dir, plan, Options{})
	if s := mustRun(t, dir, plan, Options{}); len(s.Notes) != 0 {
		t.Errorf("the same command again: got %q", s.Notes)
	}
	plan.Program = []byte(`{"version":"2"}`)
	plan.Inputs = map[string]Input{"answers": {Path: "answers.jsonl", SHA256: "new"}}
	s := mustRun(t, dir, plan, Options{})
	if got := strings.Join(s.Notes, "; "); !strings.Contains(got, "another build") || !strings.Contains(got, "answers.jsonl (answers)") {
		t.Errorf("got %q", got)
	}
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	var program map[string]string
	if err := json.Unmarshal(m.Sessions[2].Program, &program); err != nil || program["version"] != "2" || m.Sessions[2].Inputs["answers"].SHA256 != "new" {
		t.Errorf("got session %+v, %v", m.Sessions[2], err)
	}
	if m.Sessions[1].Program != nil || m.Inputs["answers"].SHA256 != "old" {
		t.Errorf("got %+v", m)
	}
}

func TestResultsAreReadAsTheyStoodAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	plan, _ := answering("a", "b", "c")
	mustRun(t, dir, plan, Options{})
	path := filepath.Join(dir, resultsFile)
	var got []string
	err := EachResult(dir, func(rec trajectory.Record) error {
		if len(got) == 0 { // a run at work appends a newer result, then puts the file in order
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			if _, err := f.WriteString(`{"query_id":"c","status":"failed"}` + "\n" + `{"query_id":"d","status":"failed"}` + "\n"); err != nil {
				return err
			}
			if err := errors.Join(f.Close(), orderResults(dir, []string{"c", "b", "a", "d"})); err != nil {
				return err
			}
		}
		got = append(got, rec.QueryID+" "+string(rec.Status))
		return nil
	})
	if want := "a completed, b completed, c completed"; err != nil || strings.Join(got, ", ") != want {
		t.Errorf("got %q, %v; want %s", got, err, want)
	}
	wrong := errors.New("of the caller")
	if err := EachResult(dir, func(trajectory.Record) error { return wrong }); err != wrong { //nolint:errorlint // as it is
		t.Errorf("got %v", err)
	}
}

func TestADamagedLineIsNamedAndCanBeTakenOut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	c := child{Dir: dir, Questions: 3, Bytes: 5}
	mustRun(t, dir, c.plan(), Options{})
	path := filepath.Join(dir, resultsFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(lines[0] + "{damaged}\n" + lines[2])
	for _, err := range []error{EachResult(dir, func(trajectory.Record) error { return nil }), func() error { _, err := Run(t.Context(), dir, c.plan(), Options{}); return err }()} {
		if err == nil || !strings.Contains(err.Error(), "results.jsonl:2: ") || !strings.Contains(err.Error(), "take the line out") {
			t.Errorf("got %v", err)
		}
	}
	write(lines[0] + lines[2])
	if s := mustRun(t, dir, c.plan(), Options{}); s.Ran != 0 {
		t.Errorf("%d questions were run again", s.Ran)
	}
	records, err := ReadResults(dir)
	if err != nil || len(records) != 3 || records[1].QueryID != "q1" || records[1].Answer.Text != records[0].Answer.Text {
		t.Errorf("got %+v, %v", records, err)
	}
}
