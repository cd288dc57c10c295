package wire

import (
	"encoding/json"
	"fmt"

	"goserini/internal/llm"
)

// ToolForm is how a protocol writes a tool: Open, the name, the description, the schema under
// the name Schema, and Close.
type ToolForm struct{ Open, Schema, Close string }

// AppendTools appends a JSON array of tools. Schemas keep their bytes.
func AppendTools(b []byte, tools []llm.ToolSpec, form ToolForm) ([]byte, error) {
	b = append(b, '[')
	for i, t := range tools {
		if !json.Valid(t.Schema) {
			return nil, fmt.Errorf("schema of tool %s is not JSON", t.Name)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(append(append(b, form.Open...), `"name":`...), t.Name)
		b = AppendString(append(b, `,"description":`...), t.Description)
		b = AppendString(append(b, ','), form.Schema)
		b = append(append(append(b, ':'), t.Schema...), form.Close...)
	}
	return append(b, ']'), nil
}
