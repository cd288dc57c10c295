package rpcserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// unknown is the command of a response to a line that names none.
const unknown = "unknown"

type success struct {
	ID      json.RawMessage `json:"id"`
	Type    string          `json:"type"`
	Command string          `json:"command"`
	Success bool            `json:"success"`
	Data    any             `json:"data"`
}

func failure(id json.RawMessage, command, message string) []byte {
	return encode(struct {
		ID      json.RawMessage `json:"id"`
		Type    string          `json:"type"`
		Command string          `json:"command"`
		Success bool            `json:"success"`
		Error   string          `json:"error"`
	}{id, "response", command, false, message})
}

// timing ends every data.
type timing struct {
	Command double `json:"command"`
	Uptime  double `json:"server_uptime"`
	Init    double `json:"init"`
}

// process carries out one line.
func (s *Server) process(ctx context.Context, line []byte) []byte {
	start := time.Now()
	// The id goes back as it came, and what goes back is UTF-8.
	line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	p, err := parseParams(line)
	if err != nil {
		return failure(nil, unknown, err.Error())
	}
	id, command := p["id"], unknown
	if t, err := p.text("type", ""); err == nil {
		command = t
	}
	t := func() timing {
		return timing{milliseconds(time.Since(start)), milliseconds(time.Since(s.options.Started)), milliseconds(s.options.Init)}
	}
	data, err := s.carryOut(ctx, p, t)
	if err != nil {
		return failure(id, command, err.Error())
	}
	return encode(success{id, "response", command, true, data})
}

func (s *Server) carryOut(ctx context.Context, p params, t func() timing) (any, error) {
	command, err := p.text("type", "a command needs a non-empty string type")
	if err != nil {
		return nil, err
	}
	switch command {
	case "ping":
		return struct {
			OK     bool   `json:"ok"`
			Timing timing `json:"timing_ms"`
		}{true, t()}, nil
	case "search":
		return s.search(ctx, p, t)
	case "render_search_results":
		return s.render(ctx, p, t)
	case "read_document":
		return s.read(p, t)
	}
	return nil, fmt.Errorf("unknown command type: %s", command)
}

// params are the fields of a command.
type params map[string]json.RawMessage

// parseParams reads the object at the beginning of a line; like the original, it does not
// look at what follows.
func parseParams(line []byte) (params, error) {
	var p params
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&p)
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return nil, fmt.Errorf("the line is no JSON object but a JSON %s", kind.Value)
	case err != nil:
		return nil, fmt.Errorf("the line is not JSON: %w", err)
	case p == nil:
		return nil, errors.New("the line is no JSON object but null")
	}
	return p, nil
}

// given returns the value of a field; null counts as absent.
func (p params) given(name string) (json.RawMessage, bool) {
	v, ok := p[name]
	return v, ok && string(v) != "null"
}

// text returns a string that is not blank.
func (p params) text(name, complaint string) (string, error) {
	var s string
	v, ok := p.given(name)
	if !ok || v[0] != '"' || json.Unmarshal(v, &s) != nil || strings.TrimSpace(s) == "" {
		return "", errors.New(complaint)
	}
	return s, nil
}

// optionalText returns a string as it is; anything else stands for the default.
func (p params) optionalText(name, def string) string {
	v, ok := p.given(name)
	var s string
	if !ok || v[0] != '"' || json.Unmarshal(v, &s) != nil {
		return def
	}
	return s
}

// positive returns a number cut to an integer that is above 0.
func (p params) positive(name string, def int, complaint string) (int, error) {
	v, ok := p.given(name)
	if !ok {
		return def, nil
	}
	f, ok := number(v)
	if !ok || f < 1 {
		return 0, errors.New(complaint)
	}
	return int(min(f, math.MaxInt32)), nil
}

// flag returns a boolean.
func (p params) flag(name string, def bool, complaint string) (bool, error) {
	v, ok := p.given(name)
	switch {
	case !ok:
		return def, nil
	case string(v) == "true":
		return true, nil
	case string(v) == "false":
		return false, nil
	}
	return false, errors.New(complaint)
}

// number reads a JSON number; one beyond the range of a double is as large as one can be.
func number(v json.RawMessage) (float64, bool) {
	if c := v[0]; c != '-' && (c < '0' || c > '9') {
		return 0, false
	}
	var n json.Number
	if json.Unmarshal(v, &n) != nil {
		return 0, false
	}
	f, err := n.Float64()
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return min(max(f, -math.MaxFloat64), math.MaxFloat64), true
}
