package lexical

import (
	"encoding/json"

	"goserini/internal/llm"
)

// session is one conversation, read from its messages and from nothing else.
type session struct {
	q       question
	library *library
	// turns counts the responses so far, calls the tool calls in them.
	turns, calls int
	// steered says that a second message of the user has come: it ends the research.
	steered  bool
	asked    map[string]arguments // by call id
	searches []*searched
	// queries holds the queries made, by their words; reads the pages asked for and tried
	// their documents, whether or not they came.
	queries map[string]bool
	reads   map[readKey]bool
	tried   map[string]bool
	read    int // messages taken in
}

// searched is a ranking that search made.
type searched struct {
	id, query    string
	shown, total int
}

// readKey is a page of a document.
type readKey struct {
	docid  string
	offset int
}

// arguments are those of the three tools.
type arguments struct {
	Reason   string `json:"reason"`
	Query    string `json:"query,omitempty"`
	SearchID string `json:"search_id,omitempty"`
	DocID    string `json:"docid,omitempty"`
	Offset   int    `json:"offset,omitempty"`
	Limit    int    `json:"limit,omitempty"`
}

// take reads the messages that have come since the last time.
func (s *session) take(messages []llm.Message) {
	for _, m := range messages[s.read:] {
		s.message(m)
	}
	s.read = len(messages)
}

func (s *session) message(m llm.Message) {
	switch m.Role {
	case llm.User:
		if s.library != nil {
			s.steered = true
			return
		}
		s.q = parse(questionOf(m.Text))
		s.library = newLibrary(&s.q)
		s.asked, s.queries = map[string]arguments{}, map[string]bool{}
		s.reads, s.tried = map[readKey]bool{}, map[string]bool{}
	case llm.Assistant:
		s.turns++
		for _, c := range m.Calls {
			s.called(c)
		}
	case llm.Tool:
		if !m.IsError && s.library != nil {
			s.observed(s.asked[m.CallID], observe(m.Text))
		}
	}
}

func (s *session) called(c llm.Call) {
	var a arguments
	if s.library == nil || json.Unmarshal([]byte(c.Arguments), &a) != nil {
		return
	}
	s.calls++
	s.asked[c.ID] = a
	if a.Query != "" {
		s.queries[key(a.Query)] = true
	}
	if a.DocID != "" {
		s.reads[readKey{a.DocID, a.Offset}] = true
		s.tried[a.DocID] = true
	}
}

func (s *session) observed(a arguments, o observation) {
	if o.page != nil {
		s.library.addPage(o.page)
		return
	}
	for _, h := range o.hits {
		s.library.addHit(h)
	}
	r := s.ranking(o.searchID)
	if r == nil {
		r = &searched{id: o.searchID, query: a.Query}
		s.searches = append(s.searches, r)
	}
	r.total = o.total
	if n := len(o.hits); n > 0 {
		r.shown = max(r.shown, o.hits[n-1].rank)
	}
}

func (s *session) ranking(id string) *searched {
	for _, r := range s.searches {
		if r.id == id {
			return r
		}
	}
	return nil
}
