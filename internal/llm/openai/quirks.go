package openai

import (
	"strings"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// quirks is what one model has refused so far. Every adaptation sets a field that was not set.
type quirks struct {
	// noEncrypted: the model gives no encrypted reasoning, since it has none.
	noEncrypted bool
	// noSummary: summaries of reasoning are not for this key.
	noSummary  bool
	noCacheKey bool
}

func learn(req llm.Request, q quirks, d wire.Detail) (quirks, string) {
	said := strings.ToLower(d.Param + " " + d.Message)
	switch {
	case !q.noEncrypted && (strings.Contains(said, "encrypted content is not supported") || d.Param == "include"):
		q.noEncrypted = true
		return q, "no encrypted reasoning is asked for"
	case req.Effort != "" && !q.noSummary && strings.Contains(said, "summar"):
		q.noSummary = true
		return q, "no summary of reasoning is asked for"
	case req.CacheKey != "" && !q.noCacheKey && strings.Contains(said, "prompt_cache_key"):
		q.noCacheKey = true
		return q, "no prompt_cache_key is sent"
	}
	return q, ""
}
