package httpserver

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"goserini/internal/retrieval"
)

// Bounds and defaults of /retrieve: BrowseComp-Plus shows five documents, Search-R1 three.
const (
	singleTopK = 5
	batchTopK  = 3
	maxTopK    = 1000
	maxQueries = 512
)

// maxDocuments bounds the texts of one answer, in bytes: queries and topk multiply.
const maxDocuments = 64 << 20

// text returns a document of an answer, "" where the backend has lost it, and takes its length
// from the bytes that are left.
func (s *Server) text(ctx context.Context, docid string, left *int) (string, error) {
	_, contents, err := s.whole(ctx, docid)
	if err != nil && !errors.Is(err, retrieval.ErrNoDocument) {
		return "", err
	}
	if *left -= len(contents); *left < 0 {
		return "", bad("the documents of the answer are longer than %d bytes: ask for fewer at once", maxDocuments)
	}
	return contents, nil
}

// retrieve answers the two dialects of Search-R1's retriever: one query, as BrowseComp-Plus
// serves it, or several, as the original does.
func (s *Server) retrieve(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Query        string   `json:"query"`
		Queries      []string `json:"queries"`
		TopK         *int     `json:"topk"`
		ReturnScores bool     `json:"return_scores"`
	}
	err := decode(r, &body)
	if err == nil {
		err = checkRetrieve(body.Query, body.Queries, body.TopK)
	}
	if err != nil {
		s.failWith(w, r, err)
		return
	}
	var result any
	if body.Queries == nil {
		result, err = s.retrieveOne(r.Context(), body.Query, orDefault(body.TopK, singleTopK))
	} else {
		result, err = s.retrieveBatch(r.Context(), body.Queries, orDefault(body.TopK, batchTopK), body.ReturnScores)
	}
	if err != nil {
		s.failWith(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"result": result})
}

func checkRetrieve(query string, queries []string, topK *int) error {
	switch {
	case (query == "") == (queries == nil):
		return bad("give either query or queries")
	case len(queries) > maxQueries:
		return bad("at most %d queries are answered at once", maxQueries)
	case topK != nil && (*topK < 1 || *topK > maxTopK):
		return bad("topk must be between 1 and %d", maxTopK)
	case queries == nil && strings.TrimSpace(query) == "":
		return bad("query must not be blank")
	}
	return nil
}

func orDefault(n *int, def int) int {
	if n == nil {
		return def
	}
	return *n
}

type singleDocument struct {
	Document struct {
		Title string `json:"title"`
		Text  string `json:"text"`
	} `json:"document"`
	DocID string `json:"docid"`
}

func (s *Server) retrieveOne(ctx context.Context, query string, topK int) ([]singleDocument, error) {
	ranking, err := s.config.Retriever.Search(ctx, retrieval.SearchRequest{Query: query, Depth: topK})
	if err != nil {
		return nil, err
	}
	left := maxDocuments
	out := make([]singleDocument, len(ranking))
	for i, h := range ranking {
		contents, err := s.text(ctx, h.DocID, &left)
		if err != nil {
			return nil, err
		}
		out[i].DocID, out[i].Document.Text = h.DocID, contents
		out[i].Document.Title = titleOf(contents)
	}
	return out, nil
}

// titleOf is the title that BrowseComp-Plus takes from a text: the line title: of the block
// between dashes at its beginning, else its first line.
func titleOf(text string) string {
	first, rest, _ := strings.Cut(text, "\n")
	if strings.TrimSpace(first) != "---" {
		return strings.TrimSpace(first)
	}
	second, _, _ := strings.Cut(rest, "\n")
	return strings.Trim(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(second), "title:")), `"'`)
}

type batchDocument struct {
	ID       string `json:"id"`
	Contents string `json:"contents"`
}

type scoredDocument struct {
	Document batchDocument `json:"document"`
	Score    float32       `json:"score"`
}

// retrieveBatch answers several queries. A blank one finds nothing.
func (s *Server) retrieveBatch(ctx context.Context, queries []string, topK int, scores bool) (any, error) {
	left := maxDocuments
	all := make([][]scoredDocument, len(queries))
	for i, q := range queries {
		all[i] = []scoredDocument{}
		if strings.TrimSpace(q) == "" {
			continue
		}
		ranking, err := s.config.Retriever.Search(ctx, retrieval.SearchRequest{Query: q, Depth: topK})
		if err != nil {
			return nil, err
		}
		for _, h := range ranking {
			contents, err := s.text(ctx, h.DocID, &left)
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], scoredDocument{batchDocument{h.DocID, contents}, h.Score})
		}
	}
	if scores {
		return all, nil
	}
	plain := make([][]batchDocument, len(all))
	for i, docs := range all {
		plain[i] = make([]batchDocument, len(docs))
		for j, d := range docs {
			plain[i][j] = d.Document
		}
	}
	return plain, nil
}
