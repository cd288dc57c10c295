package llm

import "testing"

func TestToolNamesAreUnderstoodAndCleaned(t *testing.T) {
	tools := []ToolSpec{{Name: "search"}, {Name: "read_document"}}
	for written, want := range map[string][2]string{
		"search":                      {"search", "search"},
		" search\n":                   {"search", "search"},
		"search<|channel|>commentary": {"search", "search"},
		"functions.read_document":     {"read_document", "read_document"},
		"functions.search<|call|>":    {"search", "search"},
		"tools:search":                {"search", "search"},
		"mcp/search":                  {"search", "search"},
		"`search`":                    {"search", "search"},
		"Search":                      {"Search", "Search"},
		"look it up!":                 {"look it up!", "look_it_up_"},
		"":                            {"", "unnamed"},
		"灯塔":                          {"灯塔", "__"},
	} {
		name, wire := ToolName(written, tools)
		if name != want[0] || wire != want[1] {
			t.Errorf("%q: got %q and %q, want %q and %q", written, name, wire, want[0], want[1])
		}
	}
	if _, wire := ToolName(string(make([]byte, 500)), tools); len(wire) > maxName {
		t.Errorf("got a name of %d bytes", len(wire))
	}
}

func TestIDsAreUniqueAndNumberedByTheConversation(t *testing.T) {
	history := []Message{{Calls: []Call{{ID: "a"}, {ID: "call00003"}}}}
	ids := NewIDs(history)
	for i, want := range []string{"b", "call00004", "call00005", "call00006"} {
		given := []string{"b", "a", "", "b"}[i]
		if got := ids.Unique(given); got != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
	}
	if got := NewIDs(history).Unique(""); got != "call00004" {
		t.Errorf("got %q, want the first number that is free", got)
	}
}
