package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestReadmeShowsWhatTheDemoPrints keeps the README's first screen true: every line of the
// demo's table and funnel stands in it.
func TestReadmeShowsWhatTheDemoPrints(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home+"/cache")
	t.Setenv("XDG_DATA_HOME", home+"/data")
	var stdout, stderr bytes.Buffer
	if code := mainWith([]string{"demo", "--quiet"}, strings.NewReader(""), &stdout, &stderr); code != exitDone {
		t.Fatalf("demo ended with %d: %s", code, stderr.String())
	}
	lines := 0
	for line := range strings.Lines(stdout.String()) {
		line = strings.TrimRight(line, " \n")
		if line == "" || strings.HasPrefix(line, "12 questions in") || strings.HasPrefix(line, "This used no") {
			continue
		}
		lines++
		if !strings.Contains(string(readme), line+"\n") {
			t.Errorf("README.md does not show this line of the demo: %s", line)
		}
	}
	if lines < 20 {
		t.Errorf("the demo printed only %d lines", lines)
	}
}
