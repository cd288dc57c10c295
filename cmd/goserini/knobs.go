package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/agent"
	"goserini/internal/controller"
)

// knobFlags are what a run can turn and other commands leave at their defaults.
type knobFlags struct {
	pages       controller.Options
	promptFile  string
	systemFile  string
	forbidTools bool
	tries       int
	firstWait   time.Duration
	longestWait time.Duration

	prompt, system string
}

// sizes are the flags for the sizes of pages. The profile has its own where none is given.
var sizes = []struct {
	name, usage string
	of          func(*controller.Options) *int
}{
	{"first-page", "hits that search shows at once", func(o *controller.Options) *int { return &o.FirstPage }},
	{"page-hits", "hits that read_search_results shows unless asked otherwise", func(o *controller.Options) *int { return &o.PageHits }},
	{"read-lines", "lines that read_document shows unless asked otherwise", func(o *controller.Options) *int { return &o.ReadLines }},
	{"excerpt-depth", "deepest rank that has an excerpt", func(o *controller.Options) *int { return &o.ExcerptDepth }},
	{"excerpt-length", "characters of an excerpt of the navigator, on average", func(o *controller.Options) *int { return &o.ExcerptLength }},
	{"opening-length", "characters of the navigator's first page of a document", func(o *controller.Options) *int { return &o.OpeningLength }},
	{"rankings", "rankings kept for browsing", func(o *controller.Options) *int { return &o.Rankings }},
	{"page-lines", "most lines of a tool's result", func(o *controller.Options) *int { return &o.PageLines }},
	{"page-bytes", "most bytes of a tool's result", func(o *controller.Options) *int { return &o.PageBytes }},
}

func (f *knobFlags) register(cmd *cobra.Command) {
	defaults := controller.New(nil, controller.Options{}).Options()
	fl := cmd.Flags()
	for _, s := range sizes {
		fl.IntVar(s.of(&f.pages), s.name, *s.of(&defaults), s.usage)
	}
	fl.StringVar(&f.promptFile, "prompt", "", "a file with another prompt; {{question}} stands where the question goes")
	fl.StringVar(&f.systemFile, "system", "", "a file with a system text")
	fl.BoolVar(&f.forbidTools, "forbid-tools", false, "at the end of the research also tell the provider; may lose the prefix cache")
	fl.IntVar(&f.tries, "tries", 6, "most tries of a model call that fails for a while")
	fl.DurationVar(&f.firstWait, "first-wait", 500*time.Millisecond, "wait after the first failure of a call; doubles with each")
	fl.DurationVar(&f.longestWait, "longest-wait", 30*time.Second, "longest wait between tries")
}

// resolve checks the values and reads the files.
func (f *knobFlags) resolve(cmd *cobra.Command) error {
	for _, s := range sizes {
		v := s.of(&f.pages)
		switch {
		case !cmd.Flags().Changed(s.name):
			*v = 0
		case *v < 1:
			return usagef(cmd, "--%s %d: want at least 1", s.name, *v)
		}
	}
	if f.tries < 1 {
		return usagef(cmd, "--tries %d: want at least 1", f.tries)
	}
	if f.firstWait <= 0 || f.longestWait < f.firstWait {
		return usagef(cmd, "--first-wait %v and --longest-wait %v: want times above 0, the second not below the first", f.firstWait, f.longestWait)
	}
	for _, text := range []struct {
		path string
		into *string
	}{{f.promptFile, &f.prompt}, {f.systemFile, &f.system}} {
		if text.path == "" {
			continue
		}
		b, err := os.ReadFile(text.path)
		if err != nil {
			return fmt.Errorf("read prompt: %w", err)
		}
		if *text.into = string(b); strings.TrimSpace(*text.into) == "" {
			return fmt.Errorf("read prompt: %s is empty", text.path)
		}
	}
	if f.prompt != "" && !strings.Contains(f.prompt, agent.Placeholder) {
		return fmt.Errorf("read prompt: %s has no %s where the question belongs: add it", f.promptFile, agent.Placeholder)
	}
	return nil
}

// apply puts the sizes of pages that were given into the options of the tools.
func (f *knobFlags) apply(o *controller.Options) {
	for _, s := range sizes {
		if v := *s.of(&f.pages); v > 0 {
			*s.of(o) = v
		}
	}
}

func (f *knobFlags) retry() agent.Retry {
	return agent.Retry{Tries: f.tries, Base: f.firstWait, Max: f.longestWait}
}

// systemHash identifies the system text, "" without one.
func (f *knobFlags) systemHash() string {
	if f.system == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(f.system))
	return hex.EncodeToString(sum[:])
}
