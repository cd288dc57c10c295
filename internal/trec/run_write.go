package trec

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// ScoredDoc is one hit of a ranking to be written.
type ScoredDoc struct {
	DocID string
	// Score is the raw score: finite, and not above the one before.
	Score float32
}

// RankingWriter writes rankings, one query at a time. Flush must be called at the end;
// it reports what could not be written.
type RankingWriter interface {
	Write(queryID string, ranking []ScoredDoc) error
	Flush() error
}

// RunWriter writes a run of six columns. Scores are Anserini's displayed ones
// ([AdjustScores]), lowered further only where a reader in float32 would see a tie,
// so that the order stands under any rule for ties.
type RunWriter struct {
	w   *bufio.Writer
	tag string
}

// NewRunWriter returns a writer of lines that end in tag, which may not hold blanks.
func NewRunWriter(w io.Writer, tag string) (*RunWriter, error) {
	if err := checkColumn("tag", tag); err != nil {
		return nil, fmt.Errorf("write run: %w", err)
	}
	return &RunWriter{w: bufio.NewWriterSize(w, 64<<10), tag: tag}, nil
}

// Write writes one ranking, best first. Ids that hold blanks cannot stand in this
// format and are an error; nothing of the ranking is written then.
func (w *RunWriter) Write(queryID string, ranking []ScoredDoc) error {
	if err := checkRanking(queryID, ranking); err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	if err := checkColumn("query id", queryID); err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	scores := make([]float32, len(ranking))
	for i, hit := range ranking {
		if err := checkColumn("docid", hit.DocID); err != nil {
			return fmt.Errorf("write run: query %s: %w", shorten(queryID), err)
		}
		scores[i] = hit.Score
	}
	AdjustScores(scores)
	separate(scores)
	for i, hit := range ranking {
		if _, err := fmt.Fprintf(w.w, "%s Q0 %s %d %s %s\n", queryID, hit.DocID, i+1, formatScore(scores[i]), w.tag); err != nil {
			return fmt.Errorf("write run: %w", err)
		}
	}
	return nil
}

// Flush writes what is buffered.
func (w *RunWriter) Flush() error { return w.w.Flush() }

// JSONRunWriter writes one JSON object a hit: query_id, docid, rank, score. The score
// is the raw one, in the shortest decimal that gives back the float32; ids may hold
// anything.
type JSONRunWriter struct{ w *bufio.Writer }

// NewJSONRunWriter returns a writer onto w.
func NewJSONRunWriter(w io.Writer) *JSONRunWriter {
	return &JSONRunWriter{w: bufio.NewWriterSize(w, 64<<10)}
}

// jsonHit is one line of a JSON run.
type jsonHit struct {
	QueryID string  `json:"query_id"`
	DocID   string  `json:"docid"`
	Rank    int     `json:"rank"`
	Score   float32 `json:"score"`
}

// Write writes one ranking, best first.
func (w *JSONRunWriter) Write(queryID string, ranking []ScoredDoc) error {
	if err := checkRanking(queryID, ranking); err != nil {
		return fmt.Errorf("write run: %w", err)
	}
	enc := json.NewEncoder(w.w)
	enc.SetEscapeHTML(false)
	for i, hit := range ranking {
		if err := enc.Encode(jsonHit{QueryID: queryID, DocID: hit.DocID, Rank: i + 1, Score: hit.Score}); err != nil {
			return fmt.Errorf("write run: %w", err)
		}
	}
	return nil
}

// Flush writes what is buffered.
func (w *JSONRunWriter) Flush() error { return w.w.Flush() }

// checkColumn refuses what would shift the columns of a line.
func checkColumn(what, value string) error {
	if value == "" {
		return fmt.Errorf("%s is empty", what)
	}
	if strings.ContainsFunc(value, unicode.IsSpace) {
		return fmt.Errorf("%s %s holds white space, which separates the columns of a run: write the run as JSON lines instead", what, shorten(value))
	}
	return nil
}

// checkRanking refuses scores without an order and a docid given twice.
func checkRanking(queryID string, ranking []ScoredDoc) error {
	seen := make(map[string]bool, len(ranking))
	for i, hit := range ranking {
		score := float64(hit.Score)
		if math.IsNaN(score) || math.IsInf(score, 0) {
			return fmt.Errorf("query %s: score of document %s is %s", shorten(queryID), shorten(hit.DocID), strconv.FormatFloat(score, 'g', -1, 32))
		}
		if i > 0 && hit.Score > ranking[i-1].Score {
			return fmt.Errorf("query %s: rank %d scores above rank %d", shorten(queryID), i+1, i)
		}
		if seen[hit.DocID] {
			return fmt.Errorf("query %s: document %s stands in the ranking twice", shorten(queryID), shorten(hit.DocID))
		}
		seen[hit.DocID] = true
	}
	return nil
}
