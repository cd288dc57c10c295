package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"goserini/internal/report"
	"goserini/internal/report/reporttest"
)

func TestALargeReportInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of questions")
	}
	run := invent(t, "large", size{questions: 830, readBytes: 3000, depth: 160, resamples: 20})
	path := writeHTML(t, report.Options{}, run)
	reporttest.Check(t, path, reporttest.Want{Questions: 830})
}

func TestTwoRunsInABrowser(t *testing.T) {
	a := invent(t, "one", size{questions: 12, readBytes: 3000, depth: 160, resamples: 20})
	b := invent(t, "another", size{questions: 12, readBytes: 3000, depth: 160, resamples: 20})
	path := writeHTML(t, report.Options{Paper: true}, a, b)
	reporttest.Check(t, path, reporttest.Want{Questions: 24, StaticPlaces: true})
}

// writeHTML writes a report into a file and fails where it is larger than it may be.
func writeHTML(t *testing.T, o report.Options, runs ...report.Run) string {
	t.Helper()
	doc, err := report.HTML(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	if most := report.DefaultMaxBytes * len(runs); len(doc.Bytes) > most {
		t.Errorf("the report has %d bytes, want at most %d", len(doc.Bytes), most)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, doc.Bytes, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
