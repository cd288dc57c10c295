// Package index builds, opens and searches an immutable inverted index on disk
// that also stores the documents' text.
//
// [Build] turns the records of a corpus into one file in a directory; [Open] maps it;
// [Index.Search] ranks all documents for a query by Lucene's BM25, with k1 and b
// chosen per query; [Index.Lines] reads any range of lines of a document. An open
// [Index] never changes and is safe for concurrent use.
package index

import (
	"goserini/internal/bm25"
)

// Ordinal is the dense number of a document inside one index: documents count from 0
// in the order of the source.
type Ordinal uint32

// Query asks for the best Depth documents.
type Query struct {
	// Text is plain text, a bag of words; the index's analyzer turns it into terms.
	Text string
	// Params are the free parameters of BM25.
	Params bm25.Params
	// Depth is the number of hits wanted, at least 1; more than there are is no error.
	Depth int
}

// Hit is one scored document.
type Hit struct {
	DocID   string
	Ordinal Ordinal
	// Score is Lucene's raw BM25 score.
	Score float32
}

// Ranking is the answer to a query.
type Ranking struct {
	// Hits are ordered by score descending, then by the bytes of the docid ascending.
	Hits []Hit
	// Terms are the distinct terms of the query in order of appearance. None are left
	// when the query holds only stop words or punctuation: then Hits is empty as well.
	Terms []QueryTerm
}

// QueryTerm is one distinct term of a query.
type QueryTerm struct {
	Term string `json:"term"`
	// Count is how often the query holds the term; its weight is multiplied by it.
	Count int `json:"count"`
	// DF is the number of documents that hold the term; 0 means it is not in the index.
	DF int `json:"df"`
}

// Meta describes a stored document.
type Meta struct {
	DocID string
	Title string
	URL   string
	Date  string
	// Lines is the number of lines of Contents, at least 1; Bytes its length.
	Lines int
	Bytes int64
	// Tokens is the exact number of tokens indexed, before quantisation.
	Tokens int
}

// Explanation shows how the score of one document for one query comes about.
type Explanation struct {
	DocID   string      `json:"docid"`
	Variant string      `json:"variant"`
	Params  bm25.Params `json:"params"`
	// Documents counts those with at least one token: N in the formula.
	Documents int64 `json:"documents"`
	// AverageLength is tokens by document, over the same documents.
	AverageLength float32 `json:"avgdl"`
	// Tokens is the document's exact length, Length the quantised one that scores use.
	Tokens int `json:"tokens"`
	Length int `json:"dl"`
	// Terms are in the order of the query.
	Terms []TermExplanation `json:"terms"`
	// Score is the sum of the terms' contributions, taken in float64.
	Score float32 `json:"score"`
}

// TermExplanation is the part of one query term in a score.
type TermExplanation struct {
	QueryTerm
	TF  int     `json:"tf"`
	IDF float32 `json:"idf"`
	// Weight is idf × count.
	Weight       float32 `json:"weight"`
	Contribution float32 `json:"contribution"`
}
