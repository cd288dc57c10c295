package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
)

// Config says what is offered.
type Config struct {
	// Name is that of the collection, in the addresses of documents; Version is the program's.
	Name, Version string
	Tools         []tool.Tool
	// Documents are offered as resources where it is not nil.
	Documents retrieval.Retriever
	// Instructions tell a client's model what is here, in a sentence or two.
	Instructions string
	// MaxBytes bounds the text of a resource, in bytes. Default DefaultMaxBytes.
	MaxBytes int
	// CallTimeout bounds one call. Default 60 s.
	CallTimeout time.Duration
	// Concurrency is the number of calls worked on at a time; further ones wait. Default
	// four for each processor.
	Concurrency int
	// Drain is how long calls may go on after the input of ServeStdio has ended. Default 3 s.
	Drain time.Duration
	// Log receives what an operator has to know, nil for silence.
	Log func(format string, args ...any)
	// Observe, if set, is told of every call.
	Observe func(tool string, took time.Duration, failed bool)
}

// DefaultMaxBytes keeps a result below 10,000 tokens, beyond which clients warn or cut,
// whatever a document holds: no tokenizer makes more tokens of a text than it has bytes.
const DefaultMaxBytes = 9_900

// Server is a server of one collection. It is safe for concurrent use.
type Server struct {
	config Config
	mcp    *mcp.Server
	turns  chan struct{} // holds a token for each call being worked on
}

// New returns a server.
func New(config Config) *Server {
	if config.MaxBytes <= 0 {
		config.MaxBytes = DefaultMaxBytes
	}
	if config.CallTimeout <= 0 {
		config.CallTimeout = time.Minute
	}
	if config.Drain <= 0 {
		config.Drain = 3 * time.Second
	}
	if config.Concurrency <= 0 {
		config.Concurrency = 4 * runtime.GOMAXPROCS(0)
	}
	if config.Log == nil {
		config.Log = func(string, ...any) {}
	}
	if config.Observe == nil {
		config.Observe = func(string, time.Duration, bool) {}
	}
	s := &Server{config: config, turns: make(chan struct{}, config.Concurrency)}
	// Nothing changes while the server runs, so no changes are announced.
	capabilities := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
	if config.Documents != nil {
		capabilities.Resources = &mcp.ResourceCapabilities{}
	}
	s.mcp = mcp.NewServer(
		&mcp.Implementation{Name: "goserini", Title: "goserini: " + config.Name, Version: config.Version},
		&mcp.ServerOptions{Instructions: config.Instructions, Capabilities: capabilities, Logger: slog.New(slog.DiscardHandler)})
	s.mcp.AddReceivingMiddleware(soundErrors)
	for _, t := range config.Tools {
		s.mcp.AddTool(describe(t), s.handler(t))
	}
	if config.Documents != nil {
		s.addResources()
	}
	return s
}

// soundErrors leaves out what an error of the SDK carries that is no JSON. It quotes addresses as Go
// does, which JSON does not understand for rare characters, and the session would end.
func soundErrors(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		var e *jsonrpc.Error
		if errors.As(err, &e) && len(e.Data) > 0 && !json.Valid(e.Data) {
			err = &jsonrpc.Error{Code: e.Code, Message: e.Message}
		}
		return result, err
	}
}

// titles are what clients show to people.
var titles = map[string]string{
	"search":              "Search documents",
	"read_search_results": "Browse a ranking",
	"read_document":       "Read a document",
	"fetch":               "Fetch a document",
	"get_document":        "Get a document",
}

// describe makes the MCP description of a tool. All hints are given: some clients take a
// missing one for the worst.
func describe(t tool.Tool) *mcp.Tool {
	no := false
	title := titles[t.Name]
	if title == "" {
		title = t.Name
	}
	return &mcp.Tool{
		Name: t.Name, Title: title, Description: t.Description, InputSchema: closed(t.Schema),
		Annotations: &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no},
	}
}

// closed adds to the schema of an object that it has no other fields.
func closed(schema json.RawMessage) json.RawMessage {
	return append([]byte(`{"additionalProperties":false,`), schema[1:]...)
}

// handler runs a tool. Whatever happens is a result that the client's model can read: an
// error of the protocol would reach only the client.
func (s *Server) handler(t tool.Tool) mcp.ToolHandler {
	known := properties(t.Schema)
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		start := time.Now()
		result := s.call(ctx, t, known, req.Params.Arguments)
		s.config.Observe(t.Name, time.Since(start), result.IsError)
		return &mcp.CallToolResult{IsError: result.IsError, Content: []mcp.Content{&mcp.TextContent{Text: result.Text}}}, nil
	}
}

func (s *Server) call(ctx context.Context, t tool.Tool, known []string, args json.RawMessage) tool.Result {
	if complaint := unknownArguments(t.Name, known, args); complaint != "" {
		return tool.Result{Text: complaint, IsError: true}
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return tool.Result{Text: t.Name + ": the call was cancelled.", IsError: true}
		}
		return tool.Result{Text: t.Name + ": the server is busy. Make the same call again in a moment.", IsError: true}
	}
	result, err := run(ctx, t, args)
	switch {
	case err == nil:
		return result
	case errors.Is(err, context.DeadlineExceeded):
		s.config.Log("%s: no result within %v: %v", t.Name, s.config.CallTimeout, err)
		return tool.Result{Text: fmt.Sprintf("%s: there was no result within %v. Make the call once more; if it fails again, go on without it.", t.Name, s.config.CallTimeout), IsError: true}
	case errors.Is(err, context.Canceled):
		return tool.Result{Text: t.Name + ": the call was cancelled.", IsError: true}
	}
	s.config.Log("%s: %v", t.Name, err)
	return tool.Result{Text: t.Name + ": the collection could not be read. Calling again will not help; whoever runs the server finds the cause in its log.", IsError: true}
}

// run keeps a panic from ending the process, which serves others as well.
func run(ctx context.Context, t tool.Tool, args json.RawMessage) (result tool.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return t.Begin(args)(ctx)
}

// ServeStdio answers on out what it reads from in, until in ends; what was asked before
// that is still answered.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	t := newLineTransport(in, out, s.config)
	session, err := s.mcp.Connect(ctx, t, nil)
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
	case <-t.conn.drained(s.config.Drain):
		// The input has ended and a call does not: nobody waits for it.
		return nil
	case <-ctx.Done():
		t.conn.Close()
		return nil
	}
	if t.conn.sawEOF() || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// Handler answers over streamable HTTP. Every request stands for itself. Checks of Host,
// Origin and tokens are the caller's.
func (s *Server) Handler() http.Handler {
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless:    true,
		JSONResponse: true,
		Logger:       slog.New(slog.DiscardHandler),
		// The caller's check of Host is stricter, and knows the names of proxies.
		DisableLocalhostProtection:   true,
		MaxRequestBodyBytes:          maxMessage,
		PropagateRequestCancellation: true,
	})
	return checkMessages(h)
}
