package bm25

import "fmt"

// LongDocuments is the mean document length, in tokens, above which a collection counts
// as one of long documents: there the paper's setting ranks better than Anserini's.
// docs/bm25-parameters.md has the measurements.
const LongDocuments = 300

// Choose picks the setting the agent uses for a collection whose documents have the given
// mean length in tokens, and says why.
func Choose(meanLength float64) (Params, string) {
	if meanLength > LongDocuments {
		return Paper, fmt.Sprintf("the paper's setting: mean length %.0f tokens is above %d", meanLength, LongDocuments)
	}
	return Anserini, fmt.Sprintf("Anserini's setting: mean length %.0f tokens is not above %d", meanLength, LongDocuments)
}
