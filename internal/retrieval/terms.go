package retrieval

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"goserini/internal/wordmask"
)

// TermStats is implemented by retrievers that can say how their index sees words. It
// is safe for concurrent use. Passages and query interpretation are better with it and
// work without: see [PlainWords].
type TermStats interface {
	// Analyze calls emit for every term of text, in order, with the byte offsets of the
	// word it comes from. The term is valid until emit returns.
	Analyze(text string, emit func(term []byte, start, end int))
	// DF is the number of documents that hold the term.
	DF(term string) int
	// N is the number of documents that have terms.
	N() int
}

// PrefixKeeper is implemented by [TermStats] whose terms keep the beginning of words: a
// term differs from the ASCII word it comes from at most in the case of letters, in the term's
// last letter and in what follows. It is true of suffix strippers for English and lets most
// words of a document be passed over unanalyzed.
type PrefixKeeper interface {
	KeepsPrefix() bool
}

// PlainWords sees lower-cased runs of letters, digits and marks, in scripts whose words are not
// parted, or carry endings without end, every two neighbours of a run. It knows nothing of the
// collection: every word counts the same.
type PlainWords struct{}

// Analyze implements [TermStats].
func (PlainWords) Analyze(text string, emit func(term []byte, start, end int)) {
	start, inPairs := -1, false // of the run that goes on, if there is one
	before := 0                 // where the last character of the run begins
	end := func(at int) {
		if start >= 0 && (!inPairs || before == start) { // pairs were emitted on the way
			emit([]byte(strings.ToLower(text[start:at])), start, at)
		}
		start = -1
	}
	for i, r := range text {
		pairs := isUnspaced(r)
		switch {
		case !pairs && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r):
			end(i)
			continue
		case start >= 0 && pairs != inPairs:
			end(i)
		}
		switch {
		case start < 0:
			start, inPairs = i, pairs
		case pairs:
			next := i + utf8.RuneLen(r)
			emit([]byte(text[before:next]), before, next)
		}
		before = i
	}
	end(len(text))
}

// unspaced are the scripts that are looked at in pairs of characters.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// isUnspaced reports whether a character is of such a script; the mark for long vowels is of several.
func isUnspaced(r rune) bool {
	return r >= 0x0e00 && // where the first of them begins
		(r == 'ー' || r == 'ｰ' || unicode.In(r, unspaced...))
}

// DF implements [TermStats].
func (PlainWords) DF(string) int { return 1 }

// N implements [TermStats].
func (PlainWords) N() int { return 2 }

// KeepsPrefix implements [PrefixKeeper].
func (PlainWords) KeepsPrefix() bool { return true }

// QueryTerm is one distinct term of a query.
type QueryTerm struct {
	// Term is as the index has it, Word as the query first wrote it.
	Term, Word string
	// DF is the number of documents that hold it; IDF is ln(1 + (N-DF+0.5)/(DF+0.5)).
	DF  int
	IDF float64
}

// QueryTerms are the distinct terms of a query in order.
func QueryTerms(query string, stats TermStats) []QueryTerm {
	var terms []QueryTerm
	seen := map[string]bool{}
	n := float64(stats.N())
	stats.Analyze(query, func(term []byte, start, end int) {
		if seen[string(term)] {
			return
		}
		t := QueryTerm{Term: string(term), Word: query[start:end]}
		seen[t.Term] = true
		t.DF = stats.DF(t.Term)
		df := float64(t.DF)
		t.IDF = math.Log(1 + (max(n-df, 0)+0.5)/(df+0.5))
		terms = append(terms, t)
	})
	return terms
}

// Matcher finds the terms of one query in texts. It keeps what it has learned about
// words, so one Matcher serves all documents of a page; it is not safe for concurrent
// use.
type Matcher struct {
	stats TermStats
	terms []QueryTerm
	index map[string]int
	// begin tells what words of a text may be terms of the query; nil where terms do not keep
	// the beginning of words.
	begin *beginnings
	// known has the occurrences within pieces of text seen before.
	known map[string][]occurrence
	// found is what find returned last, kept for its room.
	found []occurrence
}

// occurrence is a term of the query in a text, at byte offsets.
type occurrence struct {
	start, end int32
	term       int32
}

// Bounds of what a Matcher remembers: number of pieces, and bytes of one piece.
const (
	knownPieces = 1 << 15
	knownLength = 48
)

// NewMatcher returns a Matcher for the terms of query; stats nil means [PlainWords].
func NewMatcher(query string, stats TermStats) *Matcher {
	if stats == nil {
		stats = PlainWords{}
	}
	m := &Matcher{stats: stats, terms: contentTerms(QueryTerms(query, stats)), index: map[string]int{}, known: map[string][]occurrence{}}
	if keeper, ok := stats.(PrefixKeeper); ok && keeper.KeepsPrefix() {
		m.begin = &beginnings{}
	}
	for i, t := range m.terms {
		m.index[t.Term] = i
		if m.begin != nil && !m.begin.allow(t.Term) {
			m.begin = nil // a term that begins with neither letter nor digit: look everywhere
		}
	}
	return m
}

// Clone returns a Matcher for the same terms that may be used at the same time.
func (m *Matcher) Clone() *Matcher {
	clone := *m
	clone.known, clone.found = map[string][]occurrence{}, nil
	return &clone
}

// functionWords carry no content in a question: stop words, and words that questions
// are made of.
var functionWords = makeSet(`a an and are as at be by for from in into is it of on or that the their this to with
	what which who whom whose when where why how do does did done doing has have had having can could would should
	shall may might must am were was been being i you he she we me him us my your his her our its them they these
	those there about between under than so any some each other more most much many very also only own same both
	all during before after above below again further once here until while against through over out up down off
	if but no not then such will`)

func makeSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// contentTerms are the terms without function words; all of them if nothing else is there.
func contentTerms(terms []QueryTerm) []QueryTerm {
	content := slices.DeleteFunc(slices.Clone(terms), func(t QueryTerm) bool { return functionWords[strings.ToLower(t.Word)] })
	if len(content) == 0 {
		return terms
	}
	return content
}

// letterCode maps the ASCII letters, case folded, to 1-26 and the digits to 27-31; every
// other byte is 0.
var letterCode = func() (code [256]uint8) {
	for b := 'a'; b <= 'z'; b++ {
		code[b] = uint8(b-'a') + 1
		code[b-'a'+'A'] = code[b]
	}
	for b := '0'; b <= '9'; b++ {
		code[b] = 27 + uint8(b-'0')%5
	}
	return code
}()

// beginnings are those of the words that may become terms of a query. They are told by the
// codes of the first three characters, and then by all characters that a term keeps.
type beginnings struct {
	codes [1 << 15 / 64]uint64
	// kept are the beginnings that terms keep, by the code of their first character.
	kept [32][]string
}

// allow adds those of a term: all of it but its last letter, and at least one character, as
// far as these are ASCII letters and digits. It returns false if there is none.
func (b *beginnings) allow(term string) bool {
	if letterCode[term[0]] == 0 {
		return term[0] >= utf8.RuneSelf // pieces of text with such characters are all looked at
	}
	n := 1
	for n < len(term)-1 && letterCode[term[n]] != 0 {
		n++
	}
	first := letterCode[term[0]]
	b.kept[first] = append(b.kept[first], strings.ToLower(term[:n])) // of an index that keeps case
	key, open := 0, 0
	for i := range 3 {
		key <<= 5
		open <<= 5
		if i < n {
			key |= int(letterCode[term[i]])
		} else {
			open |= 31
		}
	}
	for k := key; k <= key|open; k++ {
		b.codes[k/64] |= 1 << (k % 64)
	}
	return true
}

// maybe reports whether the word at i of text may become a term by its first three characters.
func (b *beginnings) maybe(text string, i int) bool {
	if i+2 >= len(text) {
		return true
	}
	key := uint(letterCode[text[i]])<<10 | uint(letterCode[text[i+1]])<<5 | uint(letterCode[text[i+2]])
	return b.codes[key/64%uint(len(b.codes))]>>(key%64)&1 != 0
}

// has reports whether the word at i of text begins as a term does.
func (b *beginnings) has(text string, i int) bool {
	for _, kept := range b.kept[letterCode[text[i]]%32] {
		if len(text)-i >= len(kept) && equalLetters(text[i:i+len(kept)], kept) {
			return true
		}
	}
	return false
}

// equalLetters reports whether text is word, which has lower-case letters and digits, but
// for the case of its letters.
func equalLetters(text, word string) bool {
	for i := range len(word) {
		if text[i]|0x20 != word[i] || text[i] < '0' {
			return false
		}
	}
	return true
}

// isBlank tells the ASCII blanks, at which no term ever extends.
var isBlank = [256]bool{' ': true, '\t': true, '\n': true, '\v': true, '\f': true, '\r': true}

// find returns the occurrences of the query's terms in text, in order. They are valid until
// the next call. Text longer than 2 GB is the caller's to avoid.
//
// Pieces of text between blanks are looked at by themselves: those in which a word begins
// that may become a term, and those with characters outside ASCII.
func (m *Matcher) find(text string) []occurrence {
	if len(m.terms) == 0 {
		return nil
	}
	m.found = m.found[:0]
	if m.begin == nil {
		for end := 0; end < len(text); {
			start := end
			if end = pieceEnd(text, start); end > start {
				m.findIn(text[start:end], int32(start))
			}
			end++
		}
		return m.found
	}
	done := 0           // where the last piece looked at ends
	before := uint64(0) // whether a word may go on from before
	for at := 0; at < len(text); at += wordmask.Width {
		words, foreign := wordmask.Of(text, at)
		places := words&^(words<<1|before) | foreign
		before = words >> (wordmask.Width - 1)
		for ; places != 0; places &= places - 1 {
			i := at + bits.TrailingZeros64(places)
			if i < done || text[i] < utf8.RuneSelf && (!m.begin.maybe(text, i) || !m.begin.has(text, i)) {
				continue
			}
			start := i
			for start > done && !isBlank[text[start-1]] {
				start--
			}
			done = pieceEnd(text, i)
			m.findIn(text[start:done], int32(start))
		}
	}
	return m.found
}

// pieceEnd returns where the piece of text ends that offset i is in.
func pieceEnd(text string, i int) int {
	for i < len(text) && !isBlank[text[i]] {
		i++
	}
	return i
}

// findIn adds the occurrences within a piece of text that stands at offset at.
func (m *Matcher) findIn(piece string, at int32) {
	occurrences, ok := m.known[piece]
	if !ok {
		m.stats.Analyze(piece, func(term []byte, start, end int) {
			if i, ok := m.index[string(term)]; ok {
				occurrences = append(occurrences, occurrence{int32(start), int32(end), int32(i)})
			}
		})
		if len(piece) <= knownLength && len(m.known) < knownPieces {
			m.known[strings.Clone(piece)] = occurrences
		}
	}
	for _, o := range occurrences {
		m.found = append(m.found, occurrence{o.start + at, o.end + at, o.term})
	}
}

// PrefixExpander is implemented by retrievers that can list the words of their
// collection. It is safe for concurrent use.
type PrefixExpander interface {
	// WordsWithPrefix returns at most limit words, or terms of the index, that begin with
	// the lower-cased prefix, those in most documents first and of equal ones in order of
	// their bytes. Each of them, given as a query, finds its documents.
	WordsWithPrefix(prefix string, limit int) []string
}
