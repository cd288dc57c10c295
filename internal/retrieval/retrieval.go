// Package retrieval is the seam between whoever asks (the controller, the
// servers, the command line) and whatever ranks (an index, a remote server).
package retrieval

import (
	"context"
	"errors"
)

// Hit is one scored document of a ranking.
type Hit struct {
	DocID string
	// Score is the retriever's own score; HasScore says whether it gave one.
	Score    float32
	HasScore bool
	Title    string
	URL      string
	// Excerpt is empty where the retriever gives none with the ranking; see
	// [Excerpter] and [EarliestExcerpt].
	Excerpt          string
	ExcerptTruncated bool
	// Passage is the document's best passage for the query, where the request asked for
	// passages and one of the document's was among the best.
	Passage Stretch
}

// Stretch is a run of lines of a document, of which the first and the last may be cut.
type Stretch struct {
	// FirstLine and LastLine are 1-based; 0 where nothing is known.
	FirstLine, LastLine int
	// Begin is the byte of the first line with which the stretch begins, End the byte of the
	// last one before which it ends; 0 is the whole line. Both are on character boundaries.
	Begin, End int
}

// Known reports whether there is a stretch.
func (s Stretch) Known() bool { return s.FirstLine > 0 }

// Ranking is ordered best first and holds each DocID at most once.
type Ranking []Hit

// SearchRequest asks for the best Depth documents for a query.
type SearchRequest struct {
	// Query is plain text, a bag of words; never a query language.
	Query string
	// Depth is the number of hits wanted, at least 1.
	Depth int
	// Passages fuses the ranking with that of the documents' best passages and names these.
	// Only a [PassageRanker] that has them may be asked to.
	Passages bool
}

// ReadRequest asks for lines of one document.
type ReadRequest struct {
	DocID string
	// Offset is the 1-based first line; Limit the number of lines, at least 1.
	Offset, Limit int
	// MaxBytes bounds the lines returned; 0 is no bound. A [LineReader] keeps to it: it
	// returns fewer lines, but at least one, of which it cuts the first if that alone is
	// longer. Who holds documents whole anyway need not look at it.
	MaxBytes int
}

// Chunk is a run of lines of one document.
type Chunk struct {
	DocID string
	Title string
	// Lines are without their line ends. Empty when Offset is past the end.
	Lines []string
	// Offset is the 1-based number of Lines[0]; TotalLines of the document.
	Offset, TotalLines int
	// Cut says that there is one line and that it goes on behind what is returned of it.
	Cut bool
}

// ErrNoDocument is wrapped by Read when the docid is not in the collection.
var ErrNoDocument = errors.New("no such document")

// ErrUnavailable is wrapped by errors of a backend that cannot be reached or did
// not answer in time. Whoever asks may try again or go on without; any other error
// means that the machinery is broken.
var ErrUnavailable = errors.New("retrieval backend unavailable")

// Retriever answers a query with a ranking and reads documents by docid. It is
// safe for concurrent use. Errors name the backend and the operation.
type Retriever interface {
	Search(ctx context.Context, req SearchRequest) (Ranking, error)
	Read(ctx context.Context, req ReadRequest) (Chunk, error)
}

// PassageRanker is implemented by retrievers that may rank passages, too.
type PassageRanker interface {
	// HoldsPassages returns nil if SearchRequest.Passages may be set, else an error that says
	// what to do about it.
	HoldsPassages() error
}

// LineReader is implemented by retrievers that read a part of a line without the rest of it,
// which documents of one huge line take.
type LineReader interface {
	// LineBytes returns up to limit bytes of a 1-based line, from byte from on, and the
	// length of the whole line. They may begin and end inside a character.
	LineBytes(ctx context.Context, docid string, line int, from, limit int64) (text string, length int64, err error)
}

// Excerpter is implemented by retrievers that can excerpt documents for a query
// more cheaply than by reading them whole. The result has one excerpt a docid,
// in order; that of an unknown docid is the zero value.
type Excerpter interface {
	Excerpts(ctx context.Context, query string, docids []string) ([]Excerpt, error)
}

// Excerpt is a short text of a document chosen for a query.
type Excerpt struct {
	Title string
	Text  string
	// Truncated says that the document holds more than the excerpt.
	Truncated bool
	// Line is the 1-based line of the document where the excerpt begins, 0 if unknown.
	Line int
}
