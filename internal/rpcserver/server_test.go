package rpcserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"net"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/analysis"
	"goserini/internal/bm25"
	"goserini/internal/corpus"
	"goserini/internal/index"
	"goserini/internal/rpcserver"
)

var update = flag.Bool("update", false, "rewrite testdata/exchanges.txt")

// documents are the ones of the exchanges. Their titles are not part of their contents.
func documents() []corpus.Document {
	return []corpus.Document{
		{DocID: "demo-sky", Text: "A clear sky looks blue by day. This page is a demo for the benchmark."},
		{DocID: "demo-cat", Text: "A calm cat purrs. The animal sleeps all day; a demo of the benchmark."},
		{DocID: "demo-banana", Text: "A ripe banana is yellow and sweet, says the demo benchmark."},
		{DocID: "demo-noise", Text: "Nothing of use stands here, it is only the noise around a demo."},
		{DocID: "t1", Title: "Ada Lovelace", Text: "Ada Lovelace wrote notes.\nSecond line\nThird line\nFourth\vFifth\fSixth\u2028Seventh\u0085Eighth\n"},
		{DocID: "n1", Title: "By Name", Text: "  padded content about zebra  "},
		{DocID: "h1", Title: "By Headline", Text: "headline zebra doc"},
		{DocID: "long1", Text: strings.Repeat("filler words go here. ", 30) + "the unique marker quokka appears" + strings.Repeat(" trailing text follows", 30)},
		{DocID: "empty1", Text: ""},
		{DocID: "badraw", Text: "zebra badraw"},
		{DocID: "tie-b", Text: "walrus alpha"},
		{DocID: "tie-a", Text: "walrus alpha"},
		{DocID: "uni", Text: "İstanbul 😀😀 emoji kestrel text"},
	}
}

// withTitles serves an index whose documents have their titles beside their contents, and
// one document that cannot be read.
type withTitles struct {
	rpcserver.Collection
	titles map[string]string
}

func (w withTitles) Document(docid string) (rpcserver.Document, bool, error) {
	if docid == "badraw" {
		return rpcserver.Document{}, false, errors.New("the stored document is damaged")
	}
	d, ok, err := w.Collection.Document(docid)
	d.Title = w.titles[docid]
	return d, ok, err
}

func newServer(tb testing.TB, threads int) *rpcserver.Server {
	tb.Helper()
	titles := map[string]string{}
	docs := documents()
	for i := range docs {
		titles[docs[i].DocID], docs[i].Title = docs[i].Title, ""
	}
	ix := build(tb, docs)
	c := withTitles{rpcserver.Index(ix, bm25.Anserini), titles}
	return rpcserver.New(c, rpcserver.Options{Params: bm25.Anserini, Threads: threads, Started: time.Now()})
}

func build(tb testing.TB, docs []corpus.Document) *index.Index {
	tb.Helper()
	dir := tb.TempDir()
	if _, err := index.Build(context.Background(), dir, corpus.FromDocuments(docs), index.BuildOptions{}); err != nil {
		tb.Fatal(err)
	}
	ix, err := index.Open(dir)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { ix.Close() })
	return ix
}

// timings replaces the numbers of timing_ms, which differ from run to run.
var timings = regexp.MustCompile(`"timing_ms":\{[^}]*\}`)

func masked(line string) string { return timings.ReplaceAllString(line, `"timing_ms":T`) }

// exchange is a request and its response, as testdata/exchanges.txt has them.
type exchange struct{ request, response string }

func exchanges(tb testing.TB) []exchange {
	tb.Helper()
	text, err := os.ReadFile("testdata/exchanges.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var all []exchange
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if request, ok := strings.CutPrefix(line, "> "); ok {
			all = append(all, exchange{request: request})
		} else if response, ok := strings.CutPrefix(line, "< "); ok {
			all[len(all)-1].response = response
		}
	}
	return all
}

func TestExchanges(t *testing.T) {
	server := newServer(t, 1)
	text, err := os.ReadFile("testdata/exchanges.txt")
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "< ") {
			continue
		}
		now.WriteString(line)
		request, ok := strings.CutPrefix(line, "> ")
		if !ok {
			continue
		}
		var out bytes.Buffer
		if err := server.ServeStream(t.Context(), strings.NewReader(request), &out); err != nil {
			t.Fatal(err)
		}
		now.WriteString("< " + masked(out.String()))
	}
	if *update {
		if err := os.WriteFile("testdata/exchanges.txt", []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(string(text), now.String()); d != "" {
		t.Errorf("exchanges differ (-want +got); -update rewrites them:\n%s", d)
	}
}

func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	var requests, want strings.Builder
	for range 3 {
		for i, e := range exchanges(t) {
			end := "\n"
			if i%2 == 0 {
				end = "\r\n\n"
			}
			requests.WriteString(e.request + end)
			want.WriteString(e.response + "\n")
		}
	}
	var out bytes.Buffer
	in := strings.TrimRight(requests.String(), "\r\n") // the last line has no end
	if err := newServer(t, 1).ServeStream(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want.String(), masked(out.String())); d != "" {
		t.Error(d)
	}
}

// listen serves on loopback until the test ends.
func listen(tb testing.TB, server *rpcserver.Server) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.ServeTCP(ctx, l) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			tb.Errorf("serve: %v", err)
		}
	})
	return l.Addr().String()
}

func TestFiftyConnectionsAtOnce(t *testing.T) {
	address := listen(t, newServer(t, 2))
	all := exchanges(t)
	var wg sync.WaitGroup
	for n := range 50 {
		wg.Go(func() {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			lines := bufio.NewReaderSize(conn, 1<<20)
			if n%2 == 0 { // pipelined: everything is sent before anything is read
				for _, e := range all {
					fmt.Fprintln(conn, e.request)
				}
			}
			for _, e := range all {
				if n%2 == 1 {
					fmt.Fprintln(conn, e.request)
				}
				line, err := lines.ReadString('\n')
				if err != nil {
					t.Error(err)
					return
				}
				if got := masked(strings.TrimSuffix(line, "\n")); got != e.response {
					t.Errorf("%s: got %s, want %s", e.request, got, e.response)
				}
			}
		})
	}
	wg.Wait()
}

func TestIdleConnectionsKeepNobodyWaiting(t *testing.T) {
	address := listen(t, newServer(t, 1))
	for range 20 {
		idle, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer idle.Close()
		fmt.Fprint(idle, `{"id":1,"type":"pi`) // and never the rest
	}
	if got := ask(t, address, `{"id":7,"type":"ping"}`); got != `{"id":7,"type":"response","command":"ping","success":true,"data":{"ok":true,"timing_ms":T}}` {
		t.Errorf("got %s", got)
	}
}

// ask makes a connection for one request and shuts its own side before it reads.
func ask(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, request)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return masked(strings.TrimSuffix(line, "\n"))
}

func TestClientThatNeverReadsDelaysOnlyItself(t *testing.T) {
	address := listen(t, newServer(t, 1))
	greedy, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer greedy.Close()
	go func() {
		for {
			if _, err := fmt.Fprintln(greedy, `{"id":1,"type":"read_document","docid":"long1"}`); err != nil {
				return
			}
		}
	}()
	for n := range 50 {
		if got := ask(t, address, `{"id":7,"type":"ping"}`); !strings.Contains(got, `"success":true`) {
			t.Fatalf("ping %d: %s", n, got)
		}
	}
}

func TestOverlongLineIsRefusedAndTheNextOneAnswered(t *testing.T) {
	long := `{"id":1,"type":"ping","x":"` + strings.Repeat("x", rpcserver.MaxLine) + `"}`
	var out bytes.Buffer
	err := newServer(t, 1).ServeStream(t.Context(), strings.NewReader(long+"\n"+`{"id":2,"type":"ping"}`), &out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "longer than") || !strings.HasPrefix(lines[1], `{"id":2,"type":"response","command":"ping","success":true`) {
		t.Errorf("got %q", lines)
	}
}

func TestPreviewsOfOneCommandAreBounded(t *testing.T) {
	var out bytes.Buffer
	in := `{"id":1,"type":"render_search_results","docids":["t1"` + strings.Repeat(`,"t1"`, 10_000) + `]}`
	if err := newServer(t, 1).ServeStream(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	if want := `"success":false,"error":"render_search_results docids must be at most 10000"}`; !strings.Contains(out.String(), want) {
		t.Errorf("got %.300s, want %s", out.String(), want)
	}
}

func TestBrokenBytesDoNotComeBack(t *testing.T) {
	var out bytes.Buffer
	if err := newServer(t, 1).ServeStream(t.Context(), strings.NewReader("{\"id\":\"a\xff\",\"type\":\"b\xfe\"}\n"), &out); err != nil {
		t.Fatal(err)
	}
	if want := "{\"id\":\"a\uFFFD\",\"type\":\"response\",\"command\":\"b\uFFFD\",\"success\":false,\"error\":\"unknown command type: b\uFFFD\"}\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestReadinessLine(t *testing.T) {
	server := rpcserver.New(nil, rpcserver.Options{Params: bm25.Params{K1: 25, B: 0.4}, Threads: 3, Init: 1234567 * time.Nanosecond})
	want := `{"type":"server_ready","transport":"tcp","host":"127.0.0.1","port":4711,"bm25":{"k1":25.0,"b":0.4},"threads":3,"timing_ms":{"init":1.235}}`
	if got := string(server.Ready("127.0.0.1", 4711)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestScoresAreTheFormula computes BM25 from its definition, in double precision.
func TestScoresAreTheFormula(t *testing.T) {
	docs := documents()
	a, err := analysis.ByName(analysis.Default)
	if err != nil {
		t.Fatal(err)
	}
	var tokens, n float64
	counts := make([]map[string]float64, len(docs))
	lengths := make([]float64, len(docs))
	df := map[string]float64{}
	for i, d := range docs {
		counts[i] = map[string]float64{}
		for _, term := range analysis.Terms(a, d.Text) {
			counts[i][term]++
			lengths[i]++
		}
		for term := range counts[i] {
			df[term]++
		}
		tokens += lengths[i]
		if lengths[i] > 0 {
			n++
		}
	}
	server := newServer(t, 1)
	for query, terms := range map[string][]string{"walrus": {"walru"}, "animal purrs cat": {"anim", "purr", "cat"}, "demo benchmark demo": {"demo", "demo", "benchmark"}} {
		var out bytes.Buffer
		if err := server.ServeStream(t.Context(), strings.NewReader(fmt.Sprintf(`{"type":"search","query":%q,"k":100}`, query)), &out); err != nil {
			t.Fatal(err)
		}
		var resp struct {
			Data struct {
				Results []struct {
					DocID string
					Score float64
				}
			}
		}
		if err := json.Unmarshal(out.Bytes(), &resp); err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, r := range resp.Data.Results {
			got[r.DocID] = r.Score
		}
		for i, d := range docs {
			var want float64
			for _, term := range terms {
				if tf := counts[i][term]; tf > 0 {
					want += math.Log(1+(n-df[term]+0.5)/(df[term]+0.5)) * tf / (tf + 0.9*(1-0.4+0.4*lengths[i]/(tokens/n)))
				}
			}
			if math.Abs(got[d.DocID]-want) > 0.00051 {
				t.Errorf("%s for %q: got %v, want %.4f", d.DocID, query, got[d.DocID], want)
			}
		}
	}
}

func FuzzServeStream(f *testing.F) {
	for _, e := range exchanges(f) {
		f.Add([]byte(e.request))
	}
	server := newServer(f, 1)
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		if err := server.ServeStream(context.Background(), bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		requests := 0
		for line := range bytes.SplitSeq(in, []byte("\n")) {
			if len(bytes.TrimSpace(line)) > 0 {
				requests++
			}
		}
		if got := bytes.Count(out.Bytes(), []byte("\n")); got != requests {
			t.Fatalf("%d responses to %d requests", got, requests)
		}
		for line := range bytes.Lines(out.Bytes()) {
			var envelope struct{ Type, Command string }
			if err := json.Unmarshal(line, &envelope); err != nil || envelope.Type != "response" || envelope.Command == "" {
				t.Fatalf("no envelope: %s (%v)", line, err)
			}
		}
		if !utf8.Valid(out.Bytes()) {
			t.Fatalf("no UTF-8: %q", out.Bytes())
		}
	})
}
