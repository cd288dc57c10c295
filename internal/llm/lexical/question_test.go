package lexical

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQuestionIsWhatFollowsTheLabel(t *testing.T) {
	for message, want := range map[string]string{
		"Rules.\n\nQuestion: Who was it?\n": "Who was it?",
		"Who was it?":                       "Who was it?",
		"Rules.\nQuestion: First line.\nQuestion: second line?": "First line.\nQuestion: second line?",
	} {
		if got := questionOf(message); got != want {
			t.Errorf("question of %q: got %q, want %q", message, got, want)
		}
	}
}

func TestCluesOfAQuestion(t *testing.T) {
	for _, c := range []struct {
		name, question string
		want           []string // the asking one with a star
	}{
		{"sentences and clauses",
			"A keeper lost his post after a packet struck a reef. Which maker had taught him the trade?",
			[]string{"A keeper lost his post", "after a packet struck a reef.", "*Which maker had taught him the trade?"}},
		{"names and quotations apart",
			`Who wrote "The Salt Heirs" and painted in Little Sarn?`,
			[]string{`*Who wrote "The Salt Heirs"`, "The Salt Heirs", "and painted in Little Sarn?", "Little Sarn"}},
		{"a short clause joins the relative clause that explains it",
			"Which of those plants did she name after the schoolmistress who had taught her in a rope walk?",
			[]string{"*Which of those plants did she name", "after the schoolmistress who had taught her in a rope walk?"}},
		{"the asking part takes in its verb",
			"In what year was the judge who decided the matter born?",
			[]string{"*In what year was the judge who decided the matter born?"}},
		{"that before a noun joins nothing",
			"Who built that second organ?",
			[]string{"*Who built that second organ?"}},
		{"a question of small words keeps one clue", "Who was it?", []string{"*Who was it?"}},
		{"nothing has one clue", "", []string{"*"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := parse(c.question)
			var got []string
			for i, k := range q.clues {
				if i == q.focus {
					k.text = "*" + k.text
				}
				got = append(got, k.text)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("clues of %q (-want +got):\n%s", c.question, d)
			}
		})
	}
}

func TestNamesOfAClauseAreNotCountedTwice(t *testing.T) {
	q := parse("Who kept the lighthouse on Ostrey Island?")
	for _, s := range []string{"ostrei", "island"} {
		if slices.Contains(q.clues[q.focus].stems, s) {
			t.Errorf("asking part has the stem %q of a name: %q", s, q.clues[q.focus].stems)
		}
	}
}

func TestAskingPartRefersBack(t *testing.T) {
	for question, want := range map[string]bool{
		"A keeper lost his post in the fog. Who had trained him?": true,
		"Who trained the keeper of the light?":                    false,
	} {
		if got := parse(question).refers; got != want {
			t.Errorf("%q refers back: got %v, want %v", question, got, want)
		}
	}
}

// FuzzParse: any question can be taken apart, and the part that asks is one of its clues.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "?", "Who", "Which of the two, A or B?", "in what year was\x00 it",
		"Summarize. Which? Who? " + strings.Repeat("and who ", 50),
		"在哪一年？", "“quoted” 'and' \"open", strings.Repeat("Name ", 300),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := parse(questionOf(text))
		if q.focus < 0 || q.focus >= len(q.clues) {
			t.Fatalf("focus %d of %d clues", q.focus, len(q.clues))
		}
		for _, c := range q.clues {
			if c.from > c.to || c.to > len(q.text) {
				t.Fatalf("clue %q spans %d-%d of %d bytes", c.text, c.from, c.to, len(q.text))
			}
		}
	})
}
