// Package anthropic speaks Anthropic's Messages protocol through the official SDK. The SDK
// signs in, sends and splits the stream; the bytes of requests and of the history are
// this package's own, so that thinking blocks go back exactly as they came and a
// growing conversation stays a prefix of itself.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// DefaultURL is Anthropic's own service.
const DefaultURL = "https://api.anthropic.com"

// DefaultMaxTokens is the output limit where the request has none: the protocol demands one.
const DefaultMaxTokens = 32_000

// Config describes one service.
type Config struct {
	// Provider names the service in errors.
	Provider string
	// BaseURL is DefaultURL unless set; /v1/messages is appended.
	BaseURL string
	// Key is an API key, AuthToken a bearer token, Profile a profile of the SDK's own
	// configuration. One of them is needed at Anthropic's own service.
	Key, AuthToken, Profile string
	// KeyName is the variable the key or token came from.
	KeyName string
	// Header is sent with every request; its values never appear in an error.
	Header map[string]string
	// Idle is how long the server may send nothing; 0 means wire.DefaultIdle.
	Idle time.Duration
	// Thinking is the thinking field of every request; empty leaves it to the model, or to
	// the effort of a request.
	Thinking json.RawMessage
	// NoCache sends no cache marks.
	NoCache bool
	// Notice is told, once each, how the client adapted to what the server refuses. May be nil.
	Notice func(string)
}

// Client is an llm.Client for one service.
type Client struct {
	cfg      Config
	sdk      sdk.Client
	endpoint wire.Endpoint
	quirks   wire.Quirks[quirks]
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
	if len(cfg.Thinking) > 0 && !json.Valid(cfg.Thinking) {
		return nil, fmt.Errorf("%s: thinking is not JSON: %s", cfg.Provider, wire.Shorten(string(cfg.Thinking)))
	}
	c := &Client{cfg: cfg}
	c.quirks = wire.Quirks[quirks]{Learn: learn, Provider: cfg.Provider, Notice: cfg.Notice}
	c.endpoint = wire.Endpoint{Provider: cfg.Provider, URL: base, KeyName: cfg.KeyName, Secrets: wire.Secrets{cfg.Key, cfg.AuthToken}}
	for _, value := range cfg.Header {
		c.endpoint.Secrets = append(c.endpoint.Secrets, value)
	}
	c.sdk = sdk.NewClient(c.options(base)...)
	return c, nil
}

func (c *Client) options(base string) []option.RequestOption {
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(), option.WithBaseURL(base + "/"),
		option.WithMaxRetries(0), option.WithHTTPClient(wire.NewHTTPClient(c.cfg.Idle)),
	}
	if c.cfg.Key != "" {
		opts = append(opts, option.WithAPIKey(c.cfg.Key))
	}
	if c.cfg.AuthToken != "" {
		opts = append(opts, option.WithAuthToken(c.cfg.AuthToken))
	}
	if c.cfg.Profile != "" {
		opts = append(opts, option.WithProfile(c.cfg.Profile))
	}
	for name, value := range c.cfg.Header {
		opts = append(opts, option.WithHeader(name, value))
	}
	return append(opts, option.WithMiddleware(func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		return c.endpoint.Events(next(req))
	}))
}

// Complete makes one model call. Where a model refuses a setting, the call is made again
// as the model wants it, and the client remembers.
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
	events := c.sdk.Messages.NewStreaming(ctx, sdk.MessageNewParams{}, option.WithRequestBody("application/json", body))
	defer events.Close()
	t := newTurn(req)
	for !t.done && events.Next() {
		if err := t.add([]byte(events.Current().RawJSON()), stream); err != nil {
			return llm.Response{}, c.failed(t, c.endpoint.Malformed("an event is not one of the protocol: "+err.Error()))
		}
	}
	if err := c.end(ctx, t, events.Err()); err != nil {
		return llm.Response{}, c.failed(t, err)
	}
	return t.response(), nil
}

// end decides whether a stream that gives no more events was whole.
func (c *Client) end(ctx context.Context, t *turn, err error) error {
	var inStream *sdk.Error
	switch {
	case ctx.Err() != nil:
		return c.endpoint.Broken(ctx, ctx.Err())
	case t.done, err == nil && t.stop != "", err != nil && t.stop != "" && !errors.As(err, &inStream):
		return nil
	case errors.As(err, &inStream):
		return c.endpoint.InBody([]byte(inStream.RawJSON()))
	case err != nil:
		return c.endpoint.Broken(ctx, err)
	case !t.started:
		return c.endpoint.Malformed("the answer has no event")
	}
	return c.endpoint.Malformed("the answer broke off before its end")
}

// failed tells what a broken answer has cost, where the server said so.
func (c *Client) failed(t *turn, err error) error {
	var e *llm.Error
	if errors.As(err, &e) {
		e.Usage = t.usage.normal()
	}
	return err
}
