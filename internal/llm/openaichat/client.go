// Package openaichat speaks the Chat Completions protocol as it is found in the wild:
// DeepSeek, vLLM, SGLang, llama.cpp, LM Studio, OpenRouter, Groq and whatever else imitates
// it. It streams, accepts every form such servers give to a tool call, and sends back a
// history no server refuses. docs/models.md lists the quirks and what becomes of each.
//
//	c, err := openaichat.New(openaichat.Config{Provider: "deepseek", BaseURL: "https://api.deepseek.com", Key: key})
//	resp, err := c.Complete(ctx, llm.Request{Model: "deepseek-v4-flash", Messages: history}, nil)
package openaichat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// Reasoning says what becomes of a turn's reasoning in later requests.
type Reasoning string

const (
	// ReplayReasoning writes reasoning back under the name the server used. DeepSeek's
	// thinking models refuse a conversation whose tool turns lack it; servers that do not
	// need it ignore it.
	ReplayReasoning Reasoning = "replay"
	// DropReasoning leaves it out, for servers that refuse the field.
	DropReasoning Reasoning = "drop"
)

// Config describes one server.
type Config struct {
	// Provider names the server in errors.
	Provider string
	// BaseURL is what /chat/completions is appended to.
	BaseURL string
	// Key is sent as a bearer token; empty sends none. KeyName is the variable it came from.
	Key, KeyName string
	// Header is sent with every request; its values never appear in an error.
	Header map[string]string
	// Idle is how long the server may send nothing; 0 means wire.DefaultIdle.
	Idle time.Duration
	// Reasoning is ReplayReasoning unless set.
	Reasoning Reasoning
	// LimitName is the field of the output limit: max_tokens unless set. A server that
	// refuses it is asked with max_completion_tokens, and the other way round.
	LimitName string
	// Temperature is sent when it is not nil.
	Temperature *float64
	// CacheKey sends llm.Request.CacheKey as prompt_cache_key.
	CacheKey bool
	// NoStream asks for whole answers.
	NoStream bool
	// Extra are further fields of every request, by name.
	Extra map[string]json.RawMessage
	// Notice is told, once each, how the client adapted to what the server refuses. May be nil.
	Notice func(string)
}

// Client is an llm.Client for one server.
type Client struct {
	cfg      Config
	endpoint wire.Endpoint
	extra    []byte
	quirks   wire.Quirks[quirks]
}

// New returns a client. It opens no connection.
func New(cfg Config) (*Client, error) {
	base, err := wire.CheckURL(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Provider, err)
	}
	c := &Client{cfg: cfg}
	c.quirks = wire.Quirks[quirks]{Learn: c.learn, Statuses: refusals, Provider: cfg.Provider, Notice: cfg.Notice}
	if c.cfg.LimitName == "" {
		c.cfg.LimitName = limitOld
	}
	if c.extra, err = extraFields(cfg.Extra); err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Provider, err)
	}
	header := http.Header{"Accept": {"text/event-stream, application/json"}}
	secrets := wire.Secrets{cfg.Key}
	for name, value := range cfg.Header {
		header.Set(name, value)
		secrets = append(secrets, value)
	}
	if cfg.Key != "" {
		header.Set("Authorization", "Bearer "+cfg.Key)
	}
	c.endpoint = wire.Endpoint{
		Provider: cfg.Provider, URL: base, Header: header, Secrets: secrets,
		KeyName: cfg.KeyName, Client: wire.NewHTTPClient(cfg.Idle),
	}
	return c, nil
}

func extraFields(extra map[string]json.RawMessage) ([]byte, error) {
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if slices.Contains(ownFields, name) {
			return nil, fmt.Errorf("extra field %q is one the client sets itself", name)
		}
		if !json.Valid(extra[name]) {
			return nil, fmt.Errorf("extra field %q: not JSON: %s", name, wire.Shorten(string(extra[name])))
		}
		out = append(wire.AppendString(append(out, ','), name), ':')
		out = append(out, extra[name]...)
	}
	return out, nil
}

// Complete makes one model call. Where a server refuses a field it does not know, the call
// is made again without it, and the client remembers.
func (c *Client) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	if stream == nil {
		stream = func(llm.Delta) {}
	}
	return c.quirks.Complete(req, func(q quirks) (llm.Response, error) { return c.once(ctx, req, q, stream) })
}

func (c *Client) once(ctx context.Context, req llm.Request, q quirks, stream func(llm.Delta)) (llm.Response, error) {
	body, err := c.encode(req, q)
	if err != nil {
		return llm.Response{}, err
	}
	reply, err := c.endpoint.Post(ctx, "/chat/completions", body)
	if err != nil {
		return llm.Response{}, err
	}
	defer reply.Close()
	t := newTurn(req, c.cfg.Reasoning)
	if err := c.read(ctx, reply, t, stream); err != nil {
		return llm.Response{}, withUsage(err, t)
	}
	return t.response(), nil
}

// withUsage tells what a broken answer has cost, where the server said so.
func withUsage(err error, t *turn) error {
	var e *llm.Error
	if errors.As(err, &e) {
		e.Usage = t.usage
	}
	return err
}
