package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"goserini/internal/agent"
	"goserini/internal/llm"
	"goserini/internal/llm/limit"
	"goserini/internal/llm/provider"
	"goserini/internal/trajectory"
)

const lexicalModel = "builtin/lexical"

// model is a client together with what is known about the model behind it.
type model struct {
	client llm.Client
	// name is the provider's own name, label is provider/name.
	name, label, effort string
	isLanguageModel     bool
	// temperature is nil where it is left to the provider.
	temperature *float64
	// window is the context window in tokens, 0 where unknown.
	window int
	// price is nil where the model is unpriced; priceDate is that of the table.
	price     func(trajectory.Usage) float64
	priceDate string
}

// modelFlags choose a model and how it is reached.
type modelFlags struct {
	name        string
	effort      string
	endpoints   string
	baseURL     string
	temperature float64
	window      int
	shorten     string
	record      string
	replay      string
	rates       limit.Rates
	prices      []string
}

func (f *modelFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.name, "model", "", "PROVIDER/MODEL (also PROVIDER:MODEL, with @EFFORT), builtin/lexical (no language model) or script/FILE")
	cmd.Flags().StringVar(&f.shorten, "shorten", "off", "when the window fills: off, mask old results, or compact old turns")
	f.registerAccess(cmd)
}

// registerAccess registers how models are reached, whatever their names.
func (f *modelFlags) registerAccess(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.effort, "effort", "", "the provider's word for reasoning effort")
	fl.StringVar(&f.endpoints, "endpoints", "", "a JSON file of named endpoints (default: endpoints.json in the configuration folder, if there is one)")
	fl.StringVar(&f.baseURL, "base-url", "", "reach the model here instead")
	fl.Float64Var(&f.temperature, "temperature", 0, "sampling temperature, where the provider takes one (default: the provider's)")
	fl.IntVar(&f.window, "window", 0, "the model's context window in tokens (default: what the server or the price table says)")
	fl.StringVar(&f.record, "record", "", "keep every model call in this folder")
	fl.StringVar(&f.replay, "replay", "", "answer model calls from this folder; a call it does not hold is an error")
	fl.IntVar(&f.rates.RequestsPerMinute, "requests-per-minute", 0, "most model requests a minute with one key (0 is no limit)")
	fl.IntVar(&f.rates.TokensPerMinute, "tokens-per-minute", 0, "most tokens a minute with one key (0 is no limit)")
	fl.StringArrayVar(&f.prices, "prices", nil, "a price table that overrides the built-in one (repeatable)")
}

// shortening is what happens when the context window fills.
func (f *modelFlags) shortening(cmd *cobra.Command) (agent.Shortening, error) {
	switch f.shorten {
	case "off":
		return agent.ShortenOff, nil
	case string(agent.ShortenMask), string(agent.ShortenCompact):
		return agent.Shortening(f.shorten), nil
	}
	return "", usagef(cmd, "--shorten %q: want off, mask or compact", f.shorten)
}

// registry knows the providers: those built in and those of the user's own file.
func (f *modelFlags) registry() (*provider.Registry, error) {
	path := f.endpoints
	if path == "" {
		if path = defaultEndpoints(); path == "" {
			return provider.New(provider.Environment)
		}
	}
	named, err := provider.LoadEndpoints(path)
	if err != nil {
		return nil, err
	}
	return provider.New(provider.Environment, named...)
}

// defaultEndpoints is the user's file of named endpoints, "" if there is none.
func defaultEndpoints() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	path := filepath.Join(dir, "goserini", "endpoints.json")
	if !fileExists(path) {
		return ""
	}
	return path
}

// open finds the model the flags name; without a name it is the policy that needs none.
func (f *modelFlags) open(ctx context.Context, cmd *cobra.Command, term *terminal) (model, error) {
	name := f.name
	if name == "" {
		name = lexicalModel
	}
	r, err := f.registry()
	if err != nil {
		return model{}, err
	}
	options := provider.Options{BaseURL: f.baseURL, Window: f.window, Rates: f.rates, Record: f.record, Replay: f.replay,
		Notice: func(text string) { term.warn("%s", text) }}
	if cmd.Flags().Changed("temperature") {
		options.Temperature = &f.temperature
	}
	m, err := r.Open(name, options)
	var missing *provider.MissingKeyError
	if errors.As(err, &missing) {
		return model{}, withHint(fmt.Errorf("--model %q: %w", name, err), "set it with: export %s=…   or try without a model: --model %s", missing.Vars[0], lexicalModel)
	}
	if err != nil {
		return model{}, fmt.Errorf("--model %q: %w", name, err)
	}
	out := model{client: m.Client, name: m.Name.Model, label: m.Name.String(), effort: f.effort, isLanguageModel: m.IsLanguageModel, window: f.window, temperature: options.Temperature}
	if out.effort == "" {
		out.effort = m.Name.Effort
	}
	return out, out.complete(ctx, f, m, term)
}

// complete adds what the price table and the server know of the model.
func (m *model) complete(ctx context.Context, f *modelFlags, opened provider.Model, term *terminal) error {
	prices, err := llm.LoadPrices(f.prices...)
	if err != nil {
		return err
	}
	for _, q := range prices.Questions {
		term.warn("%s", q)
	}
	m.priceDate = prices.Date().Format(time.DateOnly)
	price, priced := prices.For(m.label, time.Now())
	if priced {
		m.price = price.Cost
	}
	if m.window == 0 && m.isLanguageModel && f.replay == "" {
		if m.window, err = opened.Window(ctx); err != nil {
			term.warn("the context window of %s is not known: %v", m.label, err)
		}
	}
	if m.window == 0 && priced {
		m.window = price.Window
	}
	if m.isLanguageModel && !priced {
		term.warn("no price is known for %s, so its cost shows as unpriced (give one with --prices)", m.label)
	}
	return nil
}

// sayWhatIsThere tells which models could be used, before a command falls back on the
// policy that needs none: keys by the name of their variable, local servers if one answers.
func sayWhatIsThere(ctx context.Context, term *terminal, f *modelFlags) error {
	r, err := f.registry()
	if err != nil {
		return err
	}
	var found []string
	for _, k := range r.Keys() {
		found = append(found, fmt.Sprintf("%s (--model %s/…)", k.Key.Var, k.Provider))
	}
	for _, s := range r.Servers(ctx) {
		name := "…"
		if len(s.Models) > 0 {
			name = s.Models[0].Name
		}
		found = append(found, fmt.Sprintf("a server at %s (--model %s/%s)", s.URL, s.Provider, name))
	}
	if len(found) == 0 {
		term.say("no model named; found no key in the environment and no local server (goserini doctor says more)")
	} else {
		term.say("no model named; found: %s", printable(strings.Join(found, ", ")))
	}
	term.say("running %s: a scripted policy over word matching, %s", lexicalModel, term.paint(bold, "not a language model"))
	return nil
}
