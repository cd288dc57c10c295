package synth

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
)

// syllables make words: a rank is written in the base of their number. None begins with a
// vowel or ends with s, so that different ranks have different stems.
var syllables = sync.OnceValue(makeSyllables)

func makeSyllables() []string {
	var all []string
	for _, onset := range []string{"b", "br", "c", "ch", "d", "dr", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "pl", "r", "st", "t", "tr", "v", "w", "z"} {
		for _, rest := range []string{"a", "an", "ar", "o", "on", "or", "i", "in", "u", "um", "al", "ol", "esk", "irk"} {
			all = append(all, onset+rest)
		}
	}
	return all
}

// Word is the word of that rank, from 1: two syllables or, at high ranks, more.
func Word(rank int) string {
	syllables := syllables()
	n := len(syllables)
	// A factor prime to the base spreads neighbouring ranks over the alphabet.
	const factor = 30_011
	var b []byte
	for span, first := n*n, 1; ; span *= n {
		if rank-first < span {
			v := (rank - first) * factor % span
			for s := span; s > 1; s /= n {
				b = append(b, syllables[v%n]...)
				v /= n
			}
			return string(b)
		}
		first += span
	}
}

// shortWords are the ranks whose words are cached.
const shortWords = 1 << 16

// words are made when the first one is asked for: most runs of the program need none.
var words = sync.OnceValue(makeWords)

func makeWords() []string {
	all := make([]string, shortWords)
	for i := 1; i < len(all); i++ {
		all[i] = Word(i)
	}
	return all
}

// surface writes words as prose.
type surface struct {
	strings.Builder
	line     int
	sentence bool
}

// lineBytes is about where lines end.
const lineBytes = 400

// word writes the content word of that rank.
func (s *surface) word(rank int, r *rand.Rand, capital bool) {
	w := ""
	if rank < shortWords {
		w = words()[rank]
	} else {
		w = Word(rank)
	}
	u := r.Uint32()
	switch dice := u % 1000; {
	case dice < 8:
		w = strconv.Itoa(1900 + int(u>>16)%140)
	case dice < 16:
		w += "é"
	case dice < 21:
		w += "’s"
	case dice < 26:
		w += "'s"
	}
	s.put(w, u>>10, capital)
}

// stop writes a stop word.
func (s *surface) stop(w string, r *rand.Rand) { s.put(w, r.Uint32(), false) }

// put writes a word and what stands before and after it; dice decides.
func (s *surface) put(w string, dice uint32, capital bool) {
	if s.line > 0 {
		s.WriteByte(' ')
	}
	if (capital || !s.sentence || dice%100 < 5) && w[0] >= 'a' && w[0] <= 'z' {
		s.WriteByte(w[0] - 'a' + 'A')
		s.WriteString(w[1:])
	} else {
		s.WriteString(w)
	}
	s.sentence = true
	s.line += len(w) + 1
	switch d := dice / 100 % 100; {
	case capital:
	case d < 5:
		s.WriteByte('.')
		s.sentence = false
		if s.line > lineBytes*4/5 {
			s.WriteByte('\n')
			s.line = 0
		}
	case d < 11:
		s.WriteByte(',')
	}
}
