package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"goserini/internal/lazyregexp"
)

// page is what one call showed of a document.
type page struct {
	step  int
	text  string
	lines []pageLine
	// df counts, per word, the lines that have it.
	df map[string]int
}

// pageLine is one line of the document as it stands on the page.
type pageLine struct {
	number   int
	from, to int // bytes of the page, number included
	text     string
	words    map[string]bool
}

// numberedLine is a line of a document on a page: its number, in pieces of long lines the
// character or characters, a tab, the text.
var numberedLine = lazyregexp.New(`^(\d{1,9})(?::\d+(?:-\d+)?)?\t`)

// mostTargetLines bounds how many lines a citation marks.
const mostTargetLines = 12

func readPage(step int, text string) page {
	p := page{step: step, text: text}
	at := 0
	for line := range strings.Lines(text) {
		start := at
		at += len(line)
		line = strings.TrimRight(line, "\n")
		m := numberedLine.FindStringSubmatchIndex(line)
		if m == nil {
			continue
		}
		n, _ := strconv.Atoi(line[m[2]:m[3]]) // at most nine digits
		p.lines = append(p.lines, pageLine{number: n, from: start, to: start + len(line), text: line[m[1]:]})
	}
	return p
}

// target makes lines i to j of the page a target.
func (p page) target(docid string, i, j int, how string) target {
	j = min(j, i+mostTargetLines-1)
	t := target{docid: docid, step: p.step, from: p.lines[i].from, to: p.lines[j].to, how: how}
	t.label = fmt.Sprintf("line %d", p.lines[i].number)
	if j > i {
		t.label = fmt.Sprintf("lines %d–%d", p.lines[i].number, p.lines[j].number)
	}
	var quote []string
	for _, l := range p.lines[i : j+1] {
		if s := strings.TrimSpace(l.text); s != "" {
			quote = append(quote, s)
		}
	}
	t.quote = strings.Join(quote, " ")
	return t
}

// numbered returns the indexes of lines by number.
func (p page) numbered(first, last int) (i, j int, ok bool) {
	i, j = -1, -1
	for k, l := range p.lines {
		if l.number >= first && l.number <= last {
			if i < 0 {
				i = k
			}
			j = k
		}
	}
	return i, j, i >= 0 && p.lines[i].number == first
}

// quoted finds the lines that hold a quotation, whatever its blanks, case and marks.
func (p page) quoted(quote string) (i, j int, ok bool) {
	want := plainText(quote)
	if len(want) < 12 {
		return 0, 0, false
	}
	var all strings.Builder
	starts := make([]int, len(p.lines))
	for k, l := range p.lines {
		if s := plainText(l.text); s != "" {
			if all.Len() > 0 {
				all.WriteByte(' ')
			}
			starts[k] = all.Len()
			all.WriteString(s)
		} else {
			starts[k] = all.Len()
		}
	}
	at := strings.Index(all.String(), want)
	if at < 0 {
		return 0, 0, false
	}
	for k := range p.lines {
		if starts[k] <= at {
			i = k
		}
		if starts[k] < at+len(want) {
			j = k
		}
	}
	return i, max(i, j), true
}

// plainText keeps letters and digits in lower case, words parted by one blank.
func plainText(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range s {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(unicode.ToLower(r))
		case r == '\'' || r == '’':
		default:
			gap = true
		}
	}
	return b.String()
}

// closeness says how much of a sentence a line, or two in a row, have.
type closeness struct {
	first, last int
	score       float64
}

// closest finds the line, or two lines in a row, that share most with a sentence, rare words first. A
// score of 0 means that nothing shares two words.
func (p *page) closest(sentence string) closeness {
	want := words(sentence)
	if len(want) < 2 {
		return closeness{}
	}
	p.index()
	var best closeness
	matched := 0
	for i := range p.lines {
		if score, n := p.score(want, i, i); score > best.score {
			best, matched = closeness{i, i, score}, n
		}
	}
	const worth, more = 1.3, 2 // a second line must add something
	one, least := best.score*worth, matched+more
	for i := range len(p.lines) - 1 {
		if score, n := p.score(want, i, i+1); score > best.score && score > one && n >= least {
			best = closeness{i, i + 1, score}
		}
	}
	return best
}

func (p *page) index() {
	if p.df != nil {
		return
	}
	p.df = map[string]int{}
	for i := range p.lines {
		p.lines[i].words = map[string]bool{}
		for _, w := range words(p.lines[i].text) {
			if !p.lines[i].words[w] {
				p.lines[i].words[w] = true
				p.df[w]++
			}
		}
	}
}

// score is what lines i and j have of the wanted words, weighed by rarity, and how many those are.
func (p *page) score(want []string, i, j int) (total float64, matched int) {
	for _, w := range want {
		if p.lines[i].words[w] || p.lines[j].words[w] {
			matched++
			total += math.Log(1 + float64(len(p.lines))/float64(p.df[w]))
		}
	}
	if matched < 2 {
		return 0, matched
	}
	return total, matched
}

// words are the distinct words of a text in order: three letters or digits and more; two neighbours
// each where a script does not part words.
func words(s string) []string {
	var out []string
	seen := map[string]bool{}
	add := func(w string) {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	for _, w := range strings.Fields(plainText(s)) {
		runes := []rune(w)
		if runes[0] > 0x2e7f {
			for i := range max(len(runes)-1, 0) {
				add(string(runes[i : i+2]))
			}
			continue
		}
		if len(runes) >= 3 {
			add(w)
		}
	}
	return out
}
