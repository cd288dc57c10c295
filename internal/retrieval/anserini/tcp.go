package anserini

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"goserini/internal/retrieval/remote"
)

// Dial returns a retriever over the server at host:port. It makes no connection yet: each
// request gets its own, since the original server serves as many connections at a time as
// it has threads, one by default, and an idle one would keep everybody else waiting.
func Dial(address string, policy remote.Policy) (*Retriever, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("backend anserini: address %q is not HOST:PORT", address)
	}
	return &Retriever{name: "anserini:tcp://" + address, transport: &tcp{address: address}, policy: policy}, nil
}

type tcp struct {
	address string
	last    atomic.Int64
	dialer  net.Dialer
}

func (t *tcp) close() error { return nil }

func (t *tcp) exchange(ctx context.Context, req request) (response, error) {
	conn, err := t.dialer.DialContext(ctx, "tcp", t.address)
	if err != nil {
		return response{}, remote.Unavailable(err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	req.ID = t.last.Add(1)
	line, err := json.Marshal(req)
	if err != nil {
		return response{}, fmt.Errorf("encode request: %w", err)
	}
	if _, err := conn.Write(append(line, '\n')); err != nil {
		return response{}, remote.Unavailable(err)
	}
	answer, err := firstLine(conn)
	if err != nil {
		return response{}, err
	}
	resp, err := parseResponse(answer)
	if err != nil {
		return response{}, err
	}
	if resp.ID == nil || *resp.ID != req.ID {
		return response{}, fmt.Errorf("the response has another id than the request %d", req.ID)
	}
	return resp, nil
}

// firstLine reads the first line that is not blank.
func firstLine(r io.Reader) ([]byte, error) {
	in := bufio.NewReader(io.LimitReader(r, MaxLine+1))
	for read := 0; ; {
		line, err := in.ReadBytes('\n')
		read += len(line)
		switch {
		case read > MaxLine:
			return nil, fmt.Errorf("response is longer than %d bytes", MaxLine)
		case errors.Is(err, io.EOF):
			return nil, remote.Unavailable(errors.New("the connection ended before the response did"))
		case err != nil:
			return nil, remote.Unavailable(err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}
