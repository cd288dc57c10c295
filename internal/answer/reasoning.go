package answer

import (
	"sort"
	"strings"

	"goserini/internal/lazyregexp"
)

// tag finds the tags between which models and servers put reasoning.
var tag = lazyregexp.New(`(?i)</?(?:think|thinking|thought|thoughts|reasoning)>|\[/?THINK\]|◁/?think▷`)

// code finds fenced blocks and code spans: what is quoted there means nothing.
var code = lazyregexp.New("(?s)```.*?(?:```|$)|`[^`\n]+`")

// withoutReasoning removes what stands between reasoning tags. Everything before a lone
// closing tag is reasoning. Behind an opening tag that is never closed, only a labelled
// answer is kept. Tags in code are text.
func withoutReasoning(text string) (rest string, unclosed bool) {
	quoted := code.FindAllStringIndex(text, -1)
	var b strings.Builder
	from, open := 0, false
	for _, m := range tag.FindAllStringIndex(text, -1) {
		if m[0] < from || within(quoted, m[0]) {
			continue
		}
		closing := strings.Contains(text[m[0]:m[1]], "/")
		switch {
		case !closing && !open:
			b.WriteString(text[from:m[0]])
			open = true
		case closing && !open:
			b.Reset()
		case closing:
			open = false
		}
		from = m[1]
	}
	tail := text[from:]
	if open {
		tail = fromLabel(tail)
	}
	b.WriteString(tail)
	return strings.TrimSpace(b.String()), open
}

// within reports whether a position lies in one of the spans, which are in order.
func within(spans [][]int, at int) bool {
	i := sort.Search(len(spans), func(i int) bool { return at < spans[i][1] })
	return i < len(spans) && at >= spans[i][0]
}

// fromLabel is the text from the first label of an answer on, "" without one.
func fromLabel(text string) string {
	at := 0
	for line := range strings.Lines(text) {
		if _, ok := readLabel(line); ok {
			return text[at:]
		}
		at += len(line)
	}
	return ""
}
