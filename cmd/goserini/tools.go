package main

import (
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/agent"
	"goserini/internal/controller"
	"goserini/internal/notebook"
	"goserini/internal/retrieval"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// toolFlags choose what the model's tools can do.
type toolFlags struct {
	profile string
	parts   []string
}

func (f *toolFlags) register(cmd *cobra.Command, profile string) {
	cmd.Flags().StringVar(&f.profile, "profile", profile, "the tools: "+strings.Join(controller.Profiles(), " or "))
	cmd.Flags().StringSliceVar(&f.parts, "parts", nil, "instead of a profile, the paper's tools with these parts: "+strings.Join(controller.PartNames(), ", ")+"; navigator stands for those of that profile")
	cmd.MarkFlagsMutuallyExclusive("profile", "parts")
}

// name is what the manifest calls the tools.
func (f *toolFlags) name() string {
	if len(f.parts) > 0 {
		return "paper with parts"
	}
	return f.profile
}

func (f *toolFlags) options(cmd *cobra.Command, depth int) (controller.Options, error) {
	options, err := controller.Profile(f.profile)
	if err != nil {
		return options, usagef(cmd, "--profile: %w", err)
	}
	if len(f.parts) > 0 {
		options, err = controller.Profile(controller.Profiles()[0])
		if err != nil {
			return options, err
		}
		if options.Navigator, err = controller.ParseNavigator(f.parts...); err != nil {
			return options, usagef(cmd, "--parts: %w", err)
		}
	}
	options.Depth = depth
	return options, nil
}

// notebookOptions are the parts that stand beside the tools.
func notebookOptions(o controller.Options) notebook.Options {
	return notebook.Options{Notes: o.Navigator.Notebook, Verify: o.Navigator.Verify}
}

// offered are all tools that a model is offered for a question. The company is nil where no part asks for one.
func offered(r retrieval.Retriever, o controller.Options, question string) ([]tool.Tool, agent.Companion) {
	tools := controller.New(r, o).Tools()
	parts := notebookOptions(o)
	if parts == (notebook.Options{}) {
		return tools, nil
	}
	n := notebook.New(question, parts)
	return append(tools, n.Tools()...), n
}

// spent counts what a question has used, for the budget line of the tools.
type spent struct {
	limits agent.Budget
	start  time.Time

	mu     sync.Mutex
	calls  int
	tokens int64
}

func newSpent(limits agent.Budget) *spent { return &spent{limits: limits, start: time.Now()} }

func (s *spent) event(e trajectory.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case e.Call != nil:
		s.calls++
	case e.Turn != nil:
		u := e.Turn.Usage
		s.tokens += u.Input + u.CacheRead + u.CacheWrite + u.Output
	}
}

func (s *spent) budget() controller.Budget {
	s.mu.Lock()
	defer s.mu.Unlock()
	return controller.Budget{
		TimeLeft: max(0, s.limits.Timeout-time.Since(s.start)), Time: s.limits.Timeout,
		CallsLeft: max(0, s.limits.MaxCalls-s.calls), Calls: s.limits.MaxCalls,
		TokensLeft: max(0, s.limits.MaxTokens-s.tokens), Tokens: s.limits.MaxTokens,
	}
}
