package lexical

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func texts(spans []span) []string {
	var out []string
	for _, s := range spans {
		out = append(out, s.text)
	}
	return out
}

func TestNamesInASentence(t *testing.T) {
	q := parse("Who?")
	l := newLibrary(&q)
	l.addPage(&docPage{docid: "d", total: 1, first: 1, last: 1, lines: []line{{1, 1, "They met Harrach and they saw the inspectors."}}})
	l.settle()
	for sentence, want := range map[string][]string{
		"In 1876 he met Jorun Pell in Candle Street.":                {"Jorun Pell", "Candle Street"},
		"Harrach spent some months walking.":                         {"Harrach"},
		"Inspectors praised him.":                                    nil,
		"The bell hangs in the Museum of Tides on Great Sarn.":       {"Museum of Tides", "Great Sarn"},
		"She wrote to J. P. Marsh about Apollo 11.":                  {"J. P. Marsh", "Apollo 11"},
		"It was won by Crane & Daughter, not by Bright.":             {"Crane & Daughter", "Bright"},
		"he said that Lisk, Aune and Water are rivers":               {"Lisk", "Aune", "Water"},
		"The plant is Achter's sedge, and the hill is Wether Hill's": {"Achter", "Wether Hill"},
	} {
		if d := cmp.Diff(want, texts(l.names(sentence))); d != "" {
			t.Errorf("names in %q (-want +got):\n%s", sentence, d)
		}
	}
}

func TestThingsTakeInWhatANamePossesses(t *testing.T) {
	q := parse("Which plant?")
	got := texts(newLibrary(&q).things(`Called "the nobody", unlike Achter's sedge.`))
	want := []string{"the nobody", "Achter's sedge", "Achter"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("things (-want +got):\n%s", d)
	}
}

func TestDatesInASentence(t *testing.T) {
	for sentence, want := range map[string][]string{
		"Crossed on 14 May 1872, before dawn.":       {"14 May 1872"},
		"On May 14, 1872 and again in June 1873.":    {"May 14, 1872", "June 1873"},
		"The Wardens dined on 2 June.":               {"2 June"},
		"Opened in 1893, with 3,102 visitors.":       {"1893"},
		"As of 2023-04-01 and 12/14/15.":             {"2023-04-01", "12/14/15"},
		"Nothing dated, though the years may march.": nil,
	} {
		if d := cmp.Diff(want, texts(dates(sentence))); d != "" {
			t.Errorf("dates in %q (-want +got):\n%s", sentence, d)
		}
	}
}

func TestYearsOfALife(t *testing.T) {
	born := parse("In what year was she born?")
	const sentence = "Agathe Merrin (1822 to 1901) was a judge."
	ys := years(sentence)
	if len(ys) != 2 {
		t.Fatalf("years: got %q", texts(ys))
	}
	if b, d := born.inLife(ys[0], sentence), born.inLife(ys[1], sentence); b <= d {
		t.Errorf("asked for a birth, the first year weighs %.2f and the second %.2f", b, d)
	}
	died := parse("In what year did she die?")
	if b, d := died.inLife(ys[0], sentence), died.inLife(ys[1], sentence); b >= d {
		t.Errorf("asked for a death, the first year weighs %.2f and the second %.2f", b, d)
	}
}

func TestQuantitiesTakeInTheirUnit(t *testing.T) {
	for sentence, want := range map[string][]string{
		"They had been eleven days in the cave, on half rations for five of them.": {"eleven days", "half", "five"},
		"It cost $1.18 trillion in twenty-two long days.":                          {"$1.18", "twenty-two"},
		"On 4 July 1868 sixty days had passed.":                                    {"sixty days"},
	} {
		if d := cmp.Diff(want, texts(quantities(sentence, []string{"dai"}))); d != "" {
			t.Errorf("quantities in %q (-want +got):\n%s", sentence, d)
		}
	}
}

func TestSentencesOfATextJoinItsLines(t *testing.T) {
	var c cutter
	for i, s := range []string{"# Heading", "", "Dr. Vey came", "home. She slept.", "", "Wind west. Fog (thick). No. 7 lost."} {
		c.line(i+1, s)
	}
	c.stop()
	var got []string
	for _, s := range c.out {
		got = append(got, s.text)
	}
	want := []string{"# Heading", "Dr. Vey came home.", "She slept.", "Wind west.", "Fog (thick).", "No. 7 lost."}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("sentences (-want +got):\n%s", d)
	}
	if c.out[1].line != 3 || c.out[2].line != 4 {
		t.Errorf("lines: got %d and %d, want 3 and 4", c.out[1].line, c.out[2].line)
	}
}

func TestTextWithoutSentencesIsCut(t *testing.T) {
	var c cutter
	long := strings.Repeat("長", 2000)
	c.line(1, long)
	c.line(2, strings.Repeat("word ", 500))
	c.stop()
	joined := ""
	for _, s := range c.out {
		if len(s.text) > 2*longestSentence+utf8.UTFMax || !utf8.ValidString(s.text) {
			t.Errorf("sentence of %d bytes, valid %v", len(s.text), utf8.ValidString(s.text))
		}
		joined += s.text
	}
	if got, want := strings.Count(joined, "長"), 2000; got != want {
		t.Errorf("%d characters are left of %d", got, want)
	}
}
