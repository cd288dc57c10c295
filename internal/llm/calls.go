package llm

import (
	"fmt"
	"strings"
)

// IDs makes the ids of tool calls unique within one conversation. Some servers send none,
// others the same in every turn.
type IDs struct {
	used map[string]bool
	next int
}

// NewIDs knows the ids of the calls so far.
func NewIDs(history []Message) *IDs {
	ids := &IDs{used: map[string]bool{}, next: 1}
	for _, m := range history {
		for _, c := range m.Calls {
			ids.used[c.ID] = true
			ids.next++
		}
	}
	return ids
}

// maxID bounds an id in bytes; longer ones are replaced.
const maxID = 256

// Unique returns the id itself if it is new and not empty, else a fresh one. Fresh ids are nine
// letters and digits, the strictest form any server asks for, and depend on nothing but the
// number of earlier calls.
func (ids *IDs) Unique(id string) string {
	for id == "" || len(id) > maxID || ids.used[id] {
		id = fmt.Sprintf("call%05d", ids.next)
		ids.next++
	}
	ids.used[id] = true
	return id
}

// maxName is the longest tool name servers take.
const maxName = 64

// ToolName cleans the name of a called tool. name is what the model meant: the offered
// tool that is left when control tokens and a prefix such as "functions." are taken away, else
// what it wrote. wire is the form that may stand in a later request: letters, digits, _ and -.
func ToolName(written string, offered []ToolSpec) (name, wire string) {
	name = strings.TrimSpace(written)
	if isOffered(name, offered) {
		return name, name
	}
	short, _, _ := strings.Cut(name, "<|")
	short = strings.Trim(short, " \t\r\n\"'`")
	if i := strings.LastIndexAny(short, ".:/"); i >= 0 && isOffered(short[i+1:], offered) {
		short = short[i+1:]
	}
	if isOffered(short, offered) {
		return short, short
	}
	return name, allowedName(name)
}

func isOffered(name string, offered []ToolSpec) bool {
	for _, t := range offered {
		if t.Name == name {
			return true
		}
	}
	return false
}

func allowedName(name string) string {
	out := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if len(out) > maxName {
		out = out[:maxName]
	}
	if out == "" {
		return "unnamed"
	}
	return out
}
