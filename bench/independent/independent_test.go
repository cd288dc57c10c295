package main

import (
	"fmt"
	"slices"
	"testing"
)

func TestManualPageIsCutIntoDescriptionAndText(t *testing.T) {
	for _, test := range []struct{ roff, about, body string }{
		{".TH access 2\n.SH NAME\naccess, faccessat \\- check user\\(aqs \\fBpermissions\\fR\n.SH DESCRIPTION\n.\\\" a comment\n.BR access ()\nchecks \"it\".\n.PP\n\\&.end\n",
			"check user's permissions", "DESCRIPTION\naccess ()\nchecks \"it\".\n.end"},
		{".Dd May 1\n.Sh NAME\n.Nm cat\n.Nd print files\n.Sh DESCRIPTION\nPrints.\n", "print files", "DESCRIPTION\nPrints."},
		{".so man2/access.2\n", "", ""},
		{".SH NAME\nno description\n.SH TEXT\nx\n", "", ""},
	} {
		if about, body := manualPage(test.roff); about != test.about || body != test.body {
			t.Errorf("%q is %q, %q, want %q, %q", test.roff, about, body, test.about, test.body)
		}
	}
}

func TestKnownItemsLeaveOutWhatSeveralDocumentsHaveAndShortTexts(t *testing.T) {
	got := knownItems(map[string]string{"b": "the other one here", "a": "a long description", "c": "Same words again", "d": "same words again", "e": "two words"})
	want := []query{{"a", "a long description", []string{"a"}}, {"b", "the other one here", []string{"b"}}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSampleIsTheSameForAnyOrder(t *testing.T) {
	var all []query
	for i := range 3 * maxQueries {
		all = append(all, query{id: fmt.Sprint(i)})
	}
	a := sample(slices.Clone(all))
	slices.Reverse(all)
	b := sample(all)
	if len(a) != maxQueries || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%d and %d queries, the same: %t", len(a), len(b), fmt.Sprint(a) == fmt.Sprint(b))
	}
}
