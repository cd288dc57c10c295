package benchmark

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheManualsExampleIsADescription(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "```toml\n")
	text, _, found := strings.Cut(text, "```")
	if !found {
		t.Fatal("the manual has no example")
	}
	d, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Sources) != 2 || d.Expect.Evidence != 5064 || len(d.Sets) != 2 {
		t.Errorf("got %+v", d)
	}
	for _, name := range Names() {
		if !strings.Contains(string(b), "`"+name+"`") {
			t.Errorf("the manual does not name %s", name)
		}
	}
}
