package index

// Stats are the facts about an index that were recorded when it was built.
type Stats struct {
	FormatVersion int    `json:"format_version"`
	Analyzer      string `json:"analyzer"`
	// Source is what the caller of Build said about where the documents came from.
	Source string `json:"source,omitempty"`
	// Documents counts all stored documents, WithTokens those with at least one token
	// (N in BM25); the others can be read but never found.
	Documents  int64 `json:"documents"`
	WithTokens int64 `json:"documents_with_tokens"`
	// Tokens is the exact number of tokens indexed; Tokens by WithTokens is avgdl.
	Tokens int64 `json:"tokens"`
	// Terms is the number of distinct terms, Postings of (term, document) pairs.
	Terms    int64 `json:"terms"`
	Postings int64 `json:"postings"`
	// Lengths describe the tokens of a document, over documents that have any.
	Lengths Distribution `json:"lengths"`
	// TextBytes is the length of all contents before compression.
	TextBytes int64 `json:"text_bytes"`
	// Unsegmented counts documents mostly in a script that the analyzer cannot cut into
	// words.
	Unsegmented int64 `json:"documents_unsegmented"`
	// DuplicatesDropped counts documents left out because their docid occurs again.
	DuplicatesDropped int64 `json:"duplicates_dropped"`
	// Parts are the sections of the index file and their sizes, in file order.
	Parts []Part `json:"parts"`
	// Bytes is the length of the index file.
	Bytes int64 `json:"bytes"`
}

// AverageLength is the mean number of tokens of the documents that have any.
func (s Stats) AverageLength() float64 {
	if s.WithTokens == 0 {
		return 0
	}
	return float64(s.Tokens) / float64(s.WithTokens)
}

// Distribution holds percentiles of a whole number: the smallest value that at least
// that share of the documents does not exceed.
type Distribution struct {
	Min int64 `json:"min"`
	P10 int64 `json:"p10"`
	P25 int64 `json:"p25"`
	P50 int64 `json:"p50"`
	P75 int64 `json:"p75"`
	P90 int64 `json:"p90"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// Part is one section of the index file.
type Part struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}
