package tool_test

import (
	"encoding/json"
	"testing"

	"goserini/internal/tool"
)

func TestFingerprintChangesWithEachPart(t *testing.T) {
	base := []tool.Tool{{Name: "a", Description: "b", Schema: json.RawMessage(`{}`)}, {Name: "c"}}
	same := []tool.Tool{{Name: "a", Description: "b", Schema: json.RawMessage(`{}`)}, {Name: "c"}}
	if got, want := tool.Fingerprint(same), tool.Fingerprint(base); got != want || len(got) != 64 {
		t.Errorf("equal tools: got %s, want %s", got, want)
	}
	seen := map[string]string{tool.Fingerprint(base): "the tools"}
	for name, tools := range map[string][]tool.Tool{
		"another name":        {{Name: "x", Description: "b", Schema: json.RawMessage(`{}`)}, {Name: "c"}},
		"another description": {{Name: "a", Description: "x", Schema: json.RawMessage(`{}`)}, {Name: "c"}},
		"another schema":      {{Name: "a", Description: "b", Schema: json.RawMessage(`{ }`)}, {Name: "c"}},
		"a moved border":      {{Name: "ab", Schema: json.RawMessage(`{}`)}, {Name: "c"}},
		"another order":       {{Name: "c"}, {Name: "a", Description: "b", Schema: json.RawMessage(`{}`)}},
		"one less":            {{Name: "a", Description: "b", Schema: json.RawMessage(`{}`)}},
	} {
		print := tool.Fingerprint(tools)
		if other, ok := seen[print]; ok {
			t.Errorf("%s and %s have one fingerprint", name, other)
		}
		seen[print] = name
	}
}
