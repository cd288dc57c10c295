package local

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"goserini/internal/corpus"
	"goserini/internal/index"
	"goserini/internal/retrieval"
)

// pages are documents of several passages, of which one says something.
func pages() []corpus.Document {
	tides := strings.Repeat("Harbour dues and tide tables fill this page.\n", 80)
	return []corpus.Document{
		{DocID: "scattered", Title: "Register", Text: tides + "lighthouse\n" + tides + "keeper\n" + tides + "Orvane\n" + tides},
		{DocID: "together", Title: "Register", Text: tides + tides + "The lighthouse keeper of Orvane kept the lighthouse.\n" + tides + tides + tides},
		{DocID: "cjk", Text: strings.Repeat("海辺の町の記録。", 400) + "\n灯台守は日記をつけた。\n" + strings.Repeat("潮の満ち引き。", 400)},
		{DocID: "rtl", Text: strings.Repeat("سجل الميناء والرسوم. ", 300) + "\nحارس المنارة كتب يومياته.\n" + strings.Repeat("جداول المد والجزر. ", 300)},
		{DocID: "one line", Text: strings.Repeat("harbour dues ", 123_457) + "basalt quarry " + strings.Repeat("harbour dues ", 150_000)},
		{DocID: "empty"},
	}
}

func ask(t *testing.T, r *Retriever, req retrieval.SearchRequest) retrieval.Ranking {
	t.Helper()
	ranking, err := r.Search(context.Background(), req)
	if err != nil {
		t.Fatal(err)
	}
	return ranking
}

func TestPassagesChangeNothingUnlessAskedFor(t *testing.T) {
	plain, with := open(t, pages()), openWith(t, pages(), index.BuildOptions{Passages: true})
	for _, q := range []string{"lighthouse keeper Orvane", "harbour dues", "灯台守", "absent"} {
		req := retrieval.SearchRequest{Query: q, Depth: 10}
		if a, b := ask(t, plain, req), ask(t, with, req); !reflect.DeepEqual(a, b) {
			t.Errorf("%q: got %v, want %v", q, b, a)
		}
	}
	_, err := plain.Search(context.Background(), retrieval.SearchRequest{Query: "keeper", Depth: 1, Passages: true})
	if !errors.Is(err, index.ErrNoPassages) || !errors.Is(plain.HoldsPassages(), index.ErrNoPassages) || with.HoldsPassages() != nil {
		t.Errorf("got %v, %v and %v", err, plain.HoldsPassages(), with.HoldsPassages())
	}
}

func TestHitsNameTheLinesOfTheBestPassage(t *testing.T) {
	r := openWith(t, pages(), index.BuildOptions{Passages: true, Analyzer: "cjk"})
	for _, test := range []struct{ query, docid, holds string }{
		{"lighthouse keeper Orvane", "together", "The lighthouse keeper of Orvane"},
		{"灯台守 日記", "cjk", "灯台守は日記をつけた。"},
		{"حارس المنارة", "rtl", "حارس المنارة"},
		{"basalt quarry", "one line", "basalt quarry"},
	} {
		ranking := ask(t, r, retrieval.SearchRequest{Query: test.query, Depth: 10, Passages: true})
		if len(ranking) == 0 || ranking[0].DocID != test.docid {
			t.Errorf("%q: got %v", test.query, ranking)
			continue
		}
		p := ranking[0].Passage
		chunk, err := r.Read(context.Background(), retrieval.ReadRequest{DocID: test.docid, Offset: p.FirstLine, Limit: p.LastLine - p.FirstLine + 1})
		if err != nil {
			t.Fatal(err)
		}
		if last := len(chunk.Lines) - 1; p.End > 0 {
			chunk.Lines[last] = chunk.Lines[last][:p.End]
		}
		chunk.Lines[0] = chunk.Lines[0][p.Begin:]
		text := strings.Join(chunk.Lines, "\n")
		if !strings.Contains(text, test.holds) || len(text) > 6000 {
			t.Errorf("%q: the passage %+v has %d bytes and does not hold it", test.query, p, len(text))
		}
	}
}
