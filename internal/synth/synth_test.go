package synth

import (
	"strings"
	"testing"
)

func TestDocumentsAreTheSameEveryTime(t *testing.T) {
	for _, shape := range []Shape{Long, Passages} {
		a, b := Corpus{Shape: shape, Documents: 10}, Corpus{Shape: shape, Documents: 20}
		for i := range 10 {
			if a.Document(i) != b.Document(i) {
				t.Errorf("%s document %d depends on the size of the collection", shape, i)
			}
		}
		if a.Document(1).Text == (Corpus{Shape: shape, Seed: 1}).Document(1).Text {
			t.Errorf("%s document 1 does not depend on the seed", shape)
		}
	}
}

func TestWordsOfDifferentRanksDiffer(t *testing.T) {
	seen := map[string]int{}
	for rank := 1; rank <= 200_000; rank++ {
		w := Word(rank)
		if other, ok := seen[w]; ok {
			t.Fatalf("ranks %d and %d are both %q", other, rank, w)
		}
		seen[w] = rank
	}
}

func TestCollectionsHaveTheShapeTheyPromise(t *testing.T) {
	for _, test := range []struct {
		shape     Shape
		n         int
		low, high float64 // mean words
	}{{Long, 600, 4000, 6500}, {Passages, 2000, 52, 64}} {
		c := Corpus{Shape: test.shape, Documents: test.n}
		words, bytes := 0, 0
		for i := range test.n {
			d := c.Document(i)
			words += len(strings.Fields(d.Text))
			bytes += len(d.Text)
		}
		mean := float64(words) / float64(test.n)
		t.Logf("%s: %.0f words, %.2f bytes a word", test.shape, mean, float64(bytes)/float64(words))
		if mean < test.low || mean > test.high {
			t.Errorf("%s: mean of %.0f words, want %.0f to %.0f", test.shape, mean, test.low, test.high)
		}
	}
}

func TestQuerySetsHaveTheirLengths(t *testing.T) {
	c := Corpus{Shape: Long, Documents: 1000}
	for _, test := range []struct {
		set       QuerySet
		low, high int
	}{{Short, 2, 6}, {Medium, 8, 18}, {Verbose, 25, 30}} {
		queries, err := c.Queries(test.set, 20)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range queries {
			distinct := map[string]bool{}
			for _, w := range strings.Fields(q.Text) {
				if !isStop(w) {
					distinct[w] = true
				}
			}
			if len(distinct) < test.low || len(distinct) > test.high {
				t.Errorf("%s has %d words: %s", q.ID, len(distinct), q.Text)
			}
		}
	}
	if q, err := c.Queries(Adversarial, 20); err != nil || len(q) != 20 {
		t.Errorf("got %d adversarial queries, %v", len(q), err)
	}
	if _, err := c.Queries("no", 1); err == nil {
		t.Error("an unknown set is accepted")
	}
}

func isStop(w string) bool {
	for _, s := range stopWords {
		if s == w {
			return true
		}
	}
	return false
}

func BenchmarkDocument(b *testing.B) {
	for _, shape := range []Shape{Long, Passages} {
		b.Run(string(shape), func(b *testing.B) {
			c := Corpus{Shape: shape}
			i, n := 0, 0
			for b.Loop() {
				n += len(c.Document(i).Text)
				i++
			}
			b.SetBytes(int64(n / i))
		})
	}
}
