package controller

import (
	"context"
	"fmt"
	"strings"

	"goserini/internal/tool"
)

// longestStatelessQuery bounds, in bytes, what a search id that carries its query may
// carry: it stands on every page.
const longestStatelessQuery = 2000

func (c *Controller) searchParameters() []parameter {
	return []parameter{
		reason,
		{name: "query", kind: text, required: true,
			about: "The words to look for, as one plain string. Short beats long; there are no operators or fields."},
	}
}

func (c *Controller) beginSearch(args arguments) (work, error) {
	query := strings.TrimSpace(args.texts["query"])
	if query == "" {
		return nil, missing(SearchTool, "query", `{"reason":"find the keeper","query":"lighthouse keeper 1904"}`, c.searchParameters())
	}
	if c.options.Stateless && len(query) > longestStatelessQuery {
		return nil, mistake(fmt.Sprintf("search: query has %d bytes; at most %d are accepted. Call search again with the few words that matter.", len(query), longestStatelessQuery))
	}
	page := hitPage{slot: c.rankings.issue(query), offset: 1, limit: c.options.FirstPage, notes: args.notes}
	return func(ctx context.Context) (tool.Result, error) { return c.showHits(ctx, page) }, nil
}
