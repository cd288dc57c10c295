package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"goserini/internal/bm25"
)

// Passage is a stretch of a document of about 250 words, the title's included.
type Passage struct {
	DocID   string
	Ordinal Ordinal
	// Score is Lucene's raw BM25 score of the passage, over all passages.
	Score float32
	// FirstLine and LastLine are 1-based. Begin is the byte of the first one with which the
	// passage begins, 0 unless it begins within a line. End is the byte of the last one
	// before which it ends, 0 where it ends with that line.
	FirstLine, LastLine int
	Begin, End          int
}

// passages are the passages of an index: an index of their own, whose documents they are,
// and for each the document and the place where it begins.
type passages struct {
	of    *Index
	ranks *Index
	// docs, lines and columns are by passage.
	docs, lines, columns packed
}

// passageForm has the bits of the values that are stored for a passage.
type passageForm struct{ doc, line, column int }

func (f passageForm) bits() int { return f.doc + f.line + f.column }

func (s *PassageStats) check() error {
	if s.Passages < 0 || s.Passages > maxDocuments || s.WithTokens < 0 || s.WithTokens > s.Passages || s.Tokens < s.WithTokens {
		return fmt.Errorf("%d passages, %d with %d tokens are out of range", s.Passages, s.WithTokens, s.Tokens)
	}
	if s.HighestLine < 0 || s.HighestLine > maxDocumentBytes || s.HighestColumn < 0 || s.HighestColumn > maxDocumentBytes {
		return fmt.Errorf("line %d, byte %d of a passage are out of range", s.HighestLine, s.HighestColumn)
	}
	return nil
}

// form tells how passages of an index with that many documents are stored.
func (s *PassageStats) form(documents int64) passageForm {
	return passageForm{packedWidth(uint64(documents - 1)), packedWidth(uint64(s.HighestLine)), packedWidth(uint64(s.HighestColumn))}
}

func newPassages(ix *Index, s *PassageStats, at func(sectionID) section) *passages {
	form := s.form(ix.stats.Documents)
	table := at(passagesSection)
	p := &passages{
		of:      ix,
		docs:    packed{table, form.doc, form.bits(), 0},
		lines:   packed{table, form.line, form.bits(), form.doc},
		columns: packed{table, form.column, form.bits(), form.doc + form.line},
		ranks: &Index{
			dir: ix.dir, region: ix.region, analyzer: ix.analyzer,
			stats:      Stats{Documents: s.Passages, WithTokens: s.WithTokens, Tokens: s.Tokens},
			dictionary: dictionary{terms: at(passageTermsSection), index: at(passageTermIndexSection)},
			postings:   at(passagePostingsSection), norms: at(passageNormsSection),
			lowNorm: bm25.Quantise(int(s.Lengths.Min)), highNorm: bm25.Quantise(int(s.Lengths.Max)),
		},
	}
	p.ranks.documents.n = int(s.Passages)
	return p
}

// checkSizes compares the lengths of sections with the number of passages.
func (p *passages) checkSizes() error {
	n := int64(p.ranks.documents.n)
	table := int64(0)
	if n > 0 {
		table = packedBytes(n, p.docs.stride)
	}
	return errors.Join(
		p.ranks.norms.wantBytes((n+chunkDocs-1)/chunkDocs*chunkDocs),
		p.docs.wantBytes(table),
		p.ranks.dictionary.check(),
	)
}

// HoldsPassages returns nil if the index has passages, else an error that names the command
// that makes one with them.
func (ix *Index) HoldsPassages() error {
	if ix.passages == nil {
		return problem(ErrNoPassages, ix.dir, "", fmt.Sprintf("build it again with `goserini index SOURCE... --index %s --passages`", ix.dir))
	}
	return nil
}

// SearchPassages ranks the passages that hold any term of the query and returns the best one
// of each of the best Depth documents, ordered by score descending, then by the bytes of the
// docid; of equally good passages of a document the first. N, document frequencies and the
// average length are those of passages.
func (ix *Index) SearchPassages(ctx context.Context, q Query) ([]Passage, error) {
	if err := errors.Join(q.validate(), ix.HoldsPassages()); err != nil {
		return nil, err
	}
	p := ix.passages
	if p.ranks.documents.n == 0 {
		return nil, nil
	}
	terms, infos, err := p.ranks.queryTerms(q.Text)
	if err != nil {
		return nil, err
	}
	// Documents may have many passages among the best.
	const perDocument = 4
	for depth := perDocument * min(q.Depth, int(ix.stats.Documents)); ; depth *= perDocument {
		keys, err := p.best(ctx, terms, infos, q.Params, depth)
		if err != nil {
			return nil, err
		}
		found, err := p.firstOfEach(keys)
		if err != nil {
			return nil, err
		}
		complete := depth >= p.ranks.documents.n || len(keys) < depth
		if !complete && len(found) >= q.Depth {
			// Documents that tie with the last one wanted must be known, too.
			complete = keyScore(keys[len(keys)-1]) < keyScore(found[q.Depth-1].key)
		}
		if complete {
			return p.passages(found, q.Depth)
		}
	}
}

// best returns the keys of the best passages, ordered by score descending, then in the order
// of the passages.
func (p *passages) best(ctx context.Context, terms []QueryTerm, infos []termInfo, params bm25.Params, depth int) ([]uint64, error) {
	s := p.ranks.searcher()
	if err := s.rank(ctx, terms, infos, params, depth); err != nil {
		return nil, err
	}
	ordered, err := s.top.ordered(p.ranks.documents.rank)
	if err != nil {
		return nil, err
	}
	keys := slices.Clone(ordered)
	p.ranks.searchers.Put(s)
	slices.SortFunc(keys, func(a, b uint64) int {
		return cmp.Or(cmp.Compare(b>>32, a>>32), cmp.Compare(Ordinal(a), Ordinal(b)))
	})
	return keys, nil
}

// bestOfDocument is the best passage of a document.
type bestOfDocument struct {
	// key has the score and the number of the passage.
	key uint64
	doc Ordinal
	// rank is the place of the document in the order of docids.
	rank uint32
}

// firstOfEach returns the first passage of each document, by score, then by docid.
func (p *passages) firstOfEach(keys []uint64) ([]bestOfDocument, error) {
	var found []bestOfDocument
	seen := map[Ordinal]bool{}
	for _, key := range keys {
		doc, err := p.docs.at(int(Ordinal(key)))
		if err != nil {
			return nil, err
		}
		b := bestOfDocument{key: key, doc: Ordinal(doc)}
		if seen[b.doc] {
			continue
		}
		seen[b.doc] = true
		if p.of.check(b.doc) != nil {
			return nil, p.docs.corrupt(fmt.Sprintf("passage %d is of document %d", Ordinal(key), doc))
		}
		if b.rank, err = p.of.documents.rank(b.doc); err != nil {
			return nil, err
		}
		found = append(found, b)
	}
	slices.SortFunc(found, func(a, b bestOfDocument) int {
		return cmp.Or(cmp.Compare(b.key>>32, a.key>>32), cmp.Compare(a.rank, b.rank))
	})
	return found, nil
}

// passages describes the best passages of the first documents.
func (p *passages) passages(found []bestOfDocument, depth int) ([]Passage, error) {
	list := make([]Passage, min(depth, len(found)))
	for i := range list {
		b := found[i]
		at, err := p.locate(Ordinal(b.key), b.doc)
		if err != nil {
			return nil, err
		}
		id, err := p.of.documents.docid(b.doc)
		if err != nil {
			return nil, err
		}
		at.DocID, at.Ordinal, at.Score = string(id), b.doc, keyScore(b.key)
		list[i] = at
	}
	return list, nil
}

// locate tells where a passage of a document stands.
func (p *passages) locate(passage, doc Ordinal) (Passage, error) {
	var at Passage
	_, line, column, err := p.entry(passage)
	if err != nil {
		return at, err
	}
	meta, err := p.of.Meta(doc)
	if err != nil {
		return at, err
	}
	at.FirstLine, at.Begin, at.LastLine = line+1, column, meta.Lines
	if int(passage)+1 < p.ranks.documents.n {
		next, line, column, err := p.entry(passage + 1)
		if err != nil {
			return at, err
		}
		if next == doc {
			at.LastLine, at.End = line+1, column
			if column == 0 {
				at.LastLine--
			}
		}
	}
	if at.LastLine < at.FirstLine || at.LastLine > meta.Lines {
		return at, p.docs.corrupt(fmt.Sprintf("passage %d has lines %d to %d of %d", passage, at.FirstLine, at.LastLine, meta.Lines))
	}
	return at, nil
}

// entry returns the document of a passage and the line, from 0, and the byte of it where it
// begins.
func (p *passages) entry(passage Ordinal) (doc Ordinal, line, column int, err error) {
	var values [3]uint64
	for i, field := range []packed{p.docs, p.lines, p.columns} {
		if values[i], err = field.at(int(passage)); err != nil {
			return 0, 0, 0, err
		}
	}
	return Ordinal(values[0]), int(values[1]), int(values[2]), nil
}
