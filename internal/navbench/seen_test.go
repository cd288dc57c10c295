package navbench

import "testing"

func TestAPlaceIsShownWhereTheLinesShownHoldIt(t *testing.T) {
	contents := "Title\nthe keeper lit\nthe lamp at dusk\nnothing here\nöö the keeper slept"
	start := len("Title\nthe ")
	end := start + len("keeper lit\nthe lamp at dusk")
	it := &item{docid: "d", contents: contents, places: []place{{start, end, contentWords("keeper lit the lamp at dusk")}}}
	for _, tt := range []struct {
		name  string
		pages []string
		want  bool
	}{
		{"two of four words", []string{"2\tthe keeper lit\n"}, false},
		{"both lines on one page", []string{"2\tthe keeper lit\n3\tthe lamp at dusk\n"}, true},
		{"the lines on two pages, in any order", []string{"3\tthe lamp at dusk\n", "2\tthe keeper lit\n"}, true},
		{"a line shown twice counts once", []string{"2\tthe keeper lit\n", "2\tthe keeper lit\n"}, false},
		{"the words elsewhere do not count", []string{"5\töö the keeper slept\n"}, false},
		{"pieces from a column on", []string{"2:5\tkeeper lit\n", "3:5\tlamp\n"}, true},
		{"another place of the line", []string{"2:12\tlit\n", "3\tthe lamp\n"}, false},
		{"lines behind the end", []string{"99\tkeeper lit lamp dusk\n"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSeen(it)
			for _, page := range tt.pages {
				s.add(page)
			}
			if got := s.shown(); got != tt.want {
				t.Errorf("shown = %v, want %v; parts %v", got, tt.want, s.parts)
			}
		})
	}
}

func TestColumnsCountCharacters(t *testing.T) {
	it := &item{contents: "ööx"}
	s := newSeen(it)
	s.add("1:3\tx\n")
	if got, want := s.parts[0], [2]int{4, 5}; got != want {
		t.Errorf("part %v, want %v", got, want)
	}
}
