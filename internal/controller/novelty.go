package controller

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// history remembers what a conversation has been shown. What a call may know of it is
// settled when the call begins, so calls that run at the same time do not depend on
// which of them ends first.
type history struct {
	mu sync.Mutex
	// now counts the calls recorded.
	now      int
	surfaced map[string]int // docid → the call that first surfaced it
	shown    map[string][]sighting
	read     map[string][]readLines
	prints   []printed
}

// sighting is a hit shown on a page.
type sighting struct {
	call, search, rank int
}

// readLines are lines of a document shown by read_document.
type readLines struct {
	call, first, last int
}

// printed is the fingerprint of a document shown on a page.
type printed struct {
	call  int
	docid string
	print *fingerprint
}

func newHistory() *history {
	return &history{surfaced: map[string]int{}, shown: map[string][]sighting{}, read: map[string][]readLines{}}
}

// moment returns the present moment: calls recorded later are unknown to it.
func (h *history) moment() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// wasSurfaced reports whether a ranking known at the moment holds the document.
func (h *history) wasSurfaced(moment int, docid string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	call, ok := h.surfaced[docid]
	return ok && call <= moment
}

// firstShown returns where the document was first shown, by number of search and rank.
func (h *history) firstShown(moment int, docid string) (sighting, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var best sighting
	found := false
	for _, s := range h.shown[docid] {
		if s.call <= moment && (!found || cmp.Or(cmp.Compare(s.search, best.search), cmp.Compare(s.rank, best.rank)) < 0) {
			best, found = s, true
		}
	}
	return best, found
}

// linesRead returns the lines of the document that were read, as ranges in order.
func (h *history) linesRead(moment int, docid string) []readLines {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ranges []readLines
	for _, r := range h.read[docid] {
		if r.call <= moment {
			ranges = append(ranges, r)
		}
	}
	slices.SortFunc(ranges, func(a, b readLines) int { return cmp.Compare(a.first, b.first) })
	var merged []readLines
	for _, r := range ranges {
		if n := len(merged); n > 0 && r.first <= merged[n-1].last+1 {
			merged[n-1].last = max(merged[n-1].last, r.last)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// sameAs returns a document shown before whose text is nearly that of print.
func (h *history) sameAs(moment int, docid string, print *fingerprint) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	best := ""
	for _, p := range h.prints {
		if p.call <= moment && p.docid != docid && nearlySame(p.print, print) && (best == "" || p.docid < best) {
			best = p.docid
		}
	}
	return best, best != ""
}

// recordPage remembers the documents a page surfaced and showed.
func (h *history) recordPage(search int, surfaced []string, shown []row, prints []*fingerprint) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now++
	for _, id := range surfaced {
		if _, ok := h.surfaced[id]; !ok {
			h.surfaced[id] = h.now
		}
	}
	for i, r := range shown {
		if len(h.shown[r.hit.DocID]) == 0 && prints[i] != nil {
			h.prints = append(h.prints, printed{h.now, r.hit.DocID, prints[i]})
		}
		h.shown[r.hit.DocID] = append(h.shown[r.hit.DocID], sighting{h.now, search, r.rank})
	}
}

// recordRead remembers lines that were shown.
func (h *history) recordRead(docid string, first, last int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now++
	h.read[docid] = append(h.read[docid], readLines{h.now, first, last})
}

// seenLine says on a page what is known of a hit, empty if nothing is.
func (h *history) seenLine(moment int, docid string) string {
	var parts []string
	if s, ok := h.firstShown(moment, docid); ok {
		parts = append(parts, fmt.Sprintf("%s rank %d", searchID(s.search), s.rank))
	}
	if ranges := h.linesRead(moment, docid); len(ranges) > 0 {
		list := make([]string, len(ranges))
		for i, r := range ranges {
			list[i] = lineRange(r.first, r.last)
		}
		parts = append(parts, "read lines "+strings.Join(list, ", "))
	}
	return strings.Join(parts, "; ")
}
