package navbench

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExcerptsOfAPage(t *testing.T) {
	page := `ranks 1-3 of 9, search_id=s1
Query: "1. docid=fake"

1. docid=a score=2.5000
   Title: Excerpt: none
   Lines: 1-2; 7 of 9
   Excerpt: ...first passage
   Excerpt: second passage
2. docid="b \"c\"" score=2.0000
   (no excerpt; read_document shows the text)
13. docid=d
   Excerpt: says 1. docid=e

More hits: read_search_results(…)`
	want := map[string]string{"a": "...first passage\nsecond passage\n", `b "c"`: "", "d": "says 1. docid=e\n"}
	if diff := cmp.Diff(want, excerptsOf(page)); diff != "" {
		t.Errorf("excerpts (-want +got):\n%s", diff)
	}
}

func TestLinesOfAPage(t *testing.T) {
	page := "docid=a lines 3-4 of 9\n   Also line 8: x\n\n3\tthree\ttabs\n4:200\tpiece\n5:30-90\tpart\nMore lines: read_document(…)"
	want := []shownLine{{3, 1, "three\ttabs", false}, {4, 200, "piece", false}, {5, 30, "part", true}}
	if diff := cmp.Diff(want, linesOf(page), cmp.AllowUnexported(shownLine{})); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}
