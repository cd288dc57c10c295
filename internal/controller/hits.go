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
	queryShown = 500
	titleShown = 300
)

// longestDocID is the length in bytes of the longest docid that is shown and can be
// read: its escaped form stands twice on a page of its document.
const longestDocID = 2048

// RankingDetails are the details of a page of hits.
type RankingDetails struct {
	SearchID string `json:"search_id"`
	Query    string `json:"query"`
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
	notes         []string
}

// showHits fetches the ranking if need be and renders one page of it.
func (c *Controller) showHits(ctx context.Context, p hitPage) (tool.Result, error) {
	start := time.Now()
	ranking, fetched, err := p.slot.get(ctx, c.search)
	if err != nil {
		return tool.Result{}, err
	}
	d := RankingDetails{
		SearchID: p.slot.id, Query: p.slot.query, Total: len(ranking), Offset: p.offset, Limit: p.limit,
		Again: p.slot.again && fetched, SearchMS: milliseconds(start), Notes: p.notes,
	}
	var access trajectory.Access
	if fetched {
		access.Surfaced = docIDs(ranking)
	}
	if p.offset > len(ranking) {
		return tool.Result{Text: noHits(p, d), Access: access, Details: d}, nil
	}
	hits := ranking[p.offset-1:]
	hits = hits[:min(p.limit, len(hits))]
	text, shown, err := c.renderHits(ctx, p, hits, &d)
	if err != nil {
		return tool.Result{}, err
	}
	access.Previewed = shown
	return tool.Result{Text: text, Access: access, Details: d}, nil
}

// search fetches a ranking.
func (c *Controller) search(ctx context.Context, query string) (retrieval.Ranking, error) {
	return c.retriever.Search(ctx, retrieval.SearchRequest{Query: query, Depth: c.options.Depth})
}

// renderHits renders as many of the hits as a page holds, fills in what it showed, and
// returns the text and the docids shown.
func (c *Controller) renderHits(ctx context.Context, p hitPage, hits retrieval.Ranking, d *RankingDetails) (string, []string, error) {
	last := p.offset + len(hits) - 1
	longest := *d
	longest.FirstRank, longest.LastRank, longest.NextOffset, longest.CutBy = last, last, last+1, "bytes"
	pg := newPage(c.options, hitHead(p, longest), hitFoot(p, longest))

	var shown []string
	excerpts := c.newExcerpts(p.slot.query, p.offset, hits)
	for i, hit := range hits {
		start := time.Now()
		excerpt, err := excerpts.at(ctx, i)
		d.ExcerptMS += milliseconds(start)
		if err != nil {
			return "", nil, err
		}
		showable := len(hit.DocID) <= longestDocID
		entry := hitEntry(p.offset+i, hit, excerpt)
		if !showable {
			entry = unshowable(p.offset+i, hit)
		}
		if !pg.add(entry) {
			if !pg.empty {
				break
			}
			pg.force(entry)
		}
		d.LastRank = p.offset + i
		if showable {
			shown = append(shown, hit.DocID)
		}
	}
	d.FirstRank = p.offset
	d.Cause = excerpts.cause
	if d.LastRank < d.Total {
		d.NextOffset = d.LastRank + 1
	}
	if d.LastRank < last {
		d.CutBy = pg.full
	}
	return pg.assemble(hitHead(p, *d), hitFoot(p, *d)), shown, nil
}

// hitHead is the head of a page of hits.
func hitHead(p hitPage, d RankingDetails) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ranks %d-%d of %d, search_id=%s\n", d.FirstRank, d.LastRank, d.Total, showID(d.SearchID))
	b.WriteString(queryLine(d.Query))
	writeNotes(&b, d)
	return b.String()
}

func queryLine(query string) string {
	shown, total, cut := clip(query, queryShown)
	line := "Query: " + quoteJSON(shown)
	if cut {
		line += fmt.Sprintf(" (first %d of %d characters; all of it was searched)", queryShown, total)
	}
	return line
}

func writeNotes(b *strings.Builder, d RankingDetails) {
	if d.Again {
		b.WriteString("\nNote: this ranking was no longer kept and has been searched again.")
	}
	for _, n := range d.Notes {
		b.WriteString("\nNote: " + n)
	}
}

// hitEntry renders one hit; it ends with a line end.
func hitEntry(rank int, hit retrieval.Hit, excerpt retrieval.Excerpt) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d. docid=%s", rank, showID(hit.DocID))
	if hit.HasScore {
		fmt.Fprintf(&b, " score=%.4f", hit.Score)
	}
	b.WriteByte('\n')
	title := hit.Title
	if title == "" {
		title = excerpt.Title
	}
	if title = strings.TrimSpace(oneLine(title)); title != "" {
		shown, total, cut := clip(title, titleShown)
		b.WriteString("   Title: " + shown)
		if cut {
			fmt.Fprintf(&b, " … (first %d of %d characters; read_document has all)", titleShown, total)
		}
		b.WriteByte('\n')
	}
	if excerpt.Text == "" {
		b.WriteString("   (no excerpt; read_document shows the text)\n")
		return b.String()
	}
	b.WriteString("   Excerpt: " + oneLine(excerpt.Text) + "\n")
	return b.String()
}

// unshowable stands for a hit with too long a docid.
func unshowable(rank int, hit retrieval.Hit) string {
	return fmt.Sprintf("%d. (its docid has %d bytes, more than the %d that can be shown and read)\n", rank, len(hit.DocID), longestDocID)
}

// hitFoot says what to call next.
func hitFoot(p hitPage, d RankingDetails) string {
	var b strings.Builder
	if d.CutBy != "" {
		fmt.Fprintf(&b, "The page is full: ranks up to %d were asked for.\n", min(p.offset+p.limit-1, d.Total))
	}
	if d.NextOffset != 0 {
		fmt.Fprintf(&b, "More hits: read_search_results({\"reason\":\"...\",\"search_id\":%s,\"offset\":%d,\"limit\":%d})\n",
			quoteJSON(d.SearchID), d.NextOffset, p.limit)
	} else {
		b.WriteString("No more hits.\n")
	}
	b.WriteString("To read a document: read_document({\"reason\":\"...\",\"docid\":\"DOCID\"})")
	return b.String()
}

// noHits is the page that has none.
func noHits(p hitPage, d RankingDetails) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ranks 0-0 of %d, search_id=%s\n", d.Total, showID(d.SearchID))
	b.WriteString(queryLine(d.Query))
	writeNotes(&b, d)
	if d.Total == 0 {
		b.WriteString("\n\nNo document matches: no word of the query occurs in the collection, or only words too common to be searched. Search with other words.")
	} else {
		fmt.Fprintf(&b, "\n\nNo hits from rank %d on: the ranking ends at rank %d. Choose a smaller offset, or search with other words.", p.offset, d.Total)
	}
	return b.String()
}

func docIDs(ranking retrieval.Ranking) []string {
	ids := make([]string, len(ranking))
	for i, h := range ranking {
		ids[i] = h.DocID
	}
	return ids
}
