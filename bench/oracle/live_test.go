// Package oracle_test holds our analysis and our rankings against real Lucene: from
// goldens in every run, and from Lucene itself if GOSERINI_LUCENE=live is set, which
// needs Maven and a JDK (see README.md).
package oracle_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"testing"
)

// generations are the releases of Lucene that the oracle knows by number.
var generations = []string{"9", "10"}

// requireLucene skips a test that needs Lucene unless it is asked for.
func requireLucene(t *testing.T) {
	t.Helper()
	if os.Getenv("GOSERINI_LUCENE") != "live" {
		t.Skip("set GOSERINI_LUCENE=live to compare with real Lucene; it needs Maven and a JDK")
	}
}

// lucene runs a verb of the driver and returns what it prints.
func lucene(t *testing.T, generation string, stdin io.Reader, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "./run.sh", append([]string{"-l", generation}, args...)...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = stdin, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run.sh -l %s %v: %v\n%s", generation, args, err, stderr.Bytes())
	}
	return out
}
