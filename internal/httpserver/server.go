package httpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"goserini/internal/retrieval"
	"goserini/internal/trajectory"
)

// Config says what is offered and to whom.
type Config struct {
	// Name is that of the collection, Version the program's.
	Name, Version string
	Retriever     retrieval.Retriever
	// MCP answers at /mcp, nil where it is not offered.
	MCP http.Handler
	// Ask answers a question, emitting what happens, nil where that is not offered. It is
	// called from many goroutines and returns soon after its context ends.
	Ask func(ctx context.Context, question string, emit func(trajectory.Event)) (trajectory.Record, error)

	// Token is what a client must send as bearer token; "" asks for none.
	Token string
	// AnyHost says that the server is reached by names of its own: it is not bound to
	// loopback. Otherwise only the names of loopback and AllowHosts are served.
	AnyHost bool
	// AllowHosts are further names (a port does not count), and AllowOrigins further origins
	// (https://…) of web pages, that may reach the server.
	AllowHosts, AllowOrigins []string

	// Limits; zero ones have defaults.
	Limits Limits
	// Log receives what an operator has to know, nil for silence.
	Log func(format string, args ...any)
}

// Limits bound what clients can make the server do.
type Limits struct {
	// Body is the longest request, in bytes. Default 1 MiB.
	Body int64
	// Timeout bounds a request other than /v1/ask, its wait for a turn included. Default 30 s.
	Timeout time.Duration
	// Concurrency is the number of requests carried out at a time. Default eight for each
	// processor. Asks is that of questions; a further one is refused. Default 4.
	Concurrency, Asks int
	// Grace is how long requests may go on when the server ends. Default 10 s.
	Grace time.Duration
}

func (l Limits) resolved() Limits {
	if l.Body <= 0 {
		l.Body = 1 << 20
	}
	if l.Timeout <= 0 {
		l.Timeout = 30 * time.Second
	}
	if l.Concurrency <= 0 {
		l.Concurrency = 8 * runtime.GOMAXPROCS(0)
	}
	if l.Asks <= 0 {
		l.Asks = 4
	}
	if l.Grace <= 0 {
		l.Grace = 10 * time.Second
	}
	return l
}

// Server serves one collection. It is safe for concurrent use.
type Server struct {
	config  Config
	guard   *guard
	metrics *metrics
	turns   chan struct{}  // holds a token for each request being carried out
	asks    chan struct{}  // holds a token for each question being answered
	running sync.WaitGroup // of requests
	closing atomic.Bool
	handler http.Handler
}

// New returns a server.
func New(config Config) *Server {
	config.Limits = config.Limits.resolved()
	if config.Log == nil {
		config.Log = func(string, ...any) {}
	}
	s := &Server{
		config: config, guard: newGuard(config), metrics: newMetrics(),
		turns: make(chan struct{}, config.Limits.Concurrency), asks: make(chan struct{}, config.Limits.Asks),
	}
	s.handler = s.routes()
	return s
}

// Handler answers requests. Serve adds what a network needs.
func (s *Server) Handler() http.Handler { return s.handler }

// ObserveTool counts a tool call over MCP.
func (s *Server) ObserveTool(tool string, took time.Duration, failed bool) {
	s.metrics.observeTool(tool, took, failed)
}

// routes puts the endpoints behind the guard. What is open answers without a token.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	open := func(pattern string, h http.HandlerFunc) { mux.Handle(pattern, s.metrics.count(pattern, h)) }
	behind := func(pattern string, h http.Handler) {
		mux.Handle(pattern, s.metrics.count(pattern, s.guard.token(h)))
	}
	open("GET /healthz", s.healthz)
	open("GET /readyz", s.readyz)
	behind("GET /metrics", s.metrics.handler())
	behind("GET /openapi.json", http.HandlerFunc(s.openAPI))
	behind("GET /{$}", http.HandlerFunc(s.page))
	behind("POST /v1/search", s.limited(s.search))
	behind("POST /v1/read", s.limited(s.read))
	behind("POST /retrieve", s.limited(s.retrieve))
	if s.config.Ask != nil {
		behind("POST /v1/ask", http.HandlerFunc(s.ask))
	}
	if s.config.MCP != nil {
		behind("/mcp", s.limited(s.config.MCP.ServeHTTP))
	}
	mux.Handle("/", s.metrics.count("other", s.guard.token(http.HandlerFunc(s.nothingHere))))
	return s.deadline(s.guard.origin(mux))
}

// writeGrace is how long a client may take to accept an answer beyond the time that the
// request may take.
const writeGrace = 10 * time.Second

// deadline bounds the writing of every answer: one set for an earlier request of the same
// connection would still hold.
func (s *Server) deadline(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.running.Add(1)
		defer s.running.Done()
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.config.Limits.Timeout + writeGrace))
		next.ServeHTTP(w, r)
	})
}

func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.closing.Load() {
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"status": "closing"})
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

func (s *Server) nothingHere(w http.ResponseWriter, r *http.Request) {
	for _, e := range s.endpoints() {
		if e.Path == r.URL.Path {
			w.Header().Set("Allow", strings.ToUpper(e.Method))
			fail(w, http.StatusMethodNotAllowed, "%s answers %s alone", e.Path, strings.ToUpper(e.Method))
			return
		}
	}
	fail(w, http.StatusNotFound, "there is nothing at %s; / lists what there is", clip(r.URL.Path))
}

// limited bounds the body and the time of a request and lets it wait for its turn. No turn
// is held while the body arrives or the answer leaves: a client that is slow delays only
// itself. An answer longer than a body may be keeps its turn, or many would fill the memory.
func (s *Server) limited(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), s.config.Limits.Timeout)
		defer cancel()
		r = r.WithContext(ctx)
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.config.Limits.Timeout))
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.config.Limits.Body))
		r.Body = io.NopCloser(&arrived{Reader: bytes.NewReader(body), err: err})
		if err != nil {
			next(w, r) // it says what is wrong with the body, in the words of its protocol
			return
		}
		select {
		case s.turns <- struct{}{}:
		case <-ctx.Done():
			w.Header().Set("Retry-After", "1")
			fail(w, http.StatusServiceUnavailable, "the server is busy: try again in a moment")
			return
		}
		release := sync.OnceFunc(func() { <-s.turns })
		defer release()
		held := &answer{header: w.Header(), status: http.StatusOK}
		next(held, r)
		if int64(held.body.Len()) <= s.config.Limits.Body {
			release()
		}
		w.WriteHeader(held.status)
		_, _ = w.Write(held.body.Bytes()) // a client that has left needs no answer
	})
}

// arrived is a body that has been read, and how the reading ended.
type arrived struct {
	*bytes.Reader
	err error
}

func (a *arrived) Read(b []byte) (int, error) {
	n, err := a.Reader.Read(b)
	if errors.Is(err, io.EOF) && a.err != nil {
		err = a.err
	}
	return n, err
}

// answer keeps a response until it can be sent.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// Serve answers requests on listener until ctx ends. Then it accepts no more, gives those
// being answered their grace, and returns.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	server := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          log.New(logWriter(s.config.Log), "", 0),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	s.closing.Store(true)
	grace, stop := context.WithTimeout(base, s.config.Limits.Grace)
	defer stop()
	err := server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		s.config.Log("requests were still running %v after the end was asked for; they are cut off", s.config.Limits.Grace)
		cancel()
		err = server.Close()
		s.running.Wait() // they notice soon, and what they read is closed next
	}
	if served := <-ended; err == nil && !errors.Is(served, http.ErrServerClosed) {
		err = served
	}
	if err != nil {
		return fmt.Errorf("shut down: %w", err)
	}
	return nil
}

// logWriter hands lines of the HTTP library on.
type logWriter func(format string, args ...any)

func (l logWriter) Write(b []byte) (int, error) {
	l("http: %s", strings.TrimSpace(string(b)))
	return len(b), nil
}
