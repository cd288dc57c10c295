// Package synth makes collections and queries for measurements: of any size, the same on
// every machine, and alike real text in what an engine's speed depends on.
//
//   - Lengths are lognormal. Long documents have the median, the mean and the 90th percentile
//     of web pages gathered for research questions; passages have some forty content words.
//   - Words follow a double power law: the weight of rank r is 1/(r + 2.7) up to rank 7873
//     and falls with r^−1.77 beyond (Gerlach and Altmann, Phys. Rev. X 3, 021006, 2013).
//   - Words are bursty: a quarter repeats earlier words of the document, four in a row on
//     average, and of the others a third comes from two of a thousand topics. Without this,
//     frequencies are so even that algorithms which skip postings look better than they are,
//     and text compresses worse than real text does.
//   - The surface has stop words, capitals, punctuation, possessives, numbers, a few
//     characters outside ASCII, and a line end every 400 bytes or so.
//
// Every document has a seed of its own, so any of them can be made alone.
package synth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
)

// Shape says what the documents are like.
type Shape string

const (
	// Long are documents of 1,575 words at the median and 5,200 on average.
	Long Shape = "long"
	// Passages are documents of some 60 words, 40 of them no stop words, without a title.
	Passages Shape = "passages"
)

// ShapeByName returns the shape of that name.
func ShapeByName(name string) (Shape, error) {
	switch s := Shape(name); s {
	case Long, Passages:
		return s, nil
	}
	return "", fmt.Errorf("shape %q is unknown: use %s or %s", name, Long, Passages)
}

// Corpus is a collection. The zero seed is as good as any.
type Corpus struct {
	Shape Shape
	// Documents is their number. It has no influence on what a document is.
	Documents int
	Seed      uint64
}

// Document is one document of a collection.
type Document struct {
	ID    string
	Title string
	Text  string
}

// stopShare is the part of stop words among all words, as in English prose.
const stopShare = 0.31

// stopWords are drawn by rank with weight 1/rank.
var stopWords = strings.Fields("the of and to a in is that for it was on are as with be at by this not or but an they there " +
	"will if their into then such no these")

// Document makes document i, which is not negative.
func (c Corpus) Document(i int) Document {
	r := c.source(documentStream, i)
	d := newDraw(r)
	words := c.words(r)
	var title, text surface
	if c.Shape == Long {
		for range 3 + r.IntN(6) {
			title.word(d.content(), r, true)
		}
	}
	for range words {
		if word := d.next(); word < 0 {
			text.stop(stopWords[-word-1], r)
		} else {
			text.word(word, r, false)
		}
	}
	return Document{ID: c.id(i), Title: title.String(), Text: text.String()}
}

// id is the docid of document i: not in the order of the documents, as in most real
// collections.
func (c Corpus) id(i int) string {
	return fmt.Sprintf("%s-%d", string(c.Shape[:1]), i)
}

// words draws the number of words of a document.
func (c Corpus) words(r *rand.Rand) int {
	if c.Shape == Passages {
		const median, sigma = 52, 0.45
		return int(min(max(median*math.Exp(sigma*r.NormFloat64()), 8), 400))
	}
	const median, sigma = 1575, 1.54
	return int(min(max(median*math.Exp(sigma*r.NormFloat64()), 30), 200_000))
}

// Streams keep the random numbers of documents, topics and queries apart.
const (
	documentStream = iota + 1
	topicStream
	queryStream
)

func (c Corpus) source(stream, i int) *rand.Rand {
	return rand.New(rand.NewPCG(c.Seed^uint64(stream)<<56, uint64(i)*0x9E3779B97F4A7C15+1))
}

// draw draws the words of one document.
type draw struct {
	r      *rand.Rand
	topics [2][]int
	// drawn are the ranks of content words, and −1, −2, … for stop words.
	drawn []int
	// from and left are the rest of the row being repeated.
	from, left int
}

func newDraw(r *rand.Rand) *draw {
	all := topics()
	return &draw{r: r, topics: [2][]int{all[r.IntN(len(all))], all[r.IntN(len(all))]}}
}

// next draws the next word: the rank of a content word or the negative of that of a stop
// word.
func (d *draw) next() int {
	// Rows have one to seven words; begun at this rate they make a quarter of all words.
	const begin, longest = 0.077, 7
	if d.left == 0 && len(d.drawn) > longest && d.r.Float64() < begin {
		d.from, d.left = d.r.IntN(len(d.drawn)-longest), 1+d.r.IntN(longest)
	}
	word := 0
	switch {
	case d.left > 0:
		word = d.drawn[d.from]
		d.from++
		d.left--
	case d.r.Float64() < stopShare:
		word = -1 - zipfStop(d.r)
	default:
		word = d.content()
	}
	d.drawn = append(d.drawn, word)
	return word
}

// content draws the rank of a content word that is not a repetition.
func (d *draw) content() int {
	const firstTopic, secondTopic = 0.17 / 0.75, 0.05 / 0.75
	switch u := d.r.Float64(); {
	case u < firstTopic:
		return d.topics[0][d.r.IntN(len(d.topics[0]))]
	case u < firstTopic+secondTopic:
		return d.topics[1][d.r.IntN(len(d.topics[1]))]
	}
	return global(d.r)
}

// topics are sets of words that occur together, the same for all collections.
var topics = sync.OnceValue(makeTopics)

func makeTopics() [][]int {
	const count, size, low, high = 1000, 300, 150, 150_000
	all := make([][]int, count)
	for t := range all {
		r := Corpus{}.source(topicStream, t)
		for range size {
			all[t] = append(all[t], int(low*math.Pow(high/low, r.Float64())))
		}
	}
	return all
}

// knee is the rank where the second power law begins.
const (
	knee      = 7873
	headShift = 2.7
	tailPower = 1.77
)

// guideSteps are the equal steps of the cumulated weight that the guide has a rank for.
const guideSteps = 1 << 13

// doublePower is the double power law of ranks.
type doublePower struct {
	// head has the cumulated weights of the ranks up to knee; tail is the weight of all others.
	head []float64
	tail float64
	// guide has for equal steps of the cumulated weight the rank, less one, to search from.
	guide []int
}

// law is made when the first rank is drawn: most runs of the program draw none.
var law = sync.OnceValue(func() *doublePower {
	l := &doublePower{head: make([]float64, knee), tail: knee / (knee + headShift) / (tailPower - 1), guide: make([]int, guideSteps+1)}
	sum := 0.0
	for i := range l.head {
		sum += 1 / (float64(i+1) + headShift)
		l.head[i] = sum
	}
	rank := 0
	for i := range l.guide {
		for rank < knee-1 && l.head[rank] <= l.head[knee-1]*float64(i)/guideSteps*(1-1e-9) {
			rank++
		}
		l.guide[i] = rank
	}
	return l
})

// global draws a rank, from 1, by the double power law.
func global(r *rand.Rand) int {
	const most = 100_000_000
	l := law()
	u := r.Float64() * (l.head[knee-1] + l.tail)
	if u >= l.head[knee-1] {
		v := 1 - r.Float64()
		return int(min(knee*math.Pow(v, -1/(tailPower-1)), most)) + 1
	}
	rank := l.guide[int(u/l.head[knee-1]*guideSteps)]
	for l.head[rank] <= u {
		rank++
	}
	return rank + 1
}

// probability is that of a rank in one draw of global.
func probability(rank int) float64 {
	l := law()
	total := l.head[knee-1] + l.tail
	if rank <= knee {
		return 1 / (float64(rank) + headShift) / total
	}
	return math.Pow(float64(rank)/knee, -tailPower) / (knee + headShift) / total
}

// zipfStop draws a stop word.
func zipfStop(r *rand.Rand) int {
	n := float64(len(stopWords))
	return min(int(math.Pow(n, r.Float64()))-1, len(stopWords)-1)
}
