// Package userdir names the folders in which the program keeps things of its own: by the XDG base
// directory rules, on every system.
package userdir

import (
	"fmt"
	"os"
	"path/filepath"
)

// Cache is for what can be made again: $XDG_CACHE_HOME/goserini, by default ~/.cache/goserini.
func Cache() (string, error) { return dir("XDG_CACHE_HOME", ".cache") }

// Data is for what was fetched and made: $XDG_DATA_HOME/goserini, by default
// ~/.local/share/goserini.
func Data() (string, error) { return dir("XDG_DATA_HOME", ".local", "share") }

// dir follows the rule that a relative path in such a variable is to be ignored.
func dir(variable string, below ...string) (string, error) {
	if d := os.Getenv(variable); filepath.IsAbs(d) {
		return filepath.Join(d, "goserini"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home directory: set %s: %w", variable, err)
	}
	return filepath.Join(append(append([]string{home}, below...), "goserini")...), nil
}
