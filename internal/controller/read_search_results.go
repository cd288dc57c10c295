package controller

import (
	"context"
	"strings"

	"goserini/internal/tool"
)

func (c *Controller) browseParameters() []parameter {
	return []parameter{
		reason,
		{name: "search_id", kind: text, required: true,
			about: "The search_id that search returned."},
		{name: "offset", kind: integer, def: c.options.FirstPage + 1,
			about: "First rank to show, counted from 1."},
		{name: "limit", kind: integer, def: c.options.PageHits,
			about: "Number of hits to show."},
	}
}

func (c *Controller) beginBrowse(args arguments) (work, error) {
	id := strings.TrimSpace(args.texts["search_id"])
	if id == "" {
		return nil, missing(BrowseTool, "search_id", `{"reason":"look deeper","search_id":"s1","offset":6,"limit":10}`, c.browseParameters())
	}
	slot, err := c.rankings.find(id)
	if err != nil {
		return nil, err
	}
	page := hitPage{
		slot:   slot,
		offset: args.integer("offset", c.options.FirstPage+1),
		limit:  args.integer("limit", c.options.PageHits),
		notes:  args.notes,
	}
	return func(ctx context.Context) (tool.Result, error) { return c.showHits(ctx, page) }, nil
}
