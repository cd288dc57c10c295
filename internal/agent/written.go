package agent

import (
	"bytes"
	"encoding/json"
	"strings"

	"goserini/internal/lazyregexp"
	"goserini/internal/tool"
)

// markers begin tool calls in the templates of open models. In a response they mean that
// the server did not take a call out of the text.
var markers = lazyregexp.New(`<tool_calls?>|</tool_call>|<function_calls?>|<function=[\w.]+>|<invoke name=|` +
	`<\|tool_calls?(_section)?(_start|_begin)?\|>|<\|python_tag\|>|<\|call\|>|<｜tool▁calls?▁begin｜>|\[TOOL_CALLS\]|` +
	`<\|channel\|>[^<]*to=|to=functions\.\w`)

// inlineCode is a code span within a line: what is quoted in it is no call.
var inlineCode = lazyregexp.New("`[^`\n]+`")

// writtenCall reports whether a response without calls has one in its text, in one of the
// forms models fall back to: the markers of a template, a JSON object with the name of an
// offered tool and its arguments, a line that is a function call, or "Action:".
func writtenCall(text string, tools []tool.Tool) bool {
	fences := strings.Contains(text, "```")
	if !fences {
		text = inlineCode.ReplaceAllString(text, "")
	}
	if markers.MatchString(text) {
		return true
	}
	for _, t := range tools {
		if strings.Contains(text, t.Name) && (writtenLine(text, t.Name) || writtenObject(text, tools)) {
			return true
		}
	}
	return false
}

// writtenLine finds a line such as search(query="x"), [search(query="x")] or Action: search.
func writtenLine(text, name string) bool {
	for line := range strings.Lines(text) {
		line = strings.Trim(line, " \t\r\n`[]*")
		if action, ok := strings.CutPrefix(line, "Action:"); ok && strings.Trim(action, " *`") == name {
			return true
		}
		line = strings.TrimPrefix(line, "functions.")
		if rest, ok := strings.CutPrefix(line, name); ok && strings.HasPrefix(rest, "(") && strings.HasSuffix(rest, ")") {
			return true
		}
	}
	return false
}

// maxObjects bounds how many braces of a text are tried as the beginning of a call.
const maxObjects = 64

// writtenObject finds {"name": "search", "arguments": {…}} and its relatives.
func writtenObject(text string, tools []tool.Tool) bool {
	for range maxObjects {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			return false
		}
		text = text[i:]
		if callObject([]byte(text), tools) {
			return true
		}
		text = text[1:]
	}
	return false
}

// callObject reports whether the JSON object a text begins with is a call of an offered tool.
func callObject(text []byte, tools []tool.Tool) bool {
	var o struct {
		Name       json.RawMessage `json:"name"`
		Tool       json.RawMessage `json:"tool"`
		ToolName   json.RawMessage `json:"tool_name"`
		Function   json.RawMessage `json:"function"`
		Arguments  json.RawMessage `json:"arguments"`
		Args       json.RawMessage `json:"args"`
		Parameters json.RawMessage `json:"parameters"`
		Input      json.RawMessage `json:"input"`
	}
	if json.NewDecoder(bytes.NewReader(text)).Decode(&o) != nil {
		return false
	}
	if len(o.Function) > 0 && o.Function[0] == '{' && callObject(o.Function, tools) {
		return true
	}
	if o.Arguments == nil && o.Args == nil && o.Parameters == nil && o.Input == nil {
		return false
	}
	for _, raw := range []json.RawMessage{o.Name, o.Tool, o.ToolName, o.Function} {
		var name string
		if json.Unmarshal(raw, &name) != nil {
			continue
		}
		for _, t := range tools {
			if strings.TrimPrefix(name, "functions.") == t.Name {
				return true
			}
		}
	}
	return false
}
