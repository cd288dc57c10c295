package httpjson_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"goserini/internal/retrieval"
	"goserini/internal/retrieval/httpjson"
	"goserini/internal/retrieval/remote"
)

// answering is a retriever over a server that gives the same answer to everything.
func answering(tb testing.TB, status int, body string) (*httpjson.Retriever, *atomic.Int64) {
	tb.Helper()
	calls := new(atomic.Int64)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			tb.Errorf("got %s with %v", r.Method, r.Header)
		}
		if status == http.StatusFound {
			http.Redirect(w, r, "http://other.example/", status)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	tb.Cleanup(web.Close)
	r, err := httpjson.New(httpjson.Config{BackendID: "wiki", SearchURL: web.URL + "/s", ReadURL: web.URL + "/r", Policy: remote.Policy{Pause: time.Millisecond, Timeout: time.Minute}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { r.Close() })
	return r, calls
}

func TestFailures(t *testing.T) {
	for _, tt := range []struct {
		name        string
		status      int
		body, want  string
		unavailable bool
		calls       int64
	}{
		{"out of order", 503, `{"error":"warming\nup"}`, `backend wiki: search: HTTP 503: {"error":"warming\nup"} (tried 3 times)`, true, 3},
		{"too many requests", 429, ``, "HTTP 429: (nothing)", true, 3},
		{"refused", 400, `{"error":"query too long"}`, `HTTP 400: {"error":"query too long"}`, true, 1},
		{"not let in", 401, `who are you`, `backend wiki: search: HTTP 401: who are you`, false, 1},
		{"a page instead of JSON", 200, `<html>`, "it began: <html>", false, 1},
		{"another shape", 200, `{"hits":{}}`, "is not what the contract says", false, 1},
		{"success without hits", 200, `{"error":"the index is loading"}`, "backend wiki: search: response: hits is missing", false, 1},
		{"a hit without docid", 201, `{"hits":[{"docid":""}],"hasMore":false}`, "hits[0]: docid is missing or empty", false, 1},
		{"a redirect", 302, ``, "it redirects to http://other.example/", true, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, calls := answering(t, tt.status, tt.body)
			_, err := r.Search(t.Context(), retrieval.SearchRequest{Query: "zinc", Depth: 2})
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, retrieval.ErrUnavailable) != tt.unavailable || calls.Load() != tt.calls {
				t.Errorf("got %v after %d calls, want %q after %d", err, calls.Load(), tt.want, tt.calls)
			}
		})
	}
}

func TestReadThatSaysNothingIsNoMissingDocument(t *testing.T) {
	r, _ := answering(t, 200, `{"error":"the index is loading"}`)
	_, err := r.Read(t.Context(), retrieval.ReadRequest{DocID: "a", Offset: 1, Limit: 1})
	if err == nil || errors.Is(err, retrieval.ErrNoDocument) || !strings.Contains(err.Error(), "neither a document nor the word that there is none") {
		t.Errorf("got %v", err)
	}
}

func TestDocumentWithoutEndIsRefused(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"found":true,"docid":"a","text":"more","truncated":true}`)
	}))
	defer web.Close()
	r, err := httpjson.New(httpjson.Config{BackendID: "wiki", SearchURL: web.URL, ReadURL: web.URL, MaxDocument: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = r.Read(t.Context(), retrieval.ReadRequest{DocID: "a", Offset: 1, Limit: math.MaxInt32})
	if want := `backend wiki: read: "a": the document is longer than 100 bytes`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestNameOfABackendIsNoFormat(t *testing.T) {
	_, err := retrieverNamed(t, "100%s wiki").Search(t.Context(), retrieval.SearchRequest{Query: "zinc"})
	if want := "backend 100%s wiki: search: depth=0 is out of range: it must be at least 1"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func retrieverNamed(tb testing.TB, name string) *httpjson.Retriever {
	tb.Helper()
	r, err := httpjson.New(httpjson.Config{BackendID: name, SearchURL: "http://localhost/s", ReadURL: "http://localhost/r"})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func TestReadsWithFewFields(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		offset     int
		lines      string
		total      int
		problem    string
	}{
		{"no ranges and no total", `{"found":true,"docid":"a","text":"x\ny","offset":1,"limit":9,"truncated":false}`, 1, "x|y", 2, ""},
		{"more to come, total unknown", `{"found":true,"docid":"a","text":"x","offset":1,"limit":1,"truncated":true,"nextOffset":2}`, 1, "x", 2, ""},
		{"a line end at the end of the text", `{"found":true,"docid":"a","text":"x\ny\n","truncated":false,"totalUnits":2,"returnedOffsetStart":1,"returnedOffsetEnd":2}`, 1, "x|y", 2, ""},
		{"past the end", `{"found":true,"docid":"a","text":"","truncated":false,"totalUnits":2,"returnedOffsetStart":9,"returnedOffsetEnd":9}`, 9, "", 2, ""},
		{"past the end, total unknown", `{"found":true,"docid":"a","text":"","truncated":false}`, 9, "", 8, ""},
		{"an empty document", `{"found":true,"docid":"a","text":"","truncated":false}`, 1, "", 1, ""},
		{"other units than lines", `{"found":true,"docid":"a","text":"x\ny\nz\nz","truncated":false,"totalUnits":2,"returnedOffsetStart":1,"returnedOffsetEnd":2}`, 1, "", 0, "only backends that count in lines"},
		{"another place", `{"found":true,"docid":"a","text":"x","truncated":false,"returnedOffsetStart":1,"returnedOffsetEnd":1}`, 5, "", 0, "returnedOffsetStart is 1, and 5 was asked for"},
		{"no text", `{"found":true,"docid":"a"}`, 1, "", 0, "text or truncated is missing"},
		{"nothing found", `{"found":false,"docid":"a"}`, 1, "", 0, "no such document"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := answering(t, 200, tt.body)
			limit := 9
			if strings.Contains(tt.body, `"truncated":true`) {
				limit = 1
			}
			got, err := r.Read(t.Context(), retrieval.ReadRequest{DocID: "a", Offset: tt.offset, Limit: limit})
			if tt.problem != "" {
				if err == nil || !strings.Contains(err.Error(), tt.problem) || !strings.HasPrefix(err.Error(), `backend wiki: read: "a": `) {
					t.Errorf("got %v, want %q", err, tt.problem)
				}
				return
			}
			if err != nil || strings.Join(got.Lines, "|") != tt.lines || got.TotalLines != tt.total {
				t.Errorf("got %+v, %v; want %q of %d", got, err, tt.lines, tt.total)
			}
		})
	}
}

func TestDocumentThatComesTwiceKeepsItsBestRank(t *testing.T) {
	r, _ := answering(t, 200, `{"hits":[{"docid":"a","score":2},{"docid":"b","title":null,"metadata":{"url":"http://x/","n":1}},{"docid":"a","score":1}],"hasMore":false}`)
	got, err := r.Search(t.Context(), retrieval.SearchRequest{Query: "zinc", Depth: 5})
	if err != nil || len(got) != 2 || got[0].Score != 2 || got[1].HasScore || got[1].URL != "http://x/" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"hits":[{"docid":"a","score":1e999}],"hasMore":true}`, `{"hits":[{"docid":"a"}],"hasMore":true,"nextOffset":2}`,
		`{"found":true,"docid":"a","text":"x\ny","offset":3,"limit":2,"totalUnits":9,"returnedOffsetStart":3,"returnedOffsetEnd":4,"truncated":true,"nextOffset":5}`,
		`{"found":true,"text":"","truncated":true}`, `{"found":true,"text":"x","truncated":true,"totalUnits":-5,"returnedOffsetStart":-1,"returnedOffsetEnd":9223372036854775807}`,
		`null`, `{}`, `[`, `{"hits":null}`,
	} {
		f.Add(seed)
	}
	var body atomic.Value
	body.Store("")
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body.Load()) }))
	f.Cleanup(web.Close)
	r, err := httpjson.New(httpjson.Config{SearchURL: web.URL, ReadURL: web.URL, MaxPageSize: 2, MaxReadLimit: 2})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		body.Store(answer)
		if got, err := r.Search(context.Background(), retrieval.SearchRequest{Query: "q", Depth: 5}); err == nil && len(got) > 5 {
			t.Fatalf("%d hits of 5", len(got))
		}
		got, err := r.Read(context.Background(), retrieval.ReadRequest{DocID: "a", Offset: 3, Limit: 4})
		if err == nil && (len(got.Lines) > 4 || got.Offset != 3 || got.TotalLines < len(got.Lines)) {
			t.Fatalf("got %+v", got)
		}
	})
}
