// Package provider maps the names users give to models to clients: deepseek/deepseek-v4-flash,
// ollama/qwen3:4b, openrouter/anthropic/claude-opus-4.7, script/turns.json, builtin/lexical.
// Keys and base URLs come from the variables each vendor documents; named endpoints come from
// a file. docs/models.md has the tables.
//
//	r, err := provider.New(provider.Environment, endpoints...)
//	m, err := r.Open("deepseek/deepseek-v4-flash@high", provider.Options{})
//	resp, err := m.Client.Complete(ctx, llm.Request{Model: m.Name.Model, Effort: m.Name.Effort, …}, nil)
package provider

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"goserini/internal/llm"
	"goserini/internal/llm/anthropic"
	"goserini/internal/llm/gemini"
	"goserini/internal/llm/lexical"
	"goserini/internal/llm/limit"
	"goserini/internal/llm/ollama"
	"goserini/internal/llm/openai"
	"goserini/internal/llm/openaichat"
	"goserini/internal/llm/record"
	"goserini/internal/llm/script"
	"goserini/internal/llm/wire"
)

// The providers that are no endpoint.
const (
	builtin  = "builtin"
	scripted = "script"
)

// Lookup finds the value of a variable and says where it came from. An empty value is none.
type Lookup func(name string) (value, source string)

// Environment looks variables up in the environment of the process.
func Environment(name string) (value, source string) { return os.Getenv(name), "environment" }

// Registry knows the endpoints. It is safe for concurrent use.
type Registry struct {
	lookup    Lookup
	endpoints []Endpoint

	mu       sync.Mutex
	limiters map[string]*limit.Limiter // by provider and key
}

// New returns a registry of the known endpoints and the given ones, which replace known ones of the
// same name.
func New(lookup Lookup, named ...Endpoint) (*Registry, error) {
	r := &Registry{lookup: lookup, endpoints: slices.Clone(known), limiters: map[string]*limit.Limiter{}}
	for _, e := range named {
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("endpoint %s: %w", e.Name, err)
		}
		if i := slices.IndexFunc(r.endpoints, func(k Endpoint) bool { return k.Name == e.Name }); i >= 0 {
			r.endpoints[i] = e
		} else {
			r.endpoints = append(r.endpoints, e)
		}
	}
	return r, nil
}

// Names are the names of all providers.
func (r *Registry) Names() []string {
	names := []string{builtin, scripted}
	for _, e := range r.endpoints {
		names = append(names, e.Name)
	}
	return names
}

// Options are settings of a run that do not depend on the provider.
type Options struct {
	// BaseURL overrides that of the endpoint.
	BaseURL string
	// Idle is how long a server may send nothing; 0 leaves it to the protocol, and to 10 minutes for
	// local servers.
	Idle time.Duration
	// Temperature is sent where it is not nil and the protocol takes one.
	Temperature *float64
	// Window is the context window to ask for, in tokens, where the protocol can ask.
	Window int
	// Rates are shared by all models opened with one key.
	Rates limit.Rates
	// Record and Replay are folders; at most one may be set.
	Record, Replay string
	// Notice is told what the user should know once. May be nil.
	Notice func(string)
}

// Model is a model ready to be called.
type Model struct {
	Client llm.Client
	Name   Name
	// IsLanguageModel is false for the policy that needs no model and for scripts.
	IsLanguageModel bool
	// BaseURL is empty where no server is asked.
	BaseURL string
	// Key says which key is used; the zero value is none.
	Key Key

	endpoint Endpoint
	// ollama is the client that knows the window it asks for; nil for other protocols.
	ollama *ollama.Client
}

// Key is a key without its secret.
type Key struct {
	// Var is the variable it came from, Source where that was set.
	Var, Source string
	// Tail is its last four characters.
	Tail string
}

// String is for people: no more of the key than its tail.
func (k Key) String() string {
	if k.Var == "" {
		return "no key"
	}
	return fmt.Sprintf("%s from %s, …%s", k.Var, k.Source, k.Tail)
}

// MissingKeyError says that a provider needs a key and none was found.
type MissingKeyError struct {
	Provider string
	Vars     []string
}

func (e *MissingKeyError) Error() string {
	return fmt.Sprintf("no key for %s: set %s", e.Provider, strings.Join(e.Vars, " or "))
}

// Open returns the model of a name.
func (r *Registry) Open(name string, o Options) (Model, error) {
	n, err := Parse(name)
	if err != nil {
		return Model{}, err
	}
	if o.Record != "" && o.Replay != "" {
		return Model{}, fmt.Errorf("model %s: recording and replaying at once", n)
	}
	m, err := r.open(n, o)
	if err != nil {
		return Model{}, err
	}
	switch {
	case o.Record != "":
		m.Client, err = record.New(n.Provider, m.Client, o.Record)
	case o.Replay != "":
		m.Client, err = record.Open(n.Provider, o.Replay)
	}
	return m, err
}

func (r *Registry) open(n Name, o Options) (Model, error) {
	m := Model{Name: n}
	switch n.Provider {
	case builtin:
		if n.Model != "lexical" {
			return Model{}, fmt.Errorf("model %s: the only built-in one is builtin/lexical", n)
		}
		m.Client = lexical.New()
		return m, nil
	case scripted:
		c, err := script.Open(n.Model)
		m.Client = c
		return m, err
	}
	i := slices.IndexFunc(r.endpoints, func(e Endpoint) bool { return e.Name == n.Provider })
	if i < 0 {
		return Model{}, fmt.Errorf("model %s: no provider %q; there are %s", n, n.Provider, strings.Join(r.Names(), ", "))
	}
	return r.reach(m, r.endpoints[i], o)
}

// reach makes the client of an endpoint. A replay needs neither key nor client.
func (r *Registry) reach(m Model, e Endpoint, o Options) (Model, error) {
	m.endpoint, m.IsLanguageModel = e, true
	secret, key := r.key(e)
	m.Key = key
	var configured bool
	m.BaseURL, configured = r.baseURL(e, o)
	if o.Replay != "" {
		return m, nil
	}
	if secret == "" && e.NeedsKey && !configured {
		return Model{}, &MissingKeyError{e.Name, e.KeyVars}
	}
	header, err := r.headers(e)
	if err != nil {
		return Model{}, err
	}
	if e.Local && o.Idle == 0 {
		o.Idle = ollama.DefaultIdle
	}
	m.Client, err = r.client(e, m, secret, header, o)
	if err != nil {
		return Model{}, err
	}
	m.ollama, _ = m.Client.(*ollama.Client)
	return m, r.limited(&m, secret, o.Rates)
}

func (r *Registry) limited(m *Model, secret string, rates limit.Rates) error {
	if rates == (limit.Rates{}) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	id := m.endpoint.Name + "\x00" + secret
	l := r.limiters[id]
	if l == nil {
		var err error
		if l, err = limit.New(rates); err != nil {
			return err
		}
		r.limiters[id] = l
	}
	m.Client = l.Client(m.Client)
	return nil
}

// key finds the first key of an endpoint.
func (r *Registry) key(e Endpoint) (secret string, key Key) {
	for _, name := range e.KeyVars {
		value, source := r.lookup(name)
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		return value, Key{Var: name, Source: source, Tail: tail(value)}
	}
	return "", Key{}
}

// tail is the last four characters of a key that is long enough to spare them.
func tail(key string) string {
	if len(key) < 12 {
		return ""
	}
	return key[len(key)-4:]
}

// baseURL is where an endpoint is reached, and whether the user said so.
func (r *Registry) baseURL(e Endpoint, o Options) (base string, configured bool) {
	if o.BaseURL != "" {
		return o.BaseURL, true
	}
	if e.URLVar != "" {
		if value, _ := r.lookup(e.URLVar); value != "" {
			if e.Protocol == Ollama {
				value = ollamaHost(value)
			}
			return value, true
		}
	}
	return e.BaseURL, false
}

// ollamaHost reads OLLAMA_HOST, which may lack scheme and port and may be an address to listen on.
func ollamaHost(value string) string {
	if !strings.Contains(value, "://") {
		value = "http://" + value
	}
	u, err := url.Parse(value)
	if err != nil {
		return value // the client says what is wrong with it
	}
	host, port := u.Hostname(), u.Port()
	if host == "0.0.0.0" || host == "::" || host == "" {
		host = "127.0.0.1"
	}
	if port == "" && u.Scheme == "http" {
		port = "11434"
	}
	if port != "" {
		u.Host = net.JoinHostPort(host, port)
	}
	return u.String()
}

// headers are those of the endpoint with their variables filled in.
func (r *Registry) headers(e Endpoint) (map[string]string, error) {
	out := map[string]string{}
	for name, value := range e.Header {
		missing := ""
		out[name] = os.Expand(value, func(v string) string {
			got, _ := r.lookup(v)
			if got == "" {
				missing = v
			}
			return got
		})
		if missing != "" {
			return nil, &MissingKeyError{e.Name, []string{missing}}
		}
	}
	if e.HeaderVar == "" {
		return out, nil
	}
	lines, _ := r.lookup(e.HeaderVar)
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, ":")
		if !ok && line != "" {
			return nil, fmt.Errorf("%s: want lines of Name: value", e.HeaderVar)
		}
		if ok {
			out[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return out, nil
}

func (r *Registry) client(e Endpoint, m Model, secret string, header map[string]string, o Options) (llm.Client, error) {
	if _, err := wire.CheckURL(m.BaseURL); err != nil {
		return nil, fmt.Errorf("model %s: %w", m.Name, err)
	}
	switch e.Protocol {
	case Responses:
		organization, _ := r.lookup("OPENAI_ORG_ID")
		project, _ := r.lookup("OPENAI_PROJECT_ID")
		return openai.New(openai.Config{Provider: e.Name, BaseURL: m.BaseURL, Key: secret, KeyName: m.Key.Var, Organization: organization, Project: project, Header: header, Idle: o.Idle, Notice: o.Notice})
	case Messages:
		return anthropic.New(r.anthropicConfig(e, m, secret, header, o))
	case Ollama:
		return ollama.New(ollama.Config{Provider: e.Name, BaseURL: m.BaseURL, Key: secret, KeyName: m.Key.Var, Header: header, Idle: o.Idle, Window: r.ollamaWindow(e, o), Temperature: o.Temperature, Notice: o.Notice})
	case Gemini:
		return gemini.New(gemini.Config{Provider: e.Name, BaseURL: m.BaseURL, Key: secret, KeyName: m.Key.Var, Header: header, Idle: o.Idle, Temperature: o.Temperature, Notice: o.Notice})
	}
	return openaichat.New(openaichat.Config{
		Provider: e.Name, BaseURL: m.BaseURL, Key: secret, KeyName: m.Key.Var, Header: header, Idle: o.Idle, Reasoning: e.Reasoning,
		LimitName: e.LimitName, Temperature: o.Temperature, CacheKey: e.CacheKey, NoStream: e.NoStream, Extra: e.Extra, Notice: o.Notice,
	})
}

func (r *Registry) anthropicConfig(e Endpoint, m Model, secret string, header map[string]string, o Options) anthropic.Config {
	cfg := anthropic.Config{Provider: e.Name, BaseURL: m.BaseURL, KeyName: m.Key.Var, Header: header, Idle: o.Idle, Thinking: thinking(e), Notice: o.Notice}
	switch m.Key.Var {
	case "ANTHROPIC_AUTH_TOKEN":
		cfg.AuthToken = secret
	case "ANTHROPIC_PROFILE":
		cfg.Profile = secret
	default:
		cfg.Key = secret
	}
	return cfg
}

func thinking(e Endpoint) json.RawMessage {
	if len(e.Thinking) == 0 {
		return nil
	}
	return e.Thinking
}

// ollamaWindow is the window to ask for: the run's, the endpoint's, or that of OLLAMA_CONTEXT_LENGTH.
func (r *Registry) ollamaWindow(e Endpoint, o Options) int {
	if o.Window > 0 {
		return o.Window
	}
	if e.Window > 0 {
		return e.Window
	}
	value, _ := r.lookup("OLLAMA_CONTEXT_LENGTH")
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || n < 0 {
		return 0
	}
	return n
}
