package controller

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"goserini/internal/retrieval"
	"goserini/internal/tool"
)

// rememberedBytes bounds the queries remembered for rankings no longer kept.
const rememberedBytes = 16 << 20

// slot is the place of one ranking. The ranking is fetched by whoever needs it first;
// a failed fetch is tried again by the next.
type slot struct {
	id      string
	number  int // of the search, from 1; 0 where ids are stateless
	request request
	// again says that the ranking was dropped before and is fetched anew.
	again bool

	turn  chan struct{} // holds a token while somebody fetches or reads
	found *found
}

// found is what a search came to.
type found struct {
	ranking retrieval.Ranking
	// terms is the text that excerpts are chosen for.
	terms string
	// reading says how the queries were understood.
	reading []string
	// origins has, where there were several queries, the rank each gave a document, 0 for none.
	origins map[string][]int
}

func newSlot(id string, number int, req request) *slot {
	return &slot{id: id, number: number, request: req, turn: make(chan struct{}, 1)}
}

// get returns what the search found and whether this call fetched it.
func (s *slot) get(ctx context.Context, fetch func(context.Context, request) (*found, error)) (*found, bool, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
	if s.found != nil {
		return s.found, false, nil
	}
	found, err := fetch(ctx, s.request)
	if err != nil {
		return nil, false, err
	}
	s.found = found
	return found, true, nil
}

// peek returns what the search found, nil if it has not been fetched.
func (s *slot) peek() *found {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	return s.found
}

// rankings issues search ids and keeps the newest rankings. Its state changes only in
// call order, never by when a search ends, so equal calls give equal answers.
type rankings struct {
	stateless bool
	keep      int

	mu    sync.Mutex
	slots map[string]*slot
	order []string // ids in slots, oldest first
	// requests[i] belongs to s(i+1); the first forgotten ones are dropped to stay
	// below rememberedBytes.
	requests  []request
	forgotten int
	bytes     int
}

func newRankings(keep int, stateless bool) *rankings {
	return &rankings{keep: keep, stateless: stateless, slots: map[string]*slot{}}
}

// issue makes a slot for a new search.
func (r *rankings) issue(req request) *slot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stateless {
		id := req.statelessID()
		if s, ok := r.slots[id]; ok {
			return s
		}
		return r.insert(newSlot(id, 0, req))
	}
	r.requests = append(r.requests, req)
	r.bytes += req.size()
	for r.bytes > rememberedBytes && r.forgotten < len(r.requests)-1 {
		r.bytes -= r.requests[r.forgotten].size()
		r.requests[r.forgotten] = request{}
		r.forgotten++
	}
	return r.insert(newSlot(searchID(len(r.requests)), len(r.requests), req))
}

// same returns the slot of the earliest search that asked the same, nil if none did or
// ids are stateless.
func (r *rankings) same(req request) *slot {
	r.mu.Lock()
	key, id := req.key(), ""
	for i := r.forgotten; i < len(r.requests) && !r.stateless; i++ {
		if r.requests[i].key() == key {
			id = searchID(i + 1)
			break
		}
	}
	r.mu.Unlock()
	if id == "" {
		return nil
	}
	s, err := r.find(id)
	if err != nil {
		return nil
	}
	return s
}

// kept returns the slots of the rankings kept, in the order of their numbers.
func (r *rankings) kept() []*slot {
	r.mu.Lock()
	defer r.mu.Unlock()
	slots := make([]*slot, 0, len(r.slots))
	for _, s := range r.slots {
		slots = append(slots, s)
	}
	slices.SortFunc(slots, func(a, b *slot) int { return a.number - b.number })
	return slots
}

// searchID is the id of the n-th search.
func searchID(n int) string { return "s" + strconv.Itoa(n) }

// find returns the slot of an issued id. A dropped ranking gets a new slot with the
// remembered query. The error is a mistake.
func (r *rankings) find(id string) (*slot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.slots[id]; ok {
		return s, nil
	}
	req, number, err := r.requestOf(id)
	if err != nil {
		return nil, err
	}
	s := newSlot(id, number, req)
	s.again = !r.stateless
	return r.insert(s), nil
}

func (r *rankings) requestOf(id string) (request, int, error) {
	if r.stateless {
		req, ok := parseStatelessID(id)
		if !ok {
			return req, 0, tool.Mistake(fmt.Sprintf("search_id %s is not one that search returned. Call search and use the search_id of its result.", shortID(id)))
		}
		return req, 0, nil
	}
	n, err := strconv.Atoi(strings.TrimPrefix(id, "s"))
	switch {
	case err != nil || n < 1 || n > len(r.requests) || id != searchID(n):
		return request{}, 0, tool.Mistake(fmt.Sprintf("search_id %s was never issued; %s.", shortID(id), r.issued()))
	case n <= r.forgotten:
		return request{}, 0, tool.Mistake(fmt.Sprintf("search_id %s has expired. Call search again with its query.", id))
	}
	return r.requests[n-1], n, nil
}

func (r *rankings) issued() string {
	switch len(r.requests) {
	case 0:
		return "no search has been made yet. Call search first"
	case 1:
		return "the only one is s1. Use it, or call search"
	}
	return fmt.Sprintf("there are s1 to s%d. Use one of them, or call search", len(r.requests))
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
	shown, total, cut := tool.Clip(id, 100)
	if cut {
		return fmt.Sprintf("%s… (%d characters)", tool.QuoteJSON(shown), total)
	}
	return tool.QuoteJSON(shown)
}
