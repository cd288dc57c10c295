package local

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
	"goserini/internal/index"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/retrievaltest"
)

func open(tb testing.TB, docs []corpus.Document) *Retriever {
	tb.Helper()
	return openWith(tb, docs, index.BuildOptions{})
}

func openWith(tb testing.TB, docs []corpus.Document, options index.BuildOptions) *Retriever {
	tb.Helper()
	dir := tb.TempDir()
	if _, err := index.Build(context.Background(), dir, corpus.FromDocuments(docs), options); err != nil {
		tb.Fatal(err)
	}
	ix, err := index.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { ix.Close() })
	return New(ix, bm25.Anserini)
}

func TestRetrieverKeepsTheContract(t *testing.T) {
	for name, options := range map[string]index.BuildOptions{"plain": {}, "with passages": {Passages: true}} {
		t.Run(name, func(t *testing.T) {
			retrievaltest.Run(t, func(tb testing.TB, docs []retrievaltest.Document) retrieval.Retriever {
				var all []corpus.Document
				for _, d := range docs {
					all = append(all, corpus.Document{DocID: d.DocID, Title: d.Title, Text: d.Text})
				}
				if len(all) == 0 { // an index of no documents cannot be built
					all = append(all, corpus.Document{DocID: "blank"})
				}
				return openWith(tb, all, options)
			})
		})
	}
}

// documents makes documents of all lengths with words where excerpts go wrong: at ends,
// across the places where reading stops, behind wide characters and blanks.
func documents() []corpus.Document {
	r := rand.New(rand.NewPCG(1, 1))
	filler := func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			b.WriteString([]string{"lorem ", "ipsum. ", "dolor\n", "sit ", "灯塔 ", "naïve, ", "  "}[r.IntN(7)])
		}
		return b.String()
	}
	var docs []corpus.Document
	add := func(text string) {
		docs = append(docs, corpus.Document{DocID: fmt.Sprintf("d%d", len(docs)), Title: []string{"", "A title"}[len(docs)%2], Text: text})
	}
	for _, n := range []int{0, 50, 300, leastRead - 10, leastRead, 2*leastRead - 5, 5 * leastRead, 16 << 10, 80 << 10} {
		head := filler(n)
		add(head + "Zinc onyx" + filler(900))
		add(head + "zinc")
		add(head + "zinc" + strings.Repeat(" ", 48<<10))
		add(head)
		add(strings.Repeat(" ", n) + "galvanizinc " + filler(40000) + " end.")
		add(strings.Repeat("x", n) + " zinc " + strings.Repeat("灯", 20000))
	}
	return docs
}

func TestExcerptsEqualThoseOfTheWholeText(t *testing.T) {
	docs := documents()
	r := open(t, docs)
	var ids []string
	for _, d := range docs {
		ids = append(ids, d.DocID)
	}
	for _, query := range []string{"zinc", "onyx absent", "absent", "the of", "ZINC naïve", "end", strings.Repeat("word ", 300) + "zinc"} {
		got, err := r.Excerpts(context.Background(), query, ids)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range docs {
			want := retrieval.EarliestExcerpt(query, d.Contents(), retrieval.EarliestLength)
			want.Title = d.Title
			if got[i] != want {
				t.Errorf("%q in %s of %d bytes: got %+v, want %+v", query, d.DocID, len(d.Contents()), got[i], want)
			}
		}
	}
}
