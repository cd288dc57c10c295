// Package gemini is a thin client of Google's Gemini protocol. Every part of an answer goes
// back as it came, each with its own thought signature: the service refuses a function call
// whose signature is missing or stands elsewhere.
package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// DefaultURL is Google's own service.
const DefaultURL = "https://generativelanguage.googleapis.com"

// version is appended to a base URL that names none.
const version = "/v1beta"

// Config describes one service.
type Config struct {
	// Provider names the service in errors.
	Provider string
	// BaseURL is DefaultURL unless set; a version other than v1beta is part of it.
	BaseURL string
	// Key is sent as x-goog-api-key. KeyName is the variable it came from.
	Key, KeyName string
	// Header is sent with every request; its values never appear in an error.
	Header map[string]string
	// Idle is how long the server may send nothing; 0 means wire.DefaultIdle.
	Idle time.Duration
	// Temperature is sent when it is not nil.
	Temperature *float64
	// Notice is told, once each, how the client adapted to what the server refuses. May be nil.
	Notice func(string)
}

// Client is an llm.Client for one service.
type Client struct {
	cfg      Config
	endpoint wire.Endpoint

	mu sync.Mutex
	// budgets are the models that take a budget of thinking tokens, not a level.
	budgets map[string]bool
}

// New returns a client. It opens no connection.
func New(cfg Config) (*Client, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultURL
	}
	base, err := wire.CheckURL(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Provider, err)
	}
	if last := base[strings.LastIndex(base, "/")+1:]; last != "v1" && last != "v1beta" && last != "v1alpha" {
		base += version
	}
	header := http.Header{}
	secrets := wire.Secrets{cfg.Key}
	for name, value := range cfg.Header {
		header.Set(name, value)
		secrets = append(secrets, value)
	}
	if cfg.Key != "" {
		header.Set("X-Goog-Api-Key", cfg.Key)
	}
	return &Client{cfg: cfg, budgets: map[string]bool{}, endpoint: wire.Endpoint{
		Provider: cfg.Provider, URL: base, Header: header, Secrets: secrets,
		KeyName: cfg.KeyName, Client: wire.NewHTTPClient(cfg.Idle),
	}}, nil
}

// Complete makes one model call. A model that takes no thinking level is asked again with a
// budget, and the client remembers.
func (c *Client) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	if stream == nil {
		stream = func(llm.Delta) {}
	}
	c.mu.Lock()
	budget := c.budgets[req.Model]
	c.mu.Unlock()
	resp, err := c.once(ctx, req, budget, stream)
	if err != nil && !budget && c.wantsBudget(req, err) {
		return c.once(ctx, req, true, stream)
	}
	return resp, err
}

// wantsBudget learns from the refusal of a thinking level.
func (c *Client) wantsBudget(req llm.Request, err error) bool {
	var e *llm.Error
	if req.Effort == "" || !errors.As(err, &e) || e.Status != http.StatusBadRequest {
		return false
	}
	said := strings.ToLower(e.Message)
	if !strings.Contains(said, "thinking_level") && !strings.Contains(said, "thinkinglevel") && !strings.Contains(said, "thinking level") {
		return false
	}
	c.mu.Lock()
	known := c.budgets[req.Model]
	c.budgets[req.Model] = true
	c.mu.Unlock()
	if !known && c.cfg.Notice != nil {
		c.cfg.Notice(fmt.Sprintf("%s/%s: effort %s is sent as a budget of %d thinking tokens (the server said: %s)", c.cfg.Provider, req.Model, req.Effort, budgetOf(req.Effort), e.Message))
	}
	return true
}

func (c *Client) once(ctx context.Context, req llm.Request, budget bool, stream func(llm.Delta)) (llm.Response, error) {
	body, err := c.encode(req, budget)
	if err != nil {
		return llm.Response{}, err
	}
	model := strings.TrimPrefix(req.Model, "models/")
	reply, err := c.endpoint.Post(ctx, "/models/"+url.PathEscape(model)+":streamGenerateContent?alt=sse", body)
	if err != nil {
		return llm.Response{}, err
	}
	defer reply.Close()
	t := newTurn(req)
	if err := c.read(ctx, reply, t, stream); err != nil {
		var e *llm.Error
		if errors.As(err, &e) {
			e.Usage = t.usage
		}
		return llm.Response{}, err
	}
	return t.response(), nil
}

func (c *Client) read(ctx context.Context, reply *wire.Reply, t *turn, stream func(llm.Delta)) error {
	if kind := reply.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		page, err := io.ReadAll(io.LimitReader(reply.Body, wire.MaxErrorBytes))
		if err != nil {
			return c.endpoint.Broken(ctx, err)
		}
		if len(bytes.TrimSpace(page)) == 0 {
			return c.endpoint.Malformed("the answer is empty")
		}
		return c.endpoint.InBody(page)
	}
	events := wire.NewEventReader(reply.Body)
	for {
		event, err := events.Next()
		if err != nil {
			return c.end(ctx, t, err)
		}
		var p piece
		if err := json.Unmarshal(event.Data, &p); err != nil {
			return c.endpoint.Malformed(fmt.Sprintf("an event is not a piece of an answer: %v: %s", err, event.Data[:min(len(event.Data), 200)]))
		}
		if len(p.Error) > 0 && string(p.Error) != "null" {
			return c.endpoint.InBody(event.Data)
		}
		t.add(p, stream)
	}
}

// end decides whether a stream that gives no more events was whole. The protocol has no end
// mark, but every answer has a finish reason, or a reason why the prompt was blocked.
func (c *Client) end(ctx context.Context, t *turn, err error) error {
	switch {
	case ctx.Err() != nil:
		return c.endpoint.Broken(ctx, err)
	case t.finish == "MALFORMED_FUNCTION_CALL", t.finish == "UNEXPECTED_TOOL_CALL", t.finish == "MALFORMED_RESPONSE":
		return c.endpoint.Malformed("the model's answer was unusable: " + t.finish + " " + t.finishMessage)
	case t.finish != "", t.blocked != "":
		return nil
	case !errors.Is(err, io.EOF):
		return c.endpoint.Broken(ctx, err)
	case !t.started:
		return c.endpoint.Malformed("the answer has no candidate")
	}
	return c.endpoint.Malformed("the answer broke off before its finish reason")
}
