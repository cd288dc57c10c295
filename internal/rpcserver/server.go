package rpcserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"sync"
	"time"

	"goserini/internal/bm25"
)

// Collection is what the server answers from. It is safe for concurrent use.
type Collection interface {
	// Search ranks at most k documents, best first, with raw scores. A query in the
	// syntax of Lucene's classic parser is one for SearchLucene.
	Search(ctx context.Context, query string, k int) ([]Scored, error)
	SearchLucene(ctx context.Context, query string, k int) ([]Scored, error)
	// Document returns a document, or ok false if there is none.
	Document(docid string) (d Document, ok bool, err error)
}

// Scored is one document of a ranking.
type Scored struct {
	DocID string
	Score float32
}

// Document is a document as the protocol knows it.
type Document struct {
	// Title may be empty.
	Title string
	// Contents is the text that is excerpted and read by lines.
	Contents string
}

// MaxLine bounds one line of a client, in bytes. A longer one is refused and passed over.
const MaxLine = 16 << 20

// writeTimeout is how long a client may take to accept a response.
const writeTimeout = time.Minute

// Options describe the server to its clients and bound it.
type Options struct {
	// Params are announced on the readiness line.
	Params bm25.Params
	// Threads is the number of commands carried out at a time; at least 1.
	Threads int
	// Started is when the program began, Init how long it took to open the index.
	Started time.Time
	Init    time.Duration
	// Log receives what happens to single connections, nil for silence.
	Log func(format string, args ...any)
}

// Server answers commands. It is safe for concurrent use.
type Server struct {
	collection Collection
	options    Options
	turns      chan struct{} // holds a token for each command being carried out
}

// New returns a server.
func New(c Collection, options Options) *Server {
	options.Threads = max(options.Threads, 1)
	if options.Log == nil {
		options.Log = func(string, ...any) {}
	}
	return &Server{collection: c, options: options, turns: make(chan struct{}, options.Threads)}
}

// ServeStream answers the lines of in on out, in order, until in ends.
func (s *Server) ServeStream(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(lines)
		if len(bytes.TrimSpace(line)) > 0 || tooLong {
			if werr := s.answer(ctx, line, tooLong, out); werr != nil {
				return fmt.Errorf("write response: %w", werr)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read request: %w", err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
	}
}

// answer carries out one line. No turn is held while the response is on its way: a client
// that reads slowly delays only itself.
func (s *Server) answer(ctx context.Context, line []byte, tooLong bool, out io.Writer) error {
	var resp []byte
	if tooLong {
		resp = failure(nil, unknown, fmt.Sprintf("the line is longer than %d bytes", MaxLine))
	} else {
		select {
		case s.turns <- struct{}{}:
			resp = s.process(ctx, line)
			<-s.turns
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	_, err := out.Write(append(resp, '\n'))
	return err
}

// readLine returns the next line without its end. Of one that is too long it returns nothing
// and reads on to its end.
func readLine(r *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !tooLong {
			line = append(line, part...)
		}
		if len(line) > MaxLine {
			line, tooLong = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line, "\r\n"), tooLong, err
		}
	}
}

// Ready is the line that tells whoever started the server that it can be reached.
func (s *Server) Ready(host string, port int) []byte {
	return encode(struct {
		Type      string  `json:"type"`
		Transport string  `json:"transport"`
		Host      string  `json:"host"`
		Port      int     `json:"port"`
		BM25      setting `json:"bm25"`
		Threads   int     `json:"threads"`
		Timing    any     `json:"timing_ms"`
	}{
		"server_ready", "tcp", host, port,
		setting{round3(float64(s.options.Params.K1)), round3(float64(s.options.Params.B))},
		s.options.Threads,
		struct {
			Init double `json:"init"`
		}{milliseconds(s.options.Init)},
	})
}

type setting struct {
	K1 double `json:"k1"`
	B  double `json:"b"`
}

// ServeTCP accepts connections until ctx ends, then closes them once the commands being
// carried out are answered, and waits for them.
func (s *Server) ServeTCP(ctx context.Context, listener net.Listener) error {
	var connections sync.WaitGroup
	defer connections.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for {
		conn, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return nil
		case err == nil:
			connections.Go(func() { s.serveConn(ctx, conn) })
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("accept: %w", err)
		}
		// Too many open files, or a client that left again: others may still be served.
		s.options.Log("accept: %v", err)
		time.Sleep(50 * time.Millisecond)
	}
}

func (s *Server) serveConn(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	// The end of the server ends the reading; a response on its way still goes out.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err := s.ServeStream(ctx, conn, deadlined{conn})
	if err != nil && ctx.Err() == nil {
		s.options.Log("connection %s: %v", conn.RemoteAddr(), err)
	}
}

// deadlined gives every write its time.
type deadlined struct{ net.Conn }

func (d deadlined) Write(b []byte) (int, error) {
	if err := d.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return d.Conn.Write(b)
}

// double is written as the original does, with at least one decimal.
type double float64

func (d double) MarshalJSON() ([]byte, error) {
	f := float64(d)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return []byte(fmt.Sprintf("%q", fmt.Sprint(f))), nil
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return fmt.Appendf(nil, "%.1f", f), nil
	}
	return json.Marshal(f)
}

// round3 rounds to three decimals, halves upwards.
func round3(x float64) double { return double(math.Floor(x*1000+0.5) / 1000) }

func milliseconds(d time.Duration) double { return round3(float64(d) / float64(time.Millisecond)) }

// encode writes JSON on one line, markup as it is.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		// Only a value that is no JSON could fail, and none is made here.
		return failure(nil, unknown, "encode response: "+err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
