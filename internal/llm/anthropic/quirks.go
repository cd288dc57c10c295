package anthropic

import (
	"strconv"
	"strings"

	"goserini/internal/lazyregexp"
	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// quirks is what one model has refused so far. Every adaptation sets a field that was not set.
type quirks struct {
	// noAdaptive: the model takes a budget of thinking tokens, not an effort.
	noAdaptive bool
	// limit is the most output tokens the model allows, 0 while unknown.
	limit int
}

// maxTokens is the output limit to send.
func (q quirks) maxTokens(req llm.Request) int {
	n := req.MaxOutputTokens
	if n <= 0 {
		n = DefaultMaxTokens
	}
	if q.noAdaptive && req.Effort != "" && req.Effort != "none" && req.Effort != "off" {
		n = max(n, budget(req.Effort)+1024) // the budget is part of the limit and must be smaller
	}
	if q.limit > 0 {
		n = min(n, q.limit)
	}
	return n
}

// tooMany reads the limit from "max_tokens: 32000 > 8192, which is the maximum …".
var tooMany = lazyregexp.New(`max_tokens: (\d+) > (\d+)`)

func learn(req llm.Request, q quirks, d wire.Detail) (quirks, string) {
	said := d.Message
	if m := tooMany.FindStringSubmatch(said); m != nil {
		limit, err := strconv.Atoi(m[2])
		if err == nil && limit > 0 && limit < q.maxTokens(req) {
			q.limit = limit
			return q, "the output limit is " + m[2]
		}
		return q, ""
	}
	low := strings.ToLower(said)
	about := strings.Contains(low, "adaptive") || strings.Contains(low, "output_config") || strings.Contains(low, "effort")
	if req.Effort != "" && !q.noAdaptive && about && (strings.Contains(low, "not support") || strings.Contains(low, "extra inputs") || strings.Contains(low, "not permitted") || strings.Contains(low, "expected tags")) {
		q.noAdaptive = true
		return q, "effort " + req.Effort + " is sent as a budget of " + strconv.Itoa(budget(req.Effort)) + " thinking tokens"
	}
	return q, ""
}
