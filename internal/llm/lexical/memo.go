package lexical

import (
	"hash/maphash"
	"slices"
	"sync"

	"goserini/internal/llm"
)

// kept is the number of conversations remembered between two moves. More may run at once;
// the oldest are then read anew at each move.
const kept = 256

// memo spares reading a conversation again from its beginning at each move. It changes
// nothing but the time.
type memo struct {
	mu       sync.Mutex
	sessions map[uint64]*session // by the digest of the messages taken in
	order    []uint64
}

var seed = maphash.MakeSeed()

// digest hashes messages, all that a session reads of them.
func digest(messages []llm.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	write := func(s string) {
		h.WriteString(s)
		h.WriteByte(0)
	}
	for _, m := range messages {
		write(string(m.Role))
		write(m.Text)
		write(m.CallID)
		if m.IsError {
			write("error")
		}
		for _, c := range m.Calls {
			write(c.ID)
			write(c.Arguments)
		}
	}
	return h.Sum64()
}

// take returns the session that has read the conversation up to its last move, or a new
// one. The session is the caller's alone until it is kept.
func (m *memo) take(messages []llm.Message) *session {
	last := len(messages) - 1
	for last >= 0 && messages[last].Role != llm.Assistant {
		last--
	}
	if last < 0 {
		return &session{}
	}
	d := digest(messages[:last])
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.sessions[d]
	if s == nil {
		return &session{}
	}
	delete(m.sessions, d)
	m.order = slices.DeleteFunc(m.order, func(x uint64) bool { return x == d })
	return s
}

// keep remembers a session under all it has read.
func (m *memo) keep(messages []llm.Message, s *session) {
	d := digest(messages)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions == nil {
		m.sessions = map[uint64]*session{}
	}
	if m.sessions[d] == nil {
		m.order = append(m.order, d)
	}
	m.sessions[d] = s
	if len(m.order) > kept {
		delete(m.sessions, m.order[0])
		m.order = slices.Delete(m.order, 0, 1)
	}
}
