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
	// Passages are the facts about passages; nil in an index without.
	Passages *PassageStats `json:"passages,omitempty"`
	// Parts are the sections of the index file and their sizes, in file order.
	Parts []Part `json:"parts"`
	// Bytes is the length of the index file.
	Bytes int64 `json:"bytes"`
}

// AverageLength is the mean number of tokens of the documents that have any.
func (s Stats) AverageLength() float64 { return average(s.Tokens, s.WithTokens) }

// AverageLength is the mean number of tokens of the passages that have any.
func (s PassageStats) AverageLength() float64 { return average(s.Tokens, s.WithTokens) }

func average(tokens, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(tokens) / float64(of)
}

// PassageStats are the facts about the passages of an index.
type PassageStats struct {
	// Passages counts all, WithTokens those with at least one token (N in BM25).
	Passages   int64 `json:"passages"`
	WithTokens int64 `json:"passages_with_tokens"`
	// Tokens counts those of passages, with what each gets of its document's title.
	Tokens int64 `json:"tokens"`
	// Terms is the number of distinct terms, Postings of (term, passage) pairs.
	Terms    int64 `json:"terms"`
	Postings int64 `json:"postings"`
	// Lengths describe the tokens of a passage, over passages that have any.
	Lengths Distribution `json:"lengths"`
	// HighestLine is the greatest number, from 0, of a line that a passage begins in,
	// HighestColumn the greatest byte of such a line.
	HighestLine   int64 `json:"highest_line"`
	HighestColumn int64 `json:"highest_column"`
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
