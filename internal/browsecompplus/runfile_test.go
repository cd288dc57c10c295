package browsecompplus

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const officialRun = `{
  "metadata": {
    "model": "vendor/model",
    "max_tokens": 10000
  },
  "query_id": "25",
  "tool_call_counts": {
    "search": 1
  },
  "usage": {
    "input_tokens": 100,
    "input_tokens_cached": 60,
    "output_tokens": 20,
    "included_reasoning_tokens": 5,
    "total_tokens": 120
  },
  "status": "completed",
  "retrieved_docids": [
    "7",
    "8"
  ],
  "result": [
    {
      "type": "reasoning",
      "tool_name": null,
      "arguments": null,
      "output": [
        "First I search <there>.",
        "Then I answer."
      ]
    },
    {
      "type": "tool_call",
      "tool_name": "search",
      "arguments": "{\"query\": \"quokka & co\"}",
      "output": "[{\"docid\": \"7\"}]"
    },
    {
      "type": "tool_call",
      "tool_name": "search",
      "arguments": "{}",
      "output": null
    },
    {
      "type": "output_text",
      "tool_name": null,
      "arguments": null,
      "output": "Exact Answer: the quokka"
    }
  ]
}
`

func TestOfficialRunComesBackByteForByte(t *testing.T) {
	var r RunFile
	if err := json.Unmarshal([]byte(officialRun), &r); err != nil {
		t.Fatal(err)
	}
	got, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(officialRun, string(got)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if r.Answer() != "Exact Answer: the quokka" || r.Model() != "vendor/model" || r.Check() != nil {
		t.Errorf("got answer %q, model %q, %v", r.Answer(), r.Model(), r.Check())
	}
}

func TestForeignFormsAreTaken(t *testing.T) {
	var r RunFile
	err := json.Unmarshal([]byte(`{"query_id": 25, "retrieved_docids": [7, "8"], "status": "x",
		"result": [{"type": "reasoning", "output": [{"text": "a"}, {"no": "text"}, "b"]},
		{"type": "tool_call", "tool_name": "search", "arguments": {"query": "q"}, "output": ""}]}`), &r)
	if err != nil {
		t.Fatal(err)
	}
	if r.QueryID != "25" || r.Retrieved[0] != "7" || r.Result[0].Output.String() != "a\nb" || *r.Result[1].Arguments != `{"query": "q"}` {
		t.Errorf("got %+v", r)
	}
	if r.Answer() != "" {
		t.Errorf("got the answer %q of a run without one", r.Answer())
	}
	for name, text := range map[string]string{
		"output is a string":  `{"result": [{"output": 7}]}`,
		"an id is a string":   `{"query_id": {}}`,
		"neither a text":      `{"result": [{"output": [[]]}]}`,
		"Go struct field":     `{"result": 7}`,
		"no query_id":         `{}`,
		"item 1 has no type":  `{"query_id": "1", "result": [{}]}`,
		"unexpected end of J": `{`,
	} {
		var r RunFile
		err := json.Unmarshal([]byte(text), &r)
		if err == nil {
			err = r.Check()
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want %s", text, err, name)
		}
	}
}

func TestReferenceRunsAreDeciphered(t *testing.T) {
	key := NewKey("test-canary")
	var plain, r RunFile
	for _, into := range []*RunFile{&plain, &r} {
		if err := json.Unmarshal([]byte(officialRun), into); err != nil {
			t.Fatal(err)
		}
	}
	if plain.Enciphered(key) {
		t.Error("a plain run is taken for an enciphered one")
	}
	r.Encrypt(key)
	if b, _ := r.Encode(); strings.Contains(string(b), "quokka\"") || !r.Enciphered(key) {
		t.Errorf("not enciphered: %s", b)
	}
	if r.Enciphered(NewKey("another")) {
		t.Error("another canary fits")
	}
	if err := r.Decrypt(key); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(plain, r); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if err := r.Decrypt(key); err == nil || !strings.Contains(err.Error(), "query 25: result item 1") {
		t.Errorf("a second time: got %v", err)
	}
}

func FuzzRunFile(f *testing.F) {
	f.Add(officialRun)
	f.Add(`{"query_id": 1e400, "result": [{"output": null}, {"output": [null, {}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		var r RunFile
		if json.Unmarshal([]byte(text), &r) != nil {
			return
		}
		b, err := r.Encode()
		if err != nil {
			t.Skip() // arguments or metadata that cannot be written were never valid
		}
		var again RunFile
		if err := json.Unmarshal(b, &again); err != nil {
			t.Fatalf("%s cannot be read back: %v", b, err)
		}
		second, err := again.Encode()
		if err != nil || string(second) != string(b) {
			t.Fatalf("%s comes back as %s, %v", b, second, err)
		}
	})
}
