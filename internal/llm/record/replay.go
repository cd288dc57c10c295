package record

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"goserini/internal/llm"
)

// Player is a client that gives back what was recorded. It is safe for concurrent use.
type Player struct {
	provider string
	dir      string
	files    map[string]file

	mu   sync.Mutex
	next map[string]int
}

// Open reads the recordings in the folder dir.
func Open(provider, dir string) (*Player, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("replay model calls: %w", err)
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("replay model calls: no recording in %s: make one with --record %s", dir, dir)
	}
	p := &Player{provider: provider, dir: dir, files: map[string]file{}, next: map[string]int{}}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("replay model calls: %w", err)
		}
		f, err := parse(raw)
		if err != nil {
			return nil, fmt.Errorf("replay model calls: %s: %w", path, err)
		}
		name, err := f.Request.hash()
		if err != nil {
			return nil, fmt.Errorf("replay model calls: %s: %w", path, err)
		}
		p.files[name] = f
	}
	return p, nil
}

// parse reads a recording and checks that each answer is of one kind.
func parse(raw []byte) (file, error) {
	var f file
	if err := json.Unmarshal(raw, &f); err != nil {
		return file{}, err
	}
	if f.Version != Version {
		return file{}, fmt.Errorf("version %d is unknown: this program reads version %d", f.Version, Version)
	}
	if len(f.Answers) == 0 {
		return file{}, fmt.Errorf("the recording has no answer")
	}
	for i, a := range f.Answers {
		kinds := 0
		for _, is := range []bool{a.Response != nil, a.Failure != nil, a.Interrupted} {
			if is {
				kinds++
			}
		}
		if kinds != 1 {
			return file{}, fmt.Errorf("answers[%d]: want one of response, failure and interrupted", i)
		}
	}
	return f, nil
}

// Complete gives the answer that the same request got, the n-th time the n-th. A request that
// was not recorded is an error that says where it first differs from the nearest one that was.
func (p *Player) Complete(ctx context.Context, req llm.Request, stream func(llm.Delta)) (llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return llm.Response{}, fmt.Errorf("replay: call interrupted: %w", err)
	}
	a, err := p.take(canonical(p.provider, req))
	if err != nil {
		return llm.Response{}, err
	}
	switch {
	case a.Interrupted:
		<-ctx.Done() // then it was the caller who gave up, and it will be again
		return llm.Response{}, fmt.Errorf("replay: call interrupted: %w", ctx.Err())
	case a.Failure != nil:
		return llm.Response{}, a.Failure.err()
	}
	r := a.Response
	if stream != nil && (r.Message.Text != "" || r.Message.Reasoning != "") {
		stream(llm.Delta{Text: r.Message.Text, Reasoning: r.Message.Reasoning})
	}
	return llm.Response{Message: r.Message, StopReason: r.StopReason, Usage: r.Usage, UsageKnown: r.UsageKnown, Model: r.Model}, nil
}

func (p *Player) take(req request) (answer, error) {
	name, err := req.hash()
	if err != nil {
		return answer{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f, found := p.files[name]
	if !found {
		return answer{}, p.miss(req)
	}
	n := p.next[name]
	if n >= len(f.Answers) {
		return answer{}, &llm.Error{Provider: "replay", Message: fmt.Sprintf("request %s was recorded %d times in %s and is made once more", name, len(f.Answers), p.dir)}
	}
	p.next[name] = n + 1
	return f.Answers[n], nil
}

func (f *failure) err() *llm.Error {
	return &llm.Error{
		Provider: f.Provider, Status: f.Status, Code: f.Code, Message: f.Message, Retryable: f.Retryable,
		RetryAfter: time.Duration(f.RetryAfterMS) * time.Millisecond, ContextOverflow: f.ContextOverflow, Usage: f.Usage,
	}
}
