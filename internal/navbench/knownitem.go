package navbench

import (
	"context"
	"slices"

	"goserini/internal/retrieval"
)

// deepestItem is the rank beyond which the reader of known items does not browse.
const deepestItem = 100

// findLines is the number of matching lines that a reader asks for who looks for a pattern.
const findLines = 5

// reading is what it took until the answer's line was shown.
type reading struct {
	// found says that the document was reached and its line shown.
	found bool
	// bytes of tool output until then, or until the reader gave up.
	bytes int
}

// seek is the reader of known items: it browses until the document appears, opens it,
// looks at the other places that the page names, if it does, and then reads the pages in
// order, by the calls that they propose; where the document was not opened at its
// beginning, from there. Where excerptsCount, an excerpt of the document that holds a span ends the
// search, too.
func seek(ctx context.Context, r retrieval.Retriever, v Variant, q question, excerptsCount bool) (reading, error) {
	return seekFinding(ctx, r, v, q, excerptsCount, "")
}

// seekFinding is seek for a reader who, before it opens the document, looks in it for a
// pattern that is not empty.
func seekFinding(ctx context.Context, r retrieval.Retriever, v Variant, q question, excerptsCount bool, find string) (reading, error) {
	talk := newConversation(r, v)
	page, searchID, err := talk.search(ctx, q.text)
	if err != nil {
		return reading{}, err
	}
	ranking := page.Access.Surfaced
	for offset := talk.firstPage + 1; !slices.Contains(page.Access.Previewed, q.item.docid); offset += talk.pageHits {
		if offset > min(deepestItem, len(ranking)) {
			return reading{false, talk.bytes}, nil
		}
		if page, err = talk.browse(ctx, searchID, offset, talk.pageHits); err != nil {
			return reading{}, err
		}
	}
	if excerptsCount && holdsAny(excerptsOf(page.Text)[q.item.docid], q.spans) {
		return reading{true, talk.bytes}, nil
	}
	found, err := readUntilShown(ctx, talk, q.item, find)
	return reading{found, talk.bytes}, err
}

// readUntilShown reads a document until one of its places has been shown. Lines that it
// has been shown it does not ask for again.
func readUntilShown(ctx context.Context, talk *conversation, it *item, find string) (bool, error) {
	r := &reader{talk: talk, item: it, seen: newSeen(it), read: map[int]bool{}}
	if find != "" {
		if _, err := r.page(ctx, readArguments{DocID: it.docid, Find: find, Limit: findLines}); err != nil || r.seen.shown() {
			return err == nil, err
		}
		r.pages = 0
	}
	first, err := r.page(ctx, readArguments{DocID: it.docid})
	if err != nil || r.seen.shown() {
		return err == nil, err
	}
	for _, line := range otherPlaces(first) {
		if r.read[line] {
			continue
		}
		if _, err := r.page(ctx, readArguments{DocID: it.docid, Offset: line}); err != nil || r.seen.shown() {
			return err == nil, err
		}
	}
	next, more := proposedRead(first)
	if r.openedLater {
		next, more = readArguments{DocID: it.docid, Offset: 1}, true
	}
	for more {
		for next.Column <= 1 && r.read[next.Offset] {
			next.Offset++
		}
		if next.Offset > len(r.seen.starts) {
			break
		}
		page, err := r.page(ctx, next)
		if err != nil || r.seen.shown() {
			return err == nil, err
		}
		next, more = proposedRead(page)
	}
	return false, nil
}

// reader reads one document.
type reader struct {
	talk *conversation
	item *item
	seen *seen
	// read are the lines that were shown whole.
	read map[int]bool
	// openedLater says that the document was not opened at its beginning.
	openedLater bool
	pages       int
}

// page asks for a page and notes what it shows.
func (r *reader) page(ctx context.Context, a readArguments) (string, error) {
	result, d, err := r.talk.read(ctx, a)
	if err != nil {
		return "", err
	}
	r.seen.add(result.Text)
	for _, l := range linesOf(result.Text) {
		if !l.part && l.column == 1 && (l.line != d.LastLine || d.NextColumn == 0) {
			r.read[l.line] = true
		}
	}
	if r.pages == 0 {
		r.openedLater = d.FirstLine > 1 || d.Column > 1
	}
	r.pages++
	return result.Text, nil
}
