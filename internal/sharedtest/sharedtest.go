// Package sharedtest locates the real test collections and cases that lie beside
// the project. Tests that use them skip where they are absent; the check that
// gates a change sets GOSERINI_REQUIRE_SHARED=1 so that there they must run.
package sharedtest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Path returns the path of a file or folder below the shared folder, which is
// $GOSERINI_SHARED or ../shared beside the module root. It skips the test when the
// shared folder is absent, and fails when only the named entry is.
func Path(tb testing.TB, elem ...string) string {
	tb.Helper()
	root := os.Getenv("GOSERINI_SHARED")
	if root == "" {
		_, file, _, ok := runtime.Caller(0)
		if !ok {
			tb.Fatal("cannot locate the module root")
		}
		root = filepath.Join(filepath.Dir(file), "..", "..", "..", "shared")
	}
	if _, err := os.Stat(root); err != nil {
		if os.Getenv("GOSERINI_REQUIRE_SHARED") != "" {
			tb.Fatalf("GOSERINI_REQUIRE_SHARED is set but the shared folder is absent: %v", err)
		}
		tb.Skipf("no shared folder: %v", err)
	}
	p := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		tb.Fatalf("shared folder is there but the entry is not: %v", err)
	}
	return p
}
