package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"goserini/internal/llm"
)

// miss says where the request first differs from the recorded one that agrees with it longest.
func (p *Player) miss(req request) error {
	asked, err := json.Marshal(req)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	nearest, longest := "", -1
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		recorded, err := json.Marshal(p.files[name].Request)
		if err != nil {
			continue // it was read from JSON
		}
		if n := agree(asked, recorded); n > longest {
			nearest, longest = name, n
		}
	}
	where, was, is := difference(tree(p.files[nearest].Request), tree(req), "")
	return &llm.Error{Provider: "replay", Message: fmt.Sprintf(
		"no recording in %s of request %d of this conversation; the nearest, %s.json, first differs at %s: recorded %s, asked %s",
		p.dir, turns(req)+1, nearest, where, was, is)}
}

func turns(req request) int {
	n := 0
	for _, m := range req.Messages {
		if m.Role == llm.Assistant {
			n++
		}
	}
	return n
}

func agree(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func tree(req request) any {
	raw, _ := json.Marshal(req) // miss has marshalled it before
	var v any
	_ = json.Unmarshal(raw, &v)
	return v
}

// difference returns the path of the first place where two JSON values differ, and what stands there.
func difference(a, b any, path string) (where, was, is string) {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok {
			return at(path, a, b)
		}
		names := slices.AppendSeq(slices.Collect(maps.Keys(x)), maps.Keys(y))
		slices.SortFunc(names, byImportance)
		for _, name := range slices.Compact(names) {
			if where, was, is := difference(x[name], y[name], join(path, name)); where != "" {
				return where, was, is
			}
		}
		return "", "", ""
	case []any:
		y, ok := b.([]any)
		if !ok {
			return at(path, a, b)
		}
		for i := range min(len(x), len(y)) {
			if where, was, is := difference(x[i], y[i], fmt.Sprintf("%s[%d]", path, i)); where != "" {
				return where, was, is
			}
		}
		if len(x) != len(y) {
			return fmt.Sprintf("the length of %s", path), fmt.Sprint(len(x)), fmt.Sprint(len(y))
		}
		return "", "", ""
	}
	if a == b {
		return "", "", ""
	}
	return at(path, a, b)
}

// byImportance puts settings before the history, since they explain more.
func byImportance(a, b string) int {
	if (a == "messages") != (b == "messages") {
		if a == "messages" {
			return 1
		}
		return -1
	}
	return strings.Compare(a, b)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// shown bounds the text shown of each side, in bytes.
const shown = 120

func at(path string, a, b any) (where, was, is string) {
	if path == "" {
		path = "the start"
	}
	s, isText := a.(string)
	t, areTexts := b.(string)
	if isText && areTexts {
		n := agree([]byte(s), []byte(t))
		for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
			n--
		}
		from := max(0, n-shown/4)
		for from > 0 && !utf8.RuneStart(s[from]) {
			from--
		}
		return fmt.Sprintf("%s, byte %d", path, n), excerpt(s, from), excerpt(t, from)
	}
	return path, value(a), value(b)
}

func value(v any) string {
	if v == nil {
		return "nothing"
	}
	raw, _ := json.Marshal(v) // it came from JSON
	return excerpt(string(raw), 0)
}

func excerpt(s string, from int) string {
	end := min(len(s), from+shown)
	for end > from && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	out := fmt.Sprintf("%q", s[from:end])
	if from > 0 {
		out = "…" + out
	}
	if end < len(s) {
		out += "…"
	}
	return out
}
