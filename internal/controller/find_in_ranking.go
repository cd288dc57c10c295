package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

const (
	// findBatch is the number of documents looked through at a time.
	findBatch = 32
	// linesOfHit is the number of matching lines shown of one document of a ranking.
	linesOfHit = 3
)

// FindDetails are the details of a find in a ranking.
type FindDetails struct {
	SearchID string `json:"search_id"`
	Find     string `json:"find"`
	// Total is the number of documents in the ranking.
	Total  int `json:"total"`
	Offset int `json:"offset"`
	Limit  int `json:"limit"`
	// LookedAt is the last rank looked through; Matched the number of documents shown.
	LookedAt int `json:"looked_at"`
	Matched  int `json:"matched"`
	// Partly counts the documents without a match in the part of them that was looked through.
	Partly int `json:"partly,omitempty"`
	// NextOffset is the rank to go on from, 0 where there is none.
	NextOffset int      `json:"next_offset,omitempty"`
	CutBy      string   `json:"cut_by,omitempty"`
	FindMS     float64  `json:"find_ms"`
	Notes      []string `json:"notes,omitempty"`
}

func (c *Controller) beginFindInRanking(args tool.Arguments, id, pattern string) (work, error) {
	f, err := newFinder(BrowseTool, pattern)
	if err != nil {
		return nil, err
	}
	d := FindDetails{SearchID: id, Find: f.written, Offset: args.Integer("offset", 1), Limit: args.Integer("limit", c.options.PageHits), Notes: args.Notes}
	if f.note != "" {
		d.Notes = append(d.Notes, f.note)
	}
	var slots []*slot
	if id == allRankings && !c.options.Stateless {
		if slots = c.rankings.kept(); len(slots) == 0 {
			return nil, tool.Mistake("read_search_results: no search has been made yet. Call search first.")
		}
	} else {
		s, err := c.rankings.find(id)
		if err != nil {
			return nil, err
		}
		slots = []*slot{s}
	}
	return func(ctx context.Context) (tool.Result, error) { return c.findInRankings(ctx, f, slots, d) }, nil
}

// findInRankings looks through the documents of rankings, best ranks first.
func (c *Controller) findInRankings(ctx context.Context, f *finder, slots []*slot, d FindDetails) (tool.Result, error) {
	start := time.Now()
	var access trajectory.Access
	var rankings []retrieval.Ranking
	for _, s := range slots {
		found, fetched, err := s.get(ctx, c.fetch)
		if err != nil {
			return tool.Result{}, err
		}
		if fetched {
			access.Surfaced = append(access.Surfaced, docIDs(found.ranking)...)
		}
		rankings = append(rankings, found.ranking)
	}
	rows := byBestRank(rankings)
	d.Total = len(rows)
	p, shown, err := c.findRows(ctx, f, rows, &d)
	if err != nil {
		return tool.Result{}, err
	}
	access.Previewed = shown
	d.FindMS = milliseconds(start)
	return tool.Result{Text: p.assemble(findHead(d), findFoot(d)), Access: access, Details: d}, nil
}

// byBestRank unites rankings: each document once, by the best rank it has in any, then by
// the order of the rankings. A row's rank is its place in the result.
func byBestRank(rankings []retrieval.Ranking) []row {
	type place struct {
		hit           retrieval.Hit
		rank, ranking int
	}
	best := map[string]place{}
	for r, ranking := range rankings {
		for i, hit := range ranking {
			if old, ok := best[hit.DocID]; !ok || i+1 < old.rank {
				best[hit.DocID] = place{hit, i + 1, r}
			}
		}
	}
	places := make([]place, 0, len(best))
	for _, p := range best {
		places = append(places, p)
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.ranking, b.ranking))
	})
	rows := make([]row, len(places))
	for i, p := range places {
		rows[i] = row{i + 1, p.hit}
	}
	return rows
}

// findRows looks through rows until the limit of matching documents or the page is full.
func (c *Controller) findRows(ctx context.Context, f *finder, rows []row, d *FindDetails) (*page, []string, error) {
	longest := *d
	longest.LookedAt, longest.Matched, longest.Partly, longest.NextOffset, longest.CutBy = len(rows), len(rows), len(rows), len(rows), "bytes"
	p := newPage(c.options, findHead(longest), findFoot(longest))
	var shown []string
	d.LookedAt = min(d.Offset-1, len(rows))
	for d.LookedAt < len(rows) {
		batch := rows[d.LookedAt:min(d.LookedAt+findBatch, len(rows))]
		entries := make([]string, len(batch))
		partly := make([]bool, len(batch))
		if err := inParallel(len(batch), func(i int) (err error) {
			entries[i], partly[i], err = c.findEntry(ctx, f, batch[i])
			return err
		}); err != nil {
			return nil, nil, err
		}
		for i, entry := range entries {
			if entry != "" && (d.Matched == d.Limit || !p.add(entry)) {
				if d.Matched > 0 {
					d.NextOffset, d.CutBy = batch[i].rank, p.full
					return p, shown, nil
				}
				p.force(entry)
			}
			if entry != "" {
				d.Matched++
				shown = append(shown, batch[i].hit.DocID)
			} else if partly[i] {
				d.Partly++
			}
			d.LookedAt = batch[i].rank
		}
	}
	return p, shown, nil
}

// findEntry renders the matching lines of a document, empty if there are none; partly says that
// not all of it was looked through.
func (c *Controller) findEntry(ctx context.Context, f *finder, r row) (entry string, partly bool, err error) {
	d, err := c.document(ctx, r.hit.DocID)
	if errors.Is(err, retrieval.ErrNoDocument) || len(r.hit.DocID) > longestDocID {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	var lines []matchedLine
	more := 0
	f.lines(ctx, d.text, 1, func(l matchedLine) {
		if len(lines) < linesOfHit {
			lines = append(lines, l)
		} else {
			more++
		}
	})
	if err := ctx.Err(); err != nil {
		return "", false, err
	}
	if len(lines) == 0 {
		return "", !d.whole, nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d. docid=%s\n", r.rank, tool.ShowID(r.hit.DocID))
	title := r.hit.Title
	if title == "" {
		title = d.title
	}
	if title != "" {
		b.WriteString("   Title: " + firstCharacters(squeeze(title), titleShown) + "\n")
	}
	for _, l := range lines {
		piece, first, last := around(l.text, l.at, longestMatch)
		where := fmt.Sprint(l.number)
		if first > 0 {
			where += fmt.Sprintf(", characters %d-%d", first, last)
		}
		fmt.Fprintf(&b, "   Line %s: %s\n", where, tool.OneLine(piece))
	}
	if more > 0 {
		fmt.Fprintf(&b, "   (%d more matching lines: read_document({\"reason\":\"...\",\"docid\":%s,\"find\":%s}))\n", more, tool.QuoteJSON(r.hit.DocID), tool.QuoteJSON(f.written))
	}
	if !d.whole {
		fmt.Fprintf(&b, "   (only its first %d MB were looked through; read_document with find looks through all)\n", documentBytes>>20)
	}
	return b.String(), !d.whole, nil
}

func findHead(d FindDetails) string {
	var b strings.Builder
	first := min(d.Offset, d.Total)
	if d.LookedAt < d.Offset {
		first = 0
	}
	fmt.Fprintf(&b, "ranks %d-%d of %d looked through for find=%s, search_id=%s", first, max(d.LookedAt, first), d.Total, tool.QuoteJSON(d.Find), tool.ShowID(d.SearchID))
	for _, n := range d.Notes {
		b.WriteString("\nNote: " + n)
	}
	if d.Partly > 0 {
		fmt.Fprintf(&b, "\nNote: of %d documents that are not shown only the first %d MB were looked through; read_document with find looks through all of one.", d.Partly, documentBytes>>20)
	}
	if d.Matched == 0 {
		b.WriteString("\n\nNo document among them matches. Try other words, or a shorter phrase.")
	}
	return b.String()
}

func findFoot(d FindDetails) string {
	if d.NextOffset == 0 {
		return "No more documents to look through."
	}
	foot := ""
	if d.CutBy != "" {
		foot = fmt.Sprintf("The page is full: %d matching documents were asked for.\n", d.Limit)
	}
	return foot + fmt.Sprintf("More: read_search_results({\"reason\":\"...\",\"search_id\":%s,\"find\":%s,\"offset\":%d,\"limit\":%d})",
		tool.QuoteJSON(d.SearchID), tool.QuoteJSON(d.Find), d.NextOffset, d.Limit)
}
