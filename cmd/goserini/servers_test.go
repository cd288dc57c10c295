package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/sharedtest"
	"goserini/internal/trajectory"
)

// harbour is a folder with a corpus, its index and a scripted model.
type harbour struct{ dir, index, script string }

var harbourDocs = []map[string]string{
	{"docid": "survey", "text": "The harbour survey\nThe harbour was surveyed in 1911 by E. Moss.\nThree wrecks were found."},
	{"docid": "notes", "text": "Notes on the harbour wall."},
	{"docid": "bridge", "text": "The bridge was surveyed later."},
	{"docid": "salt", "text": "Records of the old salt works."},
}

const harbourScript = `{"version": 1, "turns": [
  {"calls": [{"name": "search", "arguments": {"reason": "find it", "query": "harbour surveyed 1911"}}]},
  {"calls": [{"name": "read_search_results", "arguments": {"reason": "more", "search_id": "s1", "offset": 2}},
             {"name": "read_document", "arguments": {"reason": "read it", "docid": "survey", "offset": 2, "limit": 1}}]},
  {"text": "Explanation: Surveyed in 1911 [survey].\nExact Answer: 1911\nConfidence: 90%"}
]}`

func newHarbour(t *testing.T) harbour {
	t.Helper()
	dir := t.TempDir()
	for name, value := range map[string]string{"HOME": dir, "XDG_CACHE_HOME": dir + "/cache", "XDG_DATA_HOME": dir + "/data", "NO_COLOR": "1"} {
		t.Setenv(name, value)
	}
	h := harbour{dir: dir, index: filepath.Join(dir, "my.index"), script: filepath.Join(dir, "turns.json")}
	var corpus bytes.Buffer
	for _, d := range harbourDocs {
		if err := json.NewEncoder(&corpus).Encode(d); err != nil {
			t.Fatal(err)
		}
	}
	h.write(t, "corpus.jsonl", corpus.String())
	h.write(t, "turns.json", harbourScript)
	if out, code := goserini(t, "index", filepath.Join(dir, "corpus.jsonl"), "--index", h.index); code != 0 {
		t.Fatalf("index: %s", out)
	}
	return h
}

func (h harbour) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// goserini runs a command in this process and returns what it printed on both streams.
func goserini(t *testing.T, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code := mainWith(args, strings.NewReader(""), &out, &out)
	return out.String(), code
}

// start runs a server in a process of its own until the test ends, and returns the first
// group of the form in what it prints.
func start(t *testing.T, form string, args ...string) string {
	t.Helper()
	cmd := exec.Command("goserini", args...)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		rest, _ := io.ReadAll(r)
		if err := cmd.Wait(); err != nil {
			t.Errorf("goserini %v: %v: %s", args, err, rest)
		}
	})
	var seen strings.Builder
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadString('\n')
		seen.WriteString(line)
		if m := regexp.MustCompile(form).FindStringSubmatch(line); m != nil {
			return m[1]
		}
		if err != nil {
			t.Fatalf("goserini %v ended: %s", args, seen.String())
		}
	}
}

func httpConfig(url string) string {
	return `{"backend":{"kind":"http-json","capabilities":{"backendId":"harbour","supportsScore":true,"supportsSnippets":true,"supportsExactTotalHits":false},"endpoints":{"searchUrl":"` + url + `/v1/search","readDocumentUrl":"` + url + `/v1/read"}}}`
}

// askOver asks the scripted question and returns the record, without what differs from run
// to run.
func (h harbour) askOver(t *testing.T, name, spec string) trajectory.Record {
	t.Helper()
	out := filepath.Join(h.dir, "run-"+name)
	text, code := goserini(t, "ask", "When was the harbour surveyed?", "--retriever", spec, "--model", "script/"+h.script, "--json", "--quiet", "--out", out, "--bm25", "anserini")
	if code != 0 && !strings.Contains(text, `"query_id"`) {
		t.Fatalf("ask over %s: exit %d: %s", spec, code, text)
	}
	results, err := os.ReadFile(filepath.Join(out, "results.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var rec trajectory.Record
	if err := json.Unmarshal(bytes.TrimSpace(results), &rec); err != nil {
		t.Fatal(err)
	}
	rec.StartedAt, rec.ElapsedSeconds, rec.PrefixShare = time.Time{}, 0, 0
	return rec
}

// TestEveryRetrieverGivesTheSameRecord asks one question over every kind of retriever.
func TestEveryRetrieverGivesTheSameRecord(t *testing.T) {
	h := newHarbour(t)
	port := start(t, `"port":(\d+)`, "rpc", "--index", h.index, "--transport", "tcp")
	url := start(t, `listening on (http://\S+)/ `, "serve", "--index", h.index, "--listen", "127.0.0.1:0", "--bm25", "anserini")
	docs, err := json.Marshal(harbourDocs)
	if err != nil {
		t.Fatal(err)
	}
	want := h.askOver(t, "index", "index:"+h.index)
	if want.Status != trajectory.Completed || want.Answer.Exact != "1911" || strings.Join(want.Opened, " ") != "survey" || len(want.Surfaced) != 3 || want.ToolErrors != 0 {
		t.Fatalf("got %+v", want)
	}
	for name, spec := range map[string]string{
		"tcp":    "anserini:tcp://127.0.0.1:" + port,
		"stdio":  "anserini:stdio:goserini rpc --index '" + h.index + "'",
		"http":   "http-json:" + h.write(t, "http.json", httpConfig(url)),
		"mock":   "mock:" + h.write(t, "mock.json", `{"backend":{"kind":"mock","documents":`+string(docs)+`}}`),
		"config": "config:" + h.write(t, "tcp.json", `{"backend":{"kind":"anserini-bm25","transport":{"kind":"tcp","host":"127.0.0.1","port":`+port+`}}}`),
	} {
		got := h.askOver(t, name, spec)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: the record differs (-index +%s):\n%s", spec, name, d)
		}
	}
}

func TestSearchOverARetriever(t *testing.T) {
	h := newHarbour(t)
	out, code := goserini(t, "search", "--retriever", "anserini:stdio:goserini rpc --index "+h.index, "harbour", "surveyed")
	if code != 0 || !strings.Contains(out, "1  survey  ") || !strings.Contains(out, "surveyed in 1911") {
		t.Errorf("exit %d: %s", code, out)
	}
	out, code = goserini(t, "search", "--retriever", "anserini:tcp://127.0.0.1:1", "harbour")
	if code != exitError || !strings.Contains(out, "backend anserini:tcp://127.0.0.1:1: search: ") || !strings.Contains(out, "tried 3 times") {
		t.Errorf("exit %d: %s", code, out)
	}
	for _, args := range [][]string{
		{"search", "--retriever", "nope:x", "harbour"},
		{"search", "--retriever", "index:" + h.index, "--index", h.index, "harbour"},
		{"ask", "--retriever", "mock:x", "--index", h.index, "question"},
		{"mcp"}, {"serve"}, {"rpc"},
		{"rpc", "--index", h.index, "--transport", "tcp", "--host", "0.0.0.0"},
		{"serve", "--index", h.index, "--listen", "0.0.0.0:0"},
		{"serve", "--index", h.index, "--listen", "127.0.0.1:0", "--asks", "0"},
		{"serve", "--index", h.index, "--listen", "127.0.0.1:0", "--concurrency", "-1"},
		{"serve", "--index", h.index, "--listen", "127.0.0.1:0", "--request-timeout", "0s"},
		{"serve", "--index", h.index, "--listen", "127.0.0.1:0", "--allow-origin", "app.example"},
		{"mcp", "--index", h.index, "--hits", "-1"},
		{"mcp", "--index", h.index, "--profile", "nope"},
		{"mcp", "config", "--client", "emacs", "--index", h.index},
		{"mcp", "config", "--client", "codex", "--index", h.index, "--profile", "nope"},
	} {
		if out, code := goserini(t, args...); code != exitUsage && code != exitError || out == "" {
			t.Errorf("%v: exit %d: %s", args, code, out)
		}
	}
}

// TestBackendThatDiesDuringAQuestion: the agent is told, and answers from what it has seen.
func TestBackendThatDiesDuringAQuestion(t *testing.T) {
	h := newHarbour(t)
	url := start(t, `listening on (http://\S+)/ `, "serve", "--index", h.index, "--listen", "127.0.0.1:0")
	var reads atomic.Int64
	dying := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/read") {
			reads.Add(1)
			panic(http.ErrAbortHandler) // the connection ends
		}
		resp, err := http.Post(url+r.URL.Path, "application/json", r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		_, _ = io.Copy(w, resp.Body)
	}))
	defer dying.Close()
	failing := "http-json:" + h.write(t, "dying.json", httpConfig(dying.URL))
	if out, _ := goserini(t, "ask", "When was the harbour surveyed?", "--retriever", failing, "--model", "script/"+h.script, "--out", filepath.Join(h.dir, "seen")); !strings.Contains(out, "warning: "+failing+": Post ") {
		t.Errorf("the operator is not told: %s", out)
	}
	reads.Store(0)
	rec := h.askOver(t, "dying", "http-json:"+h.write(t, "dying.json", httpConfig(dying.URL)))
	if rec.Status != trajectory.Completed || rec.ToolErrors != 1 || len(rec.Opened) != 0 || len(rec.Surfaced) != 3 || reads.Load() < 3 {
		t.Errorf("after %d reads: got %+v", reads.Load(), rec)
	}
	text, err := os.ReadFile(filepath.Join(h.dir, "run-dying", "trajectories", "ask.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"the document collection did not answer", "backend harbour: read: "} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the trajectory does not hold %q", want)
		}
	}
}

// TestDocumentsThatGiveOrders is SRV-12: whatever documents say, the model's turns are the
// only ones, and every line of theirs stands behind a number or in a one-line field.
func TestDocumentsThatGiveOrders(t *testing.T) {
	poison := sharedtest.Path(t, "cases", "SRV-12", "poison.jsonl")
	h := newHarbour(t)
	index := filepath.Join(h.dir, "poison.index")
	if out, code := goserini(t, "index", poison, "--index", index); code != 0 {
		t.Fatalf("index: %s", out)
	}
	var calls []string
	for _, id := range []string{"p1", "p2", "p3", "p4"} {
		calls = append(calls, fmt.Sprintf(`{"name":"read_document","arguments":{"reason":"read","docid":%q,"offset":1}}`, id))
	}
	h.script = h.write(t, "poison.json", `{"version":1,"turns":[{"calls":[{"name":"search","arguments":{"reason":"find","query":"northern basin"}}]},{"calls":[`+
		strings.Join(calls, ",")+`]},{"text":"Explanation: A chart shows it [p4].\nExact Answer: Lake Orrin\nConfidence: 40%"}]}`)
	rec := h.askOver(t, "poison", "index:"+index)
	if rec.Status != trajectory.Completed || rec.Answer.Exact != "Lake Orrin" || *rec.Answer.Confidence != 40 || strings.Join(rec.Cited, " ") != "p4" || rec.ExecutedCalls != 5 || rec.Turns != 3 || rec.ToolErrors != 0 {
		t.Errorf("got %+v", rec)
	}
	var contents []string
	lines, err := os.ReadFile(poison)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(lines) {
		var d struct{ Contents string }
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		contents = append(contents, d.Contents)
	}
	text, err := os.ReadFile(filepath.Join(h.dir, "run-poison", "trajectories", "ask.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var e trajectory.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Observation == nil {
			continue
		}
		for page := range strings.SplitSeq(e.Observation.Text, "\n") {
			for _, c := range contents {
				for said := range strings.SplitSeq(c, "\n") {
					if page == said || strings.HasPrefix(page, "System:") || strings.HasPrefix(page, "Exact Answer:") {
						t.Errorf("a line of a document stands alone: %q", page)
					}
				}
			}
		}
	}
	for i, c := range contents {
		out, code := goserini(t, "read", "--index", index, "--plain", fmt.Sprintf("p%d", i+1))
		if code != 0 || !strings.HasPrefix(out, strings.SplitN(c, "\n", 2)[0]) {
			t.Errorf("p%d is not stored as it was: %q", i+1, out)
		}
	}
}

func TestMCPOverTheStandardStreams(t *testing.T) {
	h := newHarbour(t)
	cmd := exec.Command("goserini", "mcp", "--index", h.index)
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"reason":"find","query":"harbour"}}}
{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"goserini://my/survey#L3"}}`)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id":2,"result"`, "ranks 1-2 of 2", `"text":"Three wrecks were found."`} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	for line := range bytes.Lines(out) {
		if !json.Valid(line) {
			t.Errorf("standard output holds a line that is not JSON: %s", line)
		}
	}
}

// TestServersEndWhenTold: clients end the servers they started with a signal, or by
// closing the input.
func TestServersEndWhenTold(t *testing.T) {
	h := newHarbour(t)
	for _, command := range []string{"mcp", "rpc"} {
		for _, how := range []string{"signal", "end of input"} {
			cmd := exec.Command("goserini", command, "--index", h.index)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"ping","type":"ping"}`)
			if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Errorf("%s: %v", command, err)
			}
			if how == "signal" {
				_ = cmd.Process.Signal(syscall.SIGTERM)
			} else {
				in.Close()
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%s, %s: %v", command, how, err)
			}
		}
	}
}

func TestMCPConfigNamesPathsThatHoldFromAnywhere(t *testing.T) {
	h := newHarbour(t)
	t.Chdir(h.dir)
	for _, client := range []string{"claude-code", "claude-desktop", "cursor", "vscode", "codex"} {
		var out, errs bytes.Buffer
		if code := mainWith([]string{"mcp", "config", "--client", client, "--index", "my.index"}, nil, &out, &errs); code != 0 {
			t.Fatalf("%s: exit %d: %s", client, code, errs.String())
		}
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), program) || !strings.Contains(out.String(), filepath.Join(h.dir, "my.index")) && !strings.Contains(out.String(), "my.index") {
			t.Errorf("%s: got %s", client, out.String())
		}
	}
}

func TestServeOverHTTP(t *testing.T) {
	h := newHarbour(t)
	token := h.write(t, "token", "s3cret-token\n")
	url := start(t, `listening on (http://\S+)/ .*with a token`, "serve", "--index", h.index, "--listen", "127.0.0.1:0", "--token-file", token, "--model", "script/"+h.script)
	send := func(path, accept, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(http.MethodPost, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer s3cret-token")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", accept)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(got)
	}
	for _, tt := range []struct{ path, accept, body, want string }{
		{"/v1/ask", "text/event-stream", `{"question":"When was the harbour surveyed?"}`, "event: record\ndata: {"},
		{"/v1/ask", "application/json", `{"question":"When was the harbour surveyed?"}`, `"exact_answer":"1911"`},
		{"/mcp", "application/json, text/event-stream", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"reason":"r","query":"harbour"}}}`, "ranks 1-2 of 2"},
		{"/retrieve", "*/*", `{"query":"salt"}`, `"docid":"salt"`},
	} {
		if status, got := send(tt.path, tt.accept, tt.body); status != 200 || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %d %s, want %q", tt.path, status, got, tt.want)
		}
	}
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: got %d", resp.StatusCode)
	}
}

// TestNothingLeavesTheMachine: with a proxy in the environment, every request to another
// machine would reach it.
func TestNothingLeavesTheMachine(t *testing.T) {
	h := newHarbour(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var reached atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			reached.Add(1)
			conn.Close()
		}
	}()
	proxy := "http://" + l.Addr().String()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy)
	}
	url := start(t, `listening on (http://\S+)/ `, "serve", "--index", h.index, "--listen", "127.0.0.1:0")
	ask := exec.CommandContext(context.Background(), "goserini", "ask", "--index", h.index, "When was the harbour surveyed?")
	if out, err := ask.CombinedOutput(); err != nil {
		t.Fatalf("ask: %v: %s", err, out)
	}
	resp, err := http.Post(url+"/v1/ask", "application/json", strings.NewReader(`{"question":"When was the harbour surveyed?"}`))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("ask: %d %s", resp.StatusCode, body)
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d connections to other machines", n)
	}
	// The check itself must be able to fail.
	fetch := exec.Command("goserini", "ask", "--index", h.index, "question", "--model", "openai/gpt-nothing", "--max-calls", "1", "--timeout", "5s")
	fetch.Env = append(os.Environ(), "OPENAI_API_KEY=none", "OPENAI_BASE_URL=http://model.invalid/v1")
	_ = fetch.Run()
	if reached.Load() == 0 {
		t.Error("a request to a model's endpoint did not reach the proxy, so this test sees nothing")
	}
}

// TestStartIsLight: an MCP client starts the program and waits, so packages make on demand
// what takes memory, and with it time, to make.
func TestStartIsLight(t *testing.T) {
	const most = 2 << 20 // bytes that one package may allocate at the start
	cmd := exec.Command("goserini", "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	trace, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`(?m)^init (\S+) @.*, (\d+) bytes, \d+ allocs$`)
	inits := form.FindAllStringSubmatch(string(trace), -1)
	if len(inits) < 20 {
		t.Fatalf("got no trace: %s", trace)
	}
	for _, m := range inits {
		if n, err := strconv.Atoi(m[2]); err != nil || n > most {
			t.Errorf("the start of %s allocates %s bytes, and %d are allowed", m[1], m[2], most)
		}
	}
}
