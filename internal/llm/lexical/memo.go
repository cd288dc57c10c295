package lexical

import (
	"hash/maphash"
	"sync"

	"goserini/internal/llm"
)

// kept is the number of conversations remembered between two moves.
const kept = 128

// memo spares reading a conversation again from its beginning at each move. It changes
// nothing but the time: a conversation that is not in it is read anew.
type memo struct {
	mu       sync.Mutex
	sessions map[uint64]*session // by the hash of the messages taken in
	order    []uint64
}

var seed = maphash.MakeSeed()

// digest hashes the first n messages.
func digest(messages []llm.Message, n int) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, m := range messages[:n] {
		for _, s := range []string{string(m.Role), m.Text, m.CallID} {
			h.WriteString(s)
			h.WriteByte(0)
		}
		if m.IsError {
			h.WriteByte(1)
		}
		for _, c := range m.Calls {
			h.WriteString(c.ID)
			h.WriteByte(0)
			h.WriteString(c.Arguments)
			h.WriteByte(0)
		}
	}
	return h.Sum64()
}

// session takes out the session that had read a beginning of the messages, or a new one.
func (m *memo) session(messages []llm.Message) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	// The last move ended before the assistant's own last message.
	for n := len(messages) - 1; n > 0; n-- {
		if messages[n].Role != llm.Assistant {
			continue
		}
		if s := m.sessions[digest(messages, n)]; s != nil {
			delete(m.sessions, digest(messages, n))
			return s
		}
		break
	}
	return &session{}
}

// keep remembers a session under all it has read.
func (m *memo) keep(messages []llm.Message, s *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions == nil {
		m.sessions = map[uint64]*session{}
	}
	d := digest(messages, len(messages))
	m.sessions[d] = s
	m.order = append(m.order, d)
	for len(m.order) > kept {
		delete(m.sessions, m.order[0])
		m.order = m.order[1:]
	}
}
