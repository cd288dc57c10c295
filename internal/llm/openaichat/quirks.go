package openaichat

import (
	"net/http"
	"slices"
	"strings"

	"goserini/internal/llm"
	"goserini/internal/llm/wire"
)

// The two names of the output limit.
const (
	limitOld = "max_tokens"
	limitNew = "max_completion_tokens"
)

// quirks is what one model's server has refused so far. The zero value is a server that
// takes everything. Every adaptation sets a field that was not set, so there is an end to them.
type quirks struct {
	otherLimit, noLimit bool
	noTemperature       bool
	noStreamOptions     bool
	noToolChoice        bool
	noCacheKey          bool
	noStream            bool
	// noReasoning: reasoning that came before may not go back.
	noReasoning bool
	// noNull: an answer without text goes back with an empty one. llama-cpp-python refuses the null it sends itself.
	noNull bool
	// role is where the system text goes.
	role systemRole
}

type systemRole int

const (
	asSystem systemRole = iota
	asDeveloper
	// inUser puts it in front of the first user message.
	inUser
)

// limitName is the field the output limit is sent under, "" for not at all.
func (q quirks) limitName(preferred string) string {
	switch {
	case q.noLimit:
		return ""
	case q.otherLimit && preferred == limitOld:
		return limitNew
	case q.otherLimit:
		return limitOld
	}
	return preferred
}

// refusals are the statuses that can mean that a field is not wanted. llama.cpp says so with 500.
var refusals = []int{0, http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented}

// refusalWords, lower case, tell "this field is not wanted" from "this value is out of range".
var refusalWords = []string{
	"unsupported", "not support", "unrecognized", "unrecognised", "unknown", "unexpected", "extra inputs",
	"extra fields", "not permitted", "not allowed", "only the default", "deprecated", "cannot use",
	"can't use", "use '" + limitNew, "use " + limitNew, "use '" + limitOld, "use " + limitOld,
}

// refusesNull tells a text that is missing, or no string, from whatever else may be wrong with content.
func refusesNull(said string) bool {
	return strings.Contains(said, "content") && slices.ContainsFunc([]string{"valid string", "null", "none", "missing", "required", "no attribute"},
		func(w string) bool { return strings.Contains(said, w) })
}

func (c *Client) learn(req llm.Request, q quirks, d wire.Detail) (quirks, string) {
	said := strings.ToLower(d.Code + " " + d.Type + " " + d.Param + " " + d.Message)
	if !q.noNull && refusesNull(said) && repliesWithNull(req) {
		q.noNull = true
		return q, "answers without text go back with an empty one"
	}
	if !slices.ContainsFunc(refusalWords, func(w string) bool { return strings.Contains(said, w) }) {
		return q, ""
	}
	about := func(name string) bool {
		if d.Param != "" {
			return strings.EqualFold(d.Param, name)
		}
		return strings.Contains(said, name)
	}
	limit := q.limitName(c.cfg.LimitName)
	streaming := !c.cfg.NoStream && !q.noStream
	switch {
	case req.MaxOutputTokens > 0 && limit != "" && about(limit) && !q.otherLimit:
		q.otherLimit = true
		return q, "the output limit is sent as " + q.limitName(c.cfg.LimitName)
	case req.MaxOutputTokens > 0 && limit != "" && about(limit):
		q.noLimit = true
		return q, "no output limit is sent"
	case c.cfg.Temperature != nil && !q.noTemperature && about("temperature"):
		q.noTemperature = true
		return q, "no temperature is sent"
	case streaming && !q.noStreamOptions && about("stream_options"):
		q.noStreamOptions = true
		return q, "no stream_options are sent, so token counts may be missing"
	case req.ForbidTools && !q.noToolChoice && about("tool_choice"):
		q.noToolChoice = true
		return q, "no tool_choice is sent"
	case c.cfg.CacheKey && !q.noCacheKey && about("prompt_cache_key"):
		q.noCacheKey = true
		return q, "no prompt_cache_key is sent"
	case streaming && len(req.Tools) > 0 && (strings.EqualFold(d.Param, "stream") || strings.Contains(said, "tools with stream") || strings.Contains(said, "stream") && strings.Contains(said, "tool")):
		q.noStream = true
		return q, "answers are not streamed"
	case !q.noReasoning && mentionsReasoning(said) && repliesWithReasoning(req):
		q.noReasoning = true
		return q, "reasoning does not go back with the history"
	case req.System != "" && q.role < inUser && strings.Contains(said, "role") && (strings.Contains(said, "system") || strings.Contains(said, "developer")):
		q.role++
		return q, "the instructions are sent " + [...]string{"", "under the role developer", "in the first user message"}[q.role]
	}
	return q, ""
}
