package navbench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"goserini/internal/bm25"
	"goserini/internal/controller"
	"goserini/internal/index"
	"goserini/internal/retrieval/local"
)

// exampleStep is a call made with the tools of both profiles.
type exampleStep struct {
	heading, tool string
	// paper and navigator are the arguments; an empty one is not called.
	paper, navigator string
}

var exampleSteps = []exampleStep{
	{"A search", controller.SearchTool, `{"reason":"first look","query":"lighthouse keeper diary"}`, `{"reason":"first look","query":"lighthouse keeper diary"}`},
	{"Further down", controller.BrowseTool, `{"reason":"further down","search_id":"s1","limit":3}`, `{"reason":"further down","search_id":"s1","limit":3}`},
	{"The same query again", controller.SearchTool, `{"reason":"once more","query":"lighthouse keeper diary"}`, `{"reason":"once more","query":"lighthouse keeper diary"}`},
	{"A phrase and an exclusion", controller.SearchTool, `{"reason":"narrower","query":"\"lighthouse keeper\" -lamp"}`, `{"reason":"narrower","query":"\"lighthouse keeper\" -lamp"}`},
	{"Looking into what was ranked", controller.BrowseTool, ``, `{"reason":"years","search_id":"s1","find":"/\\b18[0-9]{2}\\b/","limit":3}`},
	{"Several queries at once, with the part multi-query", controller.SearchTool, ``, `{"reason":"two ways to say it","queries":["lighthouse keeper diary","harbour pilot logbook"]}`},
}

// Examples shows the same calls in both profiles over an index.
func Examples(ctx context.Context, ix *index.Index, params bm25.Params) (string, error) {
	var b strings.Builder
	b.WriteString("# The same search in both profiles\n\nMade by `goserini bench navigation --examples docs/navigation-examples.md` over the embedded collection.\n" +
		"What the parts of the navigator do is described in [tools.md](tools.md); what they are worth is measured in [navigation.md](navigation.md).\n")
	talks := map[string]*conversation{}
	for _, name := range controller.Profiles() {
		options, err := controller.Profile(name)
		if err != nil {
			return "", err
		}
		options.Budget = fixedBudget
		// It adds nothing to a page but those that its argument asks for.
		options.Navigator.MultiQuery = name == "navigator"
		talks[name] = newConversation(local.New(ix, params), Variant{name, options})
	}
	for _, step := range exampleSteps {
		fmt.Fprintf(&b, "\n## %s\n", step.heading)
		for _, name := range controller.Profiles() {
			arguments := step.navigator
			if name == "paper" {
				arguments = step.paper
			}
			if arguments == "" {
				continue
			}
			result, err := talks[name].call(ctx, step.tool, json.RawMessage(arguments))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "\n`%s`: `%s(%s)`, %.0f tokens\n\n```\n%s\n```\n", name, step.tool, arguments, tokens(len(result.Text)), result.Text)
		}
	}
	return b.String(), nil
}
