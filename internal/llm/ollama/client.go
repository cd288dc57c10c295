// Package ollama speaks Ollama's own chat protocol. Its OpenAI imitation cannot set the
// context window, and then cuts the front of a long prompt, tools first, without a word;
// here the window is set, checked against the model's, and every answer is checked for
// a prompt that was cut.
package ollama

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// DefaultURL is where Ollama listens.
const DefaultURL = "http://127.0.0.1:11434"

// DefaultWindow is the context window asked for where none is configured, in tokens. Ollama's
// own default is too small for research; the largest a model allows may not fit in memory.
const DefaultWindow = 32_768

// DefaultIdle is how long the server may send nothing: it says nothing while it loads a model
// and reads a long prompt.
const DefaultIdle = 10 * time.Minute

// Config describes one server.
type Config struct {
	// Provider names the server in errors.
	Provider string
	// BaseURL is DefaultURL unless set.
	BaseURL string
	// Key is sent as a bearer token; empty sends none. KeyName is the variable it came from.
	Key, KeyName string
	// Header is sent with every request; its values never appear in an error.
	Header map[string]string
	// Idle is how long the server may send nothing; 0 means DefaultIdle.
	Idle time.Duration
	// Window is the context window in tokens; 0 means DefaultWindow, or the model's if that is smaller.
	Window int
	// Temperature is sent when it is not nil.
	Temperature *float64
	// Notice is told once what window a model gets. May be nil.
	Notice func(string)
}

// Client is an llm.Client for one server.
type Client struct {
	cfg      Config
	endpoint wire.Endpoint

	mu     sync.Mutex
	models map[string]model
	sizes  map[string]size // by conversation
}

// model is what the server says of a model.
type model struct {
	// window is the context window that is asked for, largest the model's own, 0 where unknown.
	window, largest int
	tools           bool
}

// New returns a client. It opens no connection.
func New(cfg Config) (*Client, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultURL
	}
	if cfg.Idle <= 0 {
		cfg.Idle = DefaultIdle
	}
	base, err := wire.CheckURL(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Provider, err)
	}
	if cfg.Window < 0 {
		return nil, fmt.Errorf("%s: window %d is negative", cfg.Provider, cfg.Window)
	}
	header := http.Header{}
	secrets := wire.Secrets{cfg.Key}
	for name, value := range cfg.Header {
		header.Set(name, value)
		secrets = append(secrets, value)
	}
	if cfg.Key != "" {
		header.Set("Authorization", "Bearer "+cfg.Key)
	}
	return &Client{cfg: cfg, models: map[string]model{}, sizes: map[string]size{}, endpoint: wire.Endpoint{
		Provider: cfg.Provider, URL: strings.TrimSuffix(base, "/v1"), Header: header, Secrets: secrets,
		KeyName: cfg.KeyName, Client: wire.NewHTTPClient(cfg.Idle),
	}}, nil
}

// Window is the context window the client gives a model, in tokens.
func (c *Client) Window(ctx context.Context, name string) (int, error) {
	m, err := c.model(ctx, name)
	return m.window, err
}

// model asks the server once what a model can do.
func (c *Client) model(ctx context.Context, name string) (model, error) {
	c.mu.Lock()
	m, known := c.models[name]
	c.mu.Unlock()
	if known {
		return m, nil
	}
	reply, err := c.endpoint.Post(ctx, "/api/show", append(wire.AppendString([]byte(`{"model":`), name), '}'))
	if err != nil {
		return model{}, c.explain(name, err)
	}
	defer reply.Close()
	var shown struct {
		Capabilities []string                   `json:"capabilities"`
		Info         map[string]json.RawMessage `json:"model_info"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&shown); err != nil {
		if ctx.Err() != nil {
			return model{}, c.endpoint.Broken(ctx, err)
		}
		return model{}, c.endpoint.Malformed("the description of model " + name + " is not JSON: " + err.Error())
	}
	m = model{tools: len(shown.Capabilities) == 0 || slices.Contains(shown.Capabilities, "tools")}
	for field, value := range shown.Info {
		var n wire.Count
		if strings.HasSuffix(field, ".context_length") && json.Unmarshal(value, &n) == nil {
			m.largest = max(m.largest, int(n))
		}
	}
	return c.remember(name, m), nil
}

// remember decides the window and says so once.
func (c *Client) remember(name string, m model) model {
	m.window = c.cfg.Window
	if m.window == 0 {
		m.window = DefaultWindow
	}
	if m.largest > 0 {
		m.window = min(m.window, m.largest)
	}
	c.mu.Lock()
	_, known := c.models[name]
	c.models[name] = m
	c.mu.Unlock()
	if !known && c.cfg.Notice != nil {
		c.cfg.Notice(fmt.Sprintf("%s/%s: a window of %d tokens; the model allows %d", c.cfg.Provider, name, m.window, m.largest))
	}
	return m
}

// explain says how to get a model the server does not have.
func (c *Client) explain(name string, err error) error {
	var e *llm.Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound {
		e.Message += ": fetch it with: ollama pull " + name
	}
	return err
}

// Complete makes one model call.
func (c *Client) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	if stream == nil {
		stream = func(llm.Delta) {}
	}
	m, err := c.model(ctx, req.Model)
	if err != nil {
		return llm.Response{}, err
	}
	if len(req.Tools) > 0 && !m.tools {
		return llm.Response{}, &llm.Error{Provider: c.cfg.Provider, Message: "model " + req.Model + " cannot call tools: choose one whose page shows the tag tools"}
	}
	body, err := c.encode(req, m.window)
	if err != nil {
		return llm.Response{}, err
	}
	if err := c.foresee(req, len(body), m); err != nil {
		return llm.Response{}, err
	}
	reply, err := c.endpoint.Post(ctx, "/api/chat", body)
	if err != nil {
		return llm.Response{}, c.explain(req.Model, err)
	}
	defer reply.Close()
	t := newTurn(req)
	if err := c.read(ctx, reply, t, stream); err != nil {
		return llm.Response{}, err
	}
	if err := c.checkWhole(t, len(body), m); err != nil { // what was read of a cut prompt is no measure
		return llm.Response{}, err
	}
	return t.response(), nil
}

// read fills t from the lines of the answer, each a JSON object.
func (c *Client) read(ctx context.Context, reply *wire.Reply, t *turn, stream func(llm.Delta)) error {
	lines := bufio.NewScanner(reply.Body)
	lines.Buffer(nil, wire.MaxEvent)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var p piece
		if err := json.Unmarshal(line, &p); err != nil {
			switch {
			case lines.Err() != nil: // the line is torn
				return c.endpoint.Broken(ctx, lines.Err())
			case line[0] == '<':
				return c.endpoint.InBody(line)
			}
			return c.endpoint.Malformed(fmt.Sprintf("a line is not a piece of an answer: %v: %s", err, line[:min(len(line), 200)]))
		}
		if len(p.Error) > 0 && string(p.Error) != "null" {
			return c.endpoint.InBody(line)
		}
		t.add(p, stream)
		if t.done {
			return nil
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return c.endpoint.Broken(ctx, wire.ErrTooLarge)
	case err != nil || ctx.Err() != nil:
		return c.endpoint.Broken(ctx, err)
	case !t.started:
		return c.endpoint.Malformed("the answer is empty")
	}
	return c.endpoint.Malformed("the answer broke off before its end")
}
