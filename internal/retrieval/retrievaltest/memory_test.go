package retrievaltest_test

import (
	"testing"

	"goserini/internal/retrieval"
	"goserini/internal/retrieval/retrievaltest"
)

func TestMemory(t *testing.T) {
	retrievaltest.Run(t, func(_ testing.TB, docs []retrievaltest.Document) retrieval.Retriever {
		return retrievaltest.NewMemory(docs...)
	})
}
