package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
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
			checkGrid(t, ix, q, grid, judged, depth)
		}
	}
}

// checkGrid holds the ranks of a grid against those of searches.
func checkGrid(t *testing.T, ix *Index, q string, grid []bm25.Params, judged []Ordinal, depth int) {
	t.Helper()
	got, err := ix.GridRanks(t.Context(), q, grid, judged, depth)
	if err != nil {
		t.Fatal(err)
	}
	for s, p := range grid {
		ranks := map[Ordinal]int{}
		for i, h := range search(t, ix, q, p, depth).Hits {
			ranks[h.Ordinal] = i + 1
		}
		for j, ord := range judged {
			if got[s][j] != ranks[ord] {
				t.Errorf("%q with %v at depth %d, %d settings: document %d has rank %d, want %d", q, p, depth, len(grid), ord, got[s][j], ranks[ord])
			}
		}
	}
}

// Documents of one or two words tie in crowds; frequencies are of all sizes that are stored
// or classed differently; some settings let all scores round to zero, or to the weights.
func TestGridRanksWhereManyTie(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 0))
	docs := randomDocs(r, 6000, 6, 2)
	for i := range 400 {
		docs[r.IntN(len(docs))].Text = strings.Repeat("w1 ", 1<<(i%12)+i%3) + strings.Repeat("w2 ", i%70)
	}
	docs[0].Text = strings.Repeat("w3 ", wideTFMask+1)
	ix := buildDocs(t, docs, BuildOptions{})
	for _, n := range []int{1, 7, 8, 24, 65} {
		for range 2 {
			grid := slices.Clone(settings)
			for len(grid) < n {
				k1 := float32(math.Pow(10, 12*r.Float64()-3))
				grid = append(grid, bm25.Params{K1: k1, B: float32(r.IntN(3)) / 2}, bm25.Params{K1: 0, B: 1}, bm25.Params{K1: math.MaxFloat32, B: 1})
			}
			r.Shuffle(len(grid), func(i, j int) { grid[i], grid[j] = grid[j], grid[i] })
			grid = grid[:n]
			q := []string{"w1", "w1 w2", "w3 w0 w0 w4", "w0 w1 w2 w3 w4 w5"}[r.IntN(4)]
			judged := []Ordinal{0}
			for range r.IntN(40) {
				judged = append(judged, Ordinal(r.IntN(len(docs))))
			}
			for _, depth := range []int{1, 300, 10_000} {
				checkGrid(t, ix, q, grid, judged, depth)
			}
		}
	}
}

// The best documents come first, so that more of the ranking is expected than there is.
func TestGridRanksOfHopesThatFail(t *testing.T) {
	var docs []corpus.Document
	for i := range 9000 {
		text := "zinc oxide"
		if i < 300 {
			text = strings.Repeat("zinc ", 20+i%37) + strings.Repeat("oxide ", i%11)
		}
		docs = append(docs, corpus.Document{DocID: fmt.Sprintf("d%04d", i), Text: text})
	}
	ix := buildDocs(t, docs, BuildOptions{})
	judged := []Ordinal{3, 77, 150, 299, 400, 8999}
	for range 30 {
		checkGrid(t, ix, "zinc oxide", settings, judged, 400)
	}
	if all, failed := ix.gridHopes.all.Load(), ix.gridHopes.failed.Load(); failed == 0 || all > 20 {
		t.Errorf("%d of %d hopes failed: want some, and no more hopes after them", failed, all)
	}
}

func TestRoughSumsAreOffByNoMoreThanTheyMayBe(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 0))
	grid := append(slices.Clone(settings), bm25.Params{K1: 1e-6, B: 1}, bm25.Params{K1: 300, B: 0.3})
	for _, n := range []int{1, 3, 40, 1000, 50_000} {
		g := (&Index{}).grid(grid)
		g.reset(grid, 700)
		g.terms = make([]gridTerm, n)
		for i := range g.terms {
			g.terms[i].weight = float32(math.Pow(10, 6*r.Float64()-4))
		}
		scale, slack := g.roughen()
		for range 6 {
			norm := byte(r.IntN(bm25.Norms))
			var found []gridPosting
			for i := range g.terms {
				if t := &g.terms[i]; n < 4 || r.IntN(2) == 0 {
					tf := uint32(1) << r.IntN(31)
					found = append(found, gridPosting{t.weight, t.rough, g.rowOf(tf-uint32(r.IntN(int(tf))), norm)})
				}
			}
			g.add(found)
			for s := range grid {
				sum, rough := 0.0, uint32(g.sums[s/2]>>(s%2*32))
				for _, p := range found {
					sum += float64(termScore(p.weight, g.tfs[p.row], g.factors(norm)[s]))
				}
				if off := math.Abs(sum*scale - float64(rough)); off > slack-fullSaturation/4 || rough >= never {
					t.Fatalf("%d terms, %v: the rough sum %d of %v is off by %v, more than %v", n, grid[s], rough, sum*scale, off, slack)
				}
			}
		}
	}
}

func TestFrequenciesAreInTheirClasses(t *testing.T) {
	last := uint32(0)
	for class := range uint32(tfClasses) {
		most := highestOf(class)
		if most <= last || tfClass(most) != class || tfClass(last+1) != class {
			t.Errorf("class %d goes to %d, and has %d to %d", class, most, tfClass(last+1), tfClass(most))
		}
		last = most
	}
	if last != math.MaxUint32 {
		t.Errorf("the classes end at %d", last)
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
