package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// properties lists the arguments of a schema, in its order.
func properties(schema json.RawMessage) []string {
	var s struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	return keys(s.Properties)
}

// keys are those of a JSON object, in order; none if it is no object.
func keys(object json.RawMessage) []string {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var names []string
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return names
		}
		names = append(names, name)
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return names
		}
	}
	return names
}

// longestName bounds what is repeated of the name of an argument, in characters.
const longestName = 40

// unknownArguments complains about arguments that a tool does not have. To ignore them
// would mislead a model that thinks it has set something.
func unknownArguments(tool string, known []string, args json.RawMessage) string {
	var unknown []string
	for _, name := range keys(args) {
		if slices.Contains(known, name) {
			continue
		}
		if unknown = append(unknown, strconv.Quote(clip(name, longestName))); len(unknown) == 5 {
			break
		}
	}
	if len(unknown) == 0 {
		return ""
	}
	noun := "argument"
	if len(unknown) > 1 {
		noun = "arguments"
	}
	return fmt.Sprintf("%s: there is no %s %s. Call %s again with no others than %s.", tool, noun, strings.Join(unknown, ", "), tool, strings.Join(known, ", "))
}
