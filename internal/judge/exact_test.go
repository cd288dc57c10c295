package judge

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"goserini/internal/sharedtest"
	"goserini/internal/trajectory"
)

func TestCompareDecidesByForm(t *testing.T) {
	tests := []struct {
		name, answer, truth string
		want                Match
	}{
		{"case and final stop do not matter", "lake orrin.", "Lake Orrin", Same},
		{"a leading article does not matter", "spirit", "a spirit", Same},
		{"curly and straight apostrophes are equal", "O’Brien", "O'Brien", Same},
		{"accents on Latin letters do not matter", "Zurich", "Zürich", Same},
		{"composed and decomposed letters are equal", "Zu\u0308rich", "Z\u00fcrich", Same},
		{"full-width letters are letters", "ＡＢＣ", "abc", Same},
		{"marks of other scripts do matter", "कि", "क", Different},
		{"abbreviation stops do not matter", "U.S. Senate", "US Senate", Same},
		{"and is ampersand", "Simon & Garfunkel", "Simon and Garfunkel", Same},
		{"dashes of all kinds are blanks", "Jean–Paul", "Jean-Paul", Same},
		{"emphasis and citations are not part of the answer", "**Lake Orrin** [d2][d7].", "Lake Orrin", Same},
		{"a bracket at the beginning is part of it", "[Co(NH3)6]Cl3", "[Co(NH3)6]Cl3", Same},
		{"symbols tell names apart", "C", "C++", Different},
		{"another symbol, another name", "C#", "C++", Different},
		{"one letter answers survive the article rule", "a", "A", Same},
		{"only punctuation compares as it is", "?!", "?!", Same},
		{"only punctuation that differs", "?", "!", Different},

		{"grouping of thousands does not matter", "1,250 km", "1250 km", Same},
		{"grouping by blanks", "1 250 km", "1250 km", Same},
		{"decimal comma", "85,5 %", "85.5 percent", Same},
		{"leading zero is a decimal", "0,125", "0.125", Same},
		{"units are converted", "1.25 km", "1250 metres", Same},
		{"a multiplier counts", "2.5 million", "2,500,000", Same},
		{"currency before or after", "$5 million", "5 million dollars", Same},
		{"number words", "Twenty-one", "21", Same},
		{"approximate is not another number", "approximately 300", "300", Same},
		{"another number is wrong", "3", "13", Different},
		{"sign counts", "-5", "5", Different},
		{"other number with the same unit", "12 km", "13 km", Different},
		{"units of other dimensions", "5 kg", "5 km", Different},
		{"a unit on one side only", "1250", "1250 km", Unsure},
		{"another number, a unit on one side only", "six days", "11", Different},
		{"what is counted on one side only", "3", "3 people", Unsure},
		{"plural of what is counted", "1 goals", "1 goal", Same},
		{"years are numbers", "1903", "1904", Different},
		{"a version number is not a year", "Windows 95", "Windows 98", Different},

		{"date forms", "14 May 1903", "1903-05-14", Same},
		{"American date form", "May 14th, 1903", "14.05.1903", Same},
		{"with the weekday", "on Thursday, 14 May 1903", "14 May 1903", Same},
		{"other day", "15 May 1903", "1903-05-14", Different},
		{"day and month can be swapped", "03/04/1903", "3 April 1903", Unsure},
		{"swapped but impossible", "13/04/1903", "13 April 1903", Same},
		{"without the day", "May 1903", "14 May 1903", Unsure},
		{"another month", "June 1903", "14 May 1903", Different},

		{"yes with an explanation", "Yes, both are directors", "yes", Same},
		{"the opposite", "No, only one is", "yes", Different},
		{"neither yes nor no", "Both are", "yes", Unsure},

		{"negated", "not Orrin", "Orrin", Unsure},
		{"right, with something about what was not found", "Lake Orrin (depth not stated)", "Lake Orrin", Unsure},
		{"part of the truth", "Orrin", "Lake Orrin (northern basin)", Unsure},
		{"more than the truth", "Lake Orrin in Norway", "Lake Orrin", Unsure},
		{"same words in another order", "Orrin Lake", "Lake Orrin", Unsure},
		{"one shared word is not enough", "Lake Geneva", "Lake Orrin", Different},
		{"abstaining is wrong where there is an answer", "Not found in the documents", "Lake Orrin", Different},
		{"empty answer", "", "Orrin", Different},
		{"blank answer", " \n", "Orrin", Different},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, why := Compare(tt.answer, Reference{Answer: tt.truth})
			if got != tt.want {
				t.Errorf("Compare(%q, %q) = %v (%s), want %v", tt.answer, tt.truth, got, why, tt.want)
			}
			if why == "" {
				t.Error("no reason given")
			}
		})
	}
}

func TestTheBestAliasCounts(t *testing.T) {
	ref := Reference{Answer: "G. Stanley Hall", Aliases: []string{"Granville Hall", "Stanley Hall"}}
	if got, why := Compare("stanley hall", ref); got != Same || !strings.Contains(why, "alias") {
		t.Errorf("got %v (%s), want same by alias", got, why)
	}
	if got, _ := Compare("Granville", ref); got != Unsure {
		t.Errorf("got %v, want unsure: part of an alias", got)
	}
}

func TestUnanswerableIsRightIffTheAnswerSaysSo(t *testing.T) {
	ref := Reference{Unanswerable: true}
	for answer, want := range map[string]Match{
		"Not found":                        Same,
		"None.":                            Same,
		"N/A":                              Same,
		"**Unknown**":                      Same,
		"I don't know":                     Same,
		"I couldn’t find it":               Same,
		"The documents do not say.":        Same,
		"Cannot be determined [d1]":        Same,
		"Insufficient information":         Same,
		"No evidence in the documents":     Same,
		"Lake Orrin":                       Different,
		"Nothing Else Matters":             Different,
		"The Unknown Soldier":              Different,
		"":                                 Different,
		"1903":                             Different,
		"It is not the Orrin but the Selm": Different,
	} {
		if got, why := Compare(answer, ref); got != want {
			t.Errorf("Compare(%q) = %v (%s), want %v", answer, got, why, want)
		}
	}
}

func TestExactNamesItselfAndStatesWhatItCompared(t *testing.T) {
	j := Exact{}
	it := Item{QueryID: "q1", Status: trajectory.Completed, Response: "Exact Answer: Orrin", Exact: "Orrin", Reference: Reference{Answer: "orrin"}}
	v, err := j.Judge(t.Context(), it)
	if err != nil {
		t.Fatal(err)
	}
	if v.Judge != "builtin/exact" || v.State != Judged || v.Correct == nil || !*v.Correct {
		t.Errorf("got %+v, want a correct verdict of builtin/exact", v)
	}
	if *v.ExtractedFinalAnswer != "Orrin" || *v.CorrectAnswer != "orrin" {
		t.Errorf("got %q against %q", *v.ExtractedFinalAnswer, *v.CorrectAnswer)
	}

	it.Reference.Answer = "Lake Orrin"
	v, err = j.Judge(t.Context(), it)
	if err != nil {
		t.Fatal(err)
	}
	if v.State != Undecided || v.Correct != nil {
		t.Errorf("got state %s, correct %v, want undecided without decision", v.State, v.Correct)
	}
}

func TestCaseNumbersUnitsDatesAndSpelling(t *testing.T) {
	data, err := os.ReadFile(sharedtest.Path(t, "cases", "JDG-08", "pairs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var pairs [][3]string
	if err := json.Unmarshal(data, &pairs); err != nil {
		t.Fatal(err)
	}
	if len(pairs) == 0 {
		t.Fatal("no pairs")
	}
	for _, p := range pairs {
		got, why := Compare(p[0], Reference{Answer: p[1]})
		if !strings.Contains(p[2], got.String()) {
			t.Errorf("Compare(%q, %q) = %v (%s), want %s", p[0], p[1], got, why, p[2])
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("1,250 km", "1250 km")
	f.Add("14 May 1903", "1903-05-14")
	f.Add("Zu\u0308rich [d1]", "Zürich")
	f.Add("\xff\xfe", "[[]]")
	f.Fuzz(func(t *testing.T, answer, truth string) {
		if got, _ := Compare(answer, Reference{Answer: truth}); got < Different || got > Same {
			t.Fatalf("Compare(%q, %q) = %d", answer, truth, got)
		}
	})
}
