package answer

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"goserini/internal/sharedtest"
	"goserini/internal/trajectory"
)

func load[T any](t *testing.T, elem ...string) T {
	t.Helper()
	data, err := os.ReadFile(sharedtest.Path(t, append([]string{"cases"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func text(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(sharedtest.Path(t, append([]string{"cases"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// collection knows exactly these documents.
func collection(docids ...string) Docs {
	return Docs{Exists: func(id string) bool { return slices.Contains(docids, id) }}
}

func cited(a trajectory.Answer) []string {
	out := []string{}
	for _, c := range a.Citations {
		out = append(out, c.DocID)
	}
	return out
}

func TestCaseWaysToWriteAConfidence(t *testing.T) {
	for _, c := range load[[]struct {
		Line  string   `json:"line"`
		Value *float64 `json:"value"`
	}](t, "ANS-01", "confidence.json") {
		a := Parse("Exact Answer: Orrin\n"+c.Line, Docs{})
		got := a.Confidence
		if (got == nil) != (c.Value == nil) || got != nil && *got != *c.Value {
			t.Errorf("%q: got %v, want %v", c.Line, show(got), show(c.Value))
		}
		clamped := slices.Contains(a.Notes, "confidence clamped")
		if want := strings.Contains(c.Line, "120") || strings.Contains(c.Line, "-5"); clamped != want {
			t.Errorf("%q: clamping noted %v, want %v", c.Line, clamped, want)
		}
	}
}

func show(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

func TestCaseNoConfidenceIsNull(t *testing.T) {
	missing := 0
	for line := range strings.Lines(text(t, "ANS-03", "answers.jsonl")) {
		var a struct{ Answer string }
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		if Parse(a.Answer, Docs{}).Confidence == nil {
			missing++
		}
	}
	if missing != 4 {
		t.Errorf("%d answers without confidence, want 4", missing)
	}
}

func TestCaseAnswerOverSeveralLinesAndUnderOtherLabels(t *testing.T) {
	for _, c := range load[[]struct{ Text, Answer, Flag string }](t, "ANS-05", "labels.json") {
		a := Parse(c.Text, collection("d2"))
		if a.Exact != c.Answer {
			t.Errorf("%q: got %q, want %q", c.Text, a.Exact, c.Answer)
		}
		if got, want := slices.Contains(a.Notes, NoLabel), c.Flag == NoLabel; got != want {
			t.Errorf("%q: no label noted %v, want %v", c.Text, got, want)
		}
	}
}

func TestCaseFormsOfCitation(t *testing.T) {
	known := load[[]string](t, "ANS-06", "known.json")
	for _, c := range load[[]struct {
		Text  string
		Cited []string
	}](t, "ANS-06", "forms.json") {
		if got := cited(Parse(c.Text, collection(known...))); !slices.Equal(got, c.Cited) {
			t.Errorf("%q: got %q, want %q", c.Text, got, c.Cited)
		}
	}
}

func TestCaseBracketsThatAreNotCitations(t *testing.T) {
	known := load[[]string](t, "ANS-07", "known.json")
	for _, c := range load[[]struct {
		Text  string
		Cited []string
	}](t, "ANS-07", "decoys.json") {
		for _, docs := range []Docs{collection(known...), {Sets: trajectory.Sets{Surfaced: known}}} {
			a := Parse(c.Text, docs)
			if got := cited(a); !slices.Equal(got, c.Cited) {
				t.Errorf("%q: got %q, want %q", c.Text, got, c.Cited)
			}
			flagged := strings.Contains(strings.Join(a.Notes, "\n"), "unknown part")
			if want := strings.Contains(c.Text, "[0,1]"); flagged != want {
				t.Errorf("%q: list with unknown parts noted %v, want %v", c.Text, flagged, want)
			}
		}
	}
}

func TestCaseCitationsOfDocumentsThatWereNeverReturned(t *testing.T) {
	docs := collection("d2", "d3", "d7", "d9")
	docs.Sets.Surfaced = load[[]string](t, "ANS-09", "seen.json")
	want := []trajectory.Citation{
		{DocID: "d2", Access: Surfaced}, {DocID: "999999", Access: Never, Unknown: true}, {DocID: "d7", Access: Never},
	}
	if got := Parse(text(t, "ANS-09", "answer.txt"), docs).Citations; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestCaseReasoningTags(t *testing.T) {
	for _, c := range load[[]struct {
		Text, Answer, Flag string
		Confidence         *float64
		Cited              []string
	}](t, "ANS-10", "tags.json") {
		a := Parse(c.Text, collection("d1", "d2"))
		if a.Exact != c.Answer {
			t.Errorf("%q: got %q, want %q", c.Text, a.Exact, c.Answer)
		}
		if show(a.Confidence) != show(c.Confidence) {
			t.Errorf("%q: confidence %v, want %v", c.Text, show(a.Confidence), show(c.Confidence))
		}
		if got := cited(a); !slices.Equal(got, append([]string{}, c.Cited...)) {
			t.Errorf("%q: cited %q, want %q", c.Text, got, c.Cited)
		}
		for _, note := range []string{UnclosedTag, NoAnswer} {
			if got, want := slices.Contains(a.Notes, note), c.Flag == note; got != want {
				t.Errorf("%q: note %q is there: %v, want %v", c.Text, note, got, want)
			}
		}
	}
}

func TestCaseCitingByPositionIsNotMapped(t *testing.T) {
	docs := collection("1", "d7", "d2", "d5")
	for _, hit := range load[[]struct{ DocID string }](t, "ANS-12", "results.json") {
		docs.Sets.Surfaced = append(docs.Sets.Surfaced, hit.DocID)
	}
	want := []trajectory.Citation{{DocID: "1", Access: Never}, {DocID: "2", Access: Never, Unknown: true}}
	if got := Parse(text(t, "ANS-12", "answer.txt"), docs).Citations; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
