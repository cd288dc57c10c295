package judge

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"goserini/internal/sharedtest"
)

func TestReplyDecisions(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"bare object", `{"correct": true}`, "yes"},
		{"fenced object", "```json\n{\"correct\": false}\n```", "no"},
		{"object in prose", `Sure. {"correct": "yes"} That is all.`, "yes"},
		{"decision inside a string is not one", `{"reasoning": "{\"correct\": true}", "correct": false}`, "no"},
		{"nested object has no say", `{"detail": {"correct": true}, "correct": "no"}`, "no"},
		{"nested decision alone", `{"detail": {"correct": true}}`, "none"},
		{"two equal decisions", `{"correct": true} and again {"correct": "yes"}`, "yes"},
		{"two contradicting decisions", `{"correct": true} or rather {"correct": false}`, "none"},
		{"key repeated in other case", `{"correct": true, "Correct": false}`, "none"},
		{"array of one object", `[{"correct": true}]`, "yes"},
		{"unclosed thinking", "<think>correct: yes", "none"},
		{"thinking, then the object", "<think>{\"correct\": true}</think>{\"correct\": false}", "no"},
		{"labelled lines in bold", "**extracted_final_answer:** Orrin\n**correct:** **yes**\n**confidence:** 80%", "yes"},
		{"list item", "- correct: no", "no"},
		{"no is not a prefix", `{"correct": "not sure"}`, "none"},
		{"yesterday is not yes", "correct: yesterday", "none"},
		{"null", `{"correct": null}`, "none"},
		{"two", `{"correct": 2}`, "none"},
		{"truncated", `{"correct": true, "reasoning": "the`, "none"},
		{"byte-order mark", "\ufeff{\"correct\": true}", "yes"},
		{"python notation", "{'correct': True}", "none"},
		{"braces in prose before it", `the set {a, b} {"correct": true}`, "yes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ParseReply(tt.text)
			if got := decision(r, err); got != tt.want {
				t.Errorf("ParseReply(%q) = %s (%v), want %s", tt.text, got, err, tt.want)
			}
		})
	}
}

func decision(r Reply, err error) string {
	switch {
	case err != nil:
		return "none"
	case *r.Correct:
		return "yes"
	}
	return "no"
}

func TestReplyFields(t *testing.T) {
	r, err := ParseReply(`{"extracted_final_answer": 1903, "correct_answer": " 1903 ", "reasoning": "same", "correct": true, "confidence": "140 %"}`)
	if err != nil {
		t.Fatal(err)
	}
	if *r.ExtractedFinalAnswer != "1903" || *r.CorrectAnswer != "1903" || *r.Reasoning != "same" || *r.Confidence != 100 {
		t.Errorf("got %q, %q, %q, %v", *r.ExtractedFinalAnswer, *r.CorrectAnswer, *r.Reasoning, *r.Confidence)
	}
	r, err = ParseReply("extracted_final_answer: Orrin\nreasoning: same lake\ncorrect: yes\nconfidence: 85%")
	if err != nil {
		t.Fatal(err)
	}
	if *r.ExtractedFinalAnswer != "Orrin" || *r.Reasoning != "same lake" || *r.Confidence != 85 {
		t.Errorf("got %+v", r)
	}
}

func TestCaseVerdictTextsInEveryDress(t *testing.T) {
	var cases []struct {
		Text    string
		Correct any
	}
	readJSON(t, sharedtest.Path(t, "cases", "JDG-01", "verdicts.json"), &cases)
	if len(cases) < 20 {
		t.Fatalf("only %d texts", len(cases))
	}
	for _, c := range cases {
		r, err := ParseReply(c.Text)
		got := decision(r, err)
		want := map[any]string{true: "yes", false: "no", nil: "none"}[c.Correct]
		if s, ok := c.Correct.(string); ok { // "null or true, documented": documented at ParseReply
			if !strings.Contains(s, "null or true") {
				t.Fatalf("unknown expectation %q", s)
			}
			want = map[bool]string{true: "yes", false: "none"}[strings.HasPrefix(c.Text, "[")]
		}
		if got != want {
			t.Errorf("ParseReply(%q) = %s (%v), want %s", c.Text, got, err, want)
		}
	}
}

func TestCasePartOfTheFieldsIsEnough(t *testing.T) {
	var texts []json.RawMessage
	readJSON(t, sharedtest.Path(t, "cases", "JDG-02", "partial.json"), &texts)
	if len(texts) == 0 {
		t.Fatal("no texts")
	}
	for _, text := range texts {
		r, err := ParseReply(string(text))
		if err != nil {
			t.Errorf("ParseReply(%s): %v", text, err)
			continue
		}
		if r.Confidence != nil {
			t.Errorf("ParseReply(%s): confidence %v out of nothing", text, *r.Confidence)
		}
		if len(r.Missing) == 0 {
			t.Errorf("ParseReply(%s): no field is missing", text)
		}
	}
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

func FuzzParseReply(f *testing.F) {
	for _, s := range []string{
		`{"correct": true}`, "```json\n{\"correct\": 0}\n```", "correct: yes\nconfidence: 1e999", "<think>", "[{\"correct\":\"no\"}]",
		`{"correct": true, "correct": false}`, strings.Repeat("{", 200), "**correct**: *no*", "\x00{\"\\ud800\":1}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseReply(text)
		if err == nil && r.Correct == nil {
			t.Fatalf("ParseReply(%q): neither decision nor error", text)
		}
		if r.Confidence != nil && !(*r.Confidence >= 0 && *r.Confidence <= 100) {
			t.Fatalf("ParseReply(%q): confidence %v", text, *r.Confidence)
		}
	})
}
