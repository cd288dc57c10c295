package controller

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"goserini/internal/retrieval"
)

// statelessPrefix begins search ids that carry their query.
const statelessPrefix = "q:"

// rememberedBytes bounds the queries remembered for rankings no longer kept.
const rememberedBytes = 16 << 20

// slot is the place of one ranking. The ranking is fetched by whoever needs it first;
// a failed fetch is tried again by the next.
type slot struct {
	id    string
	query string
	// again says that the ranking was dropped before and is fetched anew.
	again bool

	turn    chan struct{} // holds a token while somebody fetches or reads
	fetched bool
	ranking retrieval.Ranking
}

func newSlot(id, query string) *slot {
	return &slot{id: id, query: query, turn: make(chan struct{}, 1)}
}

// get returns the ranking and whether this call fetched it.
func (s *slot) get(ctx context.Context, fetch func(ctx context.Context, query string) (retrieval.Ranking, error)) (retrieval.Ranking, bool, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	if s.fetched {
		return s.ranking, false, nil
	}
	ranking, err := fetch(ctx, s.query)
	if err != nil {
		return nil, false, err
	}
	s.ranking, s.fetched = ranking, true
	return ranking, true, nil
}

// rankings issues search ids and keeps the newest rankings. Its state changes only in
// call order, never by when a search ends, so equal calls give equal answers.
type rankings struct {
	stateless bool
	keep      int

	mu    sync.Mutex
	slots map[string]*slot
	order []string // ids in slots, oldest first
	// queries[i] belongs to s(i+1); the first forgotten ones are dropped to stay
	// below rememberedBytes.
	queries   []string
	forgotten int
	bytes     int
}

func newRankings(keep int, stateless bool) *rankings {
	return &rankings{keep: keep, stateless: stateless, slots: map[string]*slot{}}
}

// issue makes a slot for a new search.
func (r *rankings) issue(query string) *slot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stateless {
		id := statelessPrefix + query
		if s, ok := r.slots[id]; ok {
			return s
		}
		return r.insert(newSlot(id, query))
	}
	r.queries = append(r.queries, query)
	r.bytes += len(query)
	for r.bytes > rememberedBytes && r.forgotten < len(r.queries)-1 {
		r.bytes -= len(r.queries[r.forgotten])
		r.queries[r.forgotten] = ""
		r.forgotten++
	}
	return r.insert(newSlot("s"+strconv.Itoa(len(r.queries)), query))
}

// find returns the slot of an issued id. A dropped ranking gets a new slot with the
// remembered query. The error is a mistake.
func (r *rankings) find(id string) (*slot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.slots[id]; ok {
		return s, nil
	}
	query, err := r.queryOf(id)
	if err != nil {
		return nil, err
	}
	s := newSlot(id, query)
	s.again = !r.stateless
	return r.insert(s), nil
}

func (r *rankings) queryOf(id string) (string, error) {
	if r.stateless {
		query, ok := strings.CutPrefix(id, statelessPrefix)
		if !ok || strings.TrimSpace(query) == "" || len(query) > longestStatelessQuery {
			return "", mistake(fmt.Sprintf("search_id %s is not one that search returned. Call search and use the search_id of its result.", shortID(id)))
		}
		return query, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(id, "s"))
	switch {
	case err != nil || n < 1 || n > len(r.queries) || id != "s"+strconv.Itoa(n):
		return "", mistake(fmt.Sprintf("search_id %s was never issued; %s.", shortID(id), r.issued()))
	case n <= r.forgotten:
		return "", mistake(fmt.Sprintf("search_id %s has expired. Call search again with its query.", id))
	}
	return r.queries[n-1], nil
}

func (r *rankings) issued() string {
	switch len(r.queries) {
	case 0:
		return "no search has been made yet. Call search first"
	case 1:
		return "the only one is s1. Use it, or call search"
	}
	return fmt.Sprintf("there are s1 to s%d. Use one of them, or call search", len(r.queries))
}

func (r *rankings) insert(s *slot) *slot {
	r.slots[s.id] = s
	r.order = append(r.order, s.id)
	if len(r.order) > r.keep {
		delete(r.slots, r.order[0])
		r.order = r.order[1:]
	}
	return s
}

// shortID renders a foreign id for a sentence.
func shortID(id string) string {
	shown, total, cut := clip(id, 100)
	if cut {
		return fmt.Sprintf("%s… (%d characters)", quoteJSON(shown), total)
	}
	return quoteJSON(shown)
}
