package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestHalfSurrogatesAreReplaced(t *testing.T) {
	for in, want := range map[string]string{
		`{"q":"\ud99c x"}`:           `{"q":"\ufffd x"}`,
		`{"q":"\uD99C"}`:             `{"q":"\ufffd"}`,
		`{"q":"\udc3b\ud83d"}`:       `{"q":"\ufffd\ufffd"}`,
		`{"q":"\ud83d\udc3b"}`:       `{"q":"\ud83d\udc3b"}`,
		`{"q":"\ud83d\ud83d\udc3b"}`: `{"q":"\ufffd\ud83d\udc3b"}`,
		`{"q":"\\ud99c"}`:            `{"q":"\\ud99c"}`,
		`{"q":"\\\ud99c"}`:           `{"q":"\\\ufffd"}`,
		`{"q":"\u00e9"}`:             `{"q":"\u00e9"}`,
		`{"q":"\ud83d`:               `{"q":"\ufffd`,
		`{"q":"\ud8`:                 `{"q":"\ud8`,
		`\`:                          `\`,
		`\u`:                         `\u`,
		`no escape`:                  `no escape`,
	} {
		if got := RepairSurrogates(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

func FuzzRepairSurrogates(f *testing.F) {
	f.Add(`{"a":"\ud83d\udc3b \ud83d"}`)
	f.Add(`\\\ud83d`)
	f.Fuzz(func(t *testing.T, in string) {
		out := RepairSurrogates(in)
		if len(out) != len(in) || json.Valid([]byte(in)) != json.Valid([]byte(out)) {
			t.Fatalf("%q became %q", in, out)
		}
		if again := RepairSurrogates(out); again != out {
			t.Errorf("not settled: %q, then %q", out, again)
		}
		var before, after any
		if json.Unmarshal([]byte(in), &before) == nil && json.Unmarshal([]byte(out), &after) == nil {
			a, _ := json.Marshal(before)
			b, _ := json.Marshal(after)
			if string(a) != string(b) {
				t.Errorf("the value changed: %s, then %s", a, b)
			}
		}
	})
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\"b\\c\n\x00\x7f\u2028灯\xff\xed\xa0\x80")
	f.Fuzz(func(t *testing.T, in string) {
		var got string
		if err := json.Unmarshal(AppendString(nil, in), &got); err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if want := strings.ToValidUTF8(in, "\uFFFD"); want != got && !strings.Contains(got, "\uFFFD") {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestOnlyAnObjectEntersTheHistory(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": 1}`: `{"a": 1}`, ` {"a":1} `: ` {"a":1} `, ``: `{}`, `{"a":`: `{}`, `[1]`: `{}`, `"x"`: `{}`, `null`: `{}`, `{"a":1}{"a":1}`: `{}`,
	} {
		if got := HistoryArguments(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
