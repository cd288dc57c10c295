package lexical

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const rankingPage = `ranks 1-3 of 41, search_id=s1
Query: "lighthouse keeper"
Note: limit=-3 was taken as 3.

1. docid=light-1 score=1.1667
   Title: The Orvane Light
   Excerpt: The lighthouse at Orvane was lit in 1871.
2. docid="notes/2 (copy).txt" score=0.5000
   Excerpt: A keeper's note: light the lamp.
3. docid=bare
   Title: Bare
   (no excerpt; read_document shows the text)

More hits: read_search_results({"reason":"...","search_id":"s1","offset":4,"limit":3})
To read a document: read_document({"reason":"...","docid":"DOCID"})`

const documentPage = "docid=\"broken\\nid\" lines 201-203 of 450\n" +
	"Line 203 is long: characters 1-4 of its 9 are on this page.\n\n" +
	"201\tfirst\n202\t\n203:5\tlong\n\n" +
	"More lines: read_document({\"reason\":\"...\",\"docid\":\"many\",\"offset\":204,\"limit\":3})"

func TestObserveAPageOfARanking(t *testing.T) {
	got := observe(rankingPage)
	want := observation{searchID: "s1", total: 41, hits: []hit{
		{rank: 1, docid: "light-1", title: "The Orvane Light", excerpt: "The lighthouse at Orvane was lit in 1871."},
		{rank: 2, docid: "notes/2 (copy).txt", excerpt: "A keeper's note: light the lamp."},
		{rank: 3, docid: "bare", title: "Bare"},
	}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(observation{}, hit{})); d != "" {
		t.Errorf("observation (-want +got):\n%s", d)
	}
}

func TestObserveAPageOfADocument(t *testing.T) {
	got := observe(documentPage).page
	want := &docPage{docid: "broken\nid", total: 450, first: 201, last: 203, lines: []line{
		{number: 201, column: 1, text: "first"}, {number: 202, column: 1}, {number: 203, column: 5, text: "long"},
	}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(docPage{}, line{})); d != "" {
		t.Errorf("page (-want +got):\n%s", d)
	}
}

func TestObserveRicherPages(t *testing.T) {
	page := `ranks 1-1 of 1, search_id="q lamp"

1. docid=log score=2.0000
   Title: Log
   Date: 1887-10-09
   Lines: 120-124, seen in s3 at rank 4
   Excerpt: The lamp was lit.
   Excerpt: It was seen.`
	got := observe(page)
	want := observation{searchID: "q lamp", total: 1, hits: []hit{
		{rank: 1, docid: "log", title: "Log", line: 120, excerpt: "The lamp was lit.\nIt was seen."},
	}}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(observation{}, hit{})); d != "" {
		t.Errorf("observation (-want +got):\n%s", d)
	}
}

func TestObserveTextThatIsNoPage(t *testing.T) {
	for _, text := range []string{"", "No document has the docid \"x\".", "12\tno head above", "   Title: nobody's"} {
		if got := observe(text); got.page != nil || got.hits != nil {
			t.Errorf("observe(%q): got %+v, want nothing", text, got)
		}
	}
}

// FuzzObserve: any text can come back from a tool.
func FuzzObserve(f *testing.F) {
	for _, s := range []string{rankingPage, documentPage, "docid= lines 1-0 of 0", "ranks 0-0 of 0, search_id=\"", "1. docid=\"", "99999999999. docid=x", strings.Repeat("1\t\n", 20)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o := observe(text)
		q := parse("Which keeper lit the lamp in 1871?")
		l := newLibrary(&q)
		for _, h := range o.hits {
			l.addHit(h)
		}
		if o.page != nil {
			l.addPage(o.page)
		}
		s := session{q: q, library: l}
		if got := s.answer().String(); strings.Count(got, "\n") != 2 {
			t.Fatalf("answer is not three lines: %q", got)
		}
	})
}
