package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"goserini/internal/llm/openaichat"
	"goserini/internal/llm/wire"
)

// Protocol is how an endpoint is spoken to.
type Protocol string

// The protocols.
const (
	Chat      Protocol = "chat"
	Responses Protocol = "responses"
	Messages  Protocol = "messages"
	Ollama    Protocol = "ollama"
	Gemini    Protocol = "gemini"
)

var protocols = []Protocol{Chat, Responses, Messages, Ollama, Gemini}

// Endpoint is a service or a server that models are reached at. Those this program knows can be
// replaced, and others added, by a file; see docs/models.md.
type Endpoint struct {
	Name     string   `json:"-"`
	Protocol Protocol `json:"protocol"`
	BaseURL  string   `json:"base_url"`
	// URLVar overrides BaseURL where the variable is set.
	URLVar string `json:"base_url_var,omitempty"`
	// KeyVars are the variables a key is looked for in, in order.
	KeyVars []string `json:"key_vars,omitempty"`
	// NeedsKey says that the service answers nobody without one.
	NeedsKey bool `json:"needs_key,omitempty"`
	// Local marks servers that usually run on this machine: they are looked for on loopback.
	Local bool `json:"local,omitempty"`
	// Header is sent with every request; $NAME and ${NAME} stand for variables.
	Header map[string]string `json:"headers,omitempty"`
	// HeaderVar names a variable with further headers, one "Name: value" a line.
	HeaderVar string `json:"headers_var,omitempty"`
	// Reasoning, LimitName, CacheKey, NoStream and Extra are those of openaichat.Config.
	Reasoning openaichat.Reasoning       `json:"reasoning,omitempty"`
	LimitName string                     `json:"limit_name,omitempty"`
	CacheKey  bool                       `json:"cache_key,omitempty"`
	NoStream  bool                       `json:"no_stream,omitempty"`
	Extra     map[string]json.RawMessage `json:"extra,omitempty"`
	// Thinking is that of anthropic.Config.
	Thinking json.RawMessage `json:"thinking,omitempty"`
	// Window is the context window of the endpoint's models in tokens, 0 where unknown.
	Window int `json:"window,omitempty"`
}

// known are the endpoints this program knows, with the variables their vendors document.
var known = []Endpoint{
	{Name: "openai", Protocol: Responses, BaseURL: "https://api.openai.com/v1", URLVar: "OPENAI_BASE_URL", KeyVars: []string{"OPENAI_API_KEY"}, NeedsKey: true, HeaderVar: "OPENAI_CUSTOM_HEADERS"},
	{Name: "openai-chat", Protocol: Chat, BaseURL: "https://api.openai.com/v1", URLVar: "OPENAI_BASE_URL", KeyVars: []string{"OPENAI_API_KEY"}, NeedsKey: true, HeaderVar: "OPENAI_CUSTOM_HEADERS", LimitName: "max_completion_tokens", CacheKey: true, Reasoning: openaichat.DropReasoning},
	{Name: "anthropic", Protocol: Messages, BaseURL: "https://api.anthropic.com", URLVar: "ANTHROPIC_BASE_URL", KeyVars: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"}, NeedsKey: true, HeaderVar: "ANTHROPIC_CUSTOM_HEADERS"},
	{Name: "gemini", Protocol: Gemini, BaseURL: "https://generativelanguage.googleapis.com", URLVar: "GOOGLE_GEMINI_BASE_URL", KeyVars: []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"}, NeedsKey: true},
	{Name: "deepseek", Protocol: Chat, BaseURL: "https://api.deepseek.com", URLVar: "DEEPSEEK_BASE_URL", KeyVars: []string{"DEEPSEEK_API_KEY"}, NeedsKey: true},
	{Name: "openrouter", Protocol: Chat, BaseURL: "https://openrouter.ai/api/v1", URLVar: "OPENROUTER_BASE_URL", KeyVars: []string{"OPENROUTER_API_KEY"}, NeedsKey: true},
	{Name: "groq", Protocol: Chat, BaseURL: "https://api.groq.com/openai/v1", URLVar: "GROQ_BASE_URL", KeyVars: []string{"GROQ_API_KEY"}, NeedsKey: true},
	{Name: "mistral", Protocol: Chat, BaseURL: "https://api.mistral.ai/v1", URLVar: "MISTRAL_BASE_URL", KeyVars: []string{"MISTRAL_API_KEY"}, NeedsKey: true},
	{Name: "xai", Protocol: Chat, BaseURL: "https://api.x.ai/v1", URLVar: "XAI_BASE_URL", KeyVars: []string{"XAI_API_KEY"}, NeedsKey: true},
	{Name: "together", Protocol: Chat, BaseURL: "https://api.together.xyz/v1", URLVar: "TOGETHER_BASE_URL", KeyVars: []string{"TOGETHER_API_KEY"}, NeedsKey: true},
	{Name: "ollama", Protocol: Ollama, BaseURL: "http://127.0.0.1:11434", URLVar: "OLLAMA_HOST", KeyVars: []string{"OLLAMA_API_KEY"}, Local: true},
	{Name: "llamacpp", Protocol: Chat, BaseURL: "http://127.0.0.1:8080/v1", URLVar: "LLAMACPP_BASE_URL", KeyVars: []string{"LLAMACPP_API_KEY"}, Local: true},
	{Name: "vllm", Protocol: Chat, BaseURL: "http://127.0.0.1:8000/v1", URLVar: "VLLM_BASE_URL", KeyVars: []string{"VLLM_API_KEY"}, Local: true},
	{Name: "sglang", Protocol: Chat, BaseURL: "http://127.0.0.1:30000/v1", URLVar: "SGLANG_BASE_URL", KeyVars: []string{"SGLANG_API_KEY"}, Local: true},
	{Name: "lmstudio", Protocol: Chat, BaseURL: "http://127.0.0.1:1234/v1", URLVar: "LMSTUDIO_BASE_URL", KeyVars: []string{"LMSTUDIO_API_KEY"}, Local: true},
}

// LoadEndpoints reads named endpoints from a JSON file: an object from name to endpoint.
func LoadEndpoints(path string) ([]Endpoint, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("open endpoints: %w", err)
	}
	out, err := parseEndpoints(raw)
	if err != nil {
		return nil, fmt.Errorf("endpoints %s: %w", path, err)
	}
	return out, nil
}

func parseEndpoints(raw []byte) ([]Endpoint, error) {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")), &file); err != nil {
		return nil, err
	}
	var out []Endpoint
	for _, name := range slices.Sorted(maps.Keys(file)) {
		e := Endpoint{Name: name}
		d := json.NewDecoder(bytes.NewReader(file[name]))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, e)
	}
	return out, nil
}

func (e Endpoint) check() error {
	switch {
	case e.Name == "" || strings.ContainsAny(e.Name, "/:@ "):
		return fmt.Errorf("the name must not be empty and must not hold a slash, colon, @ or blank")
	case e.Name == builtin || e.Name == scripted:
		return fmt.Errorf("the name is taken")
	case !slices.Contains(protocols, e.Protocol):
		return fmt.Errorf("protocol %q: want one of %v", e.Protocol, protocols)
	case e.Reasoning != "" && e.Reasoning != openaichat.ReplayReasoning && e.Reasoning != openaichat.DropReasoning:
		return fmt.Errorf("reasoning %q: want replay or drop", e.Reasoning)
	case e.Window < 0:
		return fmt.Errorf("window %d is negative", e.Window)
	}
	if _, err := wire.CheckURL(e.BaseURL); err != nil {
		return err
	}
	return nil
}
