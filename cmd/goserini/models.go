package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/controller"
	"goserini/internal/llm"
	"goserini/internal/llm/provider"
)

// modelsReport is the JSON form of which models there are.
type modelsReport struct {
	Keys    []keyEntry    `json:"keys"`
	Servers []serverEntry `json:"servers"`
	Priced  []priceEntry  `json:"priced"`
}

type keyEntry struct {
	Provider string `json:"provider"`
	// Key is its variable, where that was set, and its last four characters.
	Key string `json:"key"`
}

type serverEntry struct {
	Provider string       `json:"provider"`
	URL      string       `json:"url"`
	Models   []modelEntry `json:"models"`
}

type modelEntry struct {
	Name   string `json:"name"`
	Window int    `json:"window,omitempty"`
}

type priceEntry struct {
	Model      string  `json:"model"`
	Input      float64 `json:"input_per_million_usd"`
	CacheRead  float64 `json:"cache_read_per_million_usd"`
	CacheWrite float64 `json:"cache_write_per_million_usd"`
	Output     float64 `json:"output_per_million_usd"`
	AsOf       string  `json:"as_of,omitempty"`
	Source     string  `json:"source"`
	Note       string  `json:"note,omitempty"`
}

func newModels(term *terminal) *cobra.Command {
	var f modelFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "models",
		Short:   "Which models are configured, found on this machine, and priced",
		Example: "  goserini models",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := f.models(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return term.json(report)
			}
			report.show(term)
			return nil
		},
	}
	cmd.Flags().StringVar(&f.endpoints, "endpoints", "", "a JSON file of named endpoints")
	cmd.Flags().StringArrayVar(&f.prices, "prices", nil, "a price table that overrides the built-in one (repeatable)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func (f *modelFlags) models(ctx context.Context) (modelsReport, error) {
	r, err := f.registry()
	if err != nil {
		return modelsReport{}, err
	}
	prices, err := llm.LoadPrices(f.prices...)
	if err != nil {
		return modelsReport{}, err
	}
	report := modelsReport{Keys: keyEntries(r), Servers: serverEntries(ctx, r), Priced: []priceEntry{}}
	for _, p := range prices.All() {
		e := priceEntry{Model: p.Model, Input: p.Input, CacheRead: p.CacheRead, CacheWrite: p.CacheWrite, Output: p.Output, Source: p.Source, Note: p.Note}
		if !p.AsOf.IsZero() {
			e.AsOf = p.AsOf.Format(time.DateOnly)
		}
		report.Priced = append(report.Priced, e)
	}
	return report, nil
}

func keyEntries(r *provider.Registry) []keyEntry {
	out := []keyEntry{}
	for _, k := range r.Keys() {
		out = append(out, keyEntry{k.Provider, k.Key.String()})
	}
	return out
}

func serverEntries(ctx context.Context, r *provider.Registry) []serverEntry {
	out := []serverEntry{}
	for _, s := range r.Servers(ctx) {
		e := serverEntry{Provider: s.Provider, URL: s.URL, Models: []modelEntry{}}
		for _, m := range s.Models {
			e.Models = append(e.Models, modelEntry{m.Name, m.Window})
		}
		out = append(out, e)
	}
	return out
}

func (r modelsReport) show(term *terminal) {
	term.print("without a model   %s\n", lexicalModel)
	for _, k := range r.Keys {
		term.print("configured        %s/…  %s\n", k.Provider, printable(k.Key))
	}
	for _, s := range r.Servers {
		for _, m := range s.Models {
			window := "window unknown"
			if m.Window > 0 {
				window = count(m.Window) + " tokens"
			}
			term.print("on this machine   %s/%s  %s, %s\n", s.Provider, printable(m.Name), s.URL, window)
		}
		if len(s.Models) == 0 {
			term.print("on this machine   %s/…  %s\n", s.Provider, s.URL)
		}
	}
	if len(r.Keys)+len(r.Servers) == 0 {
		term.print("configured        nothing: no key in the environment, no server on the usual ports of this machine\n")
	}
	term.print("\n%-34s %9s %9s %9s %9s  %-10s\n", "priced, $ per million tokens", "input", "cached", "write", "output", "as of")
	for _, p := range r.Priced {
		term.print("%-34s %9.4g %9.4g %9.4g %9.4g  %-10s\n", p.Model, p.Input, p.CacheRead, p.CacheWrite, p.Output, p.AsOf)
	}
}

// finding is one line of the doctor: what was looked at, what is there, what to do.
type finding struct {
	// State is ok, note or problem.
	State string `json:"state"`
	What  string `json:"what"`
	Fact  string `json:"fact"`
	Fix   string `json:"fix,omitempty"`
}

func newDoctor(term *terminal) *cobra.Command {
	var f modelFlags
	var dir string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "What is there, what is missing, and what to do about it",
		Long:    "Look at this machine, keys (their last four characters only), named endpoints, local servers, an index\nand the price table. Only addresses on this machine are asked.",
		Example: "  goserini doctor --index my.index",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := f.examine(cmd.Context(), dir)
			if asJSON {
				if err := term.json(findings); err != nil {
					return err
				}
			} else {
				showFindings(term, findings)
			}
			for _, x := range findings {
				if x.State == "problem" {
					return fmt.Errorf("%s: %s", x.What, x.Fact)
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "index", "", "also check this index, every checksum of it")
	cmd.Flags().StringVar(&f.endpoints, "endpoints", "", "a JSON file of named endpoints")
	cmd.Flags().StringArrayVar(&f.prices, "prices", nil, "a price table that overrides the built-in one (repeatable)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func (f *modelFlags) examine(ctx context.Context, dir string) []finding {
	b := readBuildInfo()
	out := []finding{
		{"ok", "program", fmt.Sprintf("goserini %s, %s, %s, %d processors", b.Version, b.Go, b.Platform, runtime.NumCPU()), ""},
		f.examineTools(),
	}
	out = append(out, f.examineModels(ctx)...)
	out = append(out, f.examinePrices())
	if dir != "" {
		out = append(out, examineIndex(ctx, dir))
	}
	return append(out, examineFolders()...)
}

// bytesPerToken estimates tokens where no tokenizer is at hand; providers count their own.
const bytesPerToken = 4

func (f *modelFlags) examineTools() finding {
	total := 0
	for _, t := range controller.New(nil, controller.Options{}).Tools() {
		total += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return finding{"ok", "tools", fmt.Sprintf("the definitions of the three tools are about %d tokens (%d bytes by %d)", total/bytesPerToken, total, bytesPerToken), ""}
}

func (f *modelFlags) examineModels(ctx context.Context) []finding {
	r, err := f.registry()
	if err != nil {
		return []finding{{"problem", "endpoints", err.Error(), "correct the file of named endpoints"}}
	}
	var out []finding
	if path := f.endpoints; path != "" || defaultEndpoints() != "" {
		if path == "" {
			path = defaultEndpoints()
		}
		out = append(out, finding{"ok", "endpoints", "named endpoints from " + path, ""})
	}
	for _, k := range keyEntries(r) {
		out = append(out, finding{"ok", "key", k.Provider + ": " + k.Key, ""})
	}
	servers := serverEntries(ctx, r)
	for _, s := range servers {
		out = append(out, examineServer(s))
	}
	if len(out) == 0 {
		out = append(out, finding{"note", "models", "no key in the environment and no local server on the usual ports",
			"set a key, for example export DEEPSEEK_API_KEY=…, or start a local server; " + lexicalModel + " works without"})
	}
	return out
}

// smallWindow is a context window in which a question of a few dozen tool results does not fit.
const smallWindow = 16_384

func examineServer(s serverEntry) finding {
	var names []string
	small := false
	for _, m := range s.Models {
		name := m.Name
		if m.Window > 0 {
			name += fmt.Sprintf(" (%s tokens)", count(m.Window))
			small = small || m.Window < smallWindow
		}
		names = append(names, name)
	}
	x := finding{"ok", "server", fmt.Sprintf("%s at %s: %s", s.Provider, s.URL, strings.Join(names, ", ")), ""}
	if small {
		x.State, x.Fix = "note", "a small window fills soon: start the server with a larger one, or use --shorten mask"
	}
	return x
}

// oldPrices is the age at which prices should be looked at again.
const oldPrices = 180 * 24 * time.Hour

func (f *modelFlags) examinePrices() finding {
	prices, err := llm.LoadPrices(f.prices...)
	if err != nil {
		return finding{"problem", "prices", err.Error(), "correct the price table"}
	}
	age := time.Since(prices.Date())
	x := finding{"ok", "prices", fmt.Sprintf("%d prices, the newest of %s, %d days old", len(prices.All()), prices.Date().Format(time.DateOnly), int(age.Hours()/24)), ""}
	if age > oldPrices {
		x.State, x.Fix = "note", "prices may have changed: give newer ones with --prices"
	}
	return x
}

func examineIndex(ctx context.Context, dir string) finding {
	ix, err := openIndex(dir)
	if err != nil {
		return finding{"problem", "index", err.Error(), ""}
	}
	defer ix.Close()
	if err := ix.Verify(ctx); err != nil {
		return finding{"problem", "index", err.Error(), ""}
	}
	s := ix.Stats()
	return finding{"ok", "index", fmt.Sprintf("%s: %s documents, analyzer %s, format %d, every checksum right", dir, count(s.Documents), s.Analyzer, s.FormatVersion), ""}
}

// examineFolders tells where the program writes, and whether it can.
func examineFolders() []finding {
	var out []finding
	for _, place := range []struct {
		name string
		dir  func() (string, error)
	}{{"cache", cacheDir}, {"data", dataDir}} {
		dir, err := place.dir()
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		if err != nil {
			out = append(out, finding{"problem", place.name, err.Error(), "make the folder writable, or set XDG_CACHE_HOME and XDG_DATA_HOME"})
			continue
		}
		out = append(out, finding{"ok", place.name, dir, ""})
	}
	return out
}

func showFindings(term *terminal, findings []finding) {
	for _, x := range findings {
		mark := term.paint(green, "ok     ")
		switch x.State {
		case "note":
			mark = term.paint(yellow, "note   ")
		case "problem":
			mark = term.paint(red, "problem")
		}
		term.print("%s  %-9s  %s\n", mark, x.What, printable(x.Fact))
		if x.Fix != "" {
			term.print("         %-9s  %s\n", "", printable(x.Fix))
		}
	}
}
