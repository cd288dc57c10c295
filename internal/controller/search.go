package controller

import (
	"context"
	"strings"

	"goserini/internal/tool"
)

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
	page := hitPage{slot: c.rankings.issue(query), offset: 1, limit: c.options.FirstPage, notes: args.notes}
	return func(ctx context.Context) (tool.Result, error) { return c.showHits(ctx, page) }, nil
}
