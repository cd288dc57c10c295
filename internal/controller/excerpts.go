package controller

import (
	"context"
	"errors"
	"math"
	"strings"

	"goserini/internal/retrieval"
)

// excerptBatch is the number of hits excerpted at a time, so that a page that fills up
// early has not excerpted what it never shows.
const excerptBatch = 16

// excerpts are those of the hits of one page, made in batches as the page grows.
type excerpts struct {
	c     *Controller
	query string
	first int // rank of hits[0]
	hits  retrieval.Ranking
	done  []retrieval.Excerpt
	// cause is why some are missing, for the operator.
	cause string
}

func (c *Controller) newExcerpts(query string, first int, hits retrieval.Ranking) *excerpts {
	return &excerpts{c: c, query: query, first: first, hits: hits}
}

// at returns the excerpt of the i-th hit. Calls come in order of i.
func (e *excerpts) at(ctx context.Context, i int) (retrieval.Excerpt, error) {
	for len(e.done) <= i {
		batch := e.hits[len(e.done):]
		batch = batch[:min(excerptBatch, len(batch))]
		made, err := e.make(ctx, e.first+len(e.done), batch)
		if err != nil {
			return retrieval.Excerpt{}, err
		}
		e.done = append(e.done, made...)
	}
	return e.done[i], nil
}

// make excerpts a batch: what the retriever gave with the ranking, else, down to
// ExcerptDepth, what it makes on request, else what the document itself gives.
func (e *excerpts) make(ctx context.Context, first int, batch retrieval.Ranking) ([]retrieval.Excerpt, error) {
	out := make([]retrieval.Excerpt, len(batch))
	var missing []int
	for i, h := range batch {
		out[i] = retrieval.Excerpt{Title: h.Title, Text: h.Excerpt, Truncated: h.ExcerptTruncated}
		if h.Excerpt == "" && first+i <= e.c.options.ExcerptDepth {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 || e.cause != "" {
		return out, nil
	}
	ids := make([]string, len(missing))
	for j, i := range missing {
		ids[j] = batch[i].DocID
	}
	made, err := e.c.excerptsOf(ctx, e.query, ids)
	if errors.Is(err, retrieval.ErrUnavailable) {
		e.cause = err.Error() // the ranking is worth showing without
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	for j, i := range missing {
		out[i] = made[j]
	}
	return out, nil
}

// excerptsOf makes the paper's excerpts of documents.
func (c *Controller) excerptsOf(ctx context.Context, query string, docids []string) ([]retrieval.Excerpt, error) {
	if x, ok := c.retriever.(retrieval.Excerpter); ok {
		made, err := x.Excerpts(ctx, query, docids)
		if err != nil {
			return nil, err
		}
		if len(made) != len(docids) {
			return nil, errors.New("the retriever did not return one excerpt a document")
		}
		return made, nil
	}
	made := make([]retrieval.Excerpt, len(docids))
	for i, id := range docids {
		chunk, err := c.retriever.Read(ctx, retrieval.ReadRequest{DocID: id, Offset: 1, Limit: math.MaxInt32})
		switch {
		case errors.Is(err, retrieval.ErrNoDocument):
			continue // ranked but not stored: the page says that there is no excerpt
		case err != nil:
			return nil, err
		}
		made[i] = retrieval.EarliestExcerpt(query, strings.Join(chunk.Lines, "\n"), retrieval.EarliestLength)
		made[i].Title = chunk.Title
	}
	return made, nil
}
