package controller

import (
	"context"
	"fmt"
	"strings"

	"goserini/internal/tool"
)

// allRankings is the search_id that stands for all rankings kept, for find.
const allRankings = "all"

func (c *Controller) browseParameters() []tool.Parameter {
	nav := c.options.Navigator
	params := []tool.Parameter{
		reason,
		{Name: "search_id", Kind: tool.Text, Required: true,
			About: "The search_id that search returned."},
		{Name: "offset", Kind: tool.Integer, Default: c.options.FirstPage + 1,
			About: "First rank to show, counted from 1."},
		{Name: "limit", Kind: tool.Integer, Default: c.options.PageHits,
			About: "Number of hits to show."},
	}
	if nav.Find {
		if !c.options.Stateless {
			params[1].About += fmt.Sprintf(" With find, %q stands for all rankings so far.", allRankings)
		}
		params[2].About += " With find it is 1 unless given."
		params = append(params, tool.Parameter{Name: "find", Kind: tool.Text,
			About: "A phrase or regular expression to look for in the text of the ranked documents; shows the documents that match, with the matching lines."})
	}
	if nav.Novelty {
		params = append(params, newOnlyParameter)
	}
	return params
}

func (c *Controller) beginBrowse(args tool.Arguments) (work, error) {
	id := strings.TrimSpace(args.Texts["search_id"])
	if id == "" {
		return nil, tool.Missing(BrowseTool, "search_id", `{"reason":"look deeper","search_id":"s1","offset":6,"limit":10}`, c.browseParameters())
	}
	if find := args.Texts["find"]; strings.TrimSpace(find) != "" {
		return c.beginFindInRanking(args, id, find)
	}
	slot, err := c.rankings.find(id)
	if err != nil {
		return nil, err
	}
	page := hitPage{
		slot:    slot,
		offset:  args.Integer("offset", c.options.FirstPage+1),
		limit:   args.Integer("limit", c.options.PageHits),
		newOnly: args.Booleans["new_only"],
		moment:  c.history.moment(),
		notes:   args.Notes,
	}
	return func(ctx context.Context) (tool.Result, error) { return c.showHits(ctx, page) }, nil
}
