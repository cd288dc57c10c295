package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"goserini/internal/bm25"
	"goserini/internal/controller"
	"goserini/internal/index"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/local"
	"goserini/internal/retrieval/open"
	"goserini/internal/retrieval/remote"
)

// retrieverFlag chooses what is searched. index:DIR is the same as --index DIR.
type retrieverFlag struct{ spec string }

func (f *retrieverFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.spec, "retriever", "", "what to search instead of --index: "+open.Forms)
}

// resolve turns index:DIR into the index's folder and checks that there is one thing to search.
func (f *retrieverFlag) resolve(cmd *cobra.Command, dir *string) error {
	if f.spec != "" && *dir != "" {
		return usagef(cmd, "give either --index or --retriever, not both")
	}
	if rest, ok := strings.CutPrefix(f.spec, "index:"); ok && rest != "" {
		*dir, f.spec = rest, ""
	}
	return nil
}

// collection is what is searched: an index, or a retriever over something else.
type collection struct {
	retrieval.Retriever
	// index is nil for everything but an index; params are its k1 and b, source says why.
	index  *index.Index
	params bm25.Params
	source string
	// spec describes what it is, name is short.
	spec, name string
	closer     func() error
}

func (c *collection) close() {
	if c.closer != nil {
		_ = c.closer() // it was only read
	}
}

// openCollection opens an index, or the retriever that the flag names.
func (f *retrieverFlag) openCollection(cmd *cobra.Command, warn func(string, ...any), dir string, params bm25Flags) (*collection, error) {
	if err := f.resolve(cmd, &dir); err != nil {
		return nil, err
	}
	if f.spec != "" {
		return openRemote(f.spec, warn)
	}
	if dir == "" {
		return nil, usagef(cmd, "say what to search: --index DIR, or --retriever SPEC")
	}
	ix, err := openIndex(dir)
	if err != nil {
		return nil, err
	}
	p, source, err := params.resolve(cmd, ix.Stats(), anseriniDefault)
	if err != nil {
		ix.Close()
		return nil, err
	}
	return &collection{Retriever: local.New(ix, p), index: ix, params: p, source: source, spec: "index:" + dir, name: collectionName(dir), closer: ix.Close}, nil
}

// openRemote opens a retriever that is no index. A model is told in a sentence when it does
// not answer; warn tells the operator why.
func openRemote(spec string, warn func(string, ...any)) (*collection, error) {
	watch := &outage{spec: spec, warn: warn}
	opened, err := open.Retriever(spec, open.Options{Policy: remote.Policy{Ended: watch.ended}})
	if err != nil {
		return nil, err
	}
	kind, _, _ := strings.Cut(spec, ":")
	return &collection{Retriever: opened.Retriever, index: opened.Index, params: opened.Params, spec: opened.Spec, name: kind, closer: func() error {
		watch.ended(nil)
		return opened.Close()
	}}, nil
}

// outage tells of the first of several failures in a row, and at their end how many there were.
type outage struct {
	spec string
	warn func(string, ...any)

	mu    sync.Mutex
	calls int // that have failed since the last one that succeeded
}

func (o *outage) ended(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case err == nil && o.calls > 1:
		o.warn("%s: %d calls in a row failed", o.spec, o.calls)
		o.calls = 0
	case err == nil:
		o.calls = 0
	default:
		if o.calls++; o.calls == 1 {
			o.warn("%s: %v", o.spec, err)
		}
	}
}

// collectionName is the name of an index in addresses: that of its folder.
func collectionName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return strings.TrimSuffix(filepath.Base(dir), ".index")
}

// servedProfile is the profile of the tools that mcp and serve offer unless told otherwise.
const servedProfile = "navigator"

// servedTools are the options of a profile for clients that keep nothing between calls; a
// page is no longer than maxBytes.
func servedTools(profile string, maxBytes int) (controller.Options, error) {
	options, err := controller.Profile(profile)
	options.Stateless, options.PageBytes = true, maxBytes
	return options, err
}

// searchRemote prints the ranking of a retriever that is no index.
func (o *searchOptions) searchRemote(ctx context.Context, term *terminal, cmd *cobra.Command, query string) error {
	depth, err := o.depth(cmd, 10)
	if err != nil {
		return err
	}
	c, err := openRemote(o.retriever.spec, func(string, ...any) {}) // the error says it all
	if err != nil {
		return err
	}
	defer c.close()
	ranking, err := c.Search(ctx, retrieval.SearchRequest{Query: query, Depth: depth})
	if err != nil {
		return err
	}
	result := searchResult{Query: query, Retriever: c.spec, Hits: make([]searchHit, 0, len(ranking))}
	for i, h := range ranking {
		result.Hits = append(result.Hits, searchHit{Rank: i + 1, DocID: h.DocID, Score: h.Score, Title: h.Title, URL: h.URL, Excerpt: h.Excerpt})
	}
	if err := remoteExcerpts(ctx, c.Retriever, query, result.Hits); err != nil {
		return err
	}
	if o.json {
		return term.json(result)
	}
	showRanking(term, result.Hits)
	return nil
}

// remoteExcerpts fills in the excerpts that a ranking came without, from the documents where
// the retriever makes none.
func remoteExcerpts(ctx context.Context, r retrieval.Retriever, query string, hits []searchHit) error {
	x, makes := r.(retrieval.Excerpter)
	for i := range hits {
		h := &hits[i]
		if h.Excerpt != "" {
			continue
		}
		if makes {
			made, err := x.Excerpts(ctx, query, []string{h.DocID})
			if err != nil {
				return err
			}
			h.Excerpt, h.Title = made[0].Text, made[0].Title
			continue
		}
		chunk, err := r.Read(ctx, retrieval.ReadRequest{DocID: h.DocID, Offset: 1, Limit: 1000})
		switch {
		case errors.Is(err, retrieval.ErrNoDocument):
			continue
		case err != nil:
			return err
		}
		h.Excerpt = retrieval.EarliestExcerpt(query, strings.Join(chunk.Lines, "\n"), retrieval.EarliestLength).Text
		if h.Title == "" {
			h.Title = chunk.Title
		}
	}
	return nil
}
