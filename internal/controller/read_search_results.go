package controller

import (
	"context"
	"fmt"
	"strings"

	"goserini/internal/tool"
)

// allRankings is the search_id that stands for all rankings kept, for find.
const allRankings = "all"

func (c *Controller) browseParameters() []parameter {
	nav := c.options.Navigator
	params := []parameter{
		reason,
		{name: "search_id", kind: text, required: true,
			about: "The search_id that search returned."},
		{name: "offset", kind: integer, def: c.options.FirstPage + 1,
			about: "First rank to show, counted from 1."},
		{name: "limit", kind: integer, def: c.options.PageHits,
			about: "Number of hits to show."},
	}
	if nav.Find {
		if !c.options.Stateless {
			params[1].about += fmt.Sprintf(" With find, %q stands for all rankings so far.", allRankings)
		}
		params[2].about += " With find it is 1 unless given."
		params = append(params, parameter{name: "find", kind: text,
			about: "A phrase or regular expression to look for in the text of the ranked documents; shows the documents that match, with the matching lines."})
	}
	if nav.Novelty {
		params = append(params, newOnlyParameter)
	}
	return params
}

func (c *Controller) beginBrowse(args arguments) (work, error) {
	id := strings.TrimSpace(args.texts["search_id"])
	if id == "" {
		return nil, missing(BrowseTool, "search_id", `{"reason":"look deeper","search_id":"s1","offset":6,"limit":10}`, c.browseParameters())
	}
	if find := args.texts["find"]; strings.TrimSpace(find) != "" {
		return c.beginFindInRanking(args, id, find)
	}
	slot, err := c.rankings.find(id)
	if err != nil {
		return nil, err
	}
	page := hitPage{
		slot:    slot,
		offset:  args.integer("offset", c.options.FirstPage+1),
		limit:   args.integer("limit", c.options.PageHits),
		newOnly: args.booleans["new_only"],
		moment:  c.history.moment(),
		notes:   args.notes,
	}
	return func(ctx context.Context) (tool.Result, error) { return c.showHits(ctx, page) }, nil
}
