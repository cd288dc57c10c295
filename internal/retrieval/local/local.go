// Package local answers queries from an index on this machine.
package local

import (
	"context"
	"fmt"
	"math"

	"goserini/internal/analysis"
	"goserini/internal/bm25"
	"goserini/internal/index"
	"goserini/internal/retrieval"
)

// Retriever ranks and reads the documents of one index. It is safe for concurrent use.
type Retriever struct {
	ix     *index.Index
	params bm25.Params
}

var (
	_ retrieval.Retriever    = (*Retriever)(nil)
	_ retrieval.Excerpter    = (*Retriever)(nil)
	_ retrieval.TermStats    = (*Retriever)(nil)
	_ retrieval.PrefixKeeper = (*Retriever)(nil)

	_ retrieval.PassageRanker = (*Retriever)(nil)
	_ retrieval.LineReader    = (*Retriever)(nil)
)

// passageParams score passages, which are short and of one length whatever the documents are
// like, for which the documents' parameters were chosen.
var passageParams = bm25.Anserini

// New returns a retriever over ix that scores with params. The caller keeps ix open
// as long as the retriever is used, and closes it.
func New(ix *index.Index, params bm25.Params) *Retriever { return &Retriever{ix: ix, params: params} }

// Search ranks the documents that hold any term of the query.
func (r *Retriever) Search(ctx context.Context, req retrieval.SearchRequest) (retrieval.Ranking, error) {
	found, err := r.ix.Search(ctx, index.Query{Text: req.Query, Params: r.params, Depth: req.Depth})
	if err != nil {
		return nil, fmt.Errorf("local search: %w", err)
	}
	ranking := make(retrieval.Ranking, len(found.Hits))
	for i, h := range found.Hits {
		if ranking[i], err = r.hit(h); err != nil {
			return nil, fmt.Errorf("local search: %w", err)
		}
	}
	if !req.Passages {
		return ranking, nil
	}
	passages, err := r.passages(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("local search of passages: %w", err)
	}
	fused, _ := retrieval.Fuse([]retrieval.Ranking{ranking, passages}, req.Depth)
	return fused, nil
}

// passages ranks documents by their best passages.
func (r *Retriever) passages(ctx context.Context, req retrieval.SearchRequest) (retrieval.Ranking, error) {
	found, err := r.ix.SearchPassages(ctx, index.Query{Text: req.Query, Params: passageParams, Depth: req.Depth})
	if err != nil {
		return nil, err
	}
	ranking := make(retrieval.Ranking, len(found))
	for i, p := range found {
		if ranking[i], err = r.hit(index.Hit{DocID: p.DocID, Ordinal: p.Ordinal, Score: p.Score}); err != nil {
			return nil, err
		}
		ranking[i].Passage = retrieval.Stretch{FirstLine: p.FirstLine, LastLine: p.LastLine, Begin: p.Begin, End: p.End}
	}
	return ranking, nil
}

func (r *Retriever) hit(h index.Hit) (retrieval.Hit, error) {
	title, url, err := r.ix.Title(h.Ordinal)
	return retrieval.Hit{DocID: h.DocID, Score: h.Score, HasScore: true, Title: title, URL: url}, err
}

// HoldsPassages implements [retrieval.PassageRanker].
func (r *Retriever) HoldsPassages() error { return r.ix.HoldsPassages() }

// Read returns lines of a document.
func (r *Retriever) Read(_ context.Context, req retrieval.ReadRequest) (retrieval.Chunk, error) {
	ord, ok := r.ix.Lookup(req.DocID)
	if !ok {
		return retrieval.Chunk{}, fmt.Errorf("local read %q: %w", req.DocID, retrieval.ErrNoDocument)
	}
	m, err := r.ix.Meta(ord)
	if err != nil {
		return retrieval.Chunk{}, fmt.Errorf("local read %q: %w", req.DocID, err)
	}
	most := int64(math.MaxInt64)
	if req.MaxBytes > 0 {
		most = int64(req.MaxBytes)
	}
	lines, cut, err := r.ix.LinesWithin(ord, req.Offset, req.Limit, most)
	if err != nil {
		return retrieval.Chunk{}, fmt.Errorf("local read %q: %w", req.DocID, err)
	}
	return retrieval.Chunk{DocID: req.DocID, Title: m.Title, Lines: lines, Offset: req.Offset, TotalLines: m.Lines, Cut: cut}, nil
}

// LineBytes implements [retrieval.LineReader].
func (r *Retriever) LineBytes(_ context.Context, docid string, line int, from, limit int64) (string, int64, error) {
	ord, ok := r.ix.Lookup(docid)
	if !ok {
		return "", 0, fmt.Errorf("local read %q: %w", docid, retrieval.ErrNoDocument)
	}
	text, length, err := r.ix.LineBytes(ord, line, from, limit)
	if err != nil {
		return "", 0, fmt.Errorf("local read %q: %w", docid, err)
	}
	return text, length, nil
}

// Analyze calls emit for every term of text.
func (r *Retriever) Analyze(text string, emit func(term []byte, start, end int)) {
	r.ix.Analyzer().Analyze(text, func(t analysis.Token) { emit(t.Term, t.Start, t.End) })
}

// DF is the number of documents that hold the term; 0 where the index cannot tell.
func (r *Retriever) DF(term string) int {
	df, err := r.ix.DF(term)
	if err != nil {
		return 0
	}
	return df
}

// N is the number of documents that have terms.
func (r *Retriever) N() int { return int(r.ix.Stats().WithTokens) }

// KeepsPrefix reports whether terms keep the beginning of words: Porter's stems and
// unstemmed words do.
func (r *Retriever) KeepsPrefix() bool {
	name := r.ix.Analyzer().Name()
	return name == "english" || name == "none"
}
