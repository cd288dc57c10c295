package controller

import (
	"encoding/json"
	"goserini/internal/tool"
	"strings"
)

// request is what one search asks: one query or several.
type request struct {
	queries []string
}

// key is equal for requests that give the same ranking: case and spacing of plain words
// never matter to it. It is not a search id.
func (r request) key() string {
	parts := make([]string, len(r.queries))
	for i, q := range r.queries {
		parts[i] = strings.Join(strings.Fields(q), " ")
	}
	return strings.Join(parts, "\n")
}

// size is the length of all queries in bytes.
func (r request) size() int {
	n := 0
	for _, q := range r.queries {
		n += len(q)
	}
	return n
}

// statelessPrefix begins search ids that carry their queries.
const statelessPrefix = "q:"

// statelessID is a search id that carries the request: "q:" and the query itself, or a
// JSON list of queries where there are several (or where the query looks like a list).
func (r request) statelessID() string {
	if len(r.queries) == 1 && !strings.HasPrefix(r.queries[0], "[") {
		return statelessPrefix + r.queries[0]
	}
	quoted := make([]string, len(r.queries))
	for i, q := range r.queries {
		quoted[i] = tool.QuoteJSON(q)
	}
	return statelessPrefix + "[" + strings.Join(quoted, ",") + "]"
}

// parseStatelessID undoes statelessID. Foreign ids are bounded and checked like queries.
func parseStatelessID(id string) (request, bool) {
	query, ok := strings.CutPrefix(id, statelessPrefix)
	if !ok || len(query) > longestStatelessQuery {
		return request{}, false
	}
	queries := []string{query}
	if strings.HasPrefix(query, "[") && (json.Unmarshal([]byte(query), &queries) != nil || len(queries) > maxQueries) {
		return request{}, false
	}
	for _, q := range queries {
		if strings.TrimSpace(q) == "" {
			return request{}, false
		}
	}
	return request{queries}, len(queries) > 0
}
