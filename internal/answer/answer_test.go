package answer

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"goserini/internal/trajectory"
)

func TestConfidenceIsReadOnOneScale(t *testing.T) {
	for line, want := range map[string]any{
		"Confidence: 0.85":                        85.0,
		"Confidence: .9":                          90.0,
		"Confidence: 1.0":                         100.0,
		"Confidence: 1":                           1.0,
		"Confidence: 0.9%":                        0.9,
		"Confidence: 85–90 %":                     87.5,
		"Confidence: 80% to 90%":                  85.0,
		"Confidence: 0.8-0.9":                     85.0,
		"Confidence: 8/10":                        80.0,
		"Confidence: 9 out of 10":                 90.0,
		"Confidence: High (90%)":                  90.0,
		"Confidence: 2 sources agree, 80%":        80.0,
		"Confidence score: 70":                    70.0,
		"### Confidence\n\n70%":                   70.0,
		"**Confidence**\n70%":                     70.0,
		"Confidence: high":                        nil,
		"Confidence in this is low.":              nil,
		"Confidence: 20%\nlater\nConfidence: 30%": 30.0,
	} {
		if got := show(Parse("Exact Answer: x\n"+line, Docs{}).Confidence); got != want {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
}

func TestPartsOfAnAnswer(t *testing.T) {
	for _, c := range []struct{ name, text, explanation, exact string }{
		{"all three on lines of their own", "Explanation: because [d1].\nIt follows.\nExact Answer: Orrin\nConfidence: 9%", "because [d1].\nIt follows.", "Orrin"},
		{"text before the answer explains it", "It is in the survey.\n\nExact Answer: Orrin", "It is in the survey.", "Orrin"},
		{"the last label wins", "Exact Answer: Decoy\nNo, wait.\nExact Answer: Orrin", "", "Orrin"},
		{"a later empty label does not", "Exact Answer: Orrin\nExact Answer:", "", "Orrin"},
		{"a better label wins over a plain one", "Answer: see below\nExact Answer: Orrin", "", "Orrin"},
		{"emphasis around everything", "**Exact Answer: Orrin**", "", "Orrin"},
		{"emphasis around the value", "Exact Answer: **Orrin**", "", "Orrin"},
		{"two emphases are not one", "Exact Answer: **Orrin** and **Ferro**", "", "**Orrin** and **Ferro**"},
		{"confidence on the same line", "Exact Answer: Orrin (Confidence: 80%)", "", "Orrin"},
		{"a paragraph after the answer is no part of it", "Exact Answer: Orrin\n\nI hope this helps.", "", "Orrin"},
		{"a rule ends the answer", "Exact Answer: Orrin\n---\nnotes", "", "Orrin"},
		{"quoted lines", "> Exact Answer: Orrin", "", "Orrin"},
		{"citations behind the answer are taken off", "Exact Answer: Orrin [d1][d2].", "", "Orrin"},
		{"other brackets stay", "Exact Answer: Orrin [sic]", "", "Orrin [sic]"},
		{"a word that begins like a label is none", "Answers vary.\nExact Answer: Orrin", "Answers vary.", "Orrin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Parse(c.text, collection("d1", "d2"))
			if a.Exact != c.exact || a.Explanation != c.explanation {
				t.Errorf("got (%q, %q), want (%q, %q)", a.Explanation, a.Exact, c.explanation, c.exact)
			}
		})
	}
}

func TestConfidenceOnTheLineOfTheAnswerIsRead(t *testing.T) {
	for _, text := range []string{"Exact Answer: Orrin; Confidence: 80%", "Exact Answer: Orrin (confidence: 80%)", "Exact Answer: Orrin. **Confidence:** 80%"} {
		a := Parse(text, Docs{})
		if show(a.Confidence) != 80.0 || !strings.HasPrefix(a.Exact, "Orrin") || strings.Contains(strings.ToLower(a.Exact), "confidence") {
			t.Errorf("%q: got %q, %v", text, a.Exact, show(a.Confidence))
		}
	}
}

func TestCitationsTakeManyForms(t *testing.T) {
	docs := collection("d2", "d3", "12", "1995", "my file, part 2.txt", "a[1]b", "docs/a.md", "salt and pepper", "x y")
	docs.Sets = trajectory.Sets{Surfaced: []string{"d2", "docs/a.md", "1066"}}
	for text, want := range map[string][]string{
		"[`d2`]":                             {"d2"},
		"[my file, part 2.txt]":              {"my file, part 2.txt"},
		"[my file, part 2.txt; d2]":          {"my file, part 2.txt", "d2"},
		"[a[1]b]":                            {"a[1]b"},
		"[see [d2]]":                         {"d2"},
		"[d2 and d3]":                        {"d2", "d3"},
		"[salt and pepper; d3]":              {"salt and pepper", "d3"},
		"[docs/a.md:12-30]":                  {"docs/a.md"},
		"[docs/a.md#L3]":                     {"docs/a.md"},
		"[d2, lines 3–9]":                    {"d2"},
		"[d2 lines 3-9]":                     {"d2"},
		"[docids: d2, d3]":                   {"d2", "d3"},
		"[doc: nowhere]":                     {"nowhere"},
		"[d999]":                             {"d999"},
		"[d2, d999]":                         {"d2", "d999"},
		"[D]":                                {},
		"[1995]":                             {},
		"[1066]":                             {"1066"},
		"[2050]":                             {},
		"[d2](https://example.org) and [d3]": {"d3"},
		"[d2]: https://example.org":          {},
		"[d2]: the survey":                   {"d2"},
		"![d2](picture.png)":                 {},
		`\[d2\]`:                             {"d2"},
		"[x\ny]":                             {"x y"},
		"[d2\n\nd3]":                         {},
		"[d2":                                {},
		"]d2[":                               {},
		"【d2†source】【d3†L1-L9】":              {"d2", "d3"},
		"[p. 12]":                            {},
		"[12-1]":                             {},
		"[1-999999999]":                      {},
		"<think>[d3]</think>[d2]":            {"d2"},
	} {
		if got := cited(Parse(text, docs)); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestCitationsSayHowDeepTheModelLooked(t *testing.T) {
	docs := collection("d1", "d2", "d3", "d4")
	docs.Sets = trajectory.Sets{Surfaced: []string{"d1", "d2", "d3"}, Previewed: []string{"d1", "d2"}, Opened: []string{"d1"}}
	want := []trajectory.Citation{{DocID: "d1", Access: Opened}, {DocID: "d2", Access: Previewed}, {DocID: "d3", Access: Surfaced}, {DocID: "d4", Access: Never}, {DocID: "d5", Access: Never, Unknown: true}}
	if got := Parse("[d1] [d2] [d3] [d4] [d5]", docs).Citations; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestNothingIsUnknownWhereNobodyCanTell(t *testing.T) {
	a := Parse("[doc: d9]", Docs{})
	if len(a.Citations) != 1 || a.Citations[0].Unknown {
		t.Errorf("got %+v", a.Citations)
	}
}

func TestReasoningTags(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		unclosed         bool
	}{
		{"two pairs", "<think>a</think>x<thinking>b</thinking>y", "xy", false},
		{"other spellings", "[THINK]a[/THINK]x ◁think▷b◁/think▷y <REASONING>c</REASONING>", "x y", false},
		{"quoted in a fence", "```\n<think>\n```\nx", "```\n<think>\n```\nx", false},
		{"never closed, without an answer", "x <think>a", "x", true},
		{"never closed, with an answer", "<think>a\nExact Answer: b", "Exact Answer: b", true},
		{"opened twice", "<think>a<think>b</think>x", "x", false},
		{"blank", " \n", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, unclosed := withoutReasoning(c.text)
			if got != c.want || unclosed != c.unclosed {
				t.Errorf("got (%q, %v), want (%q, %v)", got, unclosed, c.want, c.unclosed)
			}
		})
	}
}

func TestHostileAnswersAreReadInLinearTime(t *testing.T) {
	docs := collection("d1")
	size := 1 << 17
	if testing.Short() {
		size = 1 << 14
	}
	for _, piece := range []string{"[", "[a", "[a]", "`[", "<think>", "</think>", "`a`[", "Confidence: 1\n", "Exact Answer:\n", "[1-2,3;4 and 5"} {
		a := Parse(strings.Repeat(piece, size/len(piece)), docs) // a quadratic step here takes minutes
		if len(a.Citations) > 8 {
			t.Errorf("%q: %d citations", piece, len(a.Citations))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"Explanation: x [d2].\nExact Answer: y\nConfidence: 80%", "<think>[d1]</think> 【d2†L1】 [1-3] [a, b", "**Confidence:** ８５％ 1/0",
		"Exact Answer: ```\n[d2]\n", "[[[[[[", "Confidence: -9999999999999999999999999999/3", "\xff[d2]\xfe",
	} {
		f.Add(seed)
	}
	docs := collection("d1", "d2", "1", "2", "3")
	docs.Sets.Surfaced = []string{"d2", "2"}
	f.Fuzz(func(t *testing.T, text string) {
		a := Parse(text, docs)
		if a.Confidence != nil && !(*a.Confidence >= 0 && *a.Confidence <= 100) {
			t.Errorf("confidence %v", *a.Confidence)
		}
		seen := map[string]bool{}
		for _, c := range a.Citations {
			if c.DocID == "" || seen[c.DocID] {
				t.Errorf("citation %q is empty or doubled", c.DocID)
			}
			seen[c.DocID] = true
		}
		if !utf8.ValidString(a.Exact) || !utf8.ValidString(a.Text) {
			t.Error("invalid UTF-8")
		}
	})
}
