package tool

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Kind is the type of a parameter as the schema names it.
type Kind string

// The kinds of parameters.
const (
	Text    Kind = "string"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
	List    Kind = "array" // of strings
)

// Parameter describes one argument of a tool. The schema, the conversion of what the
// model sends and the sentences about mistakes are all made from it.
type Parameter struct {
	Name     string
	Kind     Kind
	Required bool
	// Values are the texts that are meant, where only some are. Whatever else is given is
	// the tool's own matter.
	Values []string
	// Default is the value of an optional integer that is not given; 0 means none.
	Default int
	About   string
}

// Schema renders parameters as a JSON Schema, always in the same bytes.
func Schema(params []Parameter) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	for i, p := range params {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(QuoteJSON(p.Name) + `:{"type":` + QuoteJSON(string(p.Kind)))
		if p.Kind == Integer {
			b.WriteString(`,"minimum":1`)
		}
		if p.Kind == List {
			b.WriteString(`,"items":{"type":"string"}`)
		}
		if len(p.Values) > 0 {
			quoted := make([]string, len(p.Values))
			for j, v := range p.Values {
				quoted[j] = QuoteJSON(v)
			}
			b.WriteString(`,"enum":[` + strings.Join(quoted, ",") + `]`)
		}
		if p.Default != 0 {
			b.WriteString(`,"default":` + strconv.Itoa(p.Default))
		}
		b.WriteString(`,"description":` + QuoteJSON(p.About) + `}`)
	}
	b.WriteString(`},"required":[`)
	comma := ""
	for _, p := range params {
		if p.Required {
			b.WriteString(comma + QuoteJSON(p.Name))
			comma = ","
		}
	}
	b.WriteString(`]}`)
	return b.Bytes()
}
