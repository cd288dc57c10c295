package open_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"goserini/internal/bm25"
	"goserini/internal/corpus"
	"goserini/internal/index"
	"goserini/internal/retrieval"
	"goserini/internal/retrieval/open"
	"goserini/internal/retrieval/remote"
)

const (
	mockConfig = `{"backend":{"kind":"mock","documents":[{"docid":"a","title":"T","snippet":"s","text":"one\ntwo"},{"docid":"b","text":""}]}}`
	httpConfig = `{"backend":{"kind":"http-json","capabilities":{"backendId":"x","supportsScore":true,"supportsSnippets":false,"supportsExactTotalHits":false,"maxPageSize":10,"maxReadLimit":99.5},"endpoints":{"searchUrl":"http://127.0.0.1:1/s","readDocumentUrl":"http://127.0.0.1:1/r"}}}`
	tcpConfig  = `{"backend":{"kind":"anserini-bm25","transport":{"kind":"tcp","host":"127.0.0.1","port":7000}}}`
	pipeConfig = `{"backend":{"kind":"anserini-bm25","transport":{"kind":"stdio","indexPath":"no/such/index"}}}`
)

func TestParseConfig(t *testing.T) {
	mock, err := open.ParseConfig([]byte(mockConfig))
	if err != nil || len(mock.Documents) != 2 || mock.Documents[0].Snippet != "s" || mock.Documents[1].DocID != "b" {
		t.Errorf("mock: got %+v, %v", mock, err)
	}
	web, err := open.ParseConfig([]byte(httpConfig))
	if err != nil || web.HTTP.BackendID != "x" || web.HTTP.MaxPageSize != 10 || web.HTTP.MaxReadLimit != 99 || web.HTTP.ReadURL != "http://127.0.0.1:1/r" {
		t.Errorf("http-json: got %+v, %v", web, err)
	}
	tcp, err := open.ParseConfig([]byte(" " + tcpConfig + "\n"))
	if err != nil || tcp.Address != "127.0.0.1:7000" {
		t.Errorf("tcp: got %+v, %v", tcp, err)
	}
	pipe, err := open.ParseConfig([]byte(pipeConfig))
	if err != nil || pipe.IndexPath != "no/such/index" {
		t.Errorf("stdio: got %+v, %v", pipe, err)
	}
}

func TestConfigurationsAreClosedAndErrorsNameThePlace(t *testing.T) {
	for _, tt := range []struct{ from, old, new, want string }{
		{mockConfig, `{"backend"`, `{"x":1,"backend"`, "x: does not belong here; there are [backend]"},
		{mockConfig, `"kind":"mock"`, `"kind":"nope"`, `backend.kind: "nope" is none of anserini-bm25, http-json, mock`},
		{mockConfig, `"kind":"mock",`, ``, "backend.kind: is missing or empty"},
		{mockConfig, `"docid":"b"`, `"docid":""`, "backend.documents[1].docid: is missing or empty"},
		{mockConfig, `"title":"T"`, `"title":null`, "backend.documents[0].title: null is no string"},
		{mockConfig, `,"text":""`, ``, "backend.documents[1].text: is missing"},
		{mockConfig, `"title":"T"`, `"body":"T"`, "backend.documents[0].body: does not belong here"},
		{mockConfig, `"docid":"b"`, `"docid":7`, "backend.documents[1].docid: json: cannot unmarshal number"},
		{mockConfig, `}}`, `}}x`, "something follows the object"},
		{mockConfig, mockConfig, `[]`, "the configuration: is no JSON object"},
		{mockConfig, mockConfig, `null`, "null is no object"},
		{mockConfig, mockConfig, ``, "the configuration: is no JSON object: EOF"},
		{httpConfig, `"supportsScore":true,`, ``, "backend.capabilities.supportsScore: is missing"},
		{httpConfig, `"backendId":"x"`, `"backendId":""`, "backend.capabilities.backendId: is missing or empty"},
		{httpConfig, `"maxPageSize":10`, `"maxPageSize":0`, "backend.capabilities.maxPageSize: 0 is below 1"},
		{httpConfig, `"searchUrl":"http://127.0.0.1:1/s",`, ``, "backend.endpoints.searchUrl: is missing"},
		{tcpConfig, `7000`, `0.5`, "backend.transport.port: 0.5 is below 1"},
		{tcpConfig, `7000`, `7000.5`, "backend.transport.port: 7000.5 is no port"},
		{tcpConfig, `"tcp"`, `"udp"`, `backend.transport.kind: "udp" is neither tcp nor stdio`},
		{pipeConfig, `"indexPath"`, `"path"`, "backend.transport.path: does not belong here; there are [indexPath kind]"},
	} {
		text := strings.Replace(tt.from, tt.old, tt.new, 1)
		if _, err := open.ParseConfig([]byte(text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", text, err, tt.want)
		}
	}
}

// write puts a configuration into a file.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func opened(t *testing.T, spec string) *open.Opened {
	t.Helper()
	r, err := open.Retriever(spec, open.Options{Policy: remote.Policy{Pause: time.Millisecond}})
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("%s: close: %v", spec, err)
		}
	})
	return r
}

func TestSpecsOpen(t *testing.T) {
	config := write(t, mockConfig)
	for _, spec := range []string{"mock:" + config, "config:" + config} {
		r := opened(t, spec)
		if got, err := r.Search(t.Context(), retrieval.SearchRequest{Query: "two", Depth: 5}); err != nil || len(got) != 1 || r.Spec != spec || r.Index != nil {
			t.Errorf("%s: got %v, %v", spec, got, err)
		}
	}
	dir := t.TempDir()
	docs := []corpus.Document{{DocID: "a", Text: "zinc onyx"}}
	if _, err := index.Build(t.Context(), dir, corpus.FromDocuments(docs), index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	paper := func(*index.Index) (bm25.Params, error) { return bm25.Paper, nil }
	r, err := open.Retriever("index:"+dir, open.Options{Params: paper})
	if err != nil || r.Params != bm25.Paper || r.Index == nil || r.Excerpter() == nil {
		t.Fatalf("got %+v, %v", r, err)
	}
	r.Close()
	byConfig := opened(t, "config:"+write(t, strings.Replace(pipeConfig, "no/such/index", dir, 1)))
	if byConfig.Params != bm25.Anserini {
		t.Errorf("an index by configuration: got %v", byConfig.Params)
	}
}

func TestSpecsThatCannotBeOpened(t *testing.T) {
	for spec, want := range map[string]string{
		"":                               "want index:DIR",
		"nope:x":                         `there is no kind "nope"`,
		"index:":                         "want index:DIR",
		"index:no/such/dir":              "no/such/dir",
		"anserini:udp://x":               "want anserini:tcp://HOST:PORT or anserini:stdio:COMMAND",
		"anserini:tcp://x":               `"x" is not HOST:PORT`,
		"anserini:stdio:no-such-prog":    "no-such-prog",
		"anserini:stdio: ":               "the command is empty",
		"anserini:stdio:a 'b":            "a ' is not closed",
		"mock:/no/such/file":             "/no/such/file",
		"mock:" + write(t, tcpConfig):    `backend.kind is "anserini-bm25", and mock:FILE needs "mock"`,
		"config:" + write(t, pipeConfig): "anserini:stdio:COMMAND",
		"http-json:" + write(t, strings.Replace(httpConfig, "http://127.0.0.1:1/s", "ftp://x", 1)): `searchUrl "ftp://x" is no http or https address`,
	} {
		if _, err := open.Retriever(spec, open.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", spec, err, want)
		}
	}
}

// TestBackendsAreNamedWhenTheyAreGone: the error says which backend failed at what.
func TestBackendsAreNamedWhenTheyAreGone(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := l.Addr().String()
	l.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down for repair", http.StatusBadGateway) }))
	defer web.Close()
	at := func(url string) string {
		return "http-json:" + write(t, strings.NewReplacer("http://127.0.0.1:1", url, `"backendId":"x"`, `"backendId":"wiki"`).Replace(httpConfig))
	}
	for spec, want := range map[string]string{
		"anserini:tcp://" + gone: "backend anserini:tcp://" + gone + ": search: dial tcp",
		at("http://" + gone):     "backend wiki: search: Post",
		at(web.URL):              "backend wiki: search: HTTP 502: down for repair (tried 3 times)",
	} {
		_, err := opened(t, spec).Search(t.Context(), retrieval.SearchRequest{Query: "zinc", Depth: 1})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", spec, err, want)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, seed := range []string{mockConfig, httpConfig, tcpConfig, pipeConfig, `{"backend":null}`, `{"backend":{"kind":"mock","documents":[null]}}`, `{"backend":{"kind":"anserini-bm25","transport":{"kind":"tcp","host":"::1","port":1e308}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := open.ParseConfig(text)
		if err != nil {
			return
		}
		switch {
		case c.Kind == open.KindAnserini && (c.Address == "") == (c.IndexPath == ""),
			c.Kind == open.KindHTTP && (c.HTTP.SearchURL == "" || c.HTTP.ReadURL == "" || c.HTTP.BackendID == "" || c.HTTP.MaxPageSize < 0),
			c.Kind == "":
			t.Fatalf("%s: got %+v", text, c)
		}
		for _, d := range c.Documents {
			if d.DocID == "" {
				t.Fatalf("%s: a document without docid", text)
			}
		}
	})
}
