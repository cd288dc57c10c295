package controller_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"goserini/internal/controller"
	"goserini/internal/retrieval/retrievaltest"
	"goserini/internal/sharedtest"
)

func numbered() *retrievaltest.Memory {
	return retrievaltest.NewMemory(
		retrievaltest.Document{DocID: "12345678901234567890", Text: "long number document"},
		retrievaltest.Document{DocID: "7", Text: "seven document"},
		retrievaltest.Document{DocID: "true", Text: "a docid that is a word of JSON"},
		retrievaltest.Document{DocID: "a b", Text: "a docid with a blank"},
		retrievaltest.Document{DocID: " [x] ", Text: "a docid with blanks and brackets of its own"},
	)
}

func TestArgumentsAreTakenLeniently(t *testing.T) {
	for _, tt := range []struct{ name, tool, args, want string }{
		{"a number beyond 53 bits for a docid keeps its digits", "read_document", `{"docid": 12345678901234567890}`, "long number document"},
		{"a small number for a docid", "read_document", `{"docid": 7}`, "seven document"},
		{"a boolean for a docid", "read_document", `{"docid": true}`, "a word of JSON"},
		{"a docid in brackets", "read_document", `{"docid": "[7]"}`, "seven document"},
		{"a docid copied with its label", "read_document", `{"docid": " docid=7"}`, "seven document"},
		{"a docid copied with its quotes", "read_document", `{"docid": "\"a b\""}`, "docid with a blank"},
		{"a docid that really has brackets", "read_document", `{"docid": " [x] "}`, "brackets of its own"},
		{"a numeric string for a number", "read_document", `{"docid": 7, "limit": "1"}`, "lines 1-1 of 1"},
		{"null for an optional number", "read_document", `{"docid": 7, "limit": null}`, "lines 1-1 of 1"},
		{"a word for infinity stands for the default", "read_document", `{"docid": 7, "limit": "Infinity"}`, "Note: limit=Infinity is no number; the default was used."},
		{"a huge number", "read_document", `{"docid": 7, "limit": 1e300}`, "Note: limit=1e300 was taken as 2147483647."},
		{"a number for a query", "search", `{"query": 7}`, `Query: "7"`},
		{"an object inside a string", "search", `"{\"query\": \"seven\"}"`, "docid=7"},
		{"an unknown field", "search", `{"query": "seven", "q": 1}`, `Note: unknown argument "q" ignored; search takes reason, query.`},
		{"no reason", "search", `{"query": "seven"}`, "docid=7"},
		{"blanks around a query", "search", `{"query": " \tseven\n"}`, `Query: "seven"`},
		{"blanks around a search_id", "read_search_results", `{"search_id": " s1 ", "offset": 1}`, "docid=7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := controller.New(numbered(), controller.Options{})
			call(t, c, "search", `{"query": "seven"}`)
			result := call(t, c, tt.tool, tt.args)
			if result.IsError || !strings.Contains(result.Text, tt.want) {
				t.Errorf("got %q, want it to contain %q", result.Text, tt.want)
			}
		})
	}
}

func TestMistakesNameTheFieldAndTheFix(t *testing.T) {
	for _, tt := range []struct {
		name, tool, args string
		want             []string
	}{
		{"an empty query", "search", `{"reason":"r","query":""}`, []string{"query is missing or empty", `{"reason":`}},
		{"no arguments at all", "search", ``, []string{"query is missing or empty"}},
		{"null arguments", "search", `null`, []string{"query is missing or empty"}},
		{"no JSON", "search", `query: seven`, []string{"not a JSON object", "at byte 1", "query: seven", "query (string)"}},
		{"JSON that ends too early", "search", `{"query": "sev`, []string{"not a JSON object", "end too early"}},
		{"text after the object", "search", `{"query": "seven"} {"query": "eight"}`, []string{"text follows the object"}},
		{"an array", "search", `["seven"]`, []string{"found an array where an object belongs"}},
		{"a list for a query", "search", `{"query": ["seven"]}`, []string{"query must be a string", `["seven"]`}},
		{"a word for a number", "read_document", `{"docid": 7, "offset": "end"}`, []string{"offset must be an integer", `"end"`}},
		{"a boolean for a number", "read_document", `{"docid": 7, "offset": true}`, []string{"offset must be an integer"}},
		{"no docid", "read_document", `{"reason": "r"}`, []string{"docid is missing or empty"}},
		{"an unknown docid", "read_document", `{"docid": "../../etc/passwd"}`, []string{`No document has the docid "../../etc/passwd"`, "exactly as search"}},
		{"a docid longer than any", "read_document", `{"docid": "` + strings.Repeat("x", 5000) + `"}`, []string{"docid has 5000 bytes"}},
		{"no search_id", "read_search_results", `{}`, []string{"search_id is missing or empty"}},
		{"a search_id before any search", "read_search_results", `{"search_id": "s1"}`, []string{`"s1" was never issued`, "Call search first"}},
		{"a column past the end of the line", "read_document", `{"docid": 7, "column": 99}`, []string{"has 14 characters", "column 99", "offset 2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := controller.New(numbered(), controller.Options{})
			result := call(t, c, tt.tool, tt.args)
			if !result.IsError {
				t.Errorf("got no error: %s", result.Text)
			}
			for _, want := range tt.want {
				if !strings.Contains(result.Text, want) {
					t.Errorf("got %q, want it to contain %q", result.Text, want)
				}
			}
			if !result.Access.IsZero() {
				t.Errorf("a refused call touched %+v", result.Access)
			}
		})
	}
}

func TestBlankQueriesFindNothing(t *testing.T) {
	docs := readCorpus(t, sharedtest.Path(t, "cases", "QRY-01", "corpus.jsonl"))
	for _, query := range readStrings(t, sharedtest.Path(t, "cases", "QRY-01", "queries.json")) {
		args, err := json.Marshal(map[string]string{"query": query})
		if err != nil {
			t.Fatal(err)
		}
		result := call(t, controller.New(retrievaltest.NewMemory(docs...), controller.Options{}), "search", string(args))
		if !result.IsError || !strings.Contains(result.Text, "query is missing or empty") {
			t.Errorf("query %q: got %q, want an error about the empty query", query, result.Text)
		}
	}
}

func TestQueriesWithoutATermGetAnEmptyPageThatSaysWhy(t *testing.T) {
	docs := readCorpus(t, sharedtest.Path(t, "cases", "QRY-02", "corpus.jsonl"))
	for _, query := range readStrings(t, sharedtest.Path(t, "cases", "QRY-02", "queries.json")) {
		args, err := json.Marshal(map[string]string{"query": query})
		if err != nil {
			t.Fatal(err)
		}
		result := call(t, controller.New(retrievaltest.NewMemory(docs...), controller.Options{}), "search", string(args))
		if result.IsError || !strings.Contains(result.Text, "too common to be searched") || !result.Access.IsZero() {
			t.Errorf("query %q: got %q, %+v; want an empty page with a reason", query, result.Text, result.Access)
		}
	}
}

func readStrings(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `[]`, `"`, `{"query":"keeper"}`, `"{\"query\":\"keeper\"}"`, `{"query":{}}`, `{"docid":1e400}`,
		`{"search_id":"s1","offset":"0x1p-2","limit":-9e99}`, `{"docid":"light-1","column":3,"offset":2}`, `{"query":"\ud800"}`,
		`{"docid":"many","limit":2147483648}`, `{"query":"a","query":"b"}`, `{"search_id":"q:keeper"}`, "{\"query\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	m := retrievaltest.NewMemory(harbour()...)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, o := range []controller.Options{{}, {Stateless: true}} {
			c := controller.New(m, o)
			call(t, c, "search", `{"query":"keeper"}`)
			for _, tl := range c.Tools() {
				result, err := tl.Begin(raw)(context.Background())
				if err != nil {
					t.Fatalf("%s: %v", tl.Name, err)
				}
				if result.Text == "" || !utf8.ValidString(result.Text) || len(result.Text) > 50<<10 {
					t.Fatalf("%s: text of %d bytes: %q", tl.Name, len(result.Text), result.Text)
				}
			}
		}
	})
}
