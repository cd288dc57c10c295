package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// Model is a judge that asks a language model.
type Model struct {
	client llm.Client
	opts   ModelOptions
}

// ModelOptions say who judges and how.
type ModelOptions struct {
	// Name is stored in verdicts, for example openai/gpt-4.1; Model is the provider's own name.
	Name, Model string
	// Mode is GoldAnswer if empty.
	Mode Mode
	// Effort is empty or the provider's word for reasoning effort.
	Effort string
	// Timeout limits one call to the model (0: 180 s).
	Timeout time.Duration
	// Asks is how often a verdict is asked for before it counts as unparsed (0: 3).
	Asks int
	// Tries is how often a call that fails is made (0: 5), Wait the pause after the first failure,
	// which doubles with each (0: 1 s, at most 60 s). A server's own retry-after is honoured.
	Tries int
	Wait  time.Duration
	// MaxOutputTokens 0 leaves it to the provider.
	MaxOutputTokens int
}

// maxWait bounds the pause between tries.
const maxWait = 60 * time.Second

// NewModel returns a judge that asks a model through a client.
func NewModel(client llm.Client, opts ModelOptions) *Model {
	if opts.Mode == "" {
		opts.Mode = GoldAnswer
	}
	if opts.Timeout <= 0 {
		opts.Timeout = 180 * time.Second
	}
	if opts.Asks <= 0 {
		opts.Asks = 3
	}
	if opts.Tries <= 0 {
		opts.Tries = 5
	}
	if opts.Wait <= 0 {
		opts.Wait = time.Second
	}
	return &Model{client: client, opts: opts}
}

// Name is the one given in the options.
func (m *Model) Name() string { return m.opts.Name }

// Mode says what answers are compared with.
func (m *Model) Mode() Mode { return m.opts.Mode }

// Fingerprint covers the model, its settings and the prompt.
func (m *Model) Fingerprint() string {
	return fmt.Sprintf("%s|%s|%d|%s", m.opts.Model, m.opts.Effort, m.opts.MaxOutputTokens, PromptHash())
}

// Judge asks until a reply can be read, at most Asks times. Each further time the model is told
// what was wrong with its reply.
func (m *Model) Judge(ctx context.Context, it Item) (Verdict, error) {
	v := newVerdict(m, it)
	req, err := request(it, m.opts.Mode)
	if err != nil {
		return v, err
	}
	req.Model, req.Effort, req.MaxOutputTokens = m.opts.Model, m.opts.Effort, m.opts.MaxOutputTokens
	req.CacheKey = v.Key
	for v.Tries < m.opts.Asks {
		v.Tries++
		resp, spent, err := m.call(ctx, req)
		v.Usage = v.Usage.Add(spent)
		if err != nil {
			return v, fmt.Errorf("judge query %s with %s: %w", it.QueryID, m.opts.Name, err)
		}
		v.Reply = resp.Message.Text
		if v.read(it) {
			return v, nil
		}
		req.Messages = append(slices.Clip(req.Messages), resp.Message, llm.Message{
			Role: llm.User,
			Text: "Your reply could not be used: " + v.Error + ". Reply once more, with the JSON object alone.",
		})
	}
	return v, nil
}

// read takes the decision out of the reply; false if there is none, with State and Error set.
func (v *Verdict) read(it Item) bool {
	r, err := ParseReply(v.Reply)
	if err != nil {
		v.State, v.Error = Unparsed, err.Error()
		return false
	}
	if v.CorrectAnswer != nil && r.CorrectAnswer != nil && !isReference(*r.CorrectAnswer, it.Reference) {
		v.State, v.Error = WrongEcho, fmt.Sprintf("it repeats %.80q as the correct answer, which is %.80q", *r.CorrectAnswer, it.Reference.Answer)
		return false
	}
	if *r.Correct && r.NoAnswer && !it.Reference.Unanswerable {
		v.State, v.Error = Unparsed, "it finds no answer in the response and calls it correct"
		return false
	}
	v.State, v.Error = Judged, ""
	v.Correct, v.ExtractedFinalAnswer, v.Reasoning, v.Confidence = r.Correct, r.ExtractedFinalAnswer, r.Reasoning, r.Confidence
	v.MissingFields = r.Missing
	if v.CorrectAnswer != nil && r.CorrectAnswer == nil {
		v.MissingFields = append(v.MissingFields, "correct_answer")
	}
	return true
}

// isReference reports whether a text is the correct answer or an alias of it, up to
// letter case, blanks and punctuation.
func isReference(text string, ref Reference) bool {
	same := func(other string) bool {
		return fold(text) == fold(other) || len(words(text)) > 0 && slices.Equal(words(text), words(other))
	}
	all := strings.Join(append([]string{ref.Answer}, ref.Aliases...), "\n")
	return same(ref.Answer) || slices.ContainsFunc(ref.Aliases, same) || same(all)
}

// call makes one call, again where that may help. The usage is that of all tries.
func (m *Model) call(ctx context.Context, req llm.Request) (llm.Response, trajectory.Usage, error) {
	var spent trajectory.Usage
	wait := m.opts.Wait
	for try := 1; ; try++ {
		resp, err := m.once(ctx, req)
		if err == nil {
			return resp, spent.Add(resp.Usage), nil
		}
		retryAfter, retryable := failure(ctx, err, &spent)
		if !retryable || try >= m.opts.Tries {
			return llm.Response{}, spent, err
		}
		if err := pause(ctx, max(wait, retryAfter)); err != nil {
			return llm.Response{}, spent, err
		}
		wait = min(2*wait, maxWait)
	}
}

func (m *Model) once(ctx context.Context, req llm.Request) (llm.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, m.opts.Timeout)
	defer cancel()
	return m.client.Complete(ctx, req, nil)
}

// failure says whether a call may be tried again, and adds what it cost.
func failure(ctx context.Context, err error, spent *trajectory.Usage) (retryAfter time.Duration, retryable bool) {
	if ctx.Err() != nil {
		return 0, false
	}
	var e *llm.Error
	if errors.As(err, &e) {
		*spent = spent.Add(e.Usage)
		return e.RetryAfter, e.Retryable
	}
	return 0, errors.Is(err, context.DeadlineExceeded)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
