// Package openai speaks OpenAI's Responses protocol through the official SDK, without
// anything being stored at the service: reasoning comes encrypted and goes back with every
// item exactly as it came. The SDK signs in, sends and splits the stream; the bytes
// of requests are this package's own.
package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// DefaultURL is OpenAI's own service.
const DefaultURL = "https://api.openai.com/v1"

// Config describes one service.
type Config struct {
	// Provider names the service in errors.
	Provider string
	// BaseURL is DefaultURL unless set; /responses is appended.
	BaseURL string
	// Key is sent as a bearer token. KeyName is the variable it came from.
	Key, KeyName string
	// Organization and Project are sent where they are set.
	Organization, Project string
	// Header is sent with every request; its values never appear in an error.
	Header map[string]string
	// Idle is how long the server may send nothing; 0 means wire.DefaultIdle.
	Idle time.Duration
	// Notice is told, once each, how the client adapted to what the server refuses. May be nil.
	Notice func(string)
}

// Client is an llm.Client for one service.
type Client struct {
	cfg       Config
	responses responses.ResponseService
	endpoint  wire.Endpoint
	quirks    wire.Quirks[quirks]
}

// New returns a client. It opens no connection and reads no variable of the environment.
func New(cfg Config) (*Client, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultURL
	}
	base, err := wire.CheckURL(cfg.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Provider, err)
	}
	c := &Client{cfg: cfg}
	c.quirks = wire.Quirks[quirks]{Learn: learn, Provider: cfg.Provider, Notice: cfg.Notice}
	c.endpoint = wire.Endpoint{Provider: cfg.Provider, URL: base, KeyName: cfg.KeyName, Secrets: wire.Secrets{cfg.Key}}
	for _, value := range cfg.Header {
		c.endpoint.Secrets = append(c.endpoint.Secrets, value)
	}
	c.responses = responses.NewResponseService(c.options(base)...)
	return c, nil
}

func (c *Client) options(base string) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithBaseURL(base + "/"), option.WithMaxRetries(0), option.WithHTTPClient(wire.NewHTTPClient(c.cfg.Idle)),
	}
	if c.cfg.Key != "" {
		opts = append(opts, option.WithAPIKey(c.cfg.Key))
	}
	if c.cfg.Organization != "" {
		opts = append(opts, option.WithOrganization(c.cfg.Organization))
	}
	if c.cfg.Project != "" {
		opts = append(opts, option.WithProject(c.cfg.Project))
	}
	for name, value := range c.cfg.Header {
		opts = append(opts, option.WithHeader(name, value))
	}
	return append(opts, option.WithMiddleware(func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		return c.endpoint.Events(next(req))
	}))
}

// Complete makes one model call. Where a model refuses a setting, the call is made again
// without it, and the client remembers.
func (c *Client) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	if stream == nil {
		stream = func(llm.Delta) {}
	}
	return c.quirks.Complete(req, func(q quirks) (llm.Response, error) { return c.once(ctx, req, q, stream) })
}

func (c *Client) once(ctx context.Context, req llm.Request, q quirks, stream func(llm.Delta)) (llm.Response, error) {
	body, err := encode(req, q)
	if err != nil {
		return llm.Response{}, err
	}
	events := c.responses.NewStreaming(ctx, responses.ResponseNewParams{}, option.WithRequestBody("application/json", body))
	defer events.Close()
	t := newTurn(req)
	for !t.ended() && events.Next() {
		if err := t.add([]byte(events.Current().RawJSON()), stream); err != nil {
			return llm.Response{}, c.endpoint.Malformed("an event is not one of the protocol: " + err.Error())
		}
	}
	if err := c.end(ctx, t, events.Err()); err != nil {
		return llm.Response{}, failed(t, err)
	}
	return t.response(), nil
}

// end decides whether a stream that gives no more events was whole.
func (c *Client) end(ctx context.Context, t *turn, err error) error {
	var inStream *ssestream.StreamError
	switch {
	case ctx.Err() != nil:
		return c.endpoint.Broken(ctx, ctx.Err())
	case t.failure != nil:
		return c.endpoint.InBody(t.failure)
	case t.status != "":
		return nil
	case errors.As(err, &inStream):
		return c.endpoint.InBody(inStream.Event.Data)
	case err != nil:
		return c.endpoint.Broken(ctx, err)
	case !t.started:
		return c.endpoint.Malformed("the answer has no event")
	}
	return c.endpoint.Malformed("the answer broke off before its end")
}

// failed tells what a broken answer has cost, where the server said so.
func failed(t *turn, err error) error {
	var e *llm.Error
	if errors.As(err, &e) {
		e.Usage, _ = t.usage.normal()
	}
	return err
}
