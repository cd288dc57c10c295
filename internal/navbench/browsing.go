package navbench

import (
	"context"
	"slices"

	"goserini/internal/eval"
	"goserini/internal/retrieval"
	"goserini/internal/tool"
	"goserini/internal/trec"
)

// bands of ranks for the share of excerpts that hold the answer.
const bands = 3

// BandNames name the bands of ranks.
var BandNames = [bands]string{"1–5", "6–50", "51–1000"}

func band(rank int) int {
	switch {
	case rank <= 5:
		return 0
	case rank <= 50:
		return 1
	}
	return 2
}

// glimpse is what pages showed of the evidence, and what they cost.
type glimpse struct {
	bytes int
	// previewed counts the evidence documents that stand on the pages, shown the gold
	// documents there whose text as shown holds a span.
	previewed, shown int
}

func (g *glimpse) add(page tool.Result, q question, evidence map[string]bool) {
	g.bytes += len(page.Text)
	g.previewed += eval.Hits(page.Access.Previewed, evidence)
	excerpts := excerptsOf(page.Text)
	for _, docid := range q.gold {
		if holdsAny(excerpts[docid], q.spans) {
			g.shown++
		}
	}
}

// browsing is what the pages of one search showed.
type browsing struct {
	// gold counts the gold documents ranked in a band, shown those whose excerpt holds a span,
	// holding those that hold one anywhere.
	gold, shown, holding [bands]int
	// first and toTwenty are two readers: one that sees the first page only, and one that
	// browses on to rank 20.
	first, toTwenty glimpse
	// page is the length of the page behind the first in bytes, 0 where it is not full.
	page int
	// ranking are the first ranksKept hits.
	ranking []string
}

// browse searches for a question and looks at the pages that its gold documents are on.
func browse(ctx context.Context, r retrieval.Retriever, v Variant, q question, qrels trec.Qrels) (browsing, error) {
	var b browsing
	talk := newConversation(r, v)
	page, searchID, err := talk.search(ctx, q.text)
	if err != nil {
		return b, err
	}
	evidence := eval.Relevant(qrels[q.id], 1)
	ranking := page.Access.Surfaced
	b.ranking = ranking[:min(ranksKept, len(ranking))]
	b.first.add(page, q, evidence)
	b.toTwenty = b.first
	excerpts := map[int]map[string]string{1: excerptsOf(page.Text)}
	for offset := talk.firstPage + 1; offset <= min(20, len(ranking)); offset += talk.pageHits {
		limit := min(talk.pageHits, 20-offset+1)
		if page, err = talk.browse(ctx, searchID, offset, limit); err != nil {
			return b, err
		}
		b.toTwenty.add(page, q, evidence)
		if limit == talk.pageHits {
			excerpts[offset] = excerptsOf(page.Text)
		}
		if offset == talk.firstPage+1 && len(ranking) >= offset+talk.pageHits-1 {
			b.page = len(page.Text)
		}
	}
	for _, docid := range q.gold {
		rank := 1 + slices.Index(ranking, docid)
		if rank == 0 {
			continue
		}
		offset := talk.pageOf(rank)
		if excerpts[offset] == nil {
			if page, err = talk.browse(ctx, searchID, offset, talk.pageHits); err != nil {
				return b, err
			}
			excerpts[offset] = excerptsOf(page.Text)
		}
		b.gold[band(rank)]++
		if q.holding[docid] {
			b.holding[band(rank)]++
		}
		if holdsAny(excerpts[offset][docid], q.spans) {
			b.shown[band(rank)]++
		}
	}
	return b, nil
}

// pageOf returns the first rank of the page that shows a rank to whoever browses on.
func (c *conversation) pageOf(rank int) int {
	if rank <= c.firstPage {
		return 1
	}
	return rank - (rank-c.firstPage-1)%c.pageHits
}
