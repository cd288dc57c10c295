package main

import (
	"path/filepath"
	"testing"

	"goserini/internal/expectation"
	"goserini/internal/report/reporttest"
)

// demoRun makes a run of the embedded collection with the commands a user would type.
func demoRun(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
	dir := filepath.Join(home, "run")
	succeed(t, "demo", "--quiet", "--out", dir)
	return dir
}

// succeed runs a command that must.
func succeed(t *testing.T, args ...string) {
	t.Helper()
	if out, code := goserini(t, args...); code != exitDone {
		t.Fatalf("goserini %q: exit code %d\n%s", args, code, out)
	}
}

func TestTheDemosReportInABrowser(t *testing.T) {
	dir := demoRun(t)
	succeed(t, "report", dir)
	reporttest.Check(t, filepath.Join(dir, "report.html"), reporttest.Want{Questions: 12, StaticPlaces: true})
}

func TestTheDemoIsAsItsExperimentFileExpects(t *testing.T) {
	const path = "../../experiments/demo.toml"
	if _, err := expectation.Read(path); err != nil {
		t.Fatal(err)
	}
	dir := demoRun(t)
	succeed(t, "eval", dir, "--check", path)
}
