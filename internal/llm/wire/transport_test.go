package wire

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"goserini/internal/llm"
)

func endpoint(t *testing.T, idle time.Duration, h http.HandlerFunc) *Endpoint {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return &Endpoint{Provider: "p", URL: srv.URL, Client: NewHTTPClient(idle)}
}

func TestALongAnswerThatKeepsSendingIsNotCut(t *testing.T) {
	e := endpoint(t, 200*time.Millisecond, func(w http.ResponseWriter, _ *http.Request) {
		for range 12 {
			_, _ = io.WriteString(w, ": ping\n\n")
			w.(http.Flusher).Flush()
			time.Sleep(30 * time.Millisecond)
		}
	})
	reply, err := e.Post(t.Context(), "/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Close()
	if _, err := io.ReadAll(reply.Body); err != nil {
		t.Errorf("the answer took longer than the limit on silence, but was never silent: %v", err)
	}
}

func TestSilenceBeforeTheFirstByteEndsTheCall(t *testing.T) {
	done := make(chan struct{})
	defer close(done)
	e := endpoint(t, 20*time.Millisecond, func(http.ResponseWriter, *http.Request) { <-done })
	_, err := e.Post(t.Context(), "/x", nil)
	var le *llm.Error
	if !errors.As(err, &le) || !le.Retryable || !errors.Is(err, ErrSilent) {
		t.Errorf("got %v, want a retryable ErrSilent", err)
	}
}

func TestAnEndlessAnswerIsBounded(t *testing.T) {
	e := endpoint(t, 0, func(w http.ResponseWriter, r *http.Request) {
		block := []byte(strings.Repeat("x", 1<<20))
		for r.Context().Err() == nil {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	const most = 3 << 20
	e.Client.Transport.(*watched).most = most
	reply, err := e.Post(t.Context(), "/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Close()
	n, err := io.Copy(io.Discard, reply.Body)
	if !errors.Is(err, ErrTooLarge) || n > most+1<<20 {
		t.Errorf("got %d bytes, %v; want ErrTooLarge", n, err)
	}
}

func TestNothingListensAndTheErrorSaysWhatToDo(t *testing.T) {
	e := endpoint(t, 0, nil)
	srv := httptest.NewServer(nil)
	e.URL = srv.URL
	srv.Close()
	_, err := e.Post(t.Context(), "/x", nil)
	var le *llm.Error
	if !errors.As(err, &le) || !le.Retryable || !strings.Contains(err.Error(), "no server answers at "+srv.URL) {
		t.Errorf("got %v", err)
	}
}

func TestAConnectionIsUsedAgainAfterAStreamReadToItsEndMark(t *testing.T) {
	e := endpoint(t, 0, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	})
	reused := false
	for range 2 {
		trace := &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { reused = i.Reused }}
		reply, err := e.Post(httptrace.WithClientTrace(t.Context(), trace), "/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewEventReader(reply.Body).Next(); err != nil {
			t.Fatal(err)
		}
		reply.Close()
	}
	if !reused {
		t.Error("the second call opened a connection of its own")
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	var elsewhere bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere = true }))
	defer other.Close()
	e := endpoint(t, 0, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	_, err := e.Post(t.Context(), "/x", []byte("{}"))
	if err == nil || !strings.Contains(err.Error(), "redirects to "+other.URL) || elsewhere {
		t.Errorf("got %v, followed: %v", err, elsewhere)
	}
}
