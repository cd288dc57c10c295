package controller_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/retrieval/retrievaltest"
)

// longLines is a document with lines of many megabytes in several scripts between short ones.
func longLines() retrievaltest.Document {
	latin := strings.Repeat("harbour dues and tide tables, ", 120_000) + "the keeper of Orvane. " + strings.Repeat("and it goes on ", 100_000)
	wide := strings.Repeat("海辺の町の記録。", 150_000) + "灯台守は日記をつけた。" + strings.Repeat("潮の満ち引き。🐻", 50_000) + "الحارس"
	return retrievaltest.Document{DocID: "d", Text: "first\n" + latin + "\nin between\n" + wide + "\nlast, of the keeper"}
}

// A line that is read in pieces looks on every page like one that is read whole.
func TestLinesReadInPiecesLookLikeWholeOnes(t *testing.T) {
	if testing.Short() {
		t.Skip("looks through megabytes many times")
	}
	m := retrievaltest.NewMemory(longLines())
	lines := strings.Split(longLines().Text, "\n")
	latin, wide := utf8.RuneCountInString(lines[1]), utf8.RuneCountInString(lines[3])
	for _, parts := range [][]string{{"find"}, {"read-at-best"}} {
		pieces, whole := navigator(t, m, parts...), navigator(t, plain{m}, parts...)
		for _, args := range []string{
			`"offset":1`, `"offset":2`, `"offset":2,"limit":1`, `"offset":4`, `"offset":5`, `"offset":3,"limit":9`,
			fmt.Sprintf(`"offset":2,"column":%d`, latin-10), fmt.Sprintf(`"offset":2,"column":%d`, latin), fmt.Sprintf(`"offset":2,"column":%d`, latin+1),
			fmt.Sprintf(`"offset":4,"column":%d`, wide-5), fmt.Sprintf(`"offset":4,"column":%d`, wide/2), fmt.Sprintf(`"offset":4,"column":%d,"limit":1`, wide/3), fmt.Sprintf(`"offset":4,"column":%d`, 1<<30),
			`"find":"keeper  OF orvane"`, `"find":"灯台守"`, `"find":"الحارس"`, `"find":"[Kk]eeper \\w+ Orvane"`, `"find":"灯台守.日"`, `"find":"^灯台守"`, `"find":"\\bthe keeper"`, `"find":"الحارس$"`, `"find":"^harbour dues"`, `"find":"xylograph"`, `"find":"İ|守は"`,
		} {
			if parts[0] != "find" && strings.Contains(args, "find") {
				continue
			}
			got, want := call(t, pieces, "read_document", `{"docid":"d",`+args+`}`), call(t, whole, "read_document", `{"docid":"d",`+args+`}`)
			// A page ends with a long line's last piece; where the line was read whole it goes on behind.
			if strings.Contains(args, "column") && !got.IsError && strings.HasPrefix(want.Text, got.Text[:strings.Index(got.Text, "\n")][:8]) {
				got.Text, want.Text = firstLineOf(got.Text), firstLineOf(want.Text)
			}
			if diff := cmp.Diff(pieceNote.ReplaceAllString(want.Text, ""), pieceNote.ReplaceAllString(got.Text, "")); diff != "" {
				t.Errorf("%v %s: whole (-) and in pieces (+) differ:\n%.2000s", parts, args, diff)
			}
		}
	}
}

// pieceNote says that a line was looked through in pieces.
var pieceNote = regexp.MustCompile(`(?m)^Note: line \d+ has more than 4 MB.*\n`)

// firstLineOf is the first numbered line of a page.
func firstLineOf(page string) string {
	_, body, _ := strings.Cut(page, "\n\n")
	line, _, _ := strings.Cut(body, "\n")
	return line
}

// The pages of a document with such lines leave nothing out.
func TestPagesOfLongLinesLeaveNothingOut(t *testing.T) {
	text := "first\n" + strings.Repeat("灯台 λάμπα keeper ", 100_000) + "\n\nlast"
	c := navigator(t, retrievaltest.NewMemory(retrievaltest.Document{DocID: "d", Text: text}))
	var joined strings.Builder
	args, pages := `{"docid":"d"}`, 0
	for ; args != "" && pages < 200; pages++ {
		result := call(t, c, "read_document", args)
		for _, l := range result.Lines {
			joined.WriteString(l.Text)
		}
		_, next, _ := strings.Cut(result.Text, "More lines: read_document(")
		args = strings.TrimSuffix(next, ")")
		if args != "" && !json.Valid([]byte(args)) {
			t.Fatalf("the page proposes %s", args)
		}
	}
	if want := strings.ReplaceAll(text, "\n", ""); joined.String() != want || pages < 40 {
		t.Errorf("the %d pages joined have %d bytes, want %d", pages, joined.Len(), len(want))
	}
}
