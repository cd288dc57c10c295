package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// piecesOf are the passages of a document as texts.
func piecesOf(contents string, c cut) []string {
	var pieces []string
	for i, from := range c.starts {
		to := len(contents)
		if i+1 < len(c.starts) {
			to = c.starts[i+1]
		}
		pieces = append(pieces, contents[from:to])
	}
	return pieces
}

// halvesOf counts a text as the cutter does.
func halvesOf(text string) int {
	n := 0
	eachUnit(text, func(_ int, _ bound, halves int) { n += halves })
	return n
}

// prose makes text of words, sentences, lines and paragraphs of random lengths, in scripts with
// and without spaces.
func prose(r *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		b.WriteString([]string{"harbour", "lighthouse", "a", "naïve", "مرفأ", "灯塔守望者", "ท่าเรือ", strings.Repeat("x", r.IntN(200))}[r.IntN(8)])
		b.WriteString([]string{" ", " ", " ", ", ", ". ", `." `, "\n", "\n\n", "。", "\t"}[r.IntN(10)])
	}
	return b.String()
}

func TestPassagesAreTheDocumentInPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 0))
	for round := range 400 {
		title := []string{"", "The harbour", prose(r, 80)}[round%3]
		contents := prose(r, r.IntN(3000))
		if title != "" {
			contents = title + "\n" + contents
		}
		c := cutPassages(contents, title)
		pieces := piecesOf(contents, c)
		if strings.Join(pieces, "") != contents {
			t.Fatalf("round %d: %d pieces do not add up to the document", round, len(pieces))
		}
		if c.titleEnd > len(title) || halvesOf(title[:c.titleEnd]) > titleWords*wordHalves+wordHalves {
			t.Errorf("round %d: %d bytes of the title of %d go to all passages", round, c.titleEnd, len(title))
		}
		shared := halvesOf(contents[:c.titleEnd])
		for i, p := range pieces {
			if !utf8.ValidString(p) {
				t.Fatalf("round %d: passage %d begins or ends inside a character", round, i)
			}
			n := halvesOf(p)
			if i > 0 {
				n += shared
			}
			// Two or more passages share the words evenly, but for the slack at either end; a
			// unit cut from its beginning may count once more.
			low, high := float64(passageWords*wordHalves)*(0.66-2*cutSlack), float64(passageWords*wordHalves)*(1.5+2*cutSlack)
			if len(pieces) > 1 && float64(n) < low || float64(n) > high {
				t.Errorf("round %d: passage %d of %d has %d words", round, i+1, len(pieces), n/wordHalves)
			}
		}
	}
}

func TestPassagesBeginWhereTextDoes(t *testing.T) {
	line := strings.Repeat("word ", 49) + "word"
	for _, test := range []struct {
		name, text string
		want       string // how the second passage begins
	}{
		{"a paragraph", strings.Repeat(line+"\n", 4) + line[:200] + "\n\nPARAGRAPH\n" + strings.Repeat(line+"\n", 5), "PARAGRAPH"},
		{"a line", strings.Repeat(line+"\n", 5) + "  LINE " + strings.Repeat(line+"\n", 5), "  LINE"},
		{"a sentence", strings.Repeat("word ", 245) + `"so." SENTENCE ` + strings.Repeat("word ", 250), "SENTENCE"},
		{"an ideographic sentence", strings.Repeat("灯", 480) + "。塔" + strings.Repeat("灯", 520), "塔"},
		{"a word", strings.Repeat("word ", 249) + "near 250 " + strings.Repeat("word ", 250), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			pieces := piecesOf(test.text, cutPassages(test.text, ""))
			if len(pieces) != 2 || !strings.HasPrefix(pieces[1], test.want) {
				t.Errorf("got %d passages, the last one %.30q, want 2 and %q", len(pieces), pieces[len(pieces)-1], test.want)
			}
		})
	}
}

func TestWhateverHasNoBoundsIsCutToo(t *testing.T) {
	const size = 5 << 20
	for name, text := range map[string]string{
		"one line of words":  strings.Repeat("harbour ", size/8),
		"one run of letters": strings.Repeat("x", size),
		"ideographs":         strings.Repeat("灯", size/3),
		"blank lines":        strings.Repeat("\n", size) + "word",
	} {
		pieces := piecesOf(text, cutPassages(text, ""))
		want := max(halvesOf(text)/(passageWords*wordHalves), 1)
		if len(pieces) < want-1 || len(pieces) > want+1 || strings.Join(pieces, "") != text {
			t.Errorf("%s: %d passages, want %d", name, len(pieces), want)
		}
	}
	for _, text := range []string{"", " \n\t\n "} {
		if c := cutPassages(text, ""); len(c.starts) != 0 {
			t.Errorf("%q is cut at %v", text, c.starts)
		}
	}
	if c := cutPassages("Title\n", "Title"); fmt.Sprint(c.starts) != "[0]" {
		t.Errorf("a title alone is cut at %v", c.starts)
	}
}

func FuzzCutPassages(f *testing.F) {
	f.Add("A title", "text. And\n\nmore 灯塔")
	f.Add("", "\xff\xfe broken")
	f.Fuzz(func(t *testing.T, title, text string) {
		contents := text
		if title != "" {
			contents = title + "\n" + text
		}
		c := cutPassages(contents, title)
		last := -1
		for _, at := range c.starts {
			if at <= last || at >= len(contents) {
				t.Fatalf("%q is cut at %v", contents, c.starts)
			}
			last = at
		}
		if pieces := piecesOf(contents, c); len(pieces) > 0 && strings.Join(pieces, "") != contents {
			t.Errorf("%q does not begin with its first passage: %v", contents, c.starts)
		}
	})
}
