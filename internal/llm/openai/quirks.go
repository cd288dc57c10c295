package openai

import (
	"errors"
	"net/http"
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

func (c *Client) quirksOf(model string) quirks {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.quirks[model]
}

// adapt learns from a refusal of the request made under q. It reports whether a changed
// request is worth sending.
func (c *Client) adapt(req llm.Request, q quirks, err error) bool {
	var e *llm.Error
	var d wire.Detail
	if !errors.As(err, &e) || !errors.As(err, &d) || e.ContextOverflow || e.Status != http.StatusBadRequest {
		return false
	}
	changed, notice := learn(req, q, d)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.quirks[req.Model] != q {
		return true
	}
	if changed == q {
		if req.Effort != "" && strings.Contains(strings.ToLower(d.Param+" "+d.Message), "effort") {
			e.Message += " (effort " + req.Effort + " was asked for: leave it out or choose one this model takes)"
		}
		return false
	}
	c.quirks[req.Model] = changed
	if c.cfg.Notice != nil {
		c.cfg.Notice(c.cfg.Provider + "/" + req.Model + ": " + notice + " (the server said: " + d.Message + ")")
	}
	return true
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
