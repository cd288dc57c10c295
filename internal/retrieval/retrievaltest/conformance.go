package retrievaltest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"goserini/internal/retrieval"
)

// collection has what a retriever gets wrong: ties, titles, odd docids, blank lines, a
// document without text, wide characters.
func collection() []Document {
	docs := []Document{
		{DocID: "zinc-1", Text: "zinc onyx zinc krill"},
		{DocID: "zinc-2", Title: "Zinc smelting", Text: "The furnace took zinc.\n\nIt gave quartz.\n"},
		{DocID: "folder/notes (copy).txt", Text: "basil and walnut"},
		{DocID: "灯塔 \"9\"", Text: "walnut 灯塔🐻"},
		{DocID: "lines", Text: "first line\nsecond line\n\nfourth line\nfifth obsidian line"},
	}
	for i := range 12 {
		docs = append(docs, Document{DocID: fmt.Sprintf("tie-%02d", i), Text: "tulip cobalt"})
	}
	return docs
}

// Run tests that the retriever returned by open over the given documents keeps the
// contract of [retrieval.Retriever]. Scores and order are the retriever's own affair,
// except that ties are ordered by docid. open may be called several times.
func Run(t *testing.T, open func(tb testing.TB, docs []Document) retrieval.Retriever) {
	docs := collection()
	for _, test := range []struct {
		name string
		run  func(*testing.T, retrieval.Retriever)
	}{
		{"finds the document that alone has a word", findsTheOnlyOne},
		{"finds nothing for unknown and blank queries", findsNothing},
		{"ranks each document once, best first", ranksOnce},
		{"orders ties by docid, also at the depth", ordersTies},
		{"gives the caller a ranking of its own", ranksForTheCaller},
		{"reads every document as it is", readsDocuments},
		{"reads the lines asked for", readsLines},
		{"keeps to a bound of bytes if it says so", keepsToBytes},
		{"names an unknown document", namesUnknown},
		{"obeys a cancelled context", obeysCancel},
		{"serves many callers at once", servesMany},
		{"excerpts documents in order", excerpts},
		{"ranks passages if it says so", ranksPassages},
		{"knows its terms", knowsTerms},
		{"lists words by prefix", listsWords},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t, docs)) })
	}
	t.Run("serves an empty collection", func(t *testing.T) {
		if got := search(t, open(t, nil), "zinc", 10); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
}

func search(t *testing.T, r retrieval.Retriever, query string, depth int) retrieval.Ranking {
	t.Helper()
	ranking, err := r.Search(t.Context(), retrieval.SearchRequest{Query: query, Depth: depth})
	if err != nil {
		t.Fatalf("search %q: %v", query, err)
	}
	return ranking
}

func ids(ranking retrieval.Ranking) string {
	list := make([]string, len(ranking))
	for i, h := range ranking {
		list[i] = h.DocID
	}
	return strings.Join(list, " | ")
}

func findsTheOnlyOne(t *testing.T, r retrieval.Retriever) {
	for query, want := range map[string]string{
		"obsidian":        "lines",
		"smelting":        "zinc-2",
		"krill xylograph": "zinc-1",
		"BASIL":           "folder/notes (copy).txt",
	} {
		if got := ids(search(t, r, query, 10)); got != want {
			t.Errorf("%q: got %s, want %s", query, got, want)
		}
	}
}

func findsNothing(t *testing.T, r retrieval.Retriever) {
	if got := search(t, r, "xylograph", 10); len(got) != 0 {
		t.Errorf("unknown word: got %s", ids(got))
	}
	for _, query := range []string{"", "  \t", "!!!"} {
		// A retriever may refuse a query without words; it must not find anything.
		if got, err := r.Search(t.Context(), retrieval.SearchRequest{Query: query, Depth: 10}); err == nil && len(got) != 0 {
			t.Errorf("%q: got %s", query, ids(got))
		}
	}
}

func ranksOnce(t *testing.T, r retrieval.Retriever) {
	ranking := search(t, r, "zinc tulip walnut", 1000)
	if len(ranking) != 16 {
		t.Errorf("got %d hits, want 16: %s", len(ranking), ids(ranking))
	}
	seen := map[string]bool{}
	for i, h := range ranking {
		if seen[h.DocID] {
			t.Errorf("%q is ranked twice", h.DocID)
		}
		seen[h.DocID] = true
		if i > 0 && h.HasScore && h.Score > ranking[i-1].Score {
			t.Errorf("rank %d scores %v, rank %d scores %v", i, ranking[i-1].Score, i+1, h.Score)
		}
	}
	if again := search(t, r, "zinc tulip walnut", 1000); ids(again) != ids(ranking) {
		t.Errorf("the same search gave %s and %s", ids(ranking), ids(again))
	}
}

func ordersTies(t *testing.T, r retrieval.Retriever) {
	var want []string
	for i := range 12 {
		want = append(want, fmt.Sprintf("tie-%02d", i))
	}
	for _, depth := range []int{1, 5, 12, 100} {
		if got, want := ids(search(t, r, "tulip", depth)), strings.Join(want[:min(depth, 12)], " | "); got != want {
			t.Errorf("depth %d: got %s, want %s", depth, got, want)
		}
	}
}

func ranksForTheCaller(t *testing.T, r retrieval.Retriever) {
	first := search(t, r, "zinc", 10)
	want := ids(first)
	for i := range first {
		first[i].DocID = "changed"
	}
	if got := ids(search(t, r, "zinc", 10)); got != want {
		t.Errorf("a caller's change shows: got %s, want %s", got, want)
	}
}

func readsDocuments(t *testing.T, r retrieval.Retriever) {
	for _, doc := range collection() {
		chunk, err := r.Read(t.Context(), retrieval.ReadRequest{DocID: doc.DocID, Offset: 1, Limit: 1000})
		if err != nil {
			t.Errorf("%q: %v", doc.DocID, err)
			continue
		}
		if got := strings.Join(chunk.Lines, "\n"); got != doc.Contents() {
			t.Errorf("%q: got %q, want %q", doc.DocID, got, doc.Contents())
		}
		if chunk.DocID != doc.DocID || chunk.Offset != 1 || chunk.TotalLines != len(chunk.Lines) {
			t.Errorf("%q: got docid %q, offset %d, %d lines in total", doc.DocID, chunk.DocID, chunk.Offset, chunk.TotalLines)
		}
	}
}

func readsLines(t *testing.T, r retrieval.Retriever) {
	for _, tt := range []struct {
		offset, limit int
		want          string
	}{
		{1, 1, "first line"},
		{2, 3, "second line||fourth line"},
		{5, 100, "fifth obsidian line"},
		{6, 1, ""},
		{1000, 10, ""},
	} {
		chunk, err := r.Read(t.Context(), retrieval.ReadRequest{DocID: "lines", Offset: tt.offset, Limit: tt.limit})
		if err != nil {
			t.Errorf("offset %d: %v", tt.offset, err)
			continue
		}
		if got := strings.Join(chunk.Lines, "|"); got != tt.want {
			t.Errorf("offset %d, limit %d: got %q, want %q", tt.offset, tt.limit, got, tt.want)
		}
		if chunk.TotalLines != 5 || len(chunk.Lines) > 0 && chunk.Offset != tt.offset {
			t.Errorf("offset %d: got offset %d, %d lines in total", tt.offset, chunk.Offset, chunk.TotalLines)
		}
	}
}

func keepsToBytes(t *testing.T, r retrieval.Retriever) {
	reader, bounded := r.(retrieval.LineReader)
	for _, d := range collection() {
		whole := strings.Split(d.Contents(), "\n")
		for most := utf8.UTFMax; most < 60; most++ {
			chunk, err := r.Read(t.Context(), retrieval.ReadRequest{DocID: d.DocID, Offset: 1, Limit: 3, MaxBytes: most})
			if err != nil {
				t.Fatal(err)
			}
			text, n := strings.Join(chunk.Lines, "\n"), len(chunk.Lines)
			switch {
			case n == 0 || chunk.TotalLines != len(whole):
				t.Errorf("%s, %d bytes: %d lines of %d", d.DocID, most, n, chunk.TotalLines)
			case bounded && len(text) > most:
				t.Errorf("%s, %d bytes: got %d", d.DocID, most, len(text))
			case !chunk.Cut && text != strings.Join(whole[:n], "\n"):
				t.Errorf("%s, %d bytes: got %q", d.DocID, most, text)
			case !chunk.Cut && bounded && n < min(3, len(whole)) && len(text)+1+len(whole[n]) < most:
				t.Errorf("%s, %d bytes: line %d would have fitted", d.DocID, most, n+1)
			case chunk.Cut && !bounded:
				t.Errorf("%s, %d bytes: a line was cut that nobody can read on", d.DocID, most)
			}
			if !chunk.Cut || !bounded {
				continue
			}
			rest, length, err := reader.LineBytes(t.Context(), d.DocID, 1, int64(len(text)), 1000)
			if err != nil || n != 1 || !utf8.ValidString(text) || rest == "" || text+rest != whole[0] || length != int64(len(whole[0])) {
				t.Errorf("%s, %d bytes: got %d lines, %q and then %q of %d, %v", d.DocID, most, n, text, rest, length, err)
			}
		}
	}
	if !bounded {
		return
	}
	for _, tt := range []struct {
		docid string
		line  int
	}{{"nobody", 1}, {"lines", 6}} {
		if _, _, err := reader.LineBytes(t.Context(), tt.docid, tt.line, 0, 10); err == nil || tt.docid == "nobody" && !errors.Is(err, retrieval.ErrNoDocument) {
			t.Errorf("line %d of %s: got %v", tt.line, tt.docid, err)
		}
	}
}

func namesUnknown(t *testing.T, r retrieval.Retriever) {
	for _, id := range []string{"zinc", "ZINC-1", "zinc-1 ", "../zinc-1", "tie-0", "zinc-1\x00"} {
		if _, err := r.Read(t.Context(), retrieval.ReadRequest{DocID: id, Offset: 1, Limit: 1}); !errors.Is(err, retrieval.ErrNoDocument) {
			t.Errorf("%q: got %v, want ErrNoDocument", id, err)
		}
	}
}

func obeysCancel(t *testing.T, r retrieval.Retriever) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Search(ctx, retrieval.SearchRequest{Query: "zinc", Depth: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("search: got %v, want context.Canceled", err)
	}
}

func servesMany(t *testing.T, r retrieval.Retriever) {
	want := ids(search(t, r, "zinc tulip", 100))
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			ranking, err := r.Search(t.Context(), retrieval.SearchRequest{Query: "zinc tulip", Depth: 100})
			if err != nil || ids(ranking) != want {
				t.Errorf("got %s, %v; want %s", ids(ranking), err, want)
			}
			if _, err := r.Read(t.Context(), retrieval.ReadRequest{DocID: "lines", Offset: 1, Limit: 2}); err != nil {
				t.Errorf("read: %v", err)
			}
		})
	}
	wg.Wait()
}

func excerpts(t *testing.T, r retrieval.Retriever) {
	x, ok := r.(retrieval.Excerpter)
	if !ok {
		t.Skip("not an Excerpter")
	}
	asked := []string{"lines", "no such document", "灯塔 \"9\"", "zinc-2"}
	got, err := x.Excerpts(t.Context(), "obsidian furnace walnut", asked)
	if err != nil || len(got) != len(asked) {
		t.Fatalf("got %d excerpts, %v", len(got), err)
	}
	for i, want := range []string{"obsidian", "", "walnut", "furnace"} {
		if !strings.Contains(got[i].Text, want) || !utf8.ValidString(got[i].Text) || want == "" && got[i] != (retrieval.Excerpt{}) {
			t.Errorf("%q: got %+v, want it to hold %q", asked[i], got[i], want)
		}
	}
}

// ranksPassages tests a [retrieval.PassageRanker] that has passages. They are of the
// document, and hold a word of the query.
func ranksPassages(t *testing.T, r retrieval.Retriever) {
	ranker, ok := r.(retrieval.PassageRanker)
	if !ok {
		t.Skip("not a PassageRanker")
	}
	req := retrieval.SearchRequest{Query: "obsidian zinc tulip", Depth: 100, Passages: true}
	ranking, err := r.Search(t.Context(), req)
	if held := ranker.HoldsPassages(); held != nil {
		if err == nil {
			t.Errorf("it ranks passages but says %v", held)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	plain := search(t, r, req.Query, req.Depth)
	if len(ranking) != len(plain) {
		t.Errorf("%d documents with passages, %d without", len(ranking), len(plain))
	}
	for _, hit := range plain {
		if hit.Passage.Known() {
			t.Errorf("%+v has a passage that nobody asked for", hit)
		}
	}
	for _, hit := range ranking {
		p := hit.Passage
		chunk, err := r.Read(t.Context(), retrieval.ReadRequest{DocID: hit.DocID, Offset: max(p.FirstLine, 1), Limit: max(p.LastLine-p.FirstLine+1, 1)})
		if err != nil {
			t.Fatal(err)
		}
		if p.FirstLine < 1 || p.LastLine < p.FirstLine || p.LastLine > chunk.TotalLines || p.Begin > len(chunk.Lines[0]) || p.End > len(chunk.Lines[len(chunk.Lines)-1]) {
			t.Errorf("%q has the passage %+v of %d lines", hit.DocID, p, chunk.TotalLines)
		}
		text := strings.ToLower(strings.Join(chunk.Lines, "\n"))
		if !strings.Contains(text, "obsidian") && !strings.Contains(text, "zinc") && !strings.Contains(text, "tulip") {
			t.Errorf("%q has the passage %q", hit.DocID, text)
		}
	}
}

func knowsTerms(t *testing.T, r retrieval.Retriever) {
	stats, ok := r.(retrieval.TermStats)
	if !ok {
		t.Skip("not a TermStats")
	}
	if n := stats.N(); n != len(collection()) {
		t.Errorf("got %d documents, want %d", n, len(collection()))
	}
	text := "Zinc, 灯塔 and tulip!"
	var words []string
	stats.Analyze(text, func(term []byte, start, end int) {
		words = append(words, text[start:end])
		want := map[string]int{"Zinc": 2, "tulip": 12}[text[start:end]]
		if want != 0 && stats.DF(string(term)) != want {
			t.Errorf("%s: got df %d, want %d", term, stats.DF(string(term)), want)
		}
	})
	if got := strings.Join(words, " "); !strings.HasPrefix(got, "Zinc ") || !strings.HasSuffix(got, " tulip") {
		t.Errorf("got the words %q", got)
	}
	if df := stats.DF("xylograph"); df != 0 {
		t.Errorf("unknown term: got df %d", df)
	}
}

func listsWords(t *testing.T, r retrieval.Retriever) {
	x, ok := r.(retrieval.PrefixExpander)
	if !ok {
		t.Skip("not a PrefixExpander")
	}
	for _, tt := range []struct {
		prefix string
		limit  int
		finds  string
	}{
		{"obsid", 5, "lines"},
		{"smelt", 5, "zinc-2"},
	} {
		words := x.WordsWithPrefix(tt.prefix, tt.limit)
		if len(words) != 1 {
			t.Errorf("%s: got %q, want one word", tt.prefix, words)
			continue
		}
		if got := ids(search(t, r, words[0], 10)); got != tt.finds {
			t.Errorf("%s: %q finds %s, want %s", tt.prefix, words[0], got, tt.finds)
		}
	}
	if got := x.WordsWithPrefix("xylo", 5); len(got) != 0 {
		t.Errorf("got %q for a prefix no word has", got)
	}
	if got := x.WordsWithPrefix("f", 2); len(got) != 2 {
		t.Errorf("got %q, want two words", got)
	}
}
