package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Clients are the programs that Snippet knows.
func Clients() []string {
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.name
	}
	return names
}

// client is a program and how it is told about servers.
type client struct {
	name string
	// where the snippet goes.
	where string
	write func(command []string) (string, error)
}

var clients = []client{
	{"claude-code", ".mcp.json in the project", jsonSnippet("mcpServers", "")},
	{"claude-desktop", "claude_desktop_config.json", jsonSnippet("mcpServers", "")},
	{"cursor", ".cursor/mcp.json in the project, or ~/.cursor/mcp.json", jsonSnippet("mcpServers", "")},
	{"vscode", ".vscode/mcp.json in the workspace", jsonSnippet("servers", "stdio")},
	{"codex", "~/.codex/config.toml", tomlSnippet},
}

// Snippet returns what to paste into the configuration of a client so that it starts
// command, and where it goes.
func Snippet(name string, command []string) (snippet, where string, err error) {
	for _, c := range clients {
		if c.name == name {
			snippet, err = c.write(command)
			return snippet, c.where, err
		}
	}
	return "", "", fmt.Errorf("client %q: want %s", name, strings.Join(Clients(), ", "))
}

// stdioServer is how most clients describe a server that they start.
type stdioServer struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

func jsonSnippet(key, kind string) func([]string) (string, error) {
	return func(command []string) (string, error) {
		root := map[string]map[string]stdioServer{key: {"goserini": {kind, command[0], command[1:]}}}
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		err := e.Encode(root)
		return b.String(), err
	}
}

func tomlSnippet(command []string) (string, error) {
	quoted := make([]string, len(command))
	for i, c := range command {
		q, err := marshal(c) // a JSON string is a TOML string
		if err != nil {
			return "", err
		}
		quoted[i] = string(q)
	}
	return fmt.Sprintf("[mcp_servers.goserini]\ncommand = %s\nargs = [%s]\nstartup_timeout_sec = 10\ntool_timeout_sec = 60\n", quoted[0], strings.Join(quoted[1:], ", ")), nil
}
