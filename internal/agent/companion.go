package agent

import (
	"goserini/internal/llm"
	"goserini/internal/tool"
	"goserini/internal/trajectory"
)

// Companion stands beside a question: it sees what the calls gave, keeps what must not be
// lost, and may hold an answer back to have it checked. Its texts are for the model; "" is
// nothing to say. Its methods are called on the goroutine of the question.
type Companion interface {
	// Observe takes the calls of a turn that a tool has answered, in order, and may warn.
	Observe(calls []tool.Exchange) (warning string)
	// Memory is what stands beside folded turns, and before the message that ends the research.
	// It is the same until the next call of another method.
	Memory() string
	// Review is asked about an answer while the research may go on, and once it has held one
	// back about every later text of the model. A message holds the answer back; without one
	// the latest labelled answer is accepted.
	Review(a trajectory.Answer) (message string)
	// Record says what came of it, nil for what it did not do.
	Record() (*trajectory.Notebook, *trajectory.Verification)
}

// watch shows the companion the calls of a turn.
func (s *session) watch(calls []tool.Exchange) {
	if s.cfg.Companion == nil || len(calls) == 0 {
		return
	}
	if warning := s.cfg.Companion.Observe(calls); warning != "" && s.over == "" {
		s.say(trajectory.SteerBranch, warning)
	}
}

// memory is what the companion keeps, "" for nothing.
func (s *session) memory() string {
	if s.cfg.Companion == nil {
		return ""
	}
	return s.cfg.Companion.Memory()
}

// accept ends the question with an answer, unless the companion holds it back. An answer held
// back stands until a better one comes, whatever happens: only a labelled one is better.
func (s *session) accept(resp llm.Response, a trajectory.Answer, labelled bool) (ending, bool) {
	if labelled || s.standing == nil {
		s.standing = &a
	}
	if s.over == "" && !s.clock.steerDue() && s.cfg.Companion != nil {
		if message := s.cfg.Companion.Review(a); message != "" {
			s.messages = append(s.messages, resp.Message)
			s.reopened, s.missteps = false, 0
			s.say(trajectory.SteerVerify, message)
			return ending{}, false
		}
	}
	return ending{status: trajectory.Completed, answer: *s.standing}, true
}

// checking says that an answer stands and that nothing was looked at since: there is no
// better one to be had from a last response.
func (s *session) checking() bool { return s.standing != nil && !s.reopened }
