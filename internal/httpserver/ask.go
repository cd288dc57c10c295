package httpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"goserini/internal/trajectory"
)

// maxQuestion bounds a question, in bytes.
const maxQuestion = 64 << 10

// heartbeat is how often a stream without events shows that it is alive: proxies cut
// silent connections.
const heartbeat = 15 * time.Second

// ask answers a question: with server-sent events where the client accepts them, one for
// each event of the trajectory and at last the record; else with the record alone. A client
// that leaves ends the research.
func (s *Server) ask(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Question string `json:"question"`
	}
	r.Body = http.MaxBytesReader(w, r.Body, s.config.Limits.Body)
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.config.Limits.Timeout))
	err := decode(r, &body)
	switch {
	case err != nil:
	case strings.TrimSpace(body.Question) == "":
		err = bad("question must be a string that is not empty")
	case len(body.Question) > maxQuestion:
		err = bad("question is longer than %d bytes", maxQuestion)
	}
	if err != nil {
		s.failWith(w, r, err)
		return
	}
	select {
	case s.asks <- struct{}{}:
		defer func() { <-s.asks }()
	default:
		w.Header().Set("Retry-After", "10")
		fail(w, http.StatusServiceUnavailable, "%d questions are being answered, which is the limit: try again later", cap(s.asks))
		return
	}
	// Research may take longer than a request may take to arrive.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		s.askStream(w, r, body.Question)
		return
	}
	record, err := s.config.Ask(r.Context(), body.Question, func(trajectory.Event) {})
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.config.Limits.Timeout))
	if err != nil && record.Status == "" {
		s.failWith(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, record)
}

func (s *Server) askStream(w http.ResponseWriter, r *http.Request, question string) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	stream := &stream{w: w, control: http.NewResponseController(w), broken: cancel}
	stream.send(": the research begins\n\n")
	stop := stream.beat(ctx)
	record, err := s.config.Ask(ctx, question, func(e trajectory.Event) { stream.event(string(e.Type), e) })
	stop()
	if err != nil {
		s.config.Log("ask: %v", err)
	}
	if record.Status == "" {
		stream.event("error", errorBody{"the question could not be asked; the server's log has the cause"})
		return
	}
	stream.event("record", record)
}

// stream writes server-sent events. The first failed write ends the research.
type stream struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
	broken  context.CancelFunc
}

// event sends JSON, which has no line ends, as one event.
func (s *stream) event(name string, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		b.Reset()
		b.WriteString(`{"error":"the event could not be encoded"}` + "\n")
	}
	s.send(fmt.Sprintf("event: %s\ndata: %s\n", name, b.String()))
}

func (s *stream) send(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.control.SetWriteDeadline(time.Now().Add(30 * time.Second))
	_, err := s.w.Write([]byte(text))
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		s.broken()
	}
}

// beat sends a comment from time to time until the returned function is called.
func (s *stream) beat(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(heartbeat)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				s.send(": still at it\n\n")
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
	}
}
