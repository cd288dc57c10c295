package corpus

import "strings"

// lineWriter puts words on lines. White space and gaps are held back until a word
// follows, so that no line ends in a blank and no gap is wider than one blank line.
type lineWriter struct {
	b []byte
	// gapWanted is the number of line ends due before the next word; blank says that a
	// blank is due, lead what comes first on the new line, and glue what joins to the
	// word before on the same line.
	gapWanted  int
	blank      bool
	lead, glue string
}

// words writes text whose white space does not matter.
func (w *lineWriter) words(s string) {
	for i := 0; i < len(s); {
		if isHTMLSpace(s[i]) {
			w.blank = true
			i++
			continue
		}
		end := i + 1
		for end < len(s) && !isHTMLSpace(s[end]) {
			end++
		}
		w.due()
		w.b = append(w.b, s[i:end]...)
		i = end
	}
}

// isHTMLSpace is white space as HTML has it; a no-break space is a character.
func isHTMLSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// verbatim writes preformatted text.
func (w *lineWriter) verbatim(s string) {
	if s == "" {
		return
	}
	if w.gapWanted > 0 || len(w.b) == 0 {
		s = strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n")
	}
	if s == "" {
		return
	}
	w.due()
	w.b = append(w.b, s...)
}

// gap asks for n line ends before the next word.
func (w *lineWriter) gap(n int) {
	if n == 0 {
		return
	}
	w.gapWanted = max(w.gapWanted, n)
	w.blank, w.glue = false, ""
}

// prefix asks for s at the head of the line that comes next.
func (w *lineWriter) prefix(s string) { w.lead = s }

// join asks for s between the word before and the next one, if they share a line.
func (w *lineWriter) join(s string) {
	if w.gapWanted == 0 && len(w.b) > 0 {
		w.glue = s
	}
}

// due writes what is held back.
func (w *lineWriter) due() {
	switch {
	case len(w.b) == 0:
	case w.gapWanted > 0:
		for have := w.lineEnds(); have < w.gapWanted; have++ {
			w.b = append(w.b, '\n')
		}
	case w.glue != "":
		w.b = append(w.b, w.glue...)
	case w.blank:
		w.b = append(w.b, ' ')
	}
	w.b = append(w.b, w.lead...)
	w.gapWanted, w.blank, w.lead, w.glue = 0, false, "", ""
}

// lineEnds counts the line ends that the output ends with, up to two.
func (w *lineWriter) lineEnds() int {
	n := 0
	for n < 2 && n < len(w.b) && w.b[len(w.b)-1-n] == '\n' {
		n++
	}
	return n
}

func (w *lineWriter) len() int { return len(w.b) }

// state returns what is held back, for restore.
func (w *lineWriter) state() lineWriter {
	return lineWriter{gapWanted: w.gapWanted, blank: w.blank, lead: w.lead, glue: w.glue}
}

// restore goes back to an earlier state of size bytes.
func (w *lineWriter) restore(state lineWriter, size int) {
	state.b = w.b[:size]
	*w = state
	w.gapWanted = max(w.gapWanted, 1)
}

func (w *lineWriter) String() string { return string(w.b) }
