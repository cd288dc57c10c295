package navbench

import (
	"context"
	"slices"

	"goserini/internal/controller"
	"goserini/internal/retrieval"
)

// deepestItem is the rank beyond which the reader of known items does not browse.
const deepestItem = 100

// reading is what it took until the answer's line was shown.
type reading struct {
	// found says that the document was reached and its line shown.
	found bool
	// bytes of tool output until then, or until the reader gave up.
	bytes int
}

// seek is the reader of known items: it browses until the document appears, opens it,
// and reads its pages in the order the tool proposes; from the end it goes on at the
// beginning. Where excerptsCount, an excerpt of the document that holds a span ends the
// search, too.
func seek(ctx context.Context, r retrieval.Retriever, v Variant, q question, excerptsCount bool) (reading, error) {
	talk := newConversation(r, v)
	page, searchID, err := talk.search(ctx, q.text)
	if err != nil {
		return reading{}, err
	}
	ranking := page.Access.Surfaced
	for offset := firstPage + 1; !slices.Contains(page.Access.Previewed, q.item.docid); offset += pageHits {
		if offset > min(deepestItem, len(ranking)) {
			return reading{false, talk.bytes}, nil
		}
		if page, err = talk.browse(ctx, searchID, offset, pageHits); err != nil {
			return reading{}, err
		}
	}
	if excerptsCount && holdsAny(excerptsOf(page.Text)[q.item.docid], q.spans) {
		return reading{true, talk.bytes}, nil
	}
	found, err := readUntilShown(ctx, talk, q.item)
	return reading{found, talk.bytes}, err
}

// readUntilShown reads a document until one of its places has been shown.
func readUntilShown(ctx context.Context, talk *conversation, it *item) (bool, error) {
	s := newSeen(it)
	a := readArguments{DocID: it.docid}
	var opened controller.ReadDetails
	for pages, wrapped := 0, false; ; pages++ {
		result, d, err := talk.read(ctx, a)
		if err != nil {
			return false, err
		}
		s.add(result.Text)
		if s.shown() {
			return true, nil
		}
		if pages == 0 {
			opened = d
		}
		begunLater := opened.Offset > 1 || opened.Column > 1
		switch {
		case wrapped && reached(d, opened):
			return false, nil
		case d.NextOffset > 0:
			a = readArguments{DocID: it.docid, Offset: d.NextOffset, Limit: d.Limit, Column: d.NextColumn}
		case !wrapped && begunLater:
			a, wrapped = readArguments{DocID: it.docid, Offset: 1}, true
		default:
			return false, nil
		}
	}
}

// reached reports whether the next page would begin where the document was opened, or later.
func reached(d, opened controller.ReadDetails) bool {
	if d.NextOffset == opened.FirstLine {
		return max(d.NextColumn, 1) >= opened.Column
	}
	return d.NextOffset == 0 || d.NextOffset > opened.FirstLine
}
