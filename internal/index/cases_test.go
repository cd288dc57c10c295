package index

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
	"goserini/internal/sharedtest"
)

// source opens files as one corpus.
func source(t testing.TB, paths ...string) *corpus.Reader {
	t.Helper()
	r, err := corpus.Open(paths, corpus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// buildFiles builds an index of files and opens it.
func buildFiles(t testing.TB, opts BuildOptions, paths ...string) *Index {
	t.Helper()
	dir := t.TempDir()
	if _, err := Build(context.Background(), dir, source(t, paths...), opts); err != nil {
		t.Fatalf("build: %v", err)
	}
	return openDir(t, dir)
}

// readCase decodes one of a case's JSON files.
func readCase[T any](t testing.TB, name, file string) T {
	t.Helper()
	b, err := os.ReadFile(sharedtest.Path(t, "cases", name, file))
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// checkScores compares a ranking with expected scores, which cases give with six digits.
func checkScores(t testing.TB, what string, got []Hit, want map[string]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
	for i, h := range got {
		if w, ok := want[h.DocID]; !ok || math.Abs(float64(h.Score)-w) > 1e-6 {
			t.Errorf("%s: %s has score %v, want %v", what, h.DocID, h.Score, w)
		}
		if i > 0 && got[i-1].Score < h.Score {
			t.Errorf("%s: rank %d has a higher score than rank %d", what, i+1, i)
		}
	}
}

func docIDs(hits []Hit) []string {
	ids := []string{}
	for _, h := range hits {
		ids = append(ids, h.DocID)
	}
	return ids
}

func TestTiesHaveOneOrderOverBuildsAndThreads(t *testing.T) { // BM-01
	path := sharedtest.Path(t, "cases", "BM-01", "ties.jsonl")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	records := bytes.SplitAfter(bytes.TrimRight(raw, "\n"), []byte("\n"))
	dir := t.TempDir()
	var quarters []string
	for i := range 4 {
		q := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
		if err := os.WriteFile(q, bytes.Join(records[i*len(records)/4:(i+1)*len(records)/4], nil), 0o644); err != nil {
			t.Fatal(err)
		}
		quarters = append(quarters, q)
	}
	var first []string
	for _, workers := range []int{1, 2, 8} {
		for _, paths := range [][]string{{path}, quarters} {
			ix := buildFiles(t, BuildOptions{Workers: workers}, paths...)
			all := docIDs(search(t, ix, "zinc", bm25.Anserini, 40).Hits)
			head := docIDs(search(t, ix, "zinc", bm25.Anserini, 10).Hits)
			if !slices.Equal(head, all[:10]) {
				t.Errorf("depth 10 is %v, the head of depth 40 is %v", head, all[:10])
			}
			if !slices.IsSorted(all) || len(all) != 40 {
				t.Errorf("ties are not in the order of their ids: %v", all)
			}
			if first == nil {
				first = all
			}
			if !slices.Equal(all, first) {
				t.Errorf("%d workers, %d files: got %v, want %v", workers, len(paths), all, first)
			}
		}
	}
}

func TestCollectionOfOneDocument(t *testing.T) { // BM-03
	ix := buildFiles(t, BuildOptions{}, sharedtest.Path(t, "cases", "BM-03", "one.jsonl"))
	checkScores(t, "zinc", search(t, ix, "zinc", bm25.Anserini, 10).Hits, map[string]float64{"o1": 0.151412})
}

func TestScoresEqualThoseOfCurrentLucene(t *testing.T) { // BM-04
	c := readCase[struct {
		Expect map[string]map[string]map[string]float64
	}](t, "BM-04", "case.json")
	ix := buildFiles(t, BuildOptions{}, sharedtest.Path(t, "cases", "BM-04", "corpus.jsonl"))
	for setting, queries := range c.Expect {
		var p bm25.Params
		if _, err := fmt.Sscanf(setting, "k1=%f,b=%f", &p.K1, &p.B); err != nil {
			t.Fatal(err)
		}
		for q, want := range queries {
			checkScores(t, setting+" "+q, search(t, ix, q, p, 10).Hits, want)
		}
	}
}

func TestLengthsAreStoredInOneByteAsLuceneDoes(t *testing.T) { // BM-05
	c := readCase[struct {
		Expect struct{ Lucene map[string]float64 }
	}](t, "BM-05", "case.json")
	ix := buildFiles(t, BuildOptions{}, sharedtest.Path(t, "cases", "BM-05", "lengths.jsonl"))
	found := search(t, ix, "zinc", bm25.Anserini, 1000).Hits
	scores := map[string]float32{}
	for _, h := range found {
		scores[h.DocID] = h.Score
	}
	for id, want := range c.Expect.Lucene {
		if math.Abs(float64(scores[id])-want) > 1e-6 {
			t.Errorf("%s has score %v, want %v", id, scores[id], want)
		}
	}
	for _, pair := range [][2]string{{"n40", "n41"}, {"n42", "n43"}, {"n100", "n101"}} {
		if scores[pair[0]] != scores[pair[1]] {
			t.Errorf("%v do not tie", pair)
		}
	}
	if scores["n39"] <= scores["n40"] {
		t.Error("n39 is not above n40: lengths below 40 are exact")
	}
}

func TestParametersOutOfRangeAreRefusedBeforeAnyWork(t *testing.T) { // BM-08
	pairs := readCase[struct{ Bad, Good [][2]string }](t, "BM-08", "params.json")
	ix := buildDocs(t, texts("zinc onyx"), BuildOptions{})
	blank := buildDocs(t, texts("!!!"), BuildOptions{})
	try := func(pair [2]string) error {
		k1, err1 := strconv.ParseFloat(pair[0], 32)
		b, err2 := strconv.ParseFloat(pair[1], 32)
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		q := Query{Text: "zinc", Params: bm25.Params{K1: float32(k1), B: float32(b)}, Depth: 10}
		_, err1 = ix.Search(context.Background(), q)
		_, err2 = blank.Search(context.Background(), q)
		if (err1 == nil) != (err2 == nil) {
			t.Errorf("%v: %v on an index, %v on one without terms", pair, err1, err2)
		}
		if err1 != nil && !strings.Contains(err1.Error(), "out of range") {
			t.Errorf("%v: the error does not name the range: %v", pair, err1)
		}
		return err1
	}
	for _, pair := range pairs.Bad {
		if try(pair) == nil {
			t.Errorf("%v is accepted", pair)
		}
	}
	for _, pair := range pairs.Good {
		if err := try(pair); err != nil {
			t.Errorf("%v is refused: %v", pair, err)
		}
	}
}

func TestDocumentsWithoutTermsDoNotCount(t *testing.T) { // BM-12
	c := readCase[struct {
		Expect struct{ Without map[string]float64 }
	}](t, "BM-12", "case.json")
	ix := buildFiles(t, BuildOptions{}, sharedtest.Path(t, "cases", "BM-12", "empties.jsonl"))
	checkScores(t, "zinc", search(t, ix, "zinc", bm25.Anserini, 10).Hits, c.Expect.Without)
	if s := ix.Stats(); s.WithTokens != 5 || s.Documents < s.WithTokens {
		t.Errorf("%d documents with tokens of %d, want 5", s.WithTokens, s.Documents)
	}
}

func TestDuplicatingTheCollectionKeepsTheOrder(t *testing.T) { // BM-14
	n := 200
	if testing.Short() {
		n = 20
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(14, uint64(seed)))
		docs := randomDocs(r, 3+r.IntN(12), 12, 15)
		twice := slices.Clone(docs)
		for _, d := range docs {
			d.DocID = "copy-" + d.DocID
			twice = append(twice, d)
		}
		p := settings[seed%4]
		once, both := buildDocs(t, docs, BuildOptions{}), buildDocs(t, twice, BuildOptions{})
		for word := range 4 {
			q := fmt.Sprintf("w%d", word)
			scores := map[string]float32{}
			for _, h := range search(t, both, q, p, 100).Hits {
				scores[h.DocID] = h.Score
			}
			// Rounding may make two documents tie in one of the collections.
			want := search(t, once, q, p, 100).Hits
			for i := 1; i < len(want); i++ {
				if a, b := want[i-1].DocID, want[i].DocID; scores[a] < scores[b] {
					t.Errorf("seed %d, %q with %v: %s is before %s but behind it among duplicates", seed, q, p, a, b)
				}
			}
		}
	}
}

func TestOneMoreQueryTermAtEqualLengthNeverLowersTheScore(t *testing.T) { // BM-14
	for seed := range 100 {
		r := rand.New(rand.NewPCG(15, uint64(seed)))
		docs := texts("a1 b1 c1 d1 e1 f1", "zinc b1 c1 d1 e1 f1", "zinc zinc c1 d1 e1 f1", "zinc zinc zinc d1 e1 f1")
		docs = append(docs, randomDocs(r, 5, 10, 10)...)
		hits := search(t, buildDocs(t, docs, BuildOptions{}), "zinc", bm25.Params{K1: 3 * r.Float32(), B: r.Float32()}, 10).Hits
		if got := docIDs(hits); !slices.Equal(got, []string{"d3", "d2", "d1"}) && hits[0].Score != hits[2].Score {
			t.Errorf("seed %d: got %v", seed, hits)
		}
	}
}

// tiny makes n records of four words each: the case's generator, with numbers of ours.
func tiny(n int) []corpus.Document {
	r := rand.New(rand.NewPCG(7, 7))
	docs := make([]corpus.Document, n)
	for i := range docs {
		docs[i] = corpus.Document{DocID: fmt.Sprintf("n%d", i), Text: fmt.Sprintf("w%d w%d w%d item", r.IntN(5000), r.IntN(5000), i%97)}
	}
	return docs
}

func TestManyTinyDocuments(t *testing.T) { // COR-21
	n := 100_000
	if testing.Short() {
		n = 30_000
	}
	ix := buildDocs(t, tiny(n), BuildOptions{})
	if got := ix.Stats().Documents; got != int64(n) {
		t.Fatalf("%d documents, want %d", got, n)
	}
	for i := range 100 {
		q := fmt.Sprintf("w%d", i)
		hits := search(t, ix, q, bm25.Anserini, 1000).Hits
		if len(hits) == 0 {
			t.Errorf("%s finds nothing", q)
		}
		for j := 1; j < len(hits); j++ {
			if a, b := hits[j-1], hits[j]; a.Score < b.Score || a.Score == b.Score && a.DocID >= b.DocID {
				t.Fatalf("%s: %v stands before %v", q, a, b)
			}
		}
		if again := search(t, ix, q, bm25.Anserini, 1000).Hits; !slices.Equal(again, hits) {
			t.Errorf("%s: a second search differs", q)
		}
	}
	// All documents tie.
	hits := search(t, ix, "item", bm25.Params{K1: 0, B: 0}, 700).Hits
	want := make([]string, n)
	for i := range want {
		want[i] = fmt.Sprintf("n%d", i)
	}
	slices.Sort(want)
	if got := docIDs(hits); !slices.Equal(got, want[:700]) {
		t.Errorf("of %d tied documents depth 700 has %v…, want %v…", n, got[:5], want[:5])
	}
}

func TestBuildingTwiceDoublesNothing(t *testing.T) { // COR-31
	path := sharedtest.Path(t, "cases", "COR-31", "twice.jsonl")
	dir := t.TempDir()
	var files [][]byte
	for range 2 {
		s, err := Build(context.Background(), dir, source(t, path), BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if s.WithTokens != 2 || s.AverageLength() != 2.5 {
			t.Errorf("N is %d and avgdl %v, want 2 and 2.5", s.WithTokens, s.AverageLength())
		}
		b, err := os.ReadFile(filepath.Join(dir, FileName))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, b)
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the second build has other bytes")
	}
}

func TestBlankQueriesAreRefused(t *testing.T) { // QRY-01
	ix := buildFiles(t, BuildOptions{}, sharedtest.Path(t, "cases", "QRY-01", "corpus.jsonl"))
	for _, q := range readCase[[]string](t, "QRY-01", "queries.json") {
		if _, err := ix.Search(context.Background(), Query{Text: q, Params: bm25.Anserini, Depth: 10}); !errors.Is(err, ErrEmptyQuery) {
			t.Errorf("%q: got %v, want %v", q, err, ErrEmptyQuery)
		}
	}
}

func TestSignsBeforeWordsChangeNothing(t *testing.T) { // QRY-06
	ix := buildFiles(t, BuildOptions{}, sharedtest.Path(t, "cases", "QRY-06", "corpus.jsonl"))
	for signed, plain := range readCase[map[string]string](t, "QRY-06", "queries.json") {
		got, want := search(t, ix, signed, bm25.Anserini, 10).Hits, search(t, ix, plain, bm25.Anserini, 10).Hits
		if !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%q finds %v, %q %v", signed, got, plain, want)
		}
	}
}

func TestQueryOfStopWordsFindsNothingAndSaysWhy(t *testing.T) { // QRY-02
	ix := buildFiles(t, BuildOptions{}, sharedtest.Path(t, "cases", "QRY-02", "corpus.jsonl"))
	for _, q := range readCase[[]string](t, "QRY-02", "queries.json") {
		if r := search(t, ix, q, bm25.Anserini, 10); len(r.Hits) != 0 || len(r.Terms) != 0 {
			t.Errorf("%q: got %+v, want no terms and no hits", q, r)
		}
	}
}

func TestWordsNoDocumentHasChangeNothing(t *testing.T) { // QRY-09
	ix := buildFiles(t, BuildOptions{}, sharedtest.Path(t, "cases", "QRY-09", "corpus.jsonl"))
	if r := search(t, ix, "xylograph", bm25.Anserini, 10); len(r.Hits) != 0 || len(r.Terms) != 1 || r.Terms[0].DF != 0 {
		t.Errorf("xylograph: got %+v", r)
	}
	c := readCase[struct {
		Expect struct {
			Both map[string]float64 `json:"xylograph zinc"`
		}
	}](t, "QRY-09", "case.json")
	both, one := search(t, ix, "xylograph zinc", bm25.Anserini, 10), search(t, ix, "zinc", bm25.Anserini, 10)
	checkScores(t, "xylograph zinc", both.Hits, c.Expect.Both)
	if !slices.Equal(both.Hits, one.Hits) {
		t.Errorf("got %v, want %v", both.Hits, one.Hits)
	}
}

func TestDepthsOfAllSizes(t *testing.T) { // QRY-10
	ix := buildFiles(t, BuildOptions{}, sharedtest.Path(t, "cases", "QRY-10", "corpus.jsonl"))
	want := []string{"q1", "q5", "q2"}
	for _, depth := range []int{1, 3, 10, 1000, math.MaxInt32, math.MaxInt} {
		if got := docIDs(search(t, ix, "zinc", bm25.Anserini, depth).Hits); !slices.Equal(got, want[:min(depth, 3)]) {
			t.Errorf("depth %d: got %v", depth, got)
		}
	}
	for _, depth := range []int{0, -1, math.MinInt} {
		if _, err := ix.Search(context.Background(), Query{Text: "zinc", Params: bm25.Anserini, Depth: depth}); err == nil || !strings.Contains(err.Error(), "depth") {
			t.Errorf("depth %d: got %v, want an error that names the depth", depth, err)
		}
	}
}

func TestPagesOfTiedResultsTileTheRanking(t *testing.T) { // QRY-13
	ix := buildFiles(t, BuildOptions{}, sharedtest.Path(t, "cases", "QRY-13", "tied.jsonl"))
	for _, words := range []string{"zinc", "zinc onyx"} {
		all := search(t, ix, words, bm25.Anserini, 23).Hits
		for depth := 1; depth <= 30; depth++ {
			if got := search(t, ix, words, bm25.Anserini, depth).Hits; !slices.Equal(got, all[:min(depth, len(all))]) {
				t.Errorf("depth %d is not the head of the whole ranking: %v", depth, got)
			}
		}
	}
}

func TestVeryLongTokens(t *testing.T) { // QRY-14
	ix := buildFiles(t, BuildOptions{}, sharedtest.Path(t, "cases", "QRY-14", "longtoken.jsonl"))
	for ord := range Ordinal(ix.Stats().Documents) {
		contents, err := ix.Contents(ord)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.Fields(contents) {
			if len(word) < 300 {
				continue
			}
			for _, q := range []string{word, word[:255]} {
				hits := search(t, ix, q, bm25.Anserini, 10).Hits
				if !slices.Contains(docIDs(hits), ix.DocID(ord)) {
					t.Errorf("%s: a word of %d letters, its first %d searched: got %v", ix.DocID(ord), len(word), len(q), hits)
				}
			}
		}
	}
}

// Anserini publishes the number of tokens of this collection; the number of terms is that
// of its index.
func TestCountsOfCACMEqualAnserinis(t *testing.T) {
	s := buildFiles(t, BuildOptions{}, sharedtest.Path(t, "data", "cacm", "corpus.jsonl.gz")).Stats()
	if s.Documents != 3204 || s.WithTokens != 3204 || s.Tokens != 320_968 || s.Terms != 14_363 {
		t.Errorf("got %+v, want 3204 documents, 320968 tokens and 14363 terms", s)
	}
}
