package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"goserini/internal/bm25"
)

func TestGridRanksAreThoseOfSearches(t *testing.T) {
	for _, test := range []struct{ docs, words, longest, rounds int }{{9, 10, 8, 40}, {700, 200, 80, 25}, {9000, 500, 12, 10}} {
		r := rand.New(rand.NewPCG(21, uint64(test.docs)))
		docs := randomDocs(r, test.docs, test.words, test.longest)
		ix := buildDocs(t, docs, BuildOptions{})
		for range test.rounds {
			var words []string
			for range 1 + r.IntN(14) {
				words = append(words, fmt.Sprintf("w%d", int(float64(test.words)*1.05*r.Float64()*r.Float64())))
			}
			q := strings.Join(words, " ")
			var grid []bm25.Params
			for range 1 + r.IntN(9) {
				grid = append(grid, bm25.Params{K1: 30 * r.Float32() * r.Float32(), B: r.Float32()})
			}
			grid = append(grid, settings...)
			var judged []Ordinal
			for range r.IntN(12) {
				judged = append(judged, Ordinal(r.IntN(test.docs)))
			}
			if found := search(t, ix, q, bm25.Anserini, 30).Hits; len(found) > 0 {
				judged = append(judged, found[0].Ordinal, found[len(found)/2].Ordinal, found[len(found)-1].Ordinal)
			}
			depth := []int{1, 10, 100, 100_000}[r.IntN(4)]
			got, err := ix.GridRanks(t.Context(), q, grid, judged, depth)
			if err != nil {
				t.Fatal(err)
			}
			for s, p := range grid {
				ranking := docIDs(search(t, ix, q, p, depth).Hits)
				for j, ord := range judged {
					want := 1 + slices.Index(ranking, ix.DocID(ord))
					if got[s][j] != want {
						t.Errorf("%d documents, %q with %v at depth %d: %s has rank %d, want %d", test.docs, q, p, depth, ix.DocID(ord), got[s][j], want)
					}
				}
			}
		}
	}
}

func TestGridRefusesWhatSearchRefuses(t *testing.T) {
	ix := buildDocs(t, texts("zinc"), BuildOptions{})
	for _, test := range []struct {
		query  string
		params bm25.Params
		judged Ordinal
		depth  int
	}{{" ", bm25.Anserini, 0, 1}, {"zinc", bm25.Params{K1: -1}, 0, 1}, {"zinc", bm25.Anserini, 1, 1}, {"zinc", bm25.Anserini, 0, 0}} {
		if _, err := ix.GridRanks(t.Context(), test.query, []bm25.Params{test.params}, []Ordinal{test.judged}, test.depth); err == nil {
			t.Errorf("%+v is accepted", test)
		}
	}
}

func TestRowsOfSettingsAreTheSameComputedEitherWay(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 0))
	for _, n := range []int{1, 7, 8, 16, 24, 40} {
		for range 200 {
			inverse, least := make([]float32, n), make([]float64, n)
			a := make([]float64, 50*n)
			for i := range inverse {
				inverse[i] = float32(math.Pow(10, 12*r.Float64()-9))
				least[i] = 2 * r.Float64()
				if r.IntN(10) == 0 {
					inverse[i] = float32(math.Inf(1))
				}
			}
			for i := range a {
				a[i] = r.Float64() * 2
			}
			b := slices.Clone(a)
			weight, tf := r.Float32()*9, float32(1+r.IntN(100000))
			addRow(a[n:2*n], inverse, weight, tf)
			addRowScalar(b[n:2*n], inverse, weight, tf)
			if !slices.Equal(a, b) {
				t.Fatalf("%d settings, weight %v, tf %v: got %v, want %v", n, weight, tf, a[n:2*n], b[n:2*n])
			}
			for i := range least {
				least[i] += 2 * math.Pow(r.Float64(), 1/float64(n)) / 1.02
			}
			got, want := make([]uint16, 50), make([]uint16, 50)
			got, want = got[:takeRows(got, a, least)], want[:takeRowsScalar(want, b, least)]
			if !slices.Equal(got, want) || !slices.Equal(a, b) {
				t.Fatalf("%d settings: got rows %v, want %v", n, got, want)
			}
		}
	}
}

func TestSumsAreTheSameTakenEitherWay(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 0))
	for _, share := range []float64{0, 0.01, 0.3, 1} {
		for _, n := range []int{8, 64, chunkDocs} {
			a := make([]float64, n)
			for i := range a {
				if a[i] = r.Float64(); r.IntN(3) == 0 {
					a[i] = unseen
				}
			}
			b := slices.Clone(a)
			least := max(1-share, 1e-300)
			numbers, others := make([]uint16, n), make([]uint16, n)
			taken, wanted := make([]float64, n), make([]float64, n)
			k, m := takeSums(numbers, taken, a, least), takeSumsScalar(others, wanted, b, least)
			if k != m || !slices.Equal(numbers[:k], others[:m]) || !slices.Equal(taken[:k], wanted[:m]) {
				t.Errorf("%d sums from %v on: %d taken, want %d", n, least, k, m)
			}
			if slices.ContainsFunc(a, func(f float64) bool { return f != 0 }) || !slices.Equal(a, b) {
				t.Errorf("%d sums: not all become zero", n)
			}
		}
	}
}
