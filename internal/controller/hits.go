package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// Bounds of the fields of a result page, in characters. The whole of each can be had
// elsewhere, and the field says where.
const (
	queryShown  = 500
	titleShown  = 300
	sourceShown = 200
)

// longestDocID is the length in bytes of the longest docid that is shown and can be
// read: its escaped form stands twice on a page of its document.
const longestDocID = 2048

// RankingDetails are the details of a page of hits.
type RankingDetails struct {
	SearchID string `json:"search_id"`
	// Queries are those of the search: one, unless several were fused.
	Queries []string `json:"queries"`
	// Total is the number of hits cached.
	Total int `json:"total"`
	// Offset and Limit are the ranks asked for.
	Offset int `json:"offset"`
	Limit  int `json:"limit"`
	// FirstRank and LastRank are the ranks shown; 0 where none was.
	FirstRank int `json:"first_rank"`
	LastRank  int `json:"last_rank"`
	// NextOffset is the rank to go on from, 0 where there is none.
	NextOffset int `json:"next_offset,omitempty"`
	// CutBy is "lines" or "bytes" where that limit ended the page early.
	CutBy string `json:"cut_by,omitempty"`
	// Again says that the ranking had been dropped and was fetched anew.
	Again bool `json:"again,omitempty"`
	// Repeated says that the query had been searched before under the same search id.
	Repeated bool `json:"repeated,omitempty"`
	// NewShown and NewRanked count, with Novelty, the hits of the page that no earlier
	// page showed and those of the ranking that no earlier ranking held.
	NewShown  int `json:"new_shown,omitempty"`
	NewRanked int `json:"new_ranked,omitempty"`
	// SearchMS and ExcerptMS are the milliseconds spent in the retriever.
	SearchMS  float64  `json:"search_ms"`
	ExcerptMS float64  `json:"excerpt_ms"`
	Notes     []string `json:"notes,omitempty"`
	// Cause says for the operator why excerpts are missing.
	Cause string `json:"cause,omitempty"`
}

// hitPage asks for a page of hits.
type hitPage struct {
	slot          *slot
	offset, limit int
	newOnly       bool
	// moment is what of the history the call knows.
	moment int
	// repeated says that search found the slot rather than issued it.
	repeated bool
	notes    []string
}

// showHits fetches the ranking if need be and renders one page of it.
func (c *Controller) showHits(ctx context.Context, p hitPage) (tool.Result, error) {
	start := time.Now()
	found, fetched, err := p.slot.get(ctx, c.fetch)
	if err != nil {
		return tool.Result{}, err
	}
	if p.repeated {
		p.offset = c.firstUnshown(found.ranking, p.moment)
	}
	d := RankingDetails{
		SearchID: p.slot.id, Queries: p.slot.request.queries, Total: len(found.ranking), Offset: p.offset, Limit: p.limit,
		Again: p.slot.again && fetched, Repeated: p.repeated, SearchMS: milliseconds(start), Notes: p.notes,
	}
	var access trajectory.Access
	if fetched {
		access.Surfaced = docIDs(found.ranking)
	}
	pg := &hitRenderer{c: c, page: p, found: found, d: &d, fetched: fetched}
	var shown []row
	rows, end := pg.rows()
	if len(rows) > 0 {
		if shown, err = pg.render(ctx, rows, end); err != nil {
			return tool.Result{}, err
		}
	}
	for _, r := range shown {
		access.Previewed = append(access.Previewed, r.hit.DocID)
	}
	text := pg.text()
	if c.options.Navigator.Novelty {
		c.history.recordPage(p.slot.number, access.Surfaced, shown, pg.prints)
	}
	return tool.Result{Text: text, Access: access, Details: d}, nil
}

// firstUnshown returns the first rank whose document no earlier page showed, else 1.
func (c *Controller) firstUnshown(ranking retrieval.Ranking, moment int) int {
	for i, hit := range ranking {
		if _, ok := c.history.firstShown(moment, hit.DocID); !ok {
			return i + 1
		}
	}
	return 1
}

// hitRenderer renders one page of hits and fills in the details of what it shows.
type hitRenderer struct {
	c     *Controller
	page  hitPage
	found *found
	d     *RankingDetails

	// fetched says that this call got the ranking.
	fetched bool

	body   *page
	prints []*fingerprint
	// hits is the number of hits shown that can be read.
	hits int
}

// rows are the hits wanted, and the last rank looked at for them.
func (h *hitRenderer) rows() ([]row, int) {
	var rows []row
	end := min(h.page.offset-1, len(h.found.ranking))
	for end < len(h.found.ranking) && len(rows) < h.page.limit {
		hit := h.found.ranking[end]
		end++
		if h.page.newOnly {
			if _, seen := h.c.history.firstShown(h.page.moment, hit.DocID); seen {
				continue
			}
		}
		rows = append(rows, row{end, hit})
	}
	return rows, end
}

// render renders as many of the rows as a page holds and returns those that can be read.
func (h *hitRenderer) render(ctx context.Context, rows []row, end int) ([]row, error) {
	longest := *h.d
	longest.FirstRank, longest.LastRank, longest.NextOffset, longest.CutBy = end, end, end+1, "bytes"
	longest.NewShown, longest.NewRanked = len(rows), h.d.Total
	h.hits = len(rows) + 1 // not all of them new: room for the line that says so
	h.body = newPage(h.c.options, h.head(longest), h.foot(longest))
	h.d.FirstRank = rows[0].rank

	var shown []row
	previews := &previews{c: h.c, terms: h.found.terms, rows: rows}
	for i, r := range rows {
		start := time.Now()
		v, err := previews.at(ctx, i)
		h.d.ExcerptMS += milliseconds(start)
		if err != nil {
			return nil, err
		}
		showable := len(r.hit.DocID) <= longestDocID
		entry := unshowable(r)
		if showable {
			entry = hitEntry(r, h.mark(r, v, shown))
		}
		if !h.body.add(entry) {
			if !h.body.empty {
				h.d.NextOffset, h.d.CutBy = r.rank, h.body.full
				break
			}
			h.body.force(entry)
		}
		h.d.LastRank = r.rank
		if showable {
			shown = append(shown, r)
			h.prints = append(h.prints, v.print)
		}
	}
	h.d.Cause = previews.cause
	if h.d.CutBy == "" && end < h.d.Total {
		h.d.NextOffset = end + 1
	}
	h.hits = len(shown)
	h.countNew(shown)
	return shown, nil
}

// hitView is what a page says of a hit.
type hitView struct {
	preview
	// foundBy and seen are the marks of fusion and novelty.
	foundBy, seen string
}

// mark adds to a preview what fusion and novelty know.
func (h *hitRenderer) mark(r row, v preview, above []row) hitView {
	view := hitView{preview: v, foundBy: foundBy(h.found.origins[r.hit.DocID])}
	if !h.c.options.Navigator.Novelty {
		return view
	}
	view.seen = h.c.history.seenLine(h.page.moment, r.hit.DocID)
	if twin := h.twin(r, v, above); twin != "" {
		view.texts, view.lines = nil, ""
		view.note = "(nearly the same text as docid=" + tool.ShowID(twin) + ")"
	}
	return view
}

// twin returns a document above on the page, or on an earlier page, with nearly the same
// text.
func (h *hitRenderer) twin(r row, v preview, above []row) string {
	for i, other := range above {
		if nearlySame(h.prints[i], v.print) {
			return other.hit.DocID
		}
	}
	if _, seen := h.c.history.firstShown(h.page.moment, r.hit.DocID); seen {
		return "" // this one's own text has been shown, too
	}
	twin, _ := h.c.history.sameAs(h.page.moment, r.hit.DocID, v.print)
	return twin
}

func (h *hitRenderer) countNew(shown []row) {
	if !h.c.options.Navigator.Novelty {
		return
	}
	for _, r := range shown {
		if _, seen := h.c.history.firstShown(h.page.moment, r.hit.DocID); !seen {
			h.d.NewShown++
		}
	}
	for _, hit := range h.found.ranking {
		if !h.c.history.wasSurfaced(h.page.moment, hit.DocID) {
			h.d.NewRanked++
		}
	}
}

// text is the whole page.
func (h *hitRenderer) text() string {
	if h.body == nil {
		return h.head(*h.d) + "\n\n" + h.noHits()
	}
	return h.body.assemble(h.head(*h.d), h.foot(*h.d))
}

// head is the head of a page.
func (h *hitRenderer) head(d RankingDetails) string {
	var b strings.Builder
	inHead, line := h.newness(d)
	fmt.Fprintf(&b, "ranks %d-%d of %d%s, search_id=%s\n", d.FirstRank, d.LastRank, d.Total, inHead, tool.ShowID(d.SearchID))
	b.WriteString(queryLines(d.Queries))
	for _, line := range h.found.reading {
		b.WriteString("\n" + line)
	}
	b.WriteString(line)
	if d.Repeated {
		fmt.Fprintf(&b, "\nNote: the same ranking as %s, which had this query; it goes on where it was not shown yet.", d.SearchID)
	}
	if d.Again {
		b.WriteString("\nNote: this ranking was no longer kept and has been searched again.")
	}
	for _, n := range d.Notes {
		b.WriteString("\nNote: " + n)
	}
	return b.String()
}

// newness says how many hits are new: in two words in the first line where all are, else in a
// line of its own. Those of a whole ranking are counted on the page that fetched it.
func (h *hitRenderer) newness(d RankingDetails) (inHead, line string) {
	switch {
	case !h.c.options.Navigator.Novelty || d.FirstRank == 0:
		return "", ""
	case d.NewShown == h.hits && (d.NewRanked == d.Total || !h.fetched):
		return ", all new", ""
	}
	line = fmt.Sprintf("\nNew: %d of the hits shown", d.NewShown)
	if h.fetched {
		line += fmt.Sprintf(", %d of all %d", d.NewRanked, d.Total)
	}
	return "", line + "."
}

func queryLines(queries []string) string {
	lines := make([]string, len(queries))
	for i, query := range queries {
		label := "Query: "
		if len(queries) > 1 {
			label = fmt.Sprintf("Query %d: ", i+1)
		}
		shown, total, cut := tool.Clip(query, queryShown)
		lines[i] = label + tool.QuoteJSON(shown)
		if cut {
			lines[i] += fmt.Sprintf(" (first %d of %d characters; all of it was searched)", queryShown, total)
		}
	}
	return strings.Join(lines, "\n")
}

// hitEntry renders one hit; it ends with a line end.
func hitEntry(r row, v hitView) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d. docid=%s", r.rank, tool.ShowID(r.hit.DocID))
	if r.hit.HasScore {
		fmt.Fprintf(&b, " score=%.4f", r.hit.Score)
	}
	b.WriteByte('\n')
	field := func(name, value string) {
		if value != "" {
			b.WriteString("   " + name + ": " + value + "\n")
		}
	}
	title := r.hit.Title
	if title == "" {
		title = v.title
	}
	title = strings.TrimSpace(tool.OneLine(title))
	shown, total, cut := tool.Clip(title, titleShown)
	if cut {
		shown += fmt.Sprintf(" … (first %d of %d characters; read_document has all)", titleShown, total)
	}
	field("Title", shown)
	field("Source", firstCharacters(tool.OneLine(v.source), sourceShown))
	field("Found by", v.foundBy)
	field("Seen", v.seen)
	field("Lines", v.lines)
	for _, text := range v.texts {
		field("Excerpt", tool.OneLine(text))
	}
	switch {
	case v.note != "":
		b.WriteString("   " + v.note + "\n")
	case len(v.texts) == 0:
		b.WriteString("   (no excerpt; read_document shows the text)\n")
	}
	return b.String()
}

// foundBy says which of several queries found a hit at what rank.
func foundBy(origins []int) string {
	var parts []string
	for q, rank := range origins {
		if rank > 0 {
			parts = append(parts, fmt.Sprintf("query %d rank %d", q+1, rank))
		}
	}
	return strings.Join(parts, ", ")
}

// unshowable stands for a hit with too long a docid.
func unshowable(r row) string {
	return fmt.Sprintf("%d. (its docid has %d bytes, more than the %d that can be shown and read)\n", r.rank, len(r.hit.DocID), longestDocID)
}

// foot says what to call next.
func (h *hitRenderer) foot(d RankingDetails) string {
	var b strings.Builder
	if d.CutBy != "" {
		asked := fmt.Sprintf("ranks up to %d", min(h.page.offset+h.page.limit-1, d.Total))
		if h.page.newOnly {
			asked = fmt.Sprintf("%d new hits", h.page.limit)
		}
		fmt.Fprintf(&b, "The page is full: %s were asked for.\n", asked)
	}
	if d.NextOffset != 0 {
		newOnly := ""
		if h.page.newOnly {
			newOnly = `,"new_only":true`
		}
		fmt.Fprintf(&b, "More hits: read_search_results({\"reason\":\"...\",\"search_id\":%s,\"offset\":%d,\"limit\":%d%s})\n",
			tool.QuoteJSON(d.SearchID), d.NextOffset, h.page.limit, newOnly)
	} else {
		b.WriteString("No more hits.\n")
	}
	b.WriteString("To read a document: read_document({\"reason\":\"...\",\"docid\":\"DOCID\"})")
	return b.String()
}

// noHits says why a page has none.
func (h *hitRenderer) noHits() string {
	switch {
	case h.d.Total == 0:
		return "No document matches: no word of the query occurs in the collection, or only words too common to be searched. Search with other words."
	case h.page.newOnly && h.page.offset <= h.d.Total:
		return fmt.Sprintf("All hits from rank %d on have been shown before. Leave new_only out to see them again, or search with other words.", h.page.offset)
	}
	return fmt.Sprintf("No hits from rank %d on: the ranking ends at rank %d. Choose a smaller offset, or search with other words.", h.page.offset, h.d.Total)
}

func docIDs(ranking retrieval.Ranking) []string {
	ids := make([]string, len(ranking))
	for i, h := range ranking {
		ids[i] = h.DocID
	}
	return ids
}
