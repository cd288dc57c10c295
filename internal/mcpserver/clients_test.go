package mcpserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	"goserini/internal/mcpserver"
)

func TestSnippetsParseAsWhatTheyAreFor(t *testing.T) {
	command := []string{`/opt/go serini/bin\goserini`, "mcp", "--index", `/data/"my" <index>`}
	type server struct {
		Command string
		Args    []string
	}
	for _, name := range mcpserver.Clients() {
		snippet, where, err := mcpserver.Snippet(name, command)
		if err != nil || where == "" {
			t.Fatalf("%s: %q, %v", name, where, err)
		}
		root := map[string]map[string]server{}
		if name == "codex" {
			err = toml.Unmarshal([]byte(snippet), &root)
		} else {
			err = json.Unmarshal([]byte(snippet), &root)
		}
		if err != nil {
			t.Errorf("%s: %v in %s", name, err, snippet)
			continue
		}
		key := map[string]string{"vscode": "servers", "codex": "mcp_servers"}[name]
		if key == "" {
			key = "mcpServers"
		}
		if d := cmp.Diff(server{command[0], command[1:]}, root[key]["goserini"]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	if _, _, err := mcpserver.Snippet("emacs", command); err == nil || !strings.Contains(err.Error(), "claude-code, claude-desktop, cursor, vscode, codex") {
		t.Errorf("unknown client: got %v", err)
	}
}
