package corpus

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// checkDocument fails if a document breaks a promise of its type.
func checkDocument(t *testing.T, d Document) {
	t.Helper()
	if d.DocID == "" {
		t.Fatalf("a document without an id: %+v", d)
	}
	for _, s := range []string{d.DocID, d.Title, d.Text, d.URL, d.Date} {
		if !utf8.ValidString(s) {
			t.Fatalf("%q holds invalid UTF-8: %q", d.DocID, s)
		}
		if strings.ContainsRune(s, 0) {
			t.Fatalf("%q holds NUL: %q", d.DocID, s)
		}
	}
	if strings.Contains(d.Text, "\r") {
		t.Fatalf("%q holds a carriage return: %q", d.DocID, d.Text)
	}
	for _, s := range []string{d.Title, d.URL, d.Date} {
		if strings.ContainsAny(s, "\r\n") {
			t.Fatalf("%q holds a line break outside the text: %q", d.DocID, s)
		}
	}
}
