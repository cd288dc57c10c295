package navbench

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"goserini/internal/benchmark"
	"goserini/internal/bm25"
	"goserini/internal/controller"
	"goserini/internal/corpus"
	"goserini/internal/index"
	"goserini/internal/retrieval/local"
	"goserini/internal/trec"
)

// harbour has one long document whose answer stands late, and many short ones.
func harbour(t *testing.T) *index.Index {
	t.Helper()
	filler := strings.Repeat("Tide tables and dues fill this line of the register.\n", 300)
	docs := []corpus.Document{{DocID: "register", Title: "Register", Text: "A lighthouse is named here.\n" + filler +
		"The lighthouse keeper at Orvane was Tamsin Hale from 1871.\n" + filler}}
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		docs = append(docs, corpus.Document{DocID: id, Text: "lighthouse keeper keeper keeper " + id})
	}
	dir := t.TempDir()
	if _, err := index.Build(context.Background(), dir, corpus.FromDocuments(docs), index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	return ix
}

func known(t *testing.T, ix *index.Index) question {
	t.Helper()
	c := &Collection{index: ix}
	q, err := c.question(benchmark.Question{ID: "q", Text: "Who was the lighthouse keeper?", Answer: &benchmark.Answer{Text: "Tamsin Hale"}}, marking{}, []string{"register"})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func variant(t *testing.T, parts ...string) Variant {
	t.Helper()
	nav, err := controller.ParseNavigator(parts...)
	if err != nil {
		t.Fatal(err)
	}
	return Variant{"test", controller.Options{Navigator: nav}}
}

func TestBrowsingCountsByBandAndReader(t *testing.T) {
	ix := harbour(t)
	q := known(t, ix)
	r := local.New(ix, bm25.Paper) // long documents rank low: the register comes last, at rank 8
	qrels := trec.Qrels{"q": {"register": 1, "a": 1}}
	for _, tt := range []struct {
		name  string
		v     Variant
		shown int
	}{{"the paper's excerpt is about the first word", variant(t), 0}, {"the best passage has the answer", variant(t, "excerpts"), 1}} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := browse(context.Background(), r, tt.v, q, qrels)
			if err != nil {
				t.Fatal(err)
			}
			if b.gold != [bands]int{0, 1, 0} || b.shown != [bands]int{0, tt.shown, 0} {
				t.Errorf("gold %v, shown %v, want one document at rank 8, shown %d", b.gold, b.shown, tt.shown)
			}
			if b.first.previewed != 1 || b.toTwenty.previewed != 2 || b.first.shown != 0 || b.toTwenty.shown != tt.shown {
				t.Errorf("first page %+v, to rank 20 %+v", b.first, b.toTwenty)
			}
			if b.first.bytes <= 0 || b.toTwenty.bytes <= b.first.bytes || b.page != 0 {
				t.Errorf("bytes %d, then %d, further page %d", b.first.bytes, b.toTwenty.bytes, b.page)
			}
		})
	}
}

func TestPagesOfRanks(t *testing.T) {
	for _, variant := range []struct {
		options controller.Options
		pages   map[int]int
	}{
		{controller.Options{}, map[int]int{1: 1, 5: 1, 6: 6, 15: 6, 16: 16, 25: 16, 26: 26, 1000: 996}},
		{controller.Options{Navigator: controller.Navigator{Excerpts: true}}, map[int]int{5: 1, 6: 6, 10: 6, 11: 11, 1000: 996}},
	} {
		c := newConversation(nil, Variant{Options: variant.options})
		for rank, want := range variant.pages {
			if got := c.pageOf(rank); got != want {
				t.Errorf("rank %d is on the page from %d, want %d", rank, got, want)
			}
		}
	}
	for rank, want := range map[int]int{1: 0, 5: 0, 6: 1, 50: 1, 51: 2} {
		if got := band(rank); got != want {
			t.Errorf("rank %d is in band %d, want %d", rank, got, want)
		}
	}
}

func TestSeekingStopsWhereTheLineIsShown(t *testing.T) {
	ix := harbour(t)
	q := known(t, ix)
	r := local.New(ix, bm25.Paper)
	talk := newConversation(r, variant(t))
	page, id, err := talk.search(context.Background(), q.text)
	if err == nil {
		_, err = talk.browse(context.Background(), id, 6, 10)
	}
	if err != nil {
		t.Fatal(err)
	}
	hits := talk.bytes
	two := 0 // the answer is on line 303, the second page of 200 lines
	for _, offset := range []int{0, 201} {
		a := readArguments{DocID: "register", Offset: offset}
		if offset > 0 {
			a.Limit = 200
		}
		result, _, err := talk.read(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		two += len(result.Text)
	}
	if len(page.Access.Surfaced) != 8 {
		t.Fatalf("%d hits, want 8", len(page.Access.Surfaced))
	}
	got, err := seek(context.Background(), r, variant(t), q, true)
	if want := (reading{true, hits + two}); err != nil || got != want {
		t.Errorf("paper: got %+v, %v, want %+v", got, err, want)
	}
	seeing, err := seek(context.Background(), r, variant(t, "excerpts"), q, true)
	if err != nil || !seeing.found || seeing.bytes >= got.bytes {
		t.Errorf("an excerpt with the answer: got %+v, %v, want it found in fewer than %d bytes", seeing, err, got.bytes)
	}
	blind, err := seek(context.Background(), r, variant(t, "excerpts"), q, false)
	if err != nil || !blind.found || blind.bytes <= seeing.bytes {
		t.Errorf("where excerpts do not count: got %+v, %v, want it found later", blind, err)
	}
	best, err := seek(context.Background(), r, variant(t, "read-at-best"), q, false)
	if err != nil || !best.found || best.bytes-hits > 10000 {
		t.Errorf("opened at the best passage: got %+v, %v, want it found on the first page", best, err)
	}
}

func TestAReaderGoesOnAtTheBeginning(t *testing.T) {
	ix := harbour(t)
	q := known(t, ix)
	contents := q.item.contents
	at := strings.Index(contents, "A lighthouse is named here")
	q.item.places = []place{{at, at + len("A lighthouse is named here"), contentWords("A lighthouse is named here")}}
	got, err := seek(context.Background(), local.New(ix, bm25.Paper), variant(t, "read-at-best"), q, false)
	if err != nil || !got.found {
		t.Errorf("got %+v, %v, want the first line found after the end of the document", got, err)
	}
	q.item.places = []place{{at, at + 1, []string{"absent"}}}
	got, err = seek(context.Background(), local.New(ix, bm25.Paper), variant(t, "read-at-best"), q, false)
	if err != nil || got.found || got.bytes < len(contents) {
		t.Errorf("got %+v, %v, want the whole document read in vain", got, err)
	}
}

func TestTheDemoIsMeasuredTheSameEachTime(t *testing.T) {
	c := demoCollection(t, 4)
	variants, err := Variants()
	if err != nil {
		t.Fatal(err)
	}
	measure := func(workers int) string {
		r, err := Measure(context.Background(), c, variants[:2], Options{Workers: workers, Research: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Variants {
			if f.Shown[0] == nil || f.Holding[0] == nil || f.Definitions == 0 || f.Research == nil || f.First.Previewed == nil || f.FirstTokens == nil {
				t.Errorf("%s: something was not measured: %+v", f.Variant, f)
			}
		}
		return Markdown([]Report{r}, "test", "")
	}
	one := measure(1)
	if two := measure(2); one != two {
		t.Error("two workers give other figures than one")
	}
	if !strings.Contains(one, "| demo") && !strings.Contains(one, "navigator") {
		t.Error("the page has no tables")
	}
}

func demoCollection(t *testing.T, limit int) *Collection {
	t.Helper()
	b, ix := demoIndex(t)
	c, err := Load(b, ix, Setting{Params: bm25.Anserini}, limit)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func demoIndex(t *testing.T) (*benchmark.Benchmark, *index.Index) {
	t.Helper()
	b, err := benchmark.Load("demo")
	if err != nil {
		t.Fatal(err)
	}
	source, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := index.Build(context.Background(), dir, source, index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	ix, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	return b, ix
}

func TestThePageOfExamplesIsWhatTheToolsSay(t *testing.T) {
	_, ix := demoIndex(t)
	s := ix.Stats()
	params, _ := bm25.Choose(bm25.Collection{Tokens: s.Tokens, Postings: s.Postings, Length90: s.Lengths.P90})
	want, err := Examples(context.Background(), ix, params)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("..", "..", "docs", "navigation-examples.md"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.TrimSpace(string(got)) != strings.TrimSpace(want) {
		t.Error("docs/navigation-examples.md is stale: run goserini bench navigation --examples docs/navigation-examples.md")
	}
}

func TestNotesArePreserved(t *testing.T) {
	page := Markdown(nil, "command", "## What it says\n\nwritten by hand\n")
	if got, want := Notes(page), "## What it says\n\nwritten by hand\n"; got != want {
		t.Errorf("notes %q, want %q", got, want)
	}
	if got := Notes("# no notes\n"); got != "" {
		t.Errorf("notes %q of a page without", got)
	}
}
