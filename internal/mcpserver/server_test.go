package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"goserini/internal/controller"
	"goserini/internal/mcpserver"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/retrievaltest"
	"goserini/internal/tool"
)

// revisions are those of the protocol that are served.
var revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

var memory = sync.OnceValue(makeMemory)

func makeMemory() *retrievaltest.Memory {
	docs := []retrievaltest.Document{
		{DocID: "light-1", Title: "The Orvane Light", Text: "The lighthouse was lit in 1871.\nIts keeper was Tessa Brandt.\n\nIt burned whale oil."},
		{DocID: "notes/2 (copy).txt", Text: "keeper of bees"},
		{DocID: "灯塔#9", Text: "the keeper of 灯塔"},
		{DocID: "oneline", Text: "keeper " + strings.Repeat("abcd efgh ", 500_000)},
		{DocID: "control", Title: "control " + strings.Repeat("\"\\", 10_000), Text: "control " + strings.Repeat("\x01\n", 50_000)},
		{DocID: "lines", Text: strings.Repeat("one line of a long document\n", 3000)},
	}
	for i := range 30 {
		docs = append(docs, retrievaltest.Document{DocID: fmt.Sprintf("page-%02d", i), Title: "Page", Text: "a page about tulips, number " + fmt.Sprint(i)})
	}
	return retrievaltest.NewMemory(docs...)
}

// research is the profile of the controller's tools.
func research(r retrieval.Retriever) *mcpserver.Server {
	options := controller.Options{Stateless: true, PageBytes: mcpserver.DefaultMaxBytes}
	return mcpserver.New(mcpserver.Config{
		Name: "light house", Version: "1", Tools: controller.New(r, options).Tools(), Documents: r, Instructions: "Documents about lighthouses.",
	})
}

// transports connect a client of the SDK to a server.
var transports = map[string]func(tb testing.TB, s *mcpserver.Server) mcp.Transport{
	"stdio": func(tb testing.TB, s *mcpserver.Server) mcp.Transport {
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		done := make(chan error, 1)
		go func() {
			err := s.ServeStdio(context.Background(), in, out)
			out.Close()
			done <- err
		}()
		tb.Cleanup(func() {
			toServer.Close()
			if err := <-done; err != nil {
				tb.Errorf("serve: %v", err)
			}
		})
		return &mcp.IOTransport{Reader: fromServer, Writer: toServer}
	},
	"http": func(tb testing.TB, s *mcpserver.Server) mcp.Transport {
		web := httptest.NewServer(s.Handler())
		tb.Cleanup(web.Close)
		return &mcp.StreamableClientTransport{Endpoint: web.URL, DisableStandaloneSSE: true}
	},
}

func connect(tb testing.TB, s *mcpserver.Server, transport, revision string) *mcp.ClientSession {
	tb.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil)
	session, err := client.Connect(context.Background(), transports[transport](tb, s), &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { session.Close() })
	return session
}

func call(tb testing.TB, session *mcp.ClientSession, name string, args map[string]any) *mcp.CallToolResult {
	tb.Helper()
	result, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		tb.Fatalf("%s(%v): %v", name, args, err)
	}
	return result
}

func text(tb testing.TB, result *mcp.CallToolResult) string {
	tb.Helper()
	if len(result.Content) != 1 || result.StructuredContent != nil {
		tb.Fatalf("want one text and nothing else, got %+v", result)
	}
	return result.Content[0].(*mcp.TextContent).Text
}

func TestClientsOfEveryRevisionOverBothTransports(t *testing.T) {
	for transport := range transports {
		for _, revision := range revisions {
			t.Run(transport+" "+revision, func(t *testing.T) {
				session := connect(t, research(memory()), transport, revision)
				if got := session.InitializeResult().ProtocolVersion; got != revision {
					t.Errorf("got revision %s, want %s", got, revision)
				}
				listed, err := session.ListTools(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, tl := range listed.Tools {
					names = append(names, tl.Name)
					a := tl.Annotations
					if !a.ReadOnlyHint || !a.IdempotentHint || *a.DestructiveHint || *a.OpenWorldHint || a.Title == "" || tl.OutputSchema != nil {
						t.Errorf("%s: annotations %+v, output schema %v", tl.Name, a, tl.OutputSchema)
					}
				}
				if want := []string{"read_document", "read_search_results", "search"}; !slices.Equal(names, want) {
					t.Errorf("got tools %v, want %v", names, want)
				}
				found := text(t, call(t, session, "search", map[string]any{"reason": "find", "query": "lighthouse keeper"}))
				if !strings.Contains(found, "docid=light-1") || !strings.Contains(found, "search_id=") {
					t.Errorf("search: got %s", found)
				}
				page := text(t, call(t, session, "read_document", map[string]any{"reason": "read", "docid": "light-1", "offset": 2, "limit": 1}))
				if want := "docid=light-1 lines 2-2 of 5\n\n2\tThe lighthouse was lit in 1871."; !strings.HasPrefix(page, want) {
					t.Errorf("read_document: got %s", page)
				}
				refused := call(t, session, "read_document", map[string]any{"reason": "read", "docid": "nope"})
				if !refused.IsError || !strings.Contains(text(t, refused), `"nope"`) {
					t.Errorf("unknown docid: got %+v", refused)
				}
				if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "nope"}); err == nil {
					t.Error("unknown tool: got no error")
				}
			})
		}
	}
}

func TestSearchIDIsResolvedByAnotherProcess(t *testing.T) {
	first := connect(t, research(memory()), "http", "2025-06-18")
	found := text(t, call(t, first, "search", map[string]any{"reason": "find", "query": "tulips \"page\"\n"}))
	_, rest, _ := strings.Cut(found, "More hits: read_search_results(")
	var args map[string]any
	if err := json.NewDecoder(strings.NewReader(rest)).Decode(&args); err != nil {
		t.Fatalf("%v in %s", err, found)
	}
	second := connect(t, research(memory()), "stdio", "2024-11-05")
	page := text(t, call(t, second, "read_search_results", args))
	if !strings.HasPrefix(page, "ranks 6-10 of 30") {
		t.Errorf("got %s", page)
	}
}

// TestRankingsOfOthers is SRV-07: nothing of one client's state shows to another, since there
// is none.
func TestRankingsOfOthers(t *testing.T) {
	s := research(memory())
	for id, want := range map[string]string{
		"s1":                              "not one that search returned",
		"":                                "search_id is missing",
		"q:" + strings.Repeat("x ", 9000): "not one that search returned",
	} {
		result := call(t, connect(t, s, "http", "2025-06-18"), "read_search_results", map[string]any{"reason": "look", "search_id": id})
		if got := text(t, result); !result.IsError || !strings.Contains(got, want) {
			t.Errorf("%.20q: got %s, want %q", id, got, want)
		}
	}
}

func TestUnknownArgumentsAreRefusedWithTheKnownOnes(t *testing.T) {
	session := connect(t, research(memory()), "stdio", "2025-11-25")
	result := call(t, session, "search", map[string]any{"reason": "find", "query": "keeper", "top_k": 3, "k": 1})
	want := `search: there is no arguments "k", "top_k". Call search again with no others than reason, query.`
	if got := text(t, result); !result.IsError || got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range listed.Tools {
		if schema := tl.InputSchema.(map[string]any); schema["additionalProperties"] != false {
			t.Errorf("%s: the schema is open: %v", tl.Name, schema)
		}
	}
}

// TestResultsStaySmall: below 10,000 tokens, which never are more than bytes.
func TestResultsStaySmall(t *testing.T) {
	r := memory()
	foreign := mcpserver.Foreign{Retriever: r, Name: "n"}
	for name, s := range map[string]*mcpserver.Server{
		"research":         research(r),
		"chatgpt":          mcpserver.New(mcpserver.Config{Name: "n", Tools: mcpserver.ChatGPT(foreign), Documents: r}),
		"browsecomp-plus":  mcpserver.New(mcpserver.Config{Name: "n", Tools: mcpserver.BrowseCompPlus(foreign)}),
		"whole documents?": mcpserver.New(mcpserver.Config{Name: "n", Tools: mcpserver.BrowseCompPlus(mcpserver.Foreign{Retriever: r, SnippetTokens: -1})}),
	} {
		session := connect(t, s, "http", "2025-11-25")
		for _, tt := range []struct {
			tool string
			args map[string]any
		}{
			{"search", map[string]any{"query": "keeper"}},
			{"search", map[string]any{"query": "control"}},
			{"fetch", map[string]any{"id": "control"}},
			{"get_document", map[string]any{"docid": "control"}},
			{"read_document", map[string]any{"docid": "control"}},
			{"read_document", map[string]any{"docid": "oneline"}},
			{"read_document", map[string]any{"docid": "lines", "limit": 100_000}},
			{"fetch", map[string]any{"id": "oneline"}},
			{"fetch", map[string]any{"id": "lines"}},
			{"get_document", map[string]any{"docid": "oneline"}},
		} {
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: tt.args})
			if err != nil {
				continue // a tool of another profile
			}
			if got := text(t, result); len(got) >= 10_000 || result.IsError {
				t.Errorf("%s: %s(%v) has %d bytes, error %v", name, tt.tool, tt.args, len(got), result.IsError)
			}
		}
	}
}

func TestUnlimitedDocumentIsWhole(t *testing.T) {
	r := memory()
	s := mcpserver.New(mcpserver.Config{Name: "n", Tools: mcpserver.BrowseCompPlus(mcpserver.Foreign{Retriever: r, MaxBytes: -1})})
	var got struct{ DocID, Text, Next string }
	decode(t, call(t, connect(t, s, "http", "2025-11-25"), "get_document", map[string]any{"docid": "oneline"}), &got)
	if len(got.Text) != 5_000_007 || got.Next != "" {
		t.Errorf("got %d bytes, next %q", len(got.Text), got.Next)
	}
}

func decode(tb testing.TB, result *mcp.CallToolResult, into any) {
	tb.Helper()
	if got := text(tb, result); result.IsError || json.Unmarshal([]byte(got), into) != nil {
		tb.Fatalf("got %s", got)
	}
}

func TestChatGPTProfile(t *testing.T) {
	r := memory()
	session := connect(t, mcpserver.New(mcpserver.Config{Name: "my docs", Tools: mcpserver.ChatGPT(mcpserver.Foreign{Retriever: r, Name: "my docs"})}), "http", "2025-11-25")
	if got, want := text(t, call(t, session, "search", map[string]any{"query": "bees lit"})),
		`{"results":[{"id":"light-1","title":"The Orvane Light","url":"goserini://my%20docs/light-1"},{"id":"notes/2 (copy).txt","title":"notes/2 (copy).txt","url":"goserini://my%20docs/notes/2%20%28copy%29.txt"}]}`; got != want {
		t.Errorf("search: got %s, want %s", got, want)
	}
	if got, want := text(t, call(t, session, "fetch", map[string]any{"id": "灯塔#9"})),
		`{"id":"灯塔#9","title":"灯塔#9","text":"the keeper of 灯塔","url":"goserini://my%20docs/%E7%81%AF%E5%A1%94%239","metadata":{"lines":"1-1 of 1"}}`; got != want {
		t.Errorf("fetch: got %s, want %s", got, want)
	}
	if got := call(t, session, "fetch", map[string]any{"id": "nope#L1"}); !got.IsError || !strings.Contains(text(t, got), "no document has the id") {
		t.Errorf("unknown id: got %s", text(t, got))
	}
	if got := call(t, session, "search", map[string]any{"query": " "}); !got.IsError {
		t.Errorf("empty query: got %s", text(t, got))
	}
	for _, id := range []string{"oneline", "lines"} {
		if got, want := fetchAll(t, session, id), contents(t, r, id); got != want {
			t.Errorf("%s: the parts have %d bytes, the document %d", id, len(got), len(want))
		}
	}
}

// fetchAll joins the parts of a document.
func fetchAll(t *testing.T, session *mcp.ClientSession, id string) string {
	t.Helper()
	var whole strings.Builder
	for next := id; next != ""; {
		var d struct {
			Text     string
			Metadata struct{ Next, Lines string }
		}
		decode(t, call(t, session, "fetch", map[string]any{"id": next}), &d)
		part := d.Text
		if d.Metadata.Next != "" {
			part = part[:strings.LastIndex(part, "\n")]
			if !strings.Contains(d.Metadata.Next, "C") {
				part += "\n"
			}
		}
		whole.WriteString(part)
		next = d.Metadata.Next
	}
	return whole.String()
}

func contents(t *testing.T, r retrieval.Retriever, docid string) string {
	t.Helper()
	c, err := r.Read(t.Context(), retrieval.ReadRequest{DocID: docid, Offset: 1, Limit: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(c.Lines, "\n")
}

func TestBrowseCompPlusProfile(t *testing.T) {
	r := memory()
	session := connect(t, mcpserver.New(mcpserver.Config{Name: "n", Tools: mcpserver.BrowseCompPlus(mcpserver.Foreign{Retriever: r, Name: "n", SnippetTokens: 6})}), "http", "2025-11-25")
	var hits []struct {
		DocID, Snippet string
		Score          *float64
	}
	decode(t, call(t, session, "search", map[string]any{"query": "keeper"}), &hits)
	if len(hits) != 4 || hits[0].Score == nil {
		t.Fatalf("got %+v", hits)
	}
	for _, h := range hits {
		if h.DocID == "light-1" && h.Snippet != "The Orvane Light\nThe" {
			t.Errorf("got snippet %q", h.Snippet)
		}
	}
	if got, want := text(t, call(t, session, "get_document", map[string]any{"docid": "notes/2 (copy).txt"})), `{"docid":"notes/2 (copy).txt","text":"keeper of bees"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestResources(t *testing.T) {
	session := connect(t, research(memory()), "stdio", "2025-06-18")
	templates, err := session.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate != "goserini://light%20house/{+docid}" {
		t.Fatalf("got %+v, %v", templates, err)
	}
	for uri, want := range map[string]string{
		"goserini://light%20house/light-1#L2-L3":              "The lighthouse was lit in 1871.\nIts keeper was Tessa Brandt.",
		"goserini://light%20house/light-1#L3-3":               "Its keeper was Tessa Brandt.",
		"goserini://light%20house/light-1#L5":                 "It burned whale oil.",
		"goserini://light%20house/notes/2%20%28copy%29.txt":   "keeper of bees",
		mcpserver.URI("light house", "灯塔#9"):                  "the keeper of 灯塔",
		"goserini://light%20house/light-1#L99":                "",
		"goserini://light%20house/notes%2F2%20%28copy%29.txt": "keeper of bees",
		"goserini://light%20house/light-1#L2C5-L2":            "lighthouse was lit in 1871.",
	} {
		got, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		if len(got.Contents) != 1 || got.Contents[0].Text != want {
			t.Errorf("%s: got %q, want %q", uri, got.Contents[0].Text, want)
		}
	}
	got, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "goserini://light%20house/oneline"})
	if err != nil {
		t.Fatal(err)
	}
	part := got.Contents[0].Text
	shown, notice, _ := strings.Cut(part, "\n[")
	next := fmt.Sprintf("L1C%d", len(shown)+1)
	if len(part) > mcpserver.DefaultMaxBytes || len(part) < mcpserver.DefaultMaxBytes-100 || !strings.HasSuffix(notice, "It goes on at "+next+": read goserini://light%20house/oneline#"+next+"]") {
		t.Errorf("a long document: got %d bytes with the end %q, want it to go on at %s", len(part), notice, next)
	}
	for _, uri := range []string{"goserini://light%20house/nope", "goserini://other/light-1", "file:///etc/passwd", "goserini://light%20house/light-1#x", "goserini://light%20house/%zz", "goserini://light%20house/../../../etc/passwd"} {
		if got, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: got %+v, want an error", uri, got)
		}
	}
}

func TestRareCharactersInAddressesGetAnErrorOverEveryTransport(t *testing.T) {
	for transport := range transports {
		t.Run(transport, func(t *testing.T) {
			session := connect(t, research(memory()), transport, "2025-06-18")
			_, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "goserini://light%20house/\U000cce5b"})
			if err == nil || !strings.Contains(err.Error(), "Resource not found") {
				t.Errorf("got %v, want an error that no resource is there", err)
			}
			if _, err := session.ListTools(t.Context(), nil); err != nil {
				t.Errorf("the next request: %v", err)
			}
		})
	}
}

// TestFailuresOfTheMachinery: the client's model is told what it can do, the operator why.
func TestFailuresOfTheMachinery(t *testing.T) {
	var mu sync.Mutex
	var logged []string
	fails := func(name string, do func(context.Context) (tool.Result, error)) tool.Tool {
		return tool.Tool{Name: name, Schema: json.RawMessage(`{"type":"object","properties":{}}`), Begin: func(json.RawMessage) func(context.Context) (tool.Result, error) { return do }}
	}
	s := mcpserver.New(mcpserver.Config{Name: "n", CallTimeout: 20_000_000, Tools: []tool.Tool{
		fails("breaks", func(context.Context) (tool.Result, error) {
			return tool.Result{}, fmt.Errorf("checksum of /secret/path differs")
		}),
		fails("panics", func(context.Context) (tool.Result, error) { panic("out of bounds") }),
		fails("hangs", func(ctx context.Context) (tool.Result, error) { <-ctx.Done(); return tool.Result{}, ctx.Err() }),
	}, Log: func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		logged = append(logged, fmt.Sprintf(format, args...))
	}})
	session := connect(t, s, "stdio", "2025-06-18")
	for name, want := range map[string]string{"breaks": "could not be read", "panics": "could not be read", "hangs": "no result within 20ms"} {
		result := call(t, session, name, nil)
		if got := text(t, result); !result.IsError || !strings.Contains(got, want) || strings.Contains(got, "secret") {
			t.Errorf("%s: got %s", name, got)
		}
	}
	all := strings.Join(logged, "\n")
	for _, want := range []string{"checksum of /secret/path differs", "out of bounds", "hangs: no result"} {
		if !strings.Contains(all, want) {
			t.Errorf("the log does not hold %q: %s", want, all)
		}
	}
}

// TestManyClientsAtOnce is SRV-05 over HTTP: twenty sessions, a hundred calls each.
func TestManyClientsAtOnce(t *testing.T) {
	web := httptest.NewServer(research(memory()).Handler())
	defer web.Close()
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil)
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: web.URL, DisableStandaloneSSE: true}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer session.Close()
			for i := range 100 {
				docid := fmt.Sprintf("page-%02d", (n+i)%30)
				if i == 50 {
					docid = "oneline" // the slow one
				}
				got := text(t, call(t, session, "read_document", map[string]any{"reason": "read", "docid": docid}))
				if !strings.HasPrefix(got, "docid="+docid+" ") {
					t.Errorf("asked for %s, got %.80s", docid, got)
				}
			}
		})
	}
	wg.Wait()
}

func TestHTTPRefusesWhatIsNoMessage(t *testing.T) {
	web := httptest.NewServer(research(memory()).Handler())
	defer web.Close()
	for _, tt := range []struct{ body, want string }{
		{`{broken`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not JSON"}}`},
		{``, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the message is not JSON"}}`},
		{`42`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message must be an object"}}`},
		{`{"jsonrpc":"1.0","id":6,"method":"ping"}`, `{"jsonrpc":"2.0","id":6,"error":{"code":-32600,"message":"jsonrpc must be \"2.0\""}}`},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"tools/call needs params"}}`},
		{`{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, `{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32600,"message":"id is a number that JSON does not keep exactly: use a whole one below 2^53, or a string"}}`},
	} {
		status, got := post(t, web.URL, tt.body, nil)
		if status != http.StatusBadRequest || got != tt.want {
			t.Errorf("%s: got %d %s, want 400 %s", tt.body, status, got, tt.want)
		}
	}
	if status, got := post(t, web.URL, `{"jsonrpc":"2.0","id":"x`+strings.Repeat("x", 5<<20)+`","method":"ping"}`, nil); status != http.StatusRequestEntityTooLarge {
		t.Errorf("5 MB: got %d %s", status, got)
	}
	for _, id := range []string{`"text-id"`, `0`, `-7`, `9007199254740991`} {
		status, got := post(t, web.URL, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`, nil)
		if want := `{"jsonrpc":"2.0","id":` + id + `,"result":{}}`; status != 200 || got != want {
			t.Errorf("id %s: got %d %s, want %s", id, status, got, want)
		}
	}
}

// TestRevisionHeader is the part of SRV-02 about HTTP.
func TestRevisionHeader(t *testing.T) {
	web := httptest.NewServer(research(memory()).Handler())
	defer web.Close()
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for version, want := range map[string]int{"2024-11-05": 200, "2025-11-25": 200, "1.0": 400, "2025-01-01": 400, "2099-01-01": 400} {
		status, got := post(t, web.URL, list, http.Header{"Mcp-Protocol-Version": {version}})
		if status != want {
			t.Errorf("%s: got %d %s, want %d", version, status, got, want)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		req, err := http.NewRequest(method, web.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: got %d, want 405: there are no sessions", method, resp.StatusCode)
		}
	}
}

func post(t *testing.T, url, body string, header http.Header) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(got))
}
