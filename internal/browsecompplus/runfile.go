package browsecompplus

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// RunFile is what an agent did for one query, as the official evaluator reads it: one JSON object
// a file, or a line. Its reader takes what other programs write a little differently: ids as
// numbers, arguments as objects.
type RunFile struct {
	// Metadata is an object of the writer's own making; the evaluator looks at model in it.
	Metadata       json.RawMessage `json:"metadata,omitempty"`
	QueryID        Text            `json:"query_id"`
	ToolCallCounts map[string]int  `json:"tool_call_counts"`
	Usage          *Usage          `json:"usage,omitempty"`
	// Status is completed where there is an answer to judge; any other word is not judged.
	Status string `json:"status"`
	// Retrieved are the documents that count for recall.
	Retrieved []Text `json:"retrieved_docids"`
	// Result is what happened, in order; the last item is the answer.
	Result []Item `json:"result"`
}

// Usage counts tokens in the arithmetic of that format: input includes cached ones.
type Usage struct {
	Input     int64 `json:"input_tokens"`
	Cached    int64 `json:"input_tokens_cached"`
	Output    int64 `json:"output_tokens"`
	Reasoning int64 `json:"included_reasoning_tokens"`
	Total     int64 `json:"total_tokens"`
}

// The types of an item.
const (
	ItemCall      = "tool_call"
	ItemReasoning = "reasoning"
	ItemText      = "output_text"
)

// Item is one thing that happened. ToolName and Arguments are nil unless it is a tool call.
type Item struct {
	Type     string  `json:"type"`
	ToolName *string `json:"tool_name"`
	// Arguments are the JSON text of the call's arguments.
	Arguments *Arguments `json:"arguments"`
	Output    Output     `json:"output"`
}

// Arguments are JSON, written as a JSON string.
type Arguments string

// UnmarshalJSON takes a string, or any other value as its JSON text.
func (a *Arguments) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*a = Arguments(s)
		return nil
	}
	*a = Arguments(b)
	return nil
}

// Text is an id: a string, or a number whose digits are kept.
type Text string

// UnmarshalJSON takes a string or a number.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err == nil {
		*t = Text(s)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return fmt.Errorf("an id is a string or a number, not %.40s", b)
	}
	*t = Text(n)
	return nil
}

// Output is what an item said: nothing (null), one text, or several (reasoning).
type Output struct {
	Texts []string
	// List says that it is written as a list, whatever its length.
	List bool
}

// Said is an output of one text.
func Said(text string) Output { return Output{Texts: []string{text}} }

// String joins the texts by line breaks.
func (o Output) String() string { return strings.Join(o.Texts, "\n") }

// IsNull reports whether there is no output at all.
func (o Output) IsNull() bool { return !o.List && len(o.Texts) == 0 }

// MarshalJSON writes null, a string or a list of strings.
func (o Output) MarshalJSON() ([]byte, error) {
	if o.List {
		return marshal(append([]string{}, o.Texts...))
	}
	if len(o.Texts) == 0 {
		return []byte("null"), nil
	}
	return marshal(o.String())
}

// UnmarshalJSON also takes a list of objects, whose field text counts.
func (o *Output) UnmarshalJSON(b []byte) error {
	*o = Output{}
	switch b[0] {
	case 'n':
		return nil
	case '"':
		o.Texts = make([]string, 1)
		return json.Unmarshal(b, &o.Texts[0])
	case '[':
		return o.list(b)
	}
	return fmt.Errorf("output is a string, a list or null, not %.40s", b)
}

func (o *Output) list(b []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	o.List = true
	for _, part := range parts {
		var s string
		if json.Unmarshal(part, &s) == nil {
			o.Texts = append(o.Texts, s)
			continue
		}
		var object struct {
			Text *string `json:"text"`
		}
		if err := json.Unmarshal(part, &object); err != nil {
			return fmt.Errorf("output holds %.40s, neither a text nor an object", part)
		}
		if object.Text != nil {
			o.Texts = append(o.Texts, *object.Text)
		}
	}
	return nil
}

// Check reports what the official evaluator could not read.
func (r RunFile) Check() error {
	if r.QueryID == "" {
		return errors.New("no query_id")
	}
	for i, item := range r.Result {
		switch item.Type {
		case ItemCall, ItemReasoning, ItemText:
		case "":
			return fmt.Errorf("result item %d has no type", i+1)
		}
	}
	return nil
}

// Answer is the final text: the last item if it is one, "" otherwise.
func (r RunFile) Answer() string {
	if n := len(r.Result); n > 0 && r.Result[n-1].Type == ItemText {
		return r.Result[n-1].Output.String()
	}
	return ""
}

// Model is the model that the metadata names, "" if none.
func (r RunFile) Model() string {
	var m struct {
		Model string `json:"model"`
	}
	if json.Unmarshal(r.Metadata, &m) != nil {
		return ""
	}
	return m.Model
}

// Enciphered reports whether the outputs look as those of the published reference runs do: every
// one of them can be deciphered, and there is one. Plain text rarely is base64.
func (r RunFile) Enciphered(key Key) bool {
	some := false
	for _, item := range r.Result {
		for _, text := range item.Output.Texts {
			if text == "" {
				continue
			}
			if _, err := key.Decrypt(text); err != nil {
				return false
			}
			some = true
		}
	}
	return some
}

// Unreadable reports whether the outputs are enciphered, whatever the key: each is base64, and
// together they decode to something that is no text. Below some bytes a plain word can look so, too,
// and counts as plain.
func (r RunFile) Unreadable() bool {
	const least = 32
	var all []byte
	for _, item := range r.Result {
		for _, text := range item.Output.Texts {
			b, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return false
			}
			all = append(all, b...)
		}
	}
	return len(all) >= least && !utf8.Valid(all)
}

// Decrypt deciphers the outputs in place, and arguments that Encrypt enciphered. Those of the
// published reference runs are plain.
func (r *RunFile) Decrypt(key Key) error {
	for i := range r.Result {
		texts := r.Result[i].Output.Texts
		for j, text := range texts {
			plain, err := key.Decrypt(text)
			if err != nil {
				return fmt.Errorf("query %s: result item %d: %w", r.QueryID, i+1, err)
			}
			texts[j] = plain
		}
		if a := r.Result[i].Arguments; a != nil && *a != "" {
			if plain, err := key.Decrypt(string(*a)); err == nil {
				*a = Arguments(plain)
			}
		}
	}
	return nil
}

// Encrypt enciphers the outputs in place, as those of the published reference runs are, and the
// arguments, which repeat the question more often than not; the official evaluator does not read them.
func (r *RunFile) Encrypt(key Key) {
	for i := range r.Result {
		texts := r.Result[i].Output.Texts
		for j, text := range texts {
			texts[j] = key.Encrypt(text)
		}
		if a := r.Result[i].Arguments; a != nil && *a != "" {
			*a = Arguments(key.Encrypt(string(*a)))
		}
	}
}

// marshal leaves characters such as < as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Encode is the file's text, indented.
func (r RunFile) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("encode run of query %s: %w", r.QueryID, err)
	}
	return b.Bytes(), nil
}
