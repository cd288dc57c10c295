package anserini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// MaxLine bounds one line of a server, in bytes.
const MaxLine = 64 << 20

// request is one line to the server. The fields that a command does not have are left out.
type request struct {
	ID   int64  `json:"id"`
	Type string `json:"type"`

	Query       string  `json:"query,omitempty"`
	QueryMode   string  `json:"query_mode,omitempty"`
	K           int     `json:"k,omitempty"`
	RerankClues *[]clue `json:"rerank_clues,omitempty"`

	DocIDs           []string `json:"docids,omitempty"`
	SnippetMaxChars  int      `json:"snippet_max_chars,omitempty"`
	InlineHighlights *bool    `json:"inline_highlights,omitempty"`
	HighlightClues   []clue   `json:"highlight_clues,omitempty"`

	DocID  string `json:"docid,omitempty"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

type clue struct {
	Text     string  `json:"text"`
	Category string  `json:"category"`
	Boost    float64 `json:"boost"`
}

// response is one line of the server.
type response struct {
	ID      *int64          `json:"id"`
	Type    string          `json:"type"`
	Success bool            `json:"success"`
	Error   *string         `json:"error"`
	Data    json.RawMessage `json:"data"`
}

func parseResponse(line []byte) (response, error) {
	var r response
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("response is no envelope: %w", err)
	}
	if r.Type != "response" {
		return r, fmt.Errorf("response has the type %q", r.Type)
	}
	return r, nil
}

// refusal is what the server says about a request that it could not carry out.
func (r response) refusal() string {
	if r.Error == nil || *r.Error == "" {
		return "the server gives no reason"
	}
	return *r.Error
}

// payload decodes the data of a successful response.
func (r response) payload(into any) error {
	data := bytes.TrimSpace(r.Data)
	if len(data) == 0 || string(data) == "null" {
		return errors.New("response has no data")
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("data of the response: %w", err)
	}
	return nil
}

type pingData struct {
	OK bool `json:"ok"`
}

type searchData struct {
	Results []struct {
		DocID *string  `json:"docid"`
		Score *float64 `json:"score"`
	} `json:"results"`
}

type renderData struct {
	Results []struct {
		DocID        *string  `json:"docid"`
		Title        *string  `json:"title"`
		MatchedTerms []string `json:"matched_terms"`
		Excerpt      *string  `json:"excerpt"`
		Truncated    *bool    `json:"excerpt_truncated"`
	} `json:"results"`
}

type readData struct {
	Found      *bool   `json:"found"`
	Text       string  `json:"text"`
	TotalLines *int    `json:"total_lines"`
	Start      *int    `json:"returned_line_start"`
	End        *int    `json:"returned_line_end"`
	Truncated  bool    `json:"truncated"`
	NextOffset *int    `json:"next_offset"`
	Error      *string `json:"error"`
}
