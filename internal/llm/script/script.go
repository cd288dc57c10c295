// Package script is a model that says what a file tells it to: hand-written turns for tests
// and demonstrations, or the turns of a recorded trajectory. It is deterministic and needs
// no network. docs/formats/script.md describes the file.
//
//	{"version": 1, "turns": [
//	  {"calls": [{"name": "search", "arguments": {"query": "salt works"}}]},
//	  {"text": "Exact Answer: Lake Orrin\nConfidence: 80%"}
//	]}
package script

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"goserini/internal/llm"
	"goserini/internal/trajectory"
)

// Version is the version of the script format.
//
//	1: first version
const Version = 1

// Script is the content of a script file.
type Script struct {
	Version int `json:"version"`
	// Turns are for every question that no conversation names.
	Turns []Turn `json:"turns,omitempty"`
	// Conversations are for the questions they name.
	Conversations []Conversation `json:"conversations,omitempty"`
	// AfterLast says what happens when a conversation has used up its turns: "error", the
	// default, or "repeat" for the last turn again and again.
	AfterLast string `json:"after_last,omitempty"`
}

// Conversation is a list of turns for one question.
type Conversation struct {
	// Question must occur in the first user message. Where several do, the longest counts.
	Question string `json:"question"`
	Turns    []Turn `json:"turns"`
}

// Turn is what one model call gives.
type Turn struct {
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	Calls     []Call `json:"calls,omitempty"`
	// Stop is a normalised stop reason; empty gives tool_calls or stop, as fits.
	Stop llm.StopReason `json:"stop,omitempty"`
	// Usage is absent where the model tells none.
	Usage *trajectory.Usage `json:"usage,omitempty"`
	// DelayMS passes before the turn is given; an interrupted call uses the turn up.
	DelayMS int64 `json:"delay_ms,omitempty"`
	// Error fails the call instead of answering it.
	Error *Failure `json:"error,omitempty"`
	// Repeat gives the turn so many times; 0 means once.
	Repeat int `json:"repeat,omitempty"`
}

// Call is a tool call.
type Call struct {
	// ID may be left out.
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	// Arguments are an object, or a string that holds exactly what the model wrote.
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Failure is a failed call.
type Failure struct {
	Status          int    `json:"status,omitempty"`
	Code            string `json:"code,omitempty"`
	Message         string `json:"message"`
	Retryable       bool   `json:"retryable,omitempty"`
	RetryAfterMS    int64  `json:"retry_after_ms,omitempty"`
	ContextOverflow bool   `json:"context_overflow,omitempty"`
	// Usage was spent although the call failed.
	Usage *trajectory.Usage `json:"usage,omitempty"`
}

// Load reads a script: a JSON document, JSON lines of one turn each, a recorded trajectory,
// or a folder of trajectories.
func Load(path string) (Script, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Script{}, fmt.Errorf("open script: %w", err)
	}
	if info.IsDir() {
		return loadFolder(path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return Script{}, fmt.Errorf("open script: %w", err)
	}
	s, err := parse(raw, path)
	if err != nil {
		return Script{}, fmt.Errorf("script %s: %w", path, err)
	}
	return s, nil
}

func loadFolder(dir string) (Script, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(paths) == 0 {
		return Script{}, fmt.Errorf("script folder %s: no *.jsonl file in it: want trajectories of a run", dir)
	}
	out := Script{Version: Version}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return Script{}, fmt.Errorf("open script: %w", err)
		}
		if !isTrajectory(raw) {
			return Script{}, fmt.Errorf("script folder %s: %s is no trajectory: its first line has no header", dir, filepath.Base(path))
		}
		c, err := fromTrajectory(raw, path)
		if err != nil {
			return Script{}, fmt.Errorf("script %s: %w", path, err)
		}
		out.Conversations = append(out.Conversations, c)
	}
	return out, nil
}

// Parse reads the content of a script file.
func Parse(raw []byte) (Script, error) { return parse(raw, "script") }

func parse(raw []byte, name string) (Script, error) {
	raw = bytes.TrimSpace(bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")))
	if len(raw) == 0 {
		return Script{}, errors.New(`the file is empty: want {"version": 1, "turns": […]} or one turn a line`)
	}
	if isTrajectory(raw) {
		c, err := fromTrajectory(raw, name)
		if err != nil {
			return Script{}, err
		}
		s := Script{Version: Version, Conversations: []Conversation{c}}
		return s, s.check()
	}
	if isDocument(raw) {
		return parseDocument(raw)
	}
	return parseLines(raw)
}

// isDocument tells the one document from lines of turns: its first line is no whole object,
// or one with the fields of a document.
func isDocument(raw []byte) bool {
	first, _, _ := bytes.Cut(raw, []byte("\n"))
	var head struct {
		Version, Turns, Conversations json.RawMessage
	}
	if json.NewDecoder(bytes.NewReader(first)).Decode(&head) != nil {
		return true
	}
	return head.Version != nil || head.Turns != nil || head.Conversations != nil
}

func parseDocument(raw []byte) (Script, error) {
	var s Script
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Script{}, fmt.Errorf("line %d: %w", lineOf(raw, errorOffset(err, d)), err)
	}
	if d.Decode(new(json.RawMessage)) != io.EOF {
		return Script{}, fmt.Errorf("line %d: something follows the document", lineOf(raw, d.InputOffset()))
	}
	return s, s.check()
}

// errorOffset is where in the document a decoder stumbled.
func errorOffset(err error, d *json.Decoder) int64 {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Offset
	case errors.As(err, &kind):
		return kind.Offset
	}
	return d.InputOffset()
}

func lineOf(raw []byte, offset int64) int {
	return 1 + bytes.Count(raw[:min(int64(len(raw)), offset)], []byte("\n"))
}

func parseLines(raw []byte) (Script, error) {
	s := Script{Version: Version}
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, len(raw)+1)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var t Turn
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&t); err != nil {
			return Script{}, fmt.Errorf("line %d: %w", n, err)
		}
		if d.Decode(new(json.RawMessage)) != io.EOF {
			return Script{}, fmt.Errorf("line %d: want one turn a line", n)
		}
		s.Turns = append(s.Turns, t)
	}
	return s, s.check()
}

func (s Script) check() error {
	if s.Version != Version {
		return fmt.Errorf("version %d is unknown: this program reads version %d", s.Version, Version)
	}
	if s.AfterLast != "" && s.AfterLast != "error" && s.AfterLast != "repeat" {
		return fmt.Errorf("after_last %q: want error or repeat", s.AfterLast)
	}
	if len(s.Turns) == 0 && len(s.Conversations) == 0 {
		return errors.New("no turns and no conversations")
	}
	if err := checkTurns("turns", s.Turns); err != nil {
		return err
	}
	for i, c := range s.Conversations {
		if strings.TrimSpace(c.Question) == "" {
			return fmt.Errorf("conversations[%d]: question is missing", i)
		}
		if len(c.Turns) == 0 {
			return fmt.Errorf("conversations[%d]: no turns", i)
		}
		if err := checkTurns(fmt.Sprintf("conversations[%d].turns", i), c.Turns); err != nil {
			return err
		}
	}
	return nil
}

func checkTurns(where string, turns []Turn) error {
	for i, t := range turns {
		switch {
		case t.DelayMS < 0 || t.Repeat < 0:
			return fmt.Errorf("%s[%d]: delay_ms and repeat cannot be negative", where, i)
		case t.Error != nil && (t.Text != "" || len(t.Calls) > 0):
			return fmt.Errorf("%s[%d]: a turn with an error has no text and no calls", where, i)
		}
		switch t.Stop {
		case "", llm.StopEnd, llm.StopCalls, llm.StopLength, llm.StopRefusal, llm.StopOther:
		default:
			return fmt.Errorf("%s[%d]: stop %q: want stop, tool_calls, length, refusal or other", where, i, t.Stop)
		}
		for j, c := range t.Calls {
			if c.Name == "" {
				return fmt.Errorf("%s[%d].calls[%d]: name is missing", where, i, j)
			}
		}
	}
	return nil
}

// written is the arguments as the model wrote them.
func (c Call) written() string {
	var s string
	if json.Unmarshal(c.Arguments, &s) == nil && bytes.HasPrefix(bytes.TrimSpace(c.Arguments), []byte(`"`)) {
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, c.Arguments) != nil {
		return string(c.Arguments)
	}
	return b.String()
}

func (t Turn) delay() time.Duration { return time.Duration(t.DelayMS) * time.Millisecond }
