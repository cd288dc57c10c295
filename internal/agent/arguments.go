package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	// maxArguments bounds the arguments of one call, in bytes.
	maxArguments = 64 << 10
	// maxShown bounds how much of what a model wrote is repeated to it, in bytes.
	maxShown = 200
)

// parseArguments reads the arguments of a call as one JSON object: nothing at all counts
// as {}, an object inside a JSON string is unwrapped, half a surrogate pair and bytes
// that are no UTF-8 become U+FFFD. Numbers keep their digits. Otherwise the problem
// completes the sentence "its arguments …", and there are no arguments.
func parseArguments(written string) (json.RawMessage, string) {
	if len(written) > maxArguments {
		return nil, fmt.Sprintf("are %d bytes long, more than the %d a call may have", len(written), maxArguments)
	}
	text := strings.TrimSpace(strings.ToValidUTF8(written, "\uFFFD"))
	if text == "" || text == "null" {
		return json.RawMessage("{}"), ""
	}
	if !json.Valid([]byte(text)) {
		return nil, "are not valid JSON" + position(text)
	}
	if text[0] == '"' {
		var inner string
		if json.Unmarshal([]byte(text), &inner) == nil && strings.HasPrefix(strings.TrimSpace(inner), "{") && json.Valid([]byte(inner)) {
			text = strings.TrimSpace(inner)
		}
	}
	if text[0] != '{' {
		return nil, "are JSON, but not an object"
	}
	return compactJSON([]byte(replaceHalfSurrogates(text))), ""
}

// position says where invalid JSON goes wrong, in bytes from 1.
func position(text string) string {
	var v json.RawMessage
	err := json.Unmarshal([]byte(text), &v)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf(" (byte %d: %s)", syntax.Offset, syntax.Error())
	}
	return ""
}

// compactJSON removes the blanks between the tokens of JSON, as writing a trajectory does:
// what is sent again and what is read back are the same bytes. Anything else gives nil.
func compactJSON(raw []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return nil
	}
	return b.Bytes()
}

// replaceHalfSurrogates turns every \uD800–\uDFFF escape of a JSON text that is not one of
// a pair into \ufffd. Nothing else changes.
func replaceHalfSurrogates(text string) string {
	if !strings.Contains(text, `\u`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 >= len(text) {
			b.WriteByte(text[i])
			i++
			continue
		}
		unit, ok := escapedUnit(text[i:])
		switch {
		case !ok: // another escape: two bytes
			b.WriteString(text[i : i+2])
			i += 2
		case unit < 0xD800 || unit > 0xDFFF:
			b.WriteString(text[i : i+6])
			i += 6
		default:
			if low, ok := escapedUnit(text[i+6:]); ok && unit < 0xDC00 && low >= 0xDC00 && low <= 0xDFFF {
				b.WriteString(text[i : i+12])
				i += 12
				continue
			}
			b.WriteString(`\ufffd`)
			i += 6
		}
	}
	return b.String()
}

// escapedUnit reads a \uXXXX escape at the beginning of a text.
func escapedUnit(text string) (uint32, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var unit uint32
	for _, c := range []byte(text[2:6]) {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if c < 'A' {
			d = strings.IndexByte("0123456789", c)
		}
		if d < 0 {
			return 0, false
		}
		unit = unit<<4 | uint32(d)
	}
	return unit, true
}

// fields names the fields a schema expects, the required ones first.
func fields(schema json.RawMessage) string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.Properties) == 0 {
		return "the fields its description names"
	}
	required := map[string]bool{}
	var parts []string
	for _, name := range s.Required {
		required[name] = true
		parts = append(parts, name)
	}
	var optional []string
	for name := range s.Properties {
		if !required[name] {
			optional = append(optional, name)
		}
	}
	sort.Strings(optional)
	for _, name := range optional {
		parts = append(parts, name+" (optional)")
	}
	return "the fields " + strings.Join(parts, ", ")
}

// shown is the beginning of what a model wrote, on one line, saying what was left out.
func shown(text string) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if line == "" {
		return `""`
	}
	if len(line) <= maxShown {
		return line
	}
	cut := maxShown
	for !utf8.RuneStart(line[cut]) {
		cut--
	}
	return fmt.Sprintf("%s … (%d bytes in all)", line[:cut], len(text))
}
