package navbench

import (
	"context"
	"slices"
	"testing"

	"goserini/internal/bm25"
	"goserini/internal/retrieval/local"
)

func TestNamesAreQuoted(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"Which law governs the Supply Agreement between Miltenyi Biotec GmbH and Bellicum Phamaceuticals, Inc without cause?",
			`Which law governs the "Supply Agreement" between "Miltenyi Biotec GmbH" and "Bellicum Phamaceuticals", Inc without cause?`},
		{"Who led the Royal Society?", `Who led the "Royal Society"?`},
		{"no names here", "no names here"},
		{`In "Alder Grace" who sailed`, `In "Alder Grace" who sailed`},
		{"", ""},
	} {
		if got := quoted(tt.text); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestNamesAreAskedForByThemselves(t *testing.T) {
	text := "Were Alder Grace, Aldous Grey and Alder Grace built at Little Sarn, Great Sarn, Thrawle Bay or Vint Sound?"
	want := []string{text, "Alder Grace", "Aldous Grey", "Little Sarn", "Great Sarn"}
	if got := withNames(text); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := withNames("no names"); !slices.Equal(got, []string{"no names"}) {
		t.Errorf("got %q", got)
	}
}

func TestRareWordsOfAQuestion(t *testing.T) {
	r := local.New(harbour(t), bm25.Paper)
	text := "Who was the lighthouse keeper at Orvane, quokka or Tamsin?"
	if got := withRarer(text, r); len(got) != 2 || got[0] != text || got[1] != "Orvane Tamsin" {
		t.Errorf("got %q, want the question and Orvane Tamsin", got)
	}
	if got, want := findPattern(text, r), `/\b(?:Orvane|Tamsin|lighthouse)/`; got != want {
		t.Errorf("the pattern is %s, want %s", got, want)
	}
	if got, pattern := withRarer("quokka", r), findPattern("quokka", r); len(got) != 1 || pattern != "" {
		t.Errorf("words that no document holds give %q and %q", got, pattern)
	}
}

func TestAFindThatShowsTheLineEndsTheSearch(t *testing.T) {
	ix := harbour(t)
	q := known(t, ix)
	r := local.New(ix, bm25.Paper)
	v := variant(t, "find")
	without, err := seek(context.Background(), r, v, q, false)
	if err != nil {
		t.Fatal(err)
	}
	with, err := seekFinding(context.Background(), r, v, q, false, "Orvane")
	if err != nil || !with.found || with.bytes >= without.bytes-10000 {
		t.Errorf("got %+v, %v, want the line found without reading pages: without find %+v", with, err, without)
	}
	vain, err := seekFinding(context.Background(), r, v, q, false, "quokka")
	if err != nil || !vain.found || vain.bytes <= without.bytes {
		t.Errorf("a find in vain: got %+v, %v, want the line found after it costs more than %+v", vain, err, without)
	}
}

func TestUsesCompareTheSameQuestions(t *testing.T) {
	c := demoCollection(t, 6)
	m := &measurer{c: c, questions: c.questions, items: knownItems(c.questions)}
	uses, err := m.uses(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	byPart := map[string]int{}
	for _, u := range uses {
		byPart[u.Part]++
		want := len(m.questions)
		if u.Measure == tokensMeasure {
			want = len(m.items)
		}
		if u.Without.N != want || u.With.N != want || u.Gain.N != want {
			t.Errorf("%s: %d, %d and %d questions, want %d", u.Part, u.Without.N, u.With.N, u.Gain.N, want)
		}
		if d := u.With.Value - u.Without.Value - u.Gain.Value; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: %v to %v is no gain of %v", u.Part, u.Without.Value, u.With.Value, u.Gain.Value)
		}
	}
	for part, n := range map[string]int{"find, paper's tools": 1, "find, navigator": 1, "syntax": 2, "multi-query": 4, "novelty": 1} {
		if byPart[part] != n {
			t.Errorf("%s has %d measures, want %d: %v", part, byPart[part], n, byPart)
		}
	}
}
