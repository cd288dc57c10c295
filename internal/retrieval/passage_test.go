package retrieval_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"goserini/internal/retrieval"
)

func passages(query, text string, length int) []string {
	var out []string
	for _, p := range retrieval.NewMatcher(query, nil).Passages(text, 0, length) {
		out = append(out, text[p.Start:p.End])
	}
	return out
}

func TestPassages(t *testing.T) {
	filler := strings.Repeat("Harbour dues and tide tables fill this page. ", 60)
	for _, tt := range []struct {
		name, query, text string
		length            int
		want              []string
	}{
		{"no term, no passage", "zebra", filler, 100, nil},
		{"a short text is its own passage", "lamp", "The lamp was lit.", 100, []string{"The lamp was lit."}},
		{"more distinct words beat more repetitions", "keeper diary 1871",
			"keeper keeper keeper keeper. " + filler + "A keeper wrote a diary in 1871. " + filler, 80,
			[]string{"A keeper wrote a diary in 1871. Harbour dues and tide tables fill this page."}},
		{"a word rare in the document beats a frequent one", "keeper diary",
			strings.Repeat("The keeper slept. ", 40) + filler + "Here is the diary. " + filler, 40,
			[]string{"Here is the diary. Harbour dues and tide"}},
		{"neighbours of the query beat the same words apart", "red lamp",
			"The lamp of the other house was red. " + filler + "They saw a red lamp there. " + filler, 60,
			[]string{"They saw a red lamp there. Harbour dues and tide tables fill"}},
		{"words of the question without content weigh least", "who kept the light when",
			"Who came when? " + filler + "Hale kept it. " + filler, 30,
			[]string{"Hale kept it. Harbour dues and"}},
		{"two places are shown where together they cover more", "Orvane lighthouse supplier of lamp oil",
			"The lighthouse stood at Orvane rock. " + filler + "The supplier sent lamp oil by sea. " + filler, 300,
			[]string{
				"The supplier sent lamp oil by sea. Harbour dues and tide tables fill this page. Harbour dues and tide tables fill this page. Harbour dues and tide",
				"The lighthouse stood at Orvane rock. Harbour dues and tide tables fill this page. Harbour dues and tide tables fill this page. Harbour dues and tide",
			}},
		{"text without blanks is cut between characters", "灯塔", strings.Repeat("海", 200) + " 灯塔 " + strings.Repeat("岸", 200), 20,
			[]string{"灯塔 " + strings.Repeat("岸", 16)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := passages(tt.query, tt.text, tt.length)
			if strings.Join(got, "|") != strings.Join(tt.want, "|") {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestPassagesKnowTheirLines(t *testing.T) {
	text := "Title\n" + strings.Repeat("filler line without it\n", 100) + "the quokka\nappears here\n" + strings.Repeat("filler\n", 300)
	p := retrieval.NewMatcher("quokka appears", nil).Passages(text, 0, 60)
	if len(p) != 1 {
		t.Fatalf("got %d passages", len(p))
	}
	lines := strings.Split(text, "\n")
	inner := strings.Join(lines[p[0].FirstLine-1:p[0].LastLine], "\n")
	if !strings.Contains(inner, text[p[0].Start:p[0].End]) || p[0].Terms != 2 {
		t.Errorf("lines %d-%d hold %q, the passage is %q with %d terms", p[0].FirstLine, p[0].LastLine, inner, text[p[0].Start:p[0].End], p[0].Terms)
	}
}

func TestPassagesKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"zinc", "onyx", "Zinc's", "灯塔", "e\u0301te\u0301", "a", "the", "x-ray", "\n", "end.", "\xff", strings.Repeat("w", 70)})
		text := strings.Join(rapid.SliceOfN(word, 0, 120).Draw(t, "words"), " ")
		query := strings.Join(rapid.SliceOfN(word, 0, 6).Draw(t, "query"), " ")
		length := rapid.IntRange(1, 400).Draw(t, "length")
		sum, last := 0, -1
		matcher := retrieval.NewMatcher(query, nil)
		chosen := matcher.Passages(text, 0, length)
		if rapid.Bool().Draw(t, "excerpt") {
			chosen = matcher.Excerpt(text, 0, length)
		}
		for _, p := range chosen {
			if p.Start < 0 || p.End > len(text) || p.Start > p.End {
				t.Fatalf("passage %d-%d of %d bytes", p.Start, p.End, len(text))
			}
			got := text[p.Start:p.End]
			if utf8.ValidString(text) && !utf8.ValidString(got) {
				t.Fatalf("%q cuts a character", got)
			}
			if n := strings.Count(text[:p.Start], "\n") + 1; n != p.FirstLine {
				t.Fatalf("first line %d, want %d", p.FirstLine, n)
			}
			if last >= 0 && p.Start < last && p.End > last {
				t.Fatalf("passages overlap at %d", last)
			}
			sum += utf8.RuneCountInString(got)
			last = p.Start
		}
		if sum > length {
			t.Fatalf("%d characters, at most %d wanted", sum, length)
		}
	})
}

func TestPassagesBeginWhereTheyMay(t *testing.T) {
	text := "The quokka of the title\nNothing here.\nA quokka in the text.\n"
	from := strings.Index(text, "Nothing")
	p := retrieval.NewMatcher("quokka", nil).Passages(text, from, 200)
	if len(p) != 1 || text[p[0].Start:p[0].End] != "Nothing here.\nA quokka in the text." || p[0].FirstLine != 2 || p[0].LastLine != 3 {
		t.Errorf("got %+v", p)
	}
	if p := retrieval.NewMatcher("title", nil).Passages(text, from, 200); p != nil {
		t.Errorf("got %+v for a term that stands before only", p)
	}
}

func TestOutlineNamesTheBestPlacesInOrder(t *testing.T) {
	filler := strings.Repeat("Harbour dues and tide tables fill this page.\n", 30)
	text := "The lamp.\n" + filler + "The keeper of the lamp.\n" + filler + "The keeper.\n" + filler + "The keeper and the lamp again.\n" + filler
	var got []string
	for _, p := range retrieval.NewMatcher("keeper lamp", nil).Outline(text, 0, 3, 60) {
		line, _, _ := strings.Cut(text[p.Start:], "\n")
		got = append(got, fmt.Sprintf("%d %s", p.FirstLine, line))
	}
	want := "[32 The keeper of the lamp. 63 The keeper. 94 The keeper and the lamp again.]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestOutlineIsAboutDifferentWords(t *testing.T) {
	filler := strings.Repeat("Harbour dues and tide tables fill this page.\n", 30)
	names := "Alder Grace and Aldous Grey.\n"
	text := "Charter.\n" + filler + names + filler + names + filler + "The lamp oil.\n" + filler + names + filler
	var got []string
	for _, p := range retrieval.NewMatcher("lamp oil of Alder Grace and Aldous Grey", nil).Outline(text, 0, 2, 60) {
		line, _, _ := strings.Cut(text[p.Start:], "\n")
		got = append(got, line)
	}
	if want := "Alder Grace and Aldous Grey.|The lamp oil."; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", strings.Join(got, "|"), want)
	}
}

func TestExcerpt(t *testing.T) {
	filler := strings.Repeat("Tide tables and dues fill this page of the book. ", 60)
	scattered := "  Charter between Alder Grace and Aldous Grey. " + filler + "It ends with notice. " + filler + "It is renewed. " +
		filler + "Copper is carried. " + filler + "The law of Sarn governs. " + filler + "It was made in 1861. " + filler + "Losses are shared. " + filler
	together := "  Charter between Alder Grace and Aldous Grey. " + filler + "It is renewed, ends with notice, is governed by the law of Sarn, carries copper, shares losses. " + filler
	query := "law Sarn notice renewed copper made 1861 losses shared"
	for _, tt := range []struct {
		name, text string
		from       int
		length     int
		want       []string // beginnings
	}{
		{"scattered words: the head and the best place", scattered, 0, 300, []string{"Charter between", "The law of Sarn"}},
		{"the head begins where passages may", scattered, strings.Index(scattered, "Tide"), 300, []string{"Tide tables", "The law of Sarn"}},
		{"words in one place: no head", together, 0, 300, []string{"It is renewed,"}},
		{"too short for two", scattered, 0, 200, []string{"The law of Sarn"}},
		{"no word, no excerpt", filler, 0, 300, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := retrieval.NewMatcher(query, nil).Excerpt(tt.text, tt.from, tt.length)
			sum := 0
			for i, p := range got {
				shown := tt.text[p.Start:p.End]
				sum += utf8.RuneCountInString(shown)
				if i >= len(tt.want) || !strings.HasPrefix(shown, tt.want[i]) {
					t.Errorf("passage %d is %q", i, shown)
				}
			}
			if len(got) != len(tt.want) || sum > tt.length {
				t.Errorf("%d passages with %d characters, want %d with at most %d", len(got), sum, len(tt.want), tt.length)
			}
		})
	}
}

func TestExcerptOfAHeadThatHoldsTheBestPlaceIsTheHead(t *testing.T) {
	filler := strings.Repeat("Tide tables and dues fill this page of the book. ", 60)
	text := "The law of Sarn governs. " + filler + "It ends with notice. " + filler + "It is renewed. " + filler + "Copper is carried. " + filler + "It was made in 1861. " + filler
	got := retrieval.NewMatcher("law Sarn notice renewed copper 1861", nil).Excerpt(text, 0, 300)
	if len(got) != 1 || got[0].Start != 0 || got[0].End < 280 || got[0].FirstLine != 1 {
		t.Errorf("got %+v", got)
	}
}

// The quick way past words that cannot be terms must not change what is found.
func TestPassedOverWordsAreNoTerms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.SampledFrom([]rune("abAB1_.'-é")), 1, 6, -1)
		text := strings.Join(rapid.SliceOfN(word, 0, 40).Draw(t, "words"), " ")
		query := strings.Join(rapid.SliceOfN(word, 1, 5).Draw(t, "query"), " ")
		stats := words{keepCase: rapid.Bool().Draw(t, "case"), cut: rapid.Bool().Draw(t, "cut")}
		quick := fmt.Sprint(retrieval.NewMatcher(query, prefixes{stats}).Passages(text, 0, 60))
		slow := fmt.Sprint(retrieval.NewMatcher(query, stats).Passages(text, 0, 60))
		if quick != slow {
			t.Fatalf("query %q, text %q: got %s, want %s", query, text, quick, slow)
		}
	})
}

// words is PlainWords without the promise about beginnings. It may keep letter case, and may
// end words the way a stemmer does: without a last "b", with "a" for a last "1".
type words struct{ keepCase, cut bool }

func (w words) Analyze(text string, emit func(term []byte, start, end int)) {
	retrieval.PlainWords{}.Analyze(text, func(term []byte, start, end int) {
		s := string(term)
		if w.keepCase {
			s = text[start:end]
		}
		if w.cut && len(s) > 2 {
			if head, ok := strings.CutSuffix(s, "1"); ok {
				s = head + "a"
			}
			s = strings.TrimSuffix(s, "b")
		}
		emit([]byte(s), start, end)
	})
}
func (words) DF(string) int { return 1 }
func (words) N() int        { return 2 }

// prefixes is words with the promise.
type prefixes struct{ words }

func (prefixes) KeepsPrefix() bool { return true }

func TestAClonedMatcherFindsTheSameAtTheSameTime(t *testing.T) {
	text := strings.Repeat("Harbour dues and tide tables. ", 90) + "The keeper of Orvane kept a lamp. " + strings.Repeat("Tide tables. ", 90)
	m := retrieval.NewMatcher("keeper lamp Orvane", nil)
	want := fmt.Sprint(m.Excerpt(text, 0, 200))
	var wg sync.WaitGroup
	for range 4 {
		clone := m.Clone()
		wg.Go(func() {
			if got := fmt.Sprint(clone.Excerpt(text, 0, 200)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	if got := fmt.Sprint(m.Excerpt(text, 0, 200)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	wg.Wait()
}

// A page of ten documents of 32 KB, each with every term of the query somewhere.
func BenchmarkPassages(b *testing.B) {
	texts := make([]string, 10)
	for i := range texts {
		var t strings.Builder
		for n := 0; t.Len() < 32<<10; n++ {
			fmt.Fprintf(&t, "Entry %d of the harbour register concerns tides, dues and other business of the port. ", n*7+i)
			if n%37 == i {
				t.WriteString("The keeper of the lighthouse at Orvane supplied lamp oil in 1871. ")
			}
			if n%5 == 0 {
				t.WriteByte('\n')
			}
		}
		texts[i] = t.String()
	}
	b.SetBytes(10 * 32 << 10)
	for b.Loop() {
		m := retrieval.NewMatcher("who was the keeper of the lighthouse that supplied lamp oil in 1871", nil)
		for _, text := range texts {
			if len(m.Passages(text, 0, retrieval.PassageLength)) == 0 {
				b.Fatal("no passage")
			}
		}
	}
}
