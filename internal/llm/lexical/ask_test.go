package lexical

import (
	"slices"
	"testing"
)

func TestWhatAQuestionAsksFor(t *testing.T) {
	for _, c := range []struct {
		name, question string
		kind           kind
		head           []string
	}{
		{"who asks for a person", "Who built the mole?", person, nil},
		{"a noun for people does too", "Which instrument maker trained the keeper?", person, []string{"maker"}},
		{"when asks for a date", "When was the singer born?", date, nil},
		{"so does a date by name", "On what date did the first train cross?", date, []string{"date"}},
		{"a year is a year", "In what year did the museum open?", year, []string{"year"}},
		{"the year may come last", "It includes the team that was formed in what year?", year, []string{"year"}},
		{"where asks for a place", "Where is he buried?", place, nil},
		{"a city is a place", "What Australian city is the hall in?", place, []string{"citi"}},
		{"how many asks for a number of something", "How many days did they wait?", number, []string{"dai"}},
		{"the unit is the noun, not what describes it", "How many cached rankings are kept?", number, []string{"rank"}},
		{"how long for a number of anything", "How long is the bridge?", number, nil},
		{"how alone for a passage", "How did the fire begin?", passage, nil},
		{"why too", "Why did the engine fail?", passage, nil},
		{"and to be told", "Summarize the discussion about the harbour.", passage, nil},
		{"which with a noun asks for a name", "Which collier brought her home?", thing, []string{"collier"}},
		{"the noun stands before the verb", "Which plant grew in the pools?", thing, []string{"plant"}},
		{"kind of is no noun", "What kind of engine pumped the fen?", thing, []string{"engin"}},
		{"name of is none either", "What is the name of the band founded there?", thing, []string{"band"}},
		{"a verb in front asks for yes or no", "Are both of them film directors?", verdict, nil},
		{"a verb in front with or asks for one of two", "Is it in Quellhaven or Thrawle?", choice, nil},
		{"first of two", "Which paper was founded first, the Gazette or the Courier?", choice, []string{"paper"}},
		{"a relative pronoun does not ask", "The keeper who slept was dismissed. Where did he go?", place, nil},
		{"a phrase may come before the question word", "At the census of 1901, how many people lived there?", number, []string{"peopl"}},
		{"a statement is a claim", "The mole was finished in 1836.", claim, nil},
		{"nothing is a claim", "", claim, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := findAsk(c.question)
			if got.kind != c.kind {
				t.Errorf("kind of %q: got %v, want %v", c.question, got.kind, c.kind)
			}
			if c.head != nil && !slices.Equal(got.head, c.head) {
				t.Errorf("head of %q: got %q, want %q", c.question, got.head, c.head)
			}
		})
	}
}

func TestOptionsOfAChoice(t *testing.T) {
	for question, want := range map[string][2]string{
		"Which paper was founded first, the Gazette or the Courier?": {"Gazette", "Courier"},
		"Who is older, Sid Haig or Vic Darchinyan?":                  {"Sid Haig", "Vic Darchinyan"},
		"Which band was formed first The Exies or Circus Diablo ?":   {"The Exies", "Circus Diablo"},
	} {
		if got := parse(question).options; got != want {
			t.Errorf("options of %q: got %q, want %q", question, got, want)
		}
	}
}
