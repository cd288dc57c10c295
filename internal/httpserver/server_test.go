package httpserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"goserini/internal/httpserver"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/httpjson"
	"goserini/internal/retrieval/remote"
	"goserini/internal/retrieval/retrievaltest"
	"goserini/internal/sharedtest"
	"goserini/internal/trajectory"
)

func memory() *retrievaltest.Memory {
	docs := []retrievaltest.Document{
		{DocID: "a", Title: "Harbour", Text: "The harbour was surveyed in 1911.\nBy E. Moss."},
		{DocID: "front", Text: "---\ntitle: \"A survey\"\n---\nsurveyed by nobody"},
	}
	for i := range 60 {
		docs = append(docs, retrievaltest.Document{DocID: fmt.Sprintf("page-%02d", i), Text: "tulip cobalt"})
	}
	return retrievaltest.NewMemory(docs...)
}

// start serves on loopback, as a client of a network reaches it.
func start(tb testing.TB, config httpserver.Config) string {
	tb.Helper()
	if config.Retriever == nil {
		config.Retriever = memory()
	}
	web := httptest.NewServer(httpserver.New(config).Handler())
	tb.Cleanup(web.Close)
	return web.URL
}

type reply struct {
	status int
	header http.Header
	body   string
}

func send(tb testing.TB, method, url, body string, header map[string]string) reply {
	tb.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		if k == "Host" {
			req.Host = v
		} else {
			req.Header.Set(k, v)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, strings.TrimSpace(string(got))}
}

// withoutTiming takes the one number out that differs from run to run.
func withoutTiming(body string) string {
	before, _, ok := strings.Cut(body, `,"timingMs":`)
	if !ok {
		return body
	}
	return before + "}"
}

// TestConformance: a retriever over this server is as good as the one behind it.
func TestConformance(t *testing.T) {
	for name, change := range map[string]func(*httpjson.Config){
		"whole answers": func(*httpjson.Config) {},
		"small pages":   func(c *httpjson.Config) { c.MaxPageSize, c.MaxReadLimit = 3, 2 },
	} {
		t.Run(name, func(t *testing.T) {
			retrievaltest.Run(t, func(tb testing.TB, docs []retrievaltest.Document) retrieval.Retriever {
				url := start(tb, httpserver.Config{Retriever: retrievaltest.NewMemory(docs...)})
				config := httpjson.Config{SearchURL: url + "/v1/search", ReadURL: url + "/v1/read"}
				change(&config)
				r, err := httpjson.New(config)
				if err != nil {
					tb.Fatal(err)
				}
				return r
			})
		})
	}
}

func TestHTTPJSONContract(t *testing.T) {
	url := start(t, httpserver.Config{})
	for _, tt := range []struct {
		name, path, body, want string
		status                 int
	}{
		{"a search", "/v1/search", `{"query":"harbour surveyed","limit":1}`,
			`{"hits":[{"docid":"a","score":1.1666667461395264,"title":"Harbour","snippet":"Harbour\nThe harbour was surveyed in 1911.\nBy E. Moss."}],"nextOffset":2,"hasMore":true}`, 200},
		{"the next page", "/v1/search", `{"query":"harbour surveyed","offset":2.0,"limit":7.9}`,
			`{"hits":[{"docid":"front","score":0.5,"title":"","snippet":"---\ntitle: \"A survey\"\n---\nsurveyed by nobody"}],"totalHits":2,"hasMore":false}`, 200},
		{"nothing found", "/v1/search", `{"query":"xylograph","limit":5}`, `{"hits":[],"totalHits":0,"hasMore":false}`, 200},
		{"past the end", "/v1/search", `{"query":"harbour","offset":99,"limit":5}`, `{"hits":[],"totalHits":1,"hasMore":false}`, 200},
		{"lines", "/v1/read", `{"docid":"a","offset":2,"limit":1}`,
			`{"found":true,"docid":"a","title":"Harbour","text":"The harbour was surveyed in 1911.","offset":2,"limit":1,"totalUnits":3,"returnedOffsetStart":2,"returnedOffsetEnd":2,"truncated":true,"nextOffset":3}`, 200},
		{"a whole document", "/v1/read", `{"docid":"page-00"}`,
			`{"found":true,"docid":"page-00","text":"tulip cobalt","offset":1,"limit":200,"totalUnits":1,"returnedOffsetStart":1,"returnedOffsetEnd":1,"truncated":false}`, 200},
		{"lines past the end", "/v1/read", `{"docid":"a","offset":99}`,
			`{"found":true,"docid":"a","title":"Harbour","text":"","offset":99,"limit":200,"totalUnits":3,"truncated":false}`, 200},
		{"an unknown document", "/v1/read", `{"docid":"../a"}`, `{"found":false,"docid":"../a"}`, 200},
		{"an empty query", "/v1/search", `{"query":" ","limit":5}`, `{"error":"query must be a string that is not empty"}`, 400},
		{"no limit", "/v1/search", `{"query":"x"}`, `{"error":"limit is missing"}`, 400},
		{"a limit of 0", "/v1/search", `{"query":"x","limit":0}`, `{"error":"limit must be at least 1"}`, 400},
		{"a huge limit", "/v1/search", `{"query":"x","limit":1e300}`, `{"error":"limit must be at most 10000"}`, 400},
		{"too deep", "/v1/search", `{"query":"x","offset":100000,"limit":2}`, `{"error":"offset and limit reach beyond rank 100000"}`, 400},
		{"another field", "/v1/search", `{"query":"x","limit":1,"k":2}`, `{"error":"there is no field \"k\" here; there are query, offset, limit"}`, 400},
		{"another case", "/v1/search", `{"query":"x","Limit":1}`, `{"error":"there is no field \"Limit\" here; there are query, offset, limit"}`, 400},
		{"no object", "/v1/search", `[{"query":"x"}]`, `{"error":"the body must be one JSON object"}`, 400},
		{"null", "/v1/search", `null`, `{"error":"the body must be one JSON object"}`, 400},
		{"an endless number", "/v1/search", `{"query":"x","limit":1e999}`, `{"error":"limit must be a finite number"}`, 400},
		{"text for a number", "/v1/search", `{"query":"x","limit":"1"}`, `{"error":"limit must be a finite number"}`, 400},
		{"numbers for queries", "/retrieve", `{"queries":[1]}`, `{"error":"queries must be a list of strings"}`, 400},
		{"half a document", "/retrieve", `{"query":"x","topk":1.5}`, `{"error":"topk must be a whole number"}`, 400},
		{"nested too deep", "/v1/search", strings.Repeat("[", 20_000), `{"error":"the body is not JSON: invalid character '[' exceeded max depth, at byte 10001"}`, 400},
		{"a number for the query", "/v1/search", `{"query":7,"limit":1}`, `{"error":"query must be a string"}`, 400},
		{"two objects", "/v1/read", `{"docid":"a"}{}`, `{"error":"the body is not JSON: invalid character '{' after top-level value, at byte 14"}`, 400},
		{"no JSON", "/v1/read", `docid=a`, `{"error":"the body is not JSON: invalid character 'd' looking for beginning of value, at byte 1"}`, 400},
		{"no docid", "/v1/read", `{}`, `{"error":"docid must be a string that is not empty"}`, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := send(t, http.MethodPost, url+tt.path, tt.body, nil)
			if tt.name == "the next page" {
				tt.want = strings.Replace(tt.want, `"title":"",`, "", 1)
			}
			if got.status != tt.status || withoutTiming(got.body) != tt.want {
				t.Errorf("got %d %s\nwant %d %s", got.status, withoutTiming(got.body), tt.status, tt.want)
			}
		})
	}
}

func TestFiftyHitsHaveSnippets(t *testing.T) {
	url := start(t, httpserver.Config{})
	var resp httpjson.SearchResponse
	if err := json.Unmarshal([]byte(send(t, http.MethodPost, url+"/v1/search", `{"query":"tulip","limit":1000}`, nil).body), &resp); err != nil {
		t.Fatal(err)
	}
	for i, h := range resp.Hits {
		if has := h.Snippet != ""; has != (i < 50) {
			t.Errorf("hit %d: snippet %q", i+1, h.Snippet)
		}
	}
	if len(resp.Hits) != 60 || resp.HasMore {
		t.Errorf("got %d hits, more %v", len(resp.Hits), resp.HasMore)
	}
}

func TestRetrieveSpeaksBothDialects(t *testing.T) {
	url := start(t, httpserver.Config{})
	for _, tt := range []struct {
		body, want string
		status     int
	}{
		{`{"query":"surveyed"}`, `{"result":[{"document":{"title":"Harbour","text":"Harbour\nThe harbour was surveyed in 1911.\nBy E. Moss."},"docid":"a"},{"document":{"title":"A survey","text":"---\ntitle: \"A survey\"\n---\nsurveyed by nobody"},"docid":"front"}]}`, 200},
		{`{"queries":["moss","","tulip"],"topk":1,"return_scores":true}`, `{"result":[[{"document":{"id":"a","contents":"Harbour\nThe harbour was surveyed in 1911.\nBy E. Moss."},"score":0.5}],[],[{"document":{"id":"page-00","contents":"tulip cobalt"},"score":0.5}]]}`, 200},
		{`{"queries":["tulip"],"topk":2}`, `{"result":[[{"id":"page-00","contents":"tulip cobalt"},{"id":"page-01","contents":"tulip cobalt"}]]}`, 200},
		{`{"queries":[]}`, `{"result":[]}`, 200},
		{`{}`, `{"error":"give either query or queries"}`, 400},
		{`{"query":"x","topk":0}`, `{"error":"topk must be between 1 and 1000"}`, 400},
	} {
		if got := send(t, http.MethodPost, url+"/retrieve", tt.body, nil); got.status != tt.status || got.body != tt.want {
			t.Errorf("%s: got %d %s\nwant %d %s", tt.body, got.status, got.body, tt.status, tt.want)
		}
	}
}

// TestReboundNames is SRV-09: on every method and path, before anything is done.
func TestReboundNames(t *testing.T) {
	text, err := os.ReadFile(sharedtest.Path(t, "cases", "SRV-09", "headers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Host   string
		Origin *string
		Status any
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	reached := 0
	url := start(t, httpserver.Config{MCP: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ })})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	for _, c := range cases {
		header := map[string]string{"Host": strings.ReplaceAll(c.Host, "PORT", port)}
		if c.Origin != nil {
			header["Origin"] = strings.ReplaceAll(*c.Origin, "PORT", port)
		}
		for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			reached = 0
			got := send(t, method, url+"/mcp", `{}`, header).status
			want := http.StatusForbidden // also for the documented choice, a name with a dot at its end
			if c.Status == "2xx" {
				want = http.StatusOK
			}
			if got != want || (reached == 1) != (want == http.StatusOK) {
				t.Errorf("%s %v: got %d, reached %d times, want %d", method, header, got, reached, want)
			}
		}
		if got := send(t, http.MethodGet, url+"/healthz", "", header).status; (got == 200) != (c.Status == "2xx") {
			t.Errorf("GET /healthz %v: got %d", header, got)
		}
	}
}

func TestAllowedNamesAndOrigins(t *testing.T) {
	config := httpserver.Config{AllowHosts: []string{"Docs.Example", "[fd00::7]", "proxy.example:8443"}, AllowOrigins: []string{"https://app.example/"}}
	url := start(t, config)
	for host, want := range map[string]int{"docs.example": 200, "docs.example:443": 200, "proxy.example": 200, "proxy.example:8443": 200, "[fd00::7]:80": 200, "other.example": 403, "": 200} {
		header := map[string]string{"Host": host}
		if got := send(t, http.MethodGet, url+"/healthz", "", header).status; got != want {
			t.Errorf("host %q: got %d, want %d", host, got, want)
		}
	}
	for origin, want := range map[string]int{"https://app.example": 200, "http://app.example": 403, "https://app.example.evil": 403, "file://": 403} {
		if got := send(t, http.MethodGet, url+"/healthz", "", map[string]string{"Origin": origin}).status; got != want {
			t.Errorf("origin %q: got %d, want %d", origin, got, want)
		}
	}
	open := start(t, httpserver.Config{AnyHost: true, Token: "t", AllowOrigins: []string{"https://app.example"}})
	if got := send(t, http.MethodGet, open+"/healthz", "", map[string]string{"Host": "search.lan:8080"}).status; got != 200 {
		t.Errorf("not bound to loopback: got %d", got)
	}
	// What a browser asks before a page sends its request, and what it needs to hand on the answer.
	for origin, want := range map[string]int{"https://app.example": 204, "https://other.example": 403} {
		asked := send(t, http.MethodOptions, open+"/v1/search", "", map[string]string{"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"})
		allows := asked.header.Get("Access-Control-Allow-Origin") == origin && strings.Contains(asked.header.Get("Access-Control-Allow-Headers"), "Authorization, Content-Type")
		if asked.status != want || allows != (want == 204) {
			t.Errorf("before a request from %s: got %+v", origin, asked)
		}
	}
	got := send(t, http.MethodPost, open+"/v1/search", `{"query":"harbour","limit":1}`, map[string]string{"Origin": "https://app.example", "Authorization": "Bearer t"})
	if got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "https://app.example" || got.header.Get("Vary") != "Origin" {
		t.Errorf("from a page: got %+v", got)
	}
	if got := send(t, http.MethodGet, url+"/healthz", "", map[string]string{"Origin": url}); got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("from the server's own page: got %+v", got)
	}
}

// TestTokens is SRV-11.
func TestTokens(t *testing.T) {
	text, err := os.ReadFile(sharedtest.Path(t, "cases", "SRV-11", "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Header *string
		Status any
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	const token = "s3cret-token"
	var mu sync.Mutex
	var logged strings.Builder
	url := start(t, httpserver.Config{Token: token, Log: func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&logged, format+"\n", args...)
	}})
	for _, c := range cases {
		header := map[string]string{}
		if c.Header != nil {
			header["Authorization"] = *c.Header
		}
		want := http.StatusOK // a blank behind the token does not count
		if c.Status == float64(401) {
			want = http.StatusUnauthorized
		}
		for _, path := range []string{"/v1/read", "/retrieve"} {
			body := `{"docid":"a"}`
			if path == "/retrieve" {
				body = `{"query":"tulip"}`
			}
			got := send(t, http.MethodPost, url+path, body, header)
			if got.status != want {
				t.Errorf("%s %v: got %d, want %d", path, header, got.status, want)
			}
			if want == 401 && !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("%v: the answer does not name the scheme", header)
			}
			if strings.Contains(got.body, token) {
				t.Errorf("%v: the answer holds the token", header)
			}
		}
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 401, "/openapi.json": 401, "/": 401, "/nowhere": 401} {
		if got := send(t, http.MethodGet, url+path, "", nil); got.status != want {
			t.Errorf("GET %s without token: got %d, want %d", path, got.status, want)
		}
	}
	if strings.Contains(logged.String(), token) {
		t.Errorf("the log holds the token: %s", logged.String())
	}
}

func TestLimits(t *testing.T) {
	url := start(t, httpserver.Config{Limits: httpserver.Limits{Body: 100}})
	long := `{"docid":"` + strings.Repeat("x", 200) + `"}`
	if got := send(t, http.MethodPost, url+"/v1/read", long, nil); got.status != http.StatusRequestEntityTooLarge || got.body != `{"error":"the body is longer than 100 bytes"}` {
		t.Errorf("a long body: got %+v", got)
	}
	if got := send(t, http.MethodPost, url+"/v1/read", `{}`, map[string]string{"Content-Type": "text/plain"}); got.status != http.StatusUnsupportedMediaType {
		t.Errorf("another type: got %+v", got)
	}
	if got := send(t, http.MethodGet, url+"/v1/read", "", nil); got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != "POST" {
		t.Errorf("another method: got %+v", got)
	}
	if got := send(t, http.MethodGet, url+"/v1/nothing", "", nil); got.status != http.StatusNotFound {
		t.Errorf("another path: got %+v", got)
	}
	if got := send(t, http.MethodPost, url+"/v1/ask", `{}`, nil); got.status != http.StatusNotFound {
		t.Errorf("ask without a model: got %+v", got)
	}
}

// hanging never answers until its context ends.
type hanging struct{}

func (hanging) Search(ctx context.Context, _ retrieval.SearchRequest) (retrieval.Ranking, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (hanging) Read(context.Context, retrieval.ReadRequest) (retrieval.Chunk, error) {
	return retrieval.Chunk{}, fmt.Errorf("read /secret/path: %w", errors.New("checksum differs"))
}

func TestSlowAndBrokenRetrievers(t *testing.T) {
	var mu sync.Mutex
	var logged []string
	url := start(t, httpserver.Config{Retriever: hanging{}, Limits: httpserver.Limits{Timeout: 50 * time.Millisecond, Concurrency: 1}, Log: func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		logged = append(logged, fmt.Sprintf(format, args...))
	}})
	if got := send(t, http.MethodPost, url+"/v1/search", `{"query":"x","limit":1}`, nil); got.status != http.StatusGatewayTimeout {
		t.Errorf("too slow: got %+v", got)
	}
	got := send(t, http.MethodPost, url+"/v1/read", `{"docid":"x"}`, nil)
	if got.status != http.StatusInternalServerError || strings.Contains(got.body, "secret") {
		t.Errorf("broken: got %+v", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(strings.Join(logged, "\n"), "checksum differs") {
		t.Errorf("the log does not have the cause: %q", logged)
	}
}

// stubborn does not look at its context: it answers when it is released.
type stubborn struct {
	hanging
	entered, release chan struct{}
}

func (s stubborn) Search(ctx context.Context, _ retrieval.SearchRequest) (retrieval.Ranking, error) {
	close(s.entered)
	<-s.release
	return nil, ctx.Err()
}

func TestBusyServerSaysSo(t *testing.T) {
	r := stubborn{entered: make(chan struct{}), release: make(chan struct{})}
	url := start(t, httpserver.Config{Retriever: r, Limits: httpserver.Limits{Timeout: 200 * time.Millisecond, Concurrency: 1}})
	search := func() reply { return send(t, http.MethodPost, url+"/v1/search", `{"query":"x","limit":1}`, nil) }
	var first sync.WaitGroup
	first.Go(func() {
		if got := search(); got.status != http.StatusGatewayTimeout {
			t.Errorf("the one that has the turn: got %+v", got)
		}
	})
	<-r.entered
	for range 3 {
		if got := search(); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
			t.Errorf("one that waits: got %+v", got)
		}
	}
	close(r.release)
	first.Wait()
}

// TestSlowClientsKeepNobodyWaiting: the one turn is free while bodies arrive and answers leave.
func TestSlowClientsKeepNobodyWaiting(t *testing.T) {
	url := start(t, httpserver.Config{Limits: httpserver.Limits{Concurrency: 1}})
	address := strings.TrimPrefix(url, "http://")
	for _, sent := range []string{
		"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
		"POST /retrieve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, sent); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	if got := send(t, http.MethodPost, url+"/v1/search", `{"query":"harbour","limit":1}`, nil); got.status != http.StatusOK || time.Since(began) > 10*time.Second {
		t.Errorf("after %v: got %+v", time.Since(began), got)
	}
}

// stuck is a client that never reads: writing to it ends with its deadline.
type stuck struct {
	*httptest.ResponseRecorder
	left chan struct{}
}

func (s stuck) Write([]byte) (int, error) {
	<-s.left
	return 0, io.ErrClosedPipe
}

func TestClientThatNeverReadsHoldsNoTurn(t *testing.T) {
	h := httpserver.New(httpserver.Config{Retriever: memory(), Limits: httpserver.Limits{Concurrency: 1}}).Handler()
	search := func(w http.ResponseWriter) {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/v1/search", strings.NewReader(`{"query":"harbour","limit":1}`))
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(w, r)
	}
	w := stuck{httptest.NewRecorder(), make(chan struct{})}
	var reading sync.WaitGroup
	reading.Go(func() { search(w) })
	answered := make(chan int, 1)
	reading.Go(func() {
		got := httptest.NewRecorder()
		search(got)
		answered <- got.Code
	})
	select {
	case code := <-answered:
		if code != http.StatusOK {
			t.Errorf("got status %d", code)
		}
	case <-time.After(10 * time.Second):
		t.Error("the turn is held while the answer leaves")
	}
	close(w.left)
	reading.Wait()
}

func TestRetrieveIsBoundedInBytes(t *testing.T) {
	docs := retrievaltest.NewMemory(retrievaltest.Document{DocID: "a", Text: "harbour " + strings.Repeat("x", 1<<20)})
	url := start(t, httpserver.Config{Retriever: docs})
	body := `{"queries":["harbour"` + strings.Repeat(`,"harbour"`, 69) + `]}`
	if got := send(t, http.MethodPost, url+"/retrieve", body, nil); got.status != http.StatusBadRequest || got.body != `{"error":"the documents of the answer are longer than 67108864 bytes: ask for fewer at once"}` {
		t.Errorf("got %d %.200s", got.status, got.body)
	}
}

func TestUnavailableBackend(t *testing.T) {
	r := memory()
	r.Fail = func(string) error { return remote.Unavailable(errors.New("connection refused")) }
	url := start(t, httpserver.Config{Retriever: r})
	got := send(t, http.MethodPost, url+"/v1/search", `{"query":"x","limit":1}`, nil)
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" || strings.Contains(got.body, "refused") {
		t.Errorf("got %+v", got)
	}
}

// asking answers questions with two events; "wait" lasts until the client leaves.
func asking(left chan<- struct{}) func(context.Context, string, func(trajectory.Event)) (trajectory.Record, error) {
	return func(ctx context.Context, question string, emit func(trajectory.Event)) (trajectory.Record, error) {
		emit(trajectory.Event{Type: trajectory.TypeHeader, Seq: 1, Header: &trajectory.Header{Question: question}})
		if question == "wait" {
			<-ctx.Done()
			close(left)
			return trajectory.Record{Status: trajectory.Failed}, ctx.Err()
		}
		if question == "impossible" {
			return trajectory.Record{}, errors.New("no key in /etc/keys")
		}
		emit(trajectory.Event{Type: trajectory.TypeEnd, Seq: 2, End: &trajectory.End{}})
		return trajectory.Record{Question: question, Status: trajectory.Completed, Answer: trajectory.Answer{Exact: "1911\n<b>"}}, nil
	}
}

func TestAsk(t *testing.T) {
	url := start(t, httpserver.Config{Ask: asking(nil)})
	got := send(t, http.MethodPost, url+"/v1/ask", `{"question":"when?"}`, nil)
	var record trajectory.Record
	if err := json.Unmarshal([]byte(got.body), &record); err != nil || record.Answer.Exact != "1911\n<b>" || record.Status != trajectory.Completed {
		t.Errorf("got %+v, %v", got, err)
	}
	stream := send(t, http.MethodPost, url+"/v1/ask", `{"question":"when?"}`, map[string]string{"Accept": "text/event-stream"})
	var names []string
	for block := range strings.SplitSeq(stream.body, "\n\n") {
		name, data, ok := strings.Cut(strings.TrimPrefix(block, "event: "), "\ndata: ")
		if !ok {
			continue // a comment
		}
		names = append(names, name)
		if !json.Valid([]byte(data)) {
			t.Errorf("%s: no JSON: %s", name, data)
		}
	}
	if strings.Join(names, " ") != "header end record" || stream.header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("got %q in %+v", names, stream)
	}
	for body, want := range map[string]int{`{}`: 400, `{"question":" "}`: 400, `{"question":"` + strings.Repeat("x", 70_000) + `"}`: 400, `{"question":"impossible"}`: 500} {
		if got := send(t, http.MethodPost, url+"/v1/ask", body, nil); got.status != want || strings.Contains(got.body, "/etc/keys") {
			t.Errorf("%.40s: got %+v, want %d", body, got, want)
		}
	}
}

func TestClientThatLeavesEndsTheResearch(t *testing.T) {
	left := make(chan struct{})
	url := start(t, httpserver.Config{Ask: asking(left), Limits: httpserver.Limits{Asks: 1}})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/ask", strings.NewReader(`{"question":"wait"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if got := send(t, http.MethodPost, url+"/v1/ask", `{"question":"when?"}`, nil); got.status != http.StatusServiceUnavailable {
		t.Errorf("a second question: got %+v, want 503", got)
	}
	cancel()
	select {
	case <-left:
	case <-time.After(30 * time.Second):
		t.Error("the research goes on")
	}
}

func TestMetrics(t *testing.T) {
	server := httpserver.New(httpserver.Config{Retriever: memory()})
	web := httptest.NewServer(server.Handler())
	defer web.Close()
	send(t, http.MethodPost, web.URL+"/v1/search", `{"query":"secret words","limit":1}`, nil)
	send(t, http.MethodPost, web.URL+"/v1/search", `{}`, nil)
	server.ObserveTool("search", time.Millisecond, false)
	got := send(t, http.MethodGet, web.URL+"/metrics", "", nil).body
	for _, want := range []string{
		`goserini_http_requests_total{endpoint="POST /v1/search",status="200"} 1`,
		`goserini_http_requests_total{endpoint="POST /v1/search",status="400"} 1`,
		`goserini_mcp_calls_total{outcome="ok",tool="search"} 1`,
		"goserini_http_request_seconds_bucket", "go_goroutines",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, "secret words") {
		t.Error("metrics hold a query")
	}
}

func TestDescription(t *testing.T) {
	url := start(t, httpserver.Config{Name: "my <docs>", Version: "7", Ask: asking(nil), MCP: http.NotFoundHandler()})
	var doc struct {
		OpenAPI string
		Info    struct{ Title, Version string }
		Paths   map[string]map[string]struct{ Summary string }
	}
	if err := json.Unmarshal([]byte(send(t, http.MethodGet, url+"/openapi.json", "", nil).body), &doc); err != nil {
		t.Fatal(err)
	}
	page := send(t, http.MethodGet, url+"/", "", nil)
	if doc.OpenAPI != "3.1.0" || doc.Info.Title != "goserini: my <docs>" || len(doc.Paths) != 9 {
		t.Errorf("got %+v", doc)
	}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			if got := send(t, strings.ToUpper(method), url+path, "{}", nil); got.status == 404 && path != "/mcp" || got.status == 405 {
				t.Errorf("%s %s is described and gives %d", method, path, got.status)
			}
			if o.Summary == "" || !strings.Contains(page.body, path) {
				t.Errorf("%s has no summary, or the page does not show it", path)
			}
		}
	}
	if strings.Contains(page.body, "<docs>") || strings.Contains(page.body, "src=") || !strings.Contains(page.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the page is not safe: %s", page.body)
	}
}

func TestServeEndsGracefully(t *testing.T) {
	for _, tt := range []struct {
		question string
		grace    time.Duration
	}{{"when?", time.Minute}, {"wait", 10 * time.Millisecond}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		left := make(chan struct{})
		s := httpserver.New(httpserver.Config{Retriever: memory(), Ask: asking(left), Limits: httpserver.Limits{Grace: tt.grace}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Serve(ctx, l) }()
		url := "http://" + l.Addr().String()
		if got := send(t, http.MethodGet, url+"/readyz", "", nil); got.status != 200 {
			t.Errorf("got %+v", got)
		}
		resp, err := http.Post(url+"/v1/ask", "application/json", strings.NewReader(`{"question":"when?"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if tt.question == "wait" {
			go http.Post(url+"/v1/ask", "application/json", strings.NewReader(`{"question":"wait"}`))
			for !strings.Contains(send(t, http.MethodGet, url+"/metrics", "", nil).body, "goserini_http_requests_running 2") {
				time.Sleep(time.Millisecond)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", tt.question, err)
		}
		if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
			t.Error("the port is still open")
		}
	}
}

func FuzzBodies(f *testing.F) {
	for _, body := range []string{`{"query":"tulip","limit":3,"offset":2}`, `{"docid":"a","limit":1}`, `{"queries":["a"],"topk":2}`, `{"query":"x","limit":1e999}`, `[`, `{"limit":null}`, `{"question":"when?"}`} {
		f.Add(body)
	}
	h := httpserver.New(httpserver.Config{Retriever: memory(), Ask: asking(nil)}).Handler()
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{"/v1/search", "/v1/read", "/retrieve"} {
			req := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(body))
			req.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if w.Code != 200 && w.Code != 400 || !json.Valid(w.Body.Bytes()) {
				t.Fatalf("%s: got %d %s", path, w.Code, w.Body)
			}
		}
	})
}
