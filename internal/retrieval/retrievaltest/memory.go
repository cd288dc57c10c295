// Package retrievaltest helps to test retrievers and what uses them: an in-memory
// retriever for a handful of documents, and the conformance suite that every kind of
// retriever passes.
//
//	r := retrievaltest.NewMemory(retrievaltest.Document{DocID: "d1", Text: "zinc onyx"})
package retrievaltest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"goserini/internal/retrieval"
)

// Document is a document of a test.
type Document struct {
	DocID, Title, Text, URL string
}

// Contents is the text that is ranked and read: title, newline, text; the text alone
// if there is no title.
func (d Document) Contents() string {
	if d.Title == "" {
		return d.Text
	}
	return d.Title + "\n" + d.Text
}

// Memory ranks documents by how much of the query they hold: for each distinct word of
// the query tf/(tf+1). It implements every optional interface except
// [retrieval.Excerpter]. It is safe for concurrent use.
type Memory struct {
	docs map[string]Document
	tf   map[string]map[string]int // docid → word → occurrences
	// Fail, if set before use, is asked before each operation ("search", "read").
	Fail func(operation string) error
}

// NewMemory returns a retriever over docs. Of equal docids the last one stays.
func NewMemory(docs ...Document) *Memory {
	m := &Memory{docs: map[string]Document{}, tf: map[string]map[string]int{}}
	for _, d := range docs {
		counts := map[string]int{}
		for _, w := range words(d.Contents()) {
			counts[w]++
		}
		m.docs[d.DocID], m.tf[d.DocID] = d, counts
	}
	return m
}

// Search implements [retrieval.Retriever].
func (m *Memory) Search(ctx context.Context, req retrieval.SearchRequest) (retrieval.Ranking, error) {
	if err := m.check(ctx, "search"); err != nil {
		return nil, err
	}
	query := words(req.Query)
	slices.Sort(query)
	query = slices.Compact(query)
	var ranking retrieval.Ranking
	for _, id := range slices.Sorted(maps.Keys(m.docs)) {
		var score float32
		for _, w := range query {
			if tf := float32(m.tf[id][w]); tf > 0 {
				score += tf / (tf + 1)
			}
		}
		if score > 0 {
			d := m.docs[id]
			ranking = append(ranking, retrieval.Hit{DocID: id, Score: score, HasScore: true, Title: d.Title, URL: d.URL})
		}
	}
	slices.SortStableFunc(ranking, func(a, b retrieval.Hit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return strings.Compare(a.DocID, b.DocID)
	})
	return ranking[:min(req.Depth, len(ranking))], nil
}

// Read implements [retrieval.Retriever].
func (m *Memory) Read(ctx context.Context, req retrieval.ReadRequest) (retrieval.Chunk, error) {
	if err := m.check(ctx, "read"); err != nil {
		return retrieval.Chunk{}, err
	}
	d, ok := m.docs[req.DocID]
	if !ok {
		return retrieval.Chunk{}, fmt.Errorf("memory: read %q: %w", req.DocID, retrieval.ErrNoDocument)
	}
	lines := strings.Split(d.Contents(), "\n")
	from := min(max(req.Offset, 1)-1, len(lines))
	to := from + min(max(req.Limit, 1), len(lines)-from)
	chunk := retrieval.Chunk{DocID: d.DocID, Title: d.Title, Lines: lines[from:to], Offset: from + 1, TotalLines: len(lines)}
	if req.MaxBytes > 0 {
		bound(&chunk, req.MaxBytes)
	}
	return chunk, nil
}

// bound cuts the lines of a chunk to what fits into so many bytes.
func bound(chunk *retrieval.Chunk, most int) {
	size := -1
	for i, line := range chunk.Lines {
		if size += len(line) + 1; size <= most {
			continue
		}
		if i > 0 {
			chunk.Lines = chunk.Lines[:i]
			return
		}
		for most > 1 && !utf8.RuneStart(line[most]) {
			most--
		}
		chunk.Lines, chunk.Cut = []string{line[:most]}, true
		return
	}
}

// LineBytes implements [retrieval.LineReader].
func (m *Memory) LineBytes(ctx context.Context, docid string, line int, from, limit int64) (string, int64, error) {
	chunk, err := m.Read(ctx, retrieval.ReadRequest{DocID: docid, Offset: line, Limit: 1})
	if err != nil {
		return "", 0, err
	}
	if len(chunk.Lines) == 0 || from < 0 || limit < 0 {
		return "", 0, fmt.Errorf("memory: document %q has no bytes %d to %d of line %d", docid, from, from+limit, line)
	}
	text := chunk.Lines[0]
	from = min(from, int64(len(text)))
	return text[from : from+min(limit, int64(len(text))-from)], int64(len(text)), nil
}

// Analyze implements [retrieval.TermStats].
func (m *Memory) Analyze(text string, emit func(term []byte, start, end int)) {
	retrieval.PlainWords{}.Analyze(text, emit)
}

// KeepsPrefix implements [retrieval.PrefixKeeper].
func (m *Memory) KeepsPrefix() bool { return true }

// DF implements [retrieval.TermStats].
func (m *Memory) DF(term string) int {
	df := 0
	for _, counts := range m.tf {
		if counts[term] > 0 {
			df++
		}
	}
	return df
}

// N implements [retrieval.TermStats].
func (m *Memory) N() int { return len(m.docs) }

// WordsWithPrefix implements [retrieval.PrefixExpander].
func (m *Memory) WordsWithPrefix(prefix string, limit int) []string {
	df := map[string]int{}
	for _, counts := range m.tf {
		for word := range counts {
			if strings.HasPrefix(word, prefix) {
				df[word]++
			}
		}
	}
	list := slices.SortedFunc(maps.Keys(df), func(a, b string) int {
		return cmp.Or(cmp.Compare(df[b], df[a]), cmp.Compare(a, b))
	})
	return list[:min(limit, len(list))]
}

func (m *Memory) check(ctx context.Context, operation string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("memory: %s: %w", operation, err)
	}
	if m.Fail != nil {
		if err := m.Fail(operation); err != nil {
			return fmt.Errorf("memory: %s: %w", operation, err)
		}
	}
	return nil
}

// words are those of [retrieval.PlainWords].
func words(text string) []string {
	var out []string
	retrieval.PlainWords{}.Analyze(text, func(term []byte, _, _ int) { out = append(out, string(term)) })
	return out
}
