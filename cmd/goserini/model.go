package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"time"

	"goserini/internal/llm"
	"goserini/internal/llm/lexical"
	"goserini/internal/llm/openaichat"
	"goserini/internal/llm/script"
	"goserini/internal/trajectory"
)

// model is a client together with what is known about the model behind it.
type model struct {
	client llm.Client
	// name is the provider's own name, label is provider/name.
	name, label     string
	isLanguageModel bool
	window          int
	// price is nil where the model is unpriced; priceDate is that of the table.
	price     func(trajectory.Usage) float64
	priceDate string
}

// withPrice looks the model up in the price table: the embedded one, overridden by files.
func (m model) withPrice(files []string) (model, error) {
	prices, err := llm.LoadPrices(files...)
	if err != nil {
		return m, err
	}
	m.priceDate = prices.Date().Format(time.DateOnly)
	if price, ok := prices.For(m.label, time.Now()); ok {
		m.price = price.Cost
	}
	return m, nil
}

const lexicalModel = "builtin/lexical"

// chatProvider is a server that speaks Chat Completions.
type chatProvider struct {
	keyVar, baseVar, base string
	keyOptional           bool
}

// chatProviders are the servers reached by name. Keys and base URLs come from the variables
// that each vendor documents.
var chatProviders = map[string]chatProvider{
	"openai":     {keyVar: "OPENAI_API_KEY", baseVar: "OPENAI_BASE_URL", base: "https://api.openai.com/v1"},
	"deepseek":   {keyVar: "DEEPSEEK_API_KEY", baseVar: "DEEPSEEK_BASE_URL", base: "https://api.deepseek.com"},
	"openrouter": {keyVar: "OPENROUTER_API_KEY", baseVar: "OPENROUTER_BASE_URL", base: "https://openrouter.ai/api/v1"},
	"groq":       {keyVar: "GROQ_API_KEY", baseVar: "GROQ_BASE_URL", base: "https://api.groq.com/openai/v1"},
	"mistral":    {keyVar: "MISTRAL_API_KEY", baseVar: "MISTRAL_BASE_URL", base: "https://api.mistral.ai/v1"},
	"vllm":       {keyVar: "VLLM_API_KEY", baseVar: "VLLM_BASE_URL", base: "http://127.0.0.1:8000/v1", keyOptional: true},
	"llamacpp":   {keyVar: "LLAMACPP_API_KEY", baseVar: "LLAMACPP_BASE_URL", base: "http://127.0.0.1:8080/v1", keyOptional: true},
	"ollama":     {keyVar: "OLLAMA_API_KEY", baseVar: "OLLAMA_BASE_URL", base: "http://127.0.0.1:11434/v1", keyOptional: true},
	"lmstudio":   {keyVar: "LMSTUDIO_API_KEY", baseVar: "LMSTUDIO_BASE_URL", base: "http://127.0.0.1:1234/v1", keyOptional: true},
}

// openModel finds the client for provider/model; the first slash separates, and a colon will do.
func openModel(name string) (model, error) {
	if name == "" || name == lexicalModel {
		return model{client: lexical.New(), name: "lexical", label: lexicalModel}, nil
	}
	provider, rest := splitModel(name)
	if rest == "" {
		return model{}, fmt.Errorf("--model %q: want PROVIDER/MODEL, for example deepseek/deepseek-chat, or %s", name, lexicalModel)
	}
	if provider == "script" {
		c, err := script.Open(rest)
		if err != nil {
			return model{}, err
		}
		return model{client: c, name: rest, label: name}, nil
	}
	p, ok := chatProviders[provider]
	if !ok {
		return model{}, fmt.Errorf("--model %q: no provider %q; there are builtin, script, %s", name, provider, strings.Join(providerNames(), ", "))
	}
	key := os.Getenv(p.keyVar)
	if key == "" && !p.keyOptional && os.Getenv(p.baseVar) == "" {
		return model{}, withHint(fmt.Errorf("no key for %s: the variable %s is not set", provider, p.keyVar),
			"set it with: export %s=…   or try without a model: --model %s", p.keyVar, lexicalModel)
	}
	base := p.base
	if other := os.Getenv(p.baseVar); other != "" {
		base = other
	}
	c, err := openaichat.New(openaichat.Config{Provider: provider, BaseURL: base, Key: key, KeyName: p.keyVar})
	if err != nil {
		return model{}, fmt.Errorf("--model %q: %w", name, err)
	}
	return model{client: c, name: rest, label: provider + "/" + rest, isLanguageModel: true}, nil
}

func splitModel(name string) (provider, rest string) {
	if i := strings.IndexAny(name, "/:"); i > 0 {
		return name[:i], name[i+1:]
	}
	return name, ""
}

func providerNames() []string {
	var names []string
	for name := range chatProviders {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// sayWhatIsThere tells which models could be used, before a command falls back on the
// policy that needs none: keys by the name of their variable, local servers if one answers.
func sayWhatIsThere(ctx context.Context, term *terminal) {
	var keys []string
	for _, name := range providerNames() {
		if p := chatProviders[name]; os.Getenv(p.keyVar) != "" {
			keys = append(keys, fmt.Sprintf("%s (--model %s/…)", p.keyVar, name))
		}
	}
	servers := localServers(ctx)
	switch {
	case len(keys) == 0 && len(servers) == 0:
		term.say("no model named; found no key (%s, …) and no local server", "OPENAI_API_KEY, DEEPSEEK_API_KEY")
	default:
		term.say("no model named; found: %s", strings.Join(append(keys, servers...), ", "))
	}
	term.say("running %s: a scripted policy over word matching, %s", lexicalModel, term.paint(bold, "not a language model"))
}

// localServers asks the usual ports on loopback, all at once and briefly, whether a model server is there.
func localServers(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	names := []string{"llamacpp", "lmstudio", "ollama", "vllm"}
	found := make([]string, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			base := chatProviders[name].base
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/models", nil)
			if err != nil {
				return
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return
			}
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				found[i] = fmt.Sprintf("a server at %s (--model %s/…)", base, name)
			}
		})
	}
	wg.Wait()
	var out []string
	for _, f := range found {
		if f != "" {
			out = append(out, f)
		}
	}
	return out
}
