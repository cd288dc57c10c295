package anserini

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"goserini/internal/retrieval/remote"
)

// Start returns a retriever over a server process that is begun with the first request and
// begun again if it ends. Close ends it.
func Start(command []string, policy remote.Policy) (*Retriever, error) {
	if len(command) == 0 || command[0] == "" {
		return nil, errors.New("backend anserini: the command of the server is empty")
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, fmt.Errorf("backend anserini: start server: %w", err)
	}
	return &Retriever{name: "anserini:stdio:" + command[0], transport: &stdio{command: command}, policy: policy}, nil
}

// stdio keeps one process alive.
type stdio struct {
	command []string

	mu      sync.Mutex
	current *process
	closed  bool
}

// endGrace is how long a process may take to end once its input has.
const endGrace = 3 * time.Second

func (s *stdio) exchange(ctx context.Context, req request) (response, error) {
	p, err := s.running()
	if err != nil {
		return response{}, err
	}
	return p.exchange(ctx, req)
}

func (s *stdio) running() (*process, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the retriever is closed")
	}
	if s.current != nil && !s.current.ended() {
		return s.current, nil
	}
	p, err := begin(s.command)
	if err != nil {
		return nil, err
	}
	s.current = p
	return p, nil
}

func (s *stdio) close() error {
	s.mu.Lock()
	p := s.current
	s.closed = true
	s.mu.Unlock()
	if p == nil {
		return nil
	}
	_ = p.in.Close()
	select {
	case <-p.done:
	case <-time.After(endGrace):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	return nil
}

// process is one running server. Requests are told apart by their ids, so any number may be
// on their way.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr tail
	done   chan struct{} // closed when the process has ended

	writing sync.Mutex // held while a line goes to in

	mu      sync.Mutex // guards what follows
	last    int64
	waiting map[int64]chan response
	failure error
}

func begin(command []string) (*process, error) {
	p := &process{cmd: exec.Command(command[0], command[1:]...), done: make(chan struct{}), waiting: map[int64]chan response{}}
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = endGrace // a child of the server may hold its error stream open
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, remote.Unavailable(fmt.Errorf("start server: %w", err))
	}
	go p.receive(out)
	return p, nil
}

func (p *process) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure != nil
}

// receive hands out responses until the process ends or breaks the protocol.
func (p *process) receive(out io.Reader) {
	defer close(p.done)
	err := p.readLines(out)
	p.fail(err)
	_ = p.in.Close()
	_ = p.cmd.Process.Kill() // a server that breaks the protocol is not to be kept
	waitErr := p.cmd.Wait()
	if err == nil {
		how := "exit status 0"
		if waitErr != nil {
			how = waitErr.Error()
		}
		p.fail(fmt.Errorf("the server ended (%s); it said: %s", how, remote.Excerpt(p.stderr.bytes())))
	}
}

func (p *process) readLines(out io.Reader) error {
	lines := bufio.NewScanner(out)
	lines.Buffer(make([]byte, 0, 64<<10), MaxLine)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		resp, err := parseResponse(line)
		if err != nil {
			return fmt.Errorf("%w; it began: %s", err, remote.Excerpt(line))
		}
		p.deliver(resp)
	}
	return lines.Err()
}

func (p *process) deliver(resp response) {
	if resp.ID == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if answer, ok := p.waiting[*resp.ID]; ok {
		delete(p.waiting, *resp.ID)
		answer <- resp
	}
}

// fail tells everybody who waits that there will be no response.
func (p *process) fail(err error) {
	if err == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure == nil {
		p.failure = remote.Unavailable(err)
	}
	for id, answer := range p.waiting {
		delete(p.waiting, id)
		close(answer)
	}
}

func (p *process) exchange(ctx context.Context, req request) (response, error) {
	answer := make(chan response, 1)
	line, id, err := p.register(req, answer)
	if err != nil {
		return response{}, err
	}
	// A server that does not read must not keep the caller beyond its context.
	go func() {
		p.writing.Lock()
		defer p.writing.Unlock()
		if _, err := p.in.Write(line); err != nil {
			p.fail(fmt.Errorf("the server reads no more: %w", err))
		}
	}()
	select {
	case resp, ok := <-answer:
		if !ok {
			p.mu.Lock()
			defer p.mu.Unlock()
			return response{}, p.failure
		}
		return resp, nil
	case <-ctx.Done():
		p.mu.Lock()
		delete(p.waiting, id)
		p.mu.Unlock()
		return response{}, ctx.Err()
	}
}

// register gives a request its id and notes who waits for the response.
func (p *process) register(req request, answer chan response) (line []byte, id int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil {
		return nil, 0, p.failure
	}
	p.last++
	req.ID = p.last
	if line, err = json.Marshal(req); err != nil {
		return nil, 0, fmt.Errorf("encode request: %w", err)
	}
	p.waiting[req.ID] = answer
	return append(line, '\n'), req.ID, nil
}

// tail keeps the last bytes of what a server says on its error stream.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const tailLength = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-tailLength):]...)
	t.kept = t.kept[max(0, len(t.kept)-tailLength):]
	return len(b), nil
}

func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.kept)
}
