package anserini_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"goserini/internal/retrieval"
	"goserini/internal/retrieval/anserini"
	"goserini/internal/retrieval/remote"
	"goserini/internal/retrieval/retrievaltest"
	"goserini/internal/rpcserver"
)

// TestMain lets the test binary be the server of the stdio tests.
func TestMain(m *testing.M) {
	switch mode := os.Getenv("ANSERINI_TEST_SERVER"); mode {
	case "":
		os.Exit(m.Run())
	case "serve":
		serveStdio()
	case "die":
		fmt.Fprintln(os.Stderr, "out of memory")
		bufio.NewScanner(os.Stdin).Scan()
		os.Exit(3)
	case "babble":
		fmt.Println("log line on stdout")
		time.Sleep(time.Minute)
	}
}

func serveStdio() {
	var docs []retrievaltest.Document
	if err := json.Unmarshal([]byte(os.Getenv("ANSERINI_TEST_DOCUMENTS")), &docs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s := rpcserver.New(memory{retrievaltest.NewMemory(docs...)}, rpcserver.Options{})
	if err := s.ServeStream(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// memory serves a retriever in memory.
type memory struct{ r *retrievaltest.Memory }

func (m memory) Search(ctx context.Context, query string, k int) ([]rpcserver.Scored, error) {
	ranking, err := m.r.Search(ctx, retrieval.SearchRequest{Query: query, Depth: k})
	var out []rpcserver.Scored
	for _, h := range ranking {
		out = append(out, rpcserver.Scored{DocID: h.DocID, Score: h.Score})
	}
	return out, err
}

func (m memory) SearchLucene(context.Context, string, int) ([]rpcserver.Scored, error) {
	return nil, errors.New("not here")
}

func (m memory) Document(docid string) (rpcserver.Document, bool, error) {
	chunk, err := m.r.Read(context.Background(), retrieval.ReadRequest{DocID: docid, Offset: 1, Limit: 1 << 30})
	if errors.Is(err, retrieval.ErrNoDocument) {
		return rpcserver.Document{}, false, nil
	}
	return rpcserver.Document{Title: chunk.Title, Contents: strings.Join(chunk.Lines, "\n")}, err == nil, err
}

func TestConformanceOverTCP(t *testing.T) {
	retrievaltest.Run(t, func(tb testing.TB, docs []retrievaltest.Document) retrieval.Retriever {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			tb.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		s := rpcserver.New(memory{retrievaltest.NewMemory(docs...)}, rpcserver.Options{})
		go func() { done <- s.ServeTCP(ctx, l) }()
		tb.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				tb.Error(err)
			}
		})
		return dial(tb, l.Addr().String())
	})
}

func dial(tb testing.TB, address string) *anserini.Retriever {
	tb.Helper()
	r, err := anserini.Dial(address, remote.Policy{Pause: time.Millisecond})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func start(tb testing.TB, mode string, docs []retrievaltest.Document) *anserini.Retriever {
	tb.Helper()
	text, err := json.Marshal(docs)
	if err != nil {
		tb.Fatal(err)
	}
	command := []string{"/usr/bin/env", "ANSERINI_TEST_SERVER=" + mode, "ANSERINI_TEST_DOCUMENTS=" + string(text), os.Args[0]}
	r, err := anserini.Start(command, remote.Policy{Pause: time.Millisecond})
	if err != nil {
		tb.Skip(err) // no env here
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

func TestConformanceOverPipes(t *testing.T) {
	retrievaltest.Run(t, func(tb testing.TB, docs []retrievaltest.Document) retrieval.Retriever {
		r := start(tb, "serve", docs)
		if err := r.Ping(context.Background()); err != nil {
			tb.Fatal(err)
		}
		return r
	})
}

func TestServerThatDiesIsUnavailableAndSaysWhy(t *testing.T) {
	r := start(t, "die", nil)
	_, err := r.Search(t.Context(), retrieval.SearchRequest{Query: "zinc", Depth: 1})
	if !errors.Is(err, retrieval.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
	for _, want := range []string{"anserini:stdio:", "search", "out of memory", "tried 3 times"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to hold %q", err, want)
		}
	}
}

func TestServerThatWritesLogLinesIsNamed(t *testing.T) {
	_, err := start(t, "babble", nil).Search(t.Context(), retrieval.SearchRequest{Query: "zinc", Depth: 1})
	if err == nil || !strings.Contains(err.Error(), "log line on stdout") {
		t.Errorf("got %v", err)
	}
}

// answering serves the given lines, one connection each; the last one stays.
func answering(t *testing.T, lines ...string) (address string, calls *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	calls = new(atomic.Int64)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n := int(calls.Add(1))
			bufio.NewReader(conn).ReadString('\n')
			fmt.Fprint(conn, strings.ReplaceAll(lines[min(n, len(lines))-1], "ID", fmt.Sprint(n)))
			conn.Close()
		}
	}()
	return l.Addr().String(), calls
}

func TestFailuresSayWhoFailedAtWhat(t *testing.T) {
	const head = `{"id":ID,"type":"response","command":"search","success":true,"data":`
	for _, tt := range []struct {
		name, answer, want string
		unavailable        bool
		calls              int64
	}{
		{"the connection ends", "", "the connection ended before the response did", true, 3},
		{"the response ends early", head, "the connection ended before the response did", true, 3},
		{"no JSON", "hello\n", "no envelope", false, 1},
		{"another type", `{"id":ID,"type":"event"}` + "\n", `the type "event"`, false, 1},
		{"another id", `{"id":77,"type":"response","success":true,"data":{}}` + "\n", "another id", false, 1},
		{"no data", `{"id":ID,"type":"response","success":true}` + "\n", "no data", false, 1},
		{"a result without score", head + `{"results":[{"docid":"a"}]}}` + "\n", "results[0]", false, 1},
		{"a refusal", `{"id":ID,"type":"response","success":false,"error":"too many\nclauses"}` + "\n", "too many clauses", true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			address, calls := answering(t, tt.answer)
			_, err := dial(t, address).Search(t.Context(), retrieval.SearchRequest{Query: "zinc", Depth: 3})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "backend anserini:tcp://"+address+": search: ") {
				t.Errorf("got %v, want it to hold %q and to name backend and operation", err, tt.want)
			}
			if errors.Is(err, retrieval.ErrUnavailable) != tt.unavailable || calls.Load() != tt.calls {
				t.Errorf("unavailable %v after %d calls, want %v after %d", errors.Is(err, retrieval.ErrUnavailable), calls.Load(), tt.unavailable, tt.calls)
			}
		})
	}
}

func TestLostConnectionIsTriedAgain(t *testing.T) {
	address, _ := answering(t, "", `{"id":ID,"type":"response","success":true,"data":{"results":[{"docid":"a","score":1.5},{"docid":"a","score":1},{"docid":"b","score":1}]}}`+"\n")
	got, err := dial(t, address).Search(t.Context(), retrieval.SearchRequest{Query: "zinc", Depth: 3})
	if err != nil || len(got) != 2 || got[0].DocID != "a" || got[0].Score != 1.5 || got[1].DocID != "b" {
		t.Errorf("got %v, %v; want a with 1.5, then b", got, err)
	}
}

func TestSilentServerTimesOut(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, err := anserini.Dial(l.Addr().String(), remote.Policy{Timeout: 20 * time.Millisecond, Tries: 2, Pause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Read(t.Context(), retrieval.ReadRequest{DocID: "a", Offset: 1, Limit: 1})
	if !errors.Is(err, retrieval.ErrUnavailable) || !strings.Contains(err.Error(), "no answer within 20ms") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Millisecond, cancel)
	r, _ = anserini.Dial(l.Addr().String(), remote.Policy{})
	if _, err := r.Search(ctx, retrieval.SearchRequest{Query: "zinc", Depth: 1}); !errors.Is(err, context.Canceled) || errors.Is(err, retrieval.ErrUnavailable) {
		t.Errorf("cancelled by the caller: got %v", err)
	}
}

func FuzzResponse(f *testing.F) {
	for _, seed := range []string{
		`{"results":[{"docid":"a","score":1.5}]}`,
		`{"results":[{"docid":"a","title":null,"matched_terms":[],"excerpt":"x","excerpt_truncated":false}]}`,
		`{"found":true,"text":"a\nb","total_lines":4,"returned_line_start":1,"returned_line_end":2,"truncated":true,"next_offset":3}`,
		`{"found":true,"text":""}`, `{"found":false,"docid":"a"}`, `{"results":null}`, `[]`, `{`, `{"found":true,"total_lines":-1,"returned_line_start":0}`,
	} {
		f.Add(seed)
	}
	data := make(chan string, 1)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			var req struct{ ID int64 }
			line, _ := bufio.NewReader(conn).ReadBytes('\n')
			json.Unmarshal(line, &req)
			fmt.Fprintf(conn, `{"id":%d,"type":"response","command":"x","success":true,"data":%s}`+"\n", req.ID, <-data)
			conn.Close()
		}
	}()
	r, err := anserini.Dial(l.Addr().String(), remote.Policy{Tries: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		body = strings.ReplaceAll(body, "\n", " ")
		data <- body
		if ranking, err := r.Search(context.Background(), retrieval.SearchRequest{Query: "q", Depth: 2}); err == nil && len(ranking) > 2 {
			t.Fatalf("%d hits of 2", len(ranking))
		}
		data <- body
		if got, err := r.Excerpts(context.Background(), "q", []string{"a", "b"}); err == nil && len(got) != 2 {
			t.Fatalf("%d excerpts of 2", len(got))
		}
		data <- body
		chunk, err := r.Read(context.Background(), retrieval.ReadRequest{DocID: "a", Offset: 3, Limit: 2})
		if err == nil && (len(chunk.Lines) > 2 || chunk.Offset != 3 || len(chunk.Lines) > 0 && chunk.TotalLines < 2+len(chunk.Lines)) {
			t.Fatalf("got %+v", chunk)
		}
	})
}
