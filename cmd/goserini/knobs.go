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

func (f *knobFlags) register(cmd *cobra.Command) {
	defaults := controller.New(nil, controller.Options{}).Options()
	fl := cmd.Flags()
	for _, k := range []struct {
		value       *int
		name, usage string
		def         int
	}{
		{&f.pages.FirstPage, "first-page", "hits that search shows at once", defaults.FirstPage},
		{&f.pages.PageHits, "page-hits", "hits that read_search_results shows unless asked otherwise", defaults.PageHits},
		{&f.pages.ReadLines, "read-lines", "lines that read_document shows unless asked otherwise", defaults.ReadLines},
		{&f.pages.ExcerptDepth, "excerpt-depth", "deepest rank that has an excerpt", defaults.ExcerptDepth},
		{&f.pages.ExcerptLength, "excerpt-length", "characters of an excerpt of the navigator, on average", defaults.ExcerptLength},
		{&f.pages.OpeningLength, "opening-length", "characters of the navigator's first page of a document", defaults.OpeningLength},
		{&f.pages.Rankings, "rankings", "rankings kept for browsing", defaults.Rankings},
		{&f.pages.PageLines, "page-lines", "most lines of a tool's result", defaults.PageLines},
		{&f.pages.PageBytes, "page-bytes", "most bytes of a tool's result", defaults.PageBytes},
	} {
		fl.IntVar(k.value, k.name, k.def, k.usage)
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
	for name, v := range map[string]int{"first-page": f.pages.FirstPage, "page-hits": f.pages.PageHits, "read-lines": f.pages.ReadLines,
		"excerpt-depth": f.pages.ExcerptDepth, "excerpt-length": f.pages.ExcerptLength, "opening-length": f.pages.OpeningLength,
		"rankings": f.pages.Rankings, "page-lines": f.pages.PageLines, "page-bytes": f.pages.PageBytes, "tries": f.tries} {
		if v < 1 {
			return usagef(cmd, "--%s %d: want at least 1", name, v)
		}
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

// apply puts the sizes of pages into the options of the tools.
func (f *knobFlags) apply(o *controller.Options) {
	for _, k := range []struct{ to, from *int }{
		{&o.FirstPage, &f.pages.FirstPage}, {&o.PageHits, &f.pages.PageHits}, {&o.ReadLines, &f.pages.ReadLines},
		{&o.ExcerptDepth, &f.pages.ExcerptDepth}, {&o.ExcerptLength, &f.pages.ExcerptLength}, {&o.OpeningLength, &f.pages.OpeningLength},
		{&o.Rankings, &f.pages.Rankings}, {&o.PageLines, &f.pages.PageLines}, {&o.PageBytes, &f.pages.PageBytes},
	} {
		if *k.from > 0 {
			*k.to = *k.from
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
