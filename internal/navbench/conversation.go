package navbench

import (
	"context"
	"encoding/json"
	"fmt"

	"goserini/internal/controller"
	"goserini/internal/retrieval"
	"goserini/internal/tool"
)

// bytesPerToken turns the length of a text into tokens.
const bytesPerToken = 4

func tokens(bytes int) float64 { return float64(bytes) / bytesPerToken }

// conversation is one question's dealings with the tools.
type conversation struct {
	tools []tool.Tool
	// firstPage and pageHits are the hits of the page that search returns, and of the others.
	firstPage, pageHits int
	// bytes of all results so far.
	bytes int
}

func newConversation(r retrieval.Retriever, v Variant) *conversation {
	c := controller.New(r, v.Options)
	o := c.Options()
	return &conversation{tools: c.Tools(), firstPage: o.FirstPage, pageHits: o.PageHits}
}

// definitions are the tokens of what a model is told of the tools.
func (c *conversation) definitions() float64 {
	bytes := 0
	for _, t := range c.tools {
		bytes += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return tokens(bytes)
}

type searchArguments struct {
	Reason  string   `json:"reason"`
	Query   string   `json:"query"`
	Queries []string `json:"queries,omitempty"`
	NewOnly bool     `json:"new_only,omitempty"`
}

type browseArguments struct {
	Reason   string `json:"reason"`
	SearchID string `json:"search_id"`
	Offset   int    `json:"offset"`
	Limit    int    `json:"limit"`
}

type readArguments struct {
	Reason string `json:"reason"`
	DocID  string `json:"docid"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty"`
	Column int    `json:"column,omitempty"`
	Find   string `json:"find,omitempty"`
}

const why = "benchmark"

func (c *conversation) call(ctx context.Context, name string, arguments any) (tool.Result, error) {
	raw, err := json.Marshal(arguments)
	if err != nil {
		return tool.Result{}, fmt.Errorf("arguments of %s: %w", name, err)
	}
	for _, t := range c.tools {
		if t.Name == name {
			result, err := t.Begin(raw)(ctx)
			c.bytes += len(result.Text)
			if err == nil && result.IsError {
				err = fmt.Errorf("%s(%s): %s", name, raw, result.Text)
			}
			return result, err
		}
	}
	return tool.Result{}, fmt.Errorf("there is no tool %s", name)
}

func (c *conversation) search(ctx context.Context, query string) (tool.Result, string, error) {
	return c.searchAll(ctx, []string{query}, false)
}

// searchAll searches for queries together.
func (c *conversation) searchAll(ctx context.Context, queries []string, newOnly bool) (tool.Result, string, error) {
	result, err := c.call(ctx, controller.SearchTool, searchArguments{why, queries[0], queries[1:], newOnly})
	if err != nil {
		return result, "", err
	}
	d, ok := result.Details.(controller.RankingDetails)
	if !ok {
		return result, "", fmt.Errorf("search: details are %T", result.Details)
	}
	return result, d.SearchID, nil
}

func (c *conversation) browse(ctx context.Context, searchID string, offset, limit int) (tool.Result, error) {
	return c.call(ctx, controller.BrowseTool, browseArguments{why, searchID, offset, limit})
}

func (c *conversation) read(ctx context.Context, a readArguments) (tool.Result, controller.ReadDetails, error) {
	a.Reason = why
	result, err := c.call(ctx, controller.ReadTool, a)
	if err != nil {
		return result, controller.ReadDetails{}, err
	}
	d, ok := result.Details.(controller.ReadDetails)
	if !ok {
		return result, d, fmt.Errorf("read_document: details are %T", result.Details)
	}
	return result, d, nil
}
