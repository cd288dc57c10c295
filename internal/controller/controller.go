package controller

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
)

// The descriptions are what a model is told about the tools; changing one changes the
// fingerprint in the manifest.
var (
	//go:embed search.md
	searchDescription string
	//go:embed read_search_results.md
	browseDescription string
	//go:embed read_document.md
	readDescription string
)

// The names of the tools.
const (
	SearchTool = "search"
	BrowseTool = "read_search_results"
	ReadTool   = "read_document"
)

// reason is the first parameter of every tool. It is asked for and recorded, but
// neither its length nor its presence is enforced: the paper's system never checks
// it, and a call refused for it would only cost a turn.
var reason = tool.Parameter{
	Name: "reason", Kind: tool.Text, Required: true,
	About: "Why this call, in fewer than 100 words: the clue, gap, candidate or ranking problem it is about. Give it first.",
}

// Controller offers the tools over one retriever. It holds what one conversation has
// searched, so each conversation gets its own; with Options.Stateless it may be
// shared. It is safe for concurrent use.
type Controller struct {
	retriever retrieval.Retriever
	options   Options
	rankings  *rankings
	history   *history
}

// New returns a controller over r.
func New(r retrieval.Retriever, options Options) *Controller {
	options = options.resolved()
	return &Controller{
		retriever: r,
		options:   options,
		rankings:  newRankings(options.Rankings, options.Stateless),
		history:   newHistory(),
	}
}

// Options returns the options with all defaults filled in, for the manifest.
func (c *Controller) Options() Options { return c.options }

// Fingerprint identifies what a model is told about the tools.
func (c *Controller) Fingerprint() string { return tool.Fingerprint(c.Tools()) }

// Tools returns search, read_search_results and read_document. Their descriptions and
// schemas depend on the options alone.
func (c *Controller) Tools() []tool.Tool {
	return []tool.Tool{
		c.tool(SearchTool, searchDescription, c.searchParameters(), c.beginSearch),
		c.tool(BrowseTool, browseDescription, c.browseParameters(), c.beginBrowse),
		c.tool(ReadTool, readDescription, c.readParameters(), c.beginRead),
	}
}

// work is the part of a call that may run concurrently with others.
type work func(ctx context.Context) (tool.Result, error)

// tool wraps begin, which sees converted arguments, into a tool.
func (c *Controller) tool(name, description string, params []tool.Parameter, begin func(tool.Arguments) (work, error)) tool.Tool {
	return tool.Tool{
		Name:        name,
		Description: c.describe(name, description),
		Schema:      tool.Schema(params),
		Begin: func(raw json.RawMessage) func(context.Context) (tool.Result, error) {
			args, err := tool.ParseArguments(name, params, raw)
			var do work
			if err == nil {
				do, err = begin(args)
			}
			if err != nil {
				do = func(context.Context) (tool.Result, error) { return tool.Result{}, err }
			}
			return func(ctx context.Context) (tool.Result, error) {
				result, err := do(ctx)
				if err != nil {
					result, err = refusal(name, err)
				}
				return c.withBudget(result), err
			}
		},
	}
}

// describe fills a description in: it is a template over the options, so that it says
// what these tools do and nothing else.
func (c *Controller) describe(name, description string) string {
	var b strings.Builder
	t, err := template.New(name).Parse(description)
	if err == nil {
		err = t.Execute(&b, c.options)
	}
	if err != nil {
		panic(fmt.Sprintf("controller: description of %s: %v", name, err)) // the text is part of the program
	}
	return strings.TrimSpace(b.String())
}

// withBudget ends a result with the budget line, if that is on.
func (c *Controller) withBudget(result tool.Result) tool.Result {
	if c.options.Navigator.BudgetLine && c.options.Budget != nil && result.Text != "" {
		if line := c.options.Budget().line(); line != "" {
			result.Text += "\n" + line
		}
	}
	return result
}

// FailureDetails are the details of a result that is an error.
type FailureDetails struct {
	// Cause is for the operator; the model does not see it.
	Cause string `json:"cause,omitempty"`
}

// refusal turns an error into a result where the model can do something about it:
// mistakes in its call, and a backend that may answer later. Everything else ends the
// question.
func refusal(name string, err error) (tool.Result, error) {
	var m tool.Mistake
	switch {
	case errors.As(err, &m):
		return tool.Result{Text: string(m), IsError: true}, nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return tool.Result{}, err
	case errors.Is(err, retrieval.ErrUnavailable):
		return tool.Result{
			Text:    name + ": the document collection did not answer. Try the same call once more; if it fails again, answer from what you have already seen and say that the collection became unreachable.",
			IsError: true,
			Details: FailureDetails{Cause: err.Error()},
		}, nil
	}
	return tool.Result{}, fmt.Errorf("%s: %w", name, err)
}

// milliseconds since start, for details.
func milliseconds(start time.Time) float64 {
	return float64(time.Since(start).Microseconds()) / 1000
}
