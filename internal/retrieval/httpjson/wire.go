package httpjson

// The bodies of the http-json contract, as the original Pi-Serini defines it. Requests and
// responses are closed objects there: what serves this contract may send no other fields.

// SearchRequest is the body of a search.
type SearchRequest struct {
	Query string `json:"query"`
	// Offset is the 1-based first rank, 0 where it is not sent.
	Offset int `json:"offset,omitempty"`
	Limit  int `json:"limit"`
}

// SearchResponse answers a search.
type SearchResponse struct {
	Hits []Hit `json:"hits"`
	// TotalHits is the number of documents that match, where it is known.
	TotalHits  *int    `json:"totalHits,omitempty"`
	NextOffset int     `json:"nextOffset,omitempty"`
	HasMore    bool    `json:"hasMore"`
	Timing     *Timing `json:"timingMs,omitempty"`
}

// Hit is one ranked document. Score is nil where there is none.
type Hit struct {
	DocID            string   `json:"docid"`
	Score            *float64 `json:"score,omitempty"`
	Title            string   `json:"title,omitempty"`
	Snippet          string   `json:"snippet,omitempty"`
	SnippetTruncated bool     `json:"snippetTruncated,omitempty"`
	// Metadata holds what the backend likes to add; only its url is looked at.
	Metadata *Metadata `json:"metadata,omitempty"`
}

// Metadata is the open part of a hit.
type Metadata struct {
	URL string `json:"url,omitempty"`
}

// ReadRequest is the body of a read. Offset and Limit are 0 where they are not sent.
type ReadRequest struct {
	DocID  string `json:"docid"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

// ReadResponse answers a read: with Found false only DocID and Timing count.
type ReadResponse struct {
	Found bool    `json:"found"`
	DocID string  `json:"docid"`
	Title string  `json:"title,omitempty"`
	Text  *string `json:"text,omitempty"`
	// Offset and Limit are those asked for, in lines.
	Offset int `json:"offset,omitempty"`
	Limit  int `json:"limit,omitempty"`
	// TotalUnits is the number of lines of the document.
	TotalUnits    *int    `json:"totalUnits,omitempty"`
	ReturnedStart int     `json:"returnedOffsetStart,omitempty"`
	ReturnedEnd   int     `json:"returnedOffsetEnd,omitempty"`
	Truncated     *bool   `json:"truncated,omitempty"`
	NextOffset    int     `json:"nextOffset,omitempty"`
	Timing        *Timing `json:"timingMs,omitempty"`
}

// Timing is in milliseconds.
type Timing struct {
	Request float64 `json:"request"`
}
