package controller

import (
	"context"
	"fmt"
	"strings"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
)

// longestStatelessQuery bounds, in bytes, what a search id that carries its query may
// carry: it stands on every page.
const longestStatelessQuery = 2000

// maxQueries is the most that one search takes.
const maxQueries = 8

func (c *Controller) searchParameters() []tool.Parameter {
	nav := c.options.Navigator
	about := "The words to look for, as one plain string. Short beats long; there are no operators or fields."
	if nav.Syntax {
		about = "The words to look for, as one plain string. Short beats long."
	}
	params := []tool.Parameter{reason, {Name: "query", Kind: tool.Text, Required: true, About: about}}
	if nav.MultiQuery {
		params = append(params, tool.Parameter{Name: "queries", Kind: tool.List,
			About: fmt.Sprintf("Further queries to search together with query, at most %d in all; their rankings are fused into one.", maxQueries)})
	}
	if nav.Novelty {
		params = append(params, newOnlyParameter)
	}
	return params
}

// newOnlyParameter asks for hits that no page has shown.
var newOnlyParameter = tool.Parameter{Name: "new_only", Kind: tool.Boolean,
	About: "Show only hits that no earlier page has shown; further ones take their places."}

func (c *Controller) beginSearch(args tool.Arguments) (work, error) {
	req, err := c.searchRequest(args)
	if err != nil {
		return nil, err
	}
	page := hitPage{offset: 1, limit: c.options.FirstPage, notes: args.Notes, moment: c.history.moment(), newOnly: args.Booleans["new_only"]}
	if c.options.Navigator.Novelty {
		page.slot = c.rankings.same(req)
		page.repeated = page.slot != nil
	}
	if page.slot == nil {
		page.slot = c.rankings.issue(req)
	}
	return func(ctx context.Context) (tool.Result, error) { return c.showHits(ctx, page) }, nil
}

// searchRequest reads the queries of a call. The error is a mistake.
func (c *Controller) searchRequest(args tool.Arguments) (request, error) {
	var req request
	for _, query := range append([]string{args.Texts["query"]}, args.Lists["queries"]...) {
		if query = strings.TrimSpace(query); query != "" {
			req.queries = append(req.queries, query)
		}
	}
	switch {
	case len(req.queries) == 0:
		return req, tool.Missing(SearchTool, "query", `{"reason":"find the keeper","query":"lighthouse keeper 1904"}`, c.searchParameters())
	case len(req.queries) > maxQueries:
		return req, tool.Mistake(fmt.Sprintf("search: %d queries are too many; at most %d are searched together. Call search again with fewer.", len(req.queries), maxQueries))
	case c.options.Stateless && req.size() > longestStatelessQuery:
		return req, tool.Mistake(fmt.Sprintf("search: query has %d bytes; at most %d are accepted. Call search again with the few words that matter.", req.size(), longestStatelessQuery))
	}
	return req, nil
}

// fetch searches each query of a request and fuses what they find.
func (c *Controller) fetch(ctx context.Context, req request) (*found, error) {
	each := make([]*found, len(req.queries))
	err := inParallel(len(each), func(i int) (err error) {
		each[i], err = c.fetchOne(ctx, req.queries[i])
		return err
	})
	if err != nil || len(each) == 1 {
		return each[0], err
	}
	all := &found{}
	rankings := make([]retrieval.Ranking, len(each))
	var terms []string
	for i, f := range each {
		rankings[i] = f.ranking
		terms = append(terms, f.terms)
		for _, line := range f.reading {
			all.reading = append(all.reading, fmt.Sprintf("Query %d: %s", i+1, line))
		}
	}
	all.terms = strings.Join(terms, " ")
	all.ranking, all.origins = retrieval.Fuse(rankings, c.options.Depth)
	return all, nil
}

// fetchOne searches one query.
func (c *Controller) fetchOne(ctx context.Context, query string) (*found, error) {
	if c.options.Navigator.Syntax {
		return c.searchPlan(ctx, query)
	}
	ranking, err := c.retriever.Search(ctx, c.request(query))
	return &found{ranking: ranking, terms: query}, err
}
