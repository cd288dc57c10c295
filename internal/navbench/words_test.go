package navbench

import (
	"strings"
	"testing"
)

func TestHoldsIsSixtyPercentOfTheContentWords(t *testing.T) {
	for _, tt := range []struct {
		name, text, span string
		want             bool
	}{
		{"three of five words", "The keeper lit a lamp.", "keeper lamp lit harbour boat", true},
		{"two of five words", "The keeper has a lamp.", "keeper lamp lit harbour boat", false},
		{"a word that comes twice in the span counts once", "keeper", "keeper keeper keeper boat", false},
		{"stop words do not count", "of the and", "the harbour of boats and ships", false},
		{"stems are compared", "Keepers were lighting lamps", "keeper lights lamp", true},
		{"words may be scattered and in any order", "lamp … and far away, a keeper", "the keeper of the lamp", true},
		{"nothing holds a span of stop words", "the of", "the of", false},
		{"no text holds nothing", "", "keeper", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := holds(tt.text, contentWords(tt.span)); got != tt.want {
				t.Errorf("holds(%q, %q) = %v, want %v", tt.text, tt.span, got, tt.want)
			}
		})
	}
}

func TestContentWordsAreDistinctStems(t *testing.T) {
	got := strings.Join(contentWords("The lamps of the lamp and the boats"), " ")
	if want := "lamp boat"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
