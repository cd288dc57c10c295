package controller

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// kind is the type of a parameter as the schema names it.
type kind string

const (
	text    kind = "string"
	integer kind = "integer"
	boolean kind = "boolean"
	list    kind = "array" // of strings
)

// parameter describes one argument of a tool. The schema, the conversion of what the
// model sends and the sentences about mistakes are all made from it.
type parameter struct {
	name     string
	kind     kind
	required bool
	// def is the value of an optional integer that is not given; 0 means none.
	def   int
	about string
}

// reason is the first parameter of every tool. It is asked for and recorded, but
// neither its length nor its presence is enforced: the paper's system never checks
// it, and a call refused for it would only cost a turn.
var reason = parameter{
	name: "reason", kind: text, required: true,
	about: "Why this call, in fewer than 100 words: the clue, gap, candidate or ranking problem it is about. Give it first.",
}

// schema renders parameters as a JSON Schema, always in the same bytes.
func schema(params []parameter) json.RawMessage {
	var b bytes.Buffer
	b.WriteString(`{"type":"object","properties":{`)
	for i, p := range params {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quoteJSON(p.name) + `:{"type":` + quoteJSON(string(p.kind)))
		if p.kind == integer {
			b.WriteString(`,"minimum":1`)
		}
		if p.kind == list {
			b.WriteString(`,"items":{"type":"string"}`)
		}
		if p.def != 0 {
			b.WriteString(`,"default":` + strconv.Itoa(p.def))
		}
		b.WriteString(`,"description":` + quoteJSON(p.about) + `}`)
	}
	b.WriteString(`},"required":[`)
	comma := ""
	for _, p := range params {
		if p.required {
			b.WriteString(comma + quoteJSON(p.name))
			comma = ","
		}
	}
	b.WriteString(`]}`)
	return b.Bytes()
}
