package index

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"goserini/internal/analysis"
	"goserini/internal/bm25"
	"goserini/internal/corpus"
)

// buildDocs builds an index of documents in a temporary directory and opens it.
func buildDocs(t testing.TB, docs []corpus.Document, opts BuildOptions) *Index {
	t.Helper()
	dir := t.TempDir()
	if _, err := Build(context.Background(), dir, corpus.FromDocuments(docs), opts); err != nil {
		t.Fatalf("build: %v", err)
	}
	return openDir(t, dir)
}

func openDir(t testing.TB, dir string) *Index {
	t.Helper()
	ix, err := Open(dir)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { ix.Close() })
	return ix
}

// texts makes documents d0, d1, … of texts.
func texts(texts ...string) []corpus.Document {
	var docs []corpus.Document
	for i, text := range texts {
		docs = append(docs, corpus.Document{DocID: fmt.Sprintf("d%d", i), Text: text})
	}
	return docs
}

func search(t testing.TB, ix *Index, text string, params bm25.Params, depth int) Ranking {
	t.Helper()
	r, err := ix.Search(context.Background(), Query{Text: text, Params: params, Depth: depth})
	if err != nil {
		t.Fatalf("search %q: %v", text, err)
	}
	return r
}

// randomDocs makes documents whose words are drawn from a small vocabulary by a skewed
// distribution, with frequencies and lengths of all sizes, and docids in random order.
func randomDocs(r *rand.Rand, n, words, longest int) []corpus.Document {
	ids := r.Perm(n)
	docs := make([]corpus.Document, n)
	for i := range docs {
		var b strings.Builder
		for range r.IntN(longest + 1) {
			w := int(float64(words) * r.Float64() * r.Float64() * r.Float64())
			repeat := 1
			if r.IntN(40) == 0 {
				repeat = r.IntN(40)
			}
			for range repeat {
				fmt.Fprintf(&b, "w%d", w)
				b.WriteByte(" \n"[r.IntN(8)/7])
			}
		}
		docs[i] = corpus.Document{DocID: fmt.Sprintf("id%d", ids[i]), Text: b.String()}
	}
	return docs
}

// model ranks by the definition: every document, every term, a full sort.
type model struct {
	docs   []corpus.Document
	tf     []map[string]int
	length []int
	df     map[string]int
	n      int64
	tokens int64
}

func newModel(t testing.TB, docs []corpus.Document) *model {
	t.Helper()
	a, err := analysis.ByName("")
	if err != nil {
		t.Fatal(err)
	}
	m := &model{docs: docs, df: map[string]int{}}
	for _, d := range docs {
		tf := map[string]int{}
		terms := analysis.Terms(a, d.Contents())
		for _, term := range terms {
			tf[term]++
		}
		for term := range tf {
			m.df[term]++
		}
		m.tf, m.length = append(m.tf, tf), append(m.length, len(terms))
		if len(terms) > 0 {
			m.n++
			m.tokens += int64(len(terms))
		}
	}
	return m
}

func (m *model) search(t testing.TB, query string, params bm25.Params, depth int) []Hit {
	t.Helper()
	a, err := analysis.ByName("")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, term := range analysis.Terms(a, query) {
		count[term]++
	}
	inv := bm25.InverseNorms(params, bm25.AverageLength(m.tokens, m.n))
	var hits []Hit
	for i, d := range m.docs {
		sum, found := 0.0, false
		for term, c := range count {
			if tf := m.tf[i][term]; tf > 0 {
				found = true
				w := bm25.Weight(c, bm25.IDF(m.n, int64(m.df[term])))
				sum += float64(bm25.TermScore(w, uint32(tf), inv[bm25.Quantise(m.length[i])]))
			}
		}
		if found {
			hits = append(hits, Hit{d.DocID, Ordinal(i), float32(sum)})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(-cmp.Compare(a.Score, b.Score), strings.Compare(a.DocID, b.DocID))
	})
	return hits[:min(depth, len(hits))]
}

func diffHits(got, want []Hit) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("%d hits, want %d", len(got), len(want))
		case i >= len(want):
			return fmt.Sprintf("%d hits, want %d; too much: %+v", len(got), len(want), got[i])
		case got[i] != want[i]:
			return fmt.Sprintf("rank %d is %+v, want %+v", i+1, got[i], want[i])
		}
	}
	return ""
}

var settings = []bm25.Params{bm25.Anserini, bm25.Paper, {K1: 1.2, B: 0.75}, {K1: 0, B: 0}, {K1: 1e9, B: 1}}

func TestRankingsEqualThoseByTheDefinition(t *testing.T) {
	for _, test := range []struct {
		name                  string
		docs, words, longest  int
		queries, mostInAQuery int
	}{
		{"few documents", 7, 20, 12, 60, 5},
		{"one chunk", 900, 300, 60, 60, 12},
		{"long documents", 60, 500, 2000, 40, 20},
		{"many windows", 40_000, 3000, 6, 30, 12},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(test.docs)))
			docs := randomDocs(r, test.docs, test.words, test.longest)
			ix, m := buildDocs(t, docs, BuildOptions{}), newModel(t, docs)
			if s := ix.Stats(); s.WithTokens != m.n || s.Tokens != m.tokens || s.Terms != int64(len(m.df)) {
				t.Fatalf("stats are %+v, want %d documents with %d tokens, %d terms", s, m.n, m.tokens, len(m.df))
			}
			for i := range test.queries {
				var words []string
				for range 1 + r.IntN(test.mostInAQuery) {
					// Repeated words make others optional, be they rare or frequent.
					repeat := 1
					if r.IntN(3) == 0 {
						repeat += r.IntN(20)
					}
					for w := int(float64(test.words) * 1.1 * r.Float64() * r.Float64()); repeat > 0; repeat-- {
						words = append(words, fmt.Sprintf("w%d", w))
					}
				}
				q, p := strings.Join(words, " "), settings[i%len(settings)]
				depth := []int{1, 3, 10, 100, 1000, test.docs, 1 << 30}[r.IntN(7)]
				got := search(t, ix, q, p, depth)
				if diff := diffHits(got.Hits, m.search(t, q, p, depth)); diff != "" {
					t.Errorf("%q with %v at depth %d: %s", q, p, depth, diff)
				}
				for _, term := range got.Terms {
					if term.DF != m.df[term.Term] {
						t.Errorf("df of %q is %d, want %d", term.Term, term.DF, m.df[term.Term])
					}
				}
			}
		})
	}
}

func TestRankingsAreRightWhereTheBestDocumentsStandTogether(t *testing.T) {
	const n, best, depth = 20_000, 1500, 1000
	docs := make([]corpus.Document, n)
	for i := range docs {
		repeat := 1
		if i < best { // all of them in the first window
			repeat = 3 + i%9
		}
		docs[i] = corpus.Document{DocID: fmt.Sprintf("d%05d", i), Text: strings.Repeat("cat ", repeat) + strings.Repeat("filler ", 20)}
	}
	ix, m := buildDocs(t, docs, BuildOptions{}), newModel(t, docs)
	want := m.search(t, "cat", bm25.Paper, depth)
	for range 40 {
		if diff := diffHits(search(t, ix, "cat", bm25.Paper, depth).Hits, want); diff != "" {
			t.Fatal(diff)
		}
	}
	all, failed := ix.hopes.all.Load(), ix.hopes.failed.Load()
	if failed == 0 || all == 40 {
		t.Errorf("of 40 searches %d hoped and %d failed: want some to fail and no more to hope then", all, failed)
	}
}

func TestExplanationsAddUpToTheScore(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	for _, size := range []struct{ docs, words, longest int }{{300, 200, 60}, {20_000, 400, 6}} {
		docs := randomDocs(r, size.docs, size.words, size.longest)
		ix, m := buildDocs(t, docs, BuildOptions{}), newModel(t, docs)
		q := Query{Text: "w1 w3 w3 w7 w20 w150 w399 absent", Params: bm25.Anserini, Depth: 50}
		found, err := ix.Search(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range found.Hits {
			e, err := ix.Explain(q, h.Ordinal)
			if err != nil {
				t.Fatal(err)
			}
			if e.Score != h.Score || e.DocID != h.DocID || e.Tokens != m.length[h.Ordinal] {
				t.Errorf("explanation %+v of hit %+v, a document of %d tokens", e, h, m.length[h.Ordinal])
			}
			for _, term := range e.Terms {
				if term.TF != m.tf[h.Ordinal][term.Term] {
					t.Errorf("tf of %q in %s is %d, want %d", term.Term, h.DocID, term.TF, m.tf[h.Ordinal][term.Term])
				}
			}
		}
	}
}

func TestEveryDocidIsFound(t *testing.T) {
	docs := randomDocs(rand.New(rand.NewPCG(3, 0)), 500, 10, 2)
	docs = append(docs, texts("x")...)
	docs = append(docs, corpus.Document{DocID: "a/b c ß\t", Text: "y"}, corpus.Document{DocID: strings.Repeat("long", 500), Text: "z"})
	ix := buildDocs(t, docs, BuildOptions{})
	for i, d := range docs {
		if ord, ok := ix.Lookup(d.DocID); !ok || int(ord) != i {
			t.Errorf("Lookup(%q) is %d, %v, want %d", d.DocID, ord, ok, i)
		}
		if got := ix.DocID(Ordinal(i)); got != d.DocID {
			t.Errorf("DocID(%d) is %q, want %q", i, got, d.DocID)
		}
	}
	for _, id := range []string{"", "id", "id0 ", "zzz", "id99999"} {
		if _, ok := ix.Lookup(id); ok {
			t.Errorf("Lookup(%q) finds a document", id)
		}
	}
}

func TestTitlesAndFrequenciesAreRead(t *testing.T) {
	ix := buildDocs(t, []corpus.Document{{DocID: "a", Title: "Zinc", URL: "http://a", Date: "2020", Text: "onyx zinc"}, {DocID: "b", Text: "onyx"}}, BuildOptions{})
	if title, url, err := ix.Title(0); err != nil || title != "Zinc" || url != "http://a" {
		t.Errorf("got %q, %q, %v", title, url, err)
	}
	if m, err := ix.Meta(0); err != nil || m != (Meta{DocID: "a", Title: "Zinc", URL: "http://a", Date: "2020", Lines: 2, Bytes: 14, Tokens: 3}) {
		t.Errorf("got %+v, %v", m, err)
	}
	for term, want := range map[string]int{"zinc": 1, "onyx": 2, "absent": 0, "": 0} {
		if df, err := ix.DF(term); err != nil || df != want {
			t.Errorf("df of %q is %d, %v, want %d", term, df, err, want)
		}
	}
	if _, err := ix.Meta(2); err == nil {
		t.Error("a document that is not there is described")
	}
	if id := ix.DocID(2); id != "" {
		t.Errorf("the docid of no document is %q", id)
	}
}

func TestFingerprintTellsIndexesApart(t *testing.T) {
	a, b, c := buildDocs(t, texts("zinc onyx"), BuildOptions{}), buildDocs(t, texts("zinc onyx"), BuildOptions{}), buildDocs(t, texts("zinc onyy"), BuildOptions{})
	if a.Fingerprint() != b.Fingerprint() || len(a.Fingerprint()) != 32 {
		t.Errorf("equal indexes have the fingerprints %s and %s", a.Fingerprint(), b.Fingerprint())
	}
	if a.Fingerprint() == c.Fingerprint() {
		t.Error("different indexes have one fingerprint")
	}
}
