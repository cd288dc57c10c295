package enginebench

import (
	"bytes"
	"fmt"

	"goserini/internal/analysis"
)

// WriteTerms writes the terms of a text with blanks between, in letters and digits of ASCII
// alone: any engine cuts that into the same terms. Every other byte becomes a q and two
// hexadecimal digits.
func WriteTerms(b *bytes.Buffer, a analysis.Analyzer, text string) {
	first := true
	a.Analyze(text, func(t analysis.Token) {
		if !first {
			b.WriteByte(' ')
		}
		first = false
		for _, c := range t.Term {
			if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(b, "q%02x", c)
			}
		}
	})
}
