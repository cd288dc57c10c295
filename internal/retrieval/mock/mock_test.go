package mock_test

import (
	"strings"
	"testing"

	"goserini/internal/retrieval"
	"goserini/internal/retrieval/mock"
	"goserini/internal/retrieval/retrievaltest"
)

func TestConformance(t *testing.T) {
	retrievaltest.Run(t, func(tb testing.TB, docs []retrievaltest.Document) retrieval.Retriever {
		var own []mock.Document
		for _, d := range docs {
			own = append(own, mock.Document{DocID: d.DocID, Title: d.Title, Text: d.Contents()})
		}
		r, err := mock.New(own)
		if err != nil {
			tb.Fatal(err)
		}
		return r
	})
}

func TestScoreCountsWordsOfTheQueryInsideWordsToo(t *testing.T) {
	r, err := mock.New([]mock.Document{
		{DocID: "b", Text: "a rowboat"},
		{DocID: "a", Title: "Boats", Text: "two oars"},
		{DocID: "c", Text: "none", Snippet: "boat boat"},
		{DocID: "d", Text: "an island"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ranking, err := r.Search(t.Context(), retrieval.SearchRequest{Query: "Boat boat oars", Depth: 10})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range ranking {
		got = append(got, h.DocID+"="+strings.Repeat("x", int(h.Score))+" "+h.Excerpt)
	}
	if want := "a=xxx two oars|b=xx a rowboat|c=xx boat boat"; strings.Join(got, "|") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "|"), want)
	}
}

func TestConfigurationsThatMakeNoCollection(t *testing.T) {
	for want, docs := range map[string][]mock.Document{
		"document 2 has no docid":                   {{DocID: "a"}, {}},
		`documents 1 and 2 have the same docid "a"`: {{DocID: "a"}, {DocID: "a"}},
	} {
		if _, err := mock.New(docs); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
