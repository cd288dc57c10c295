package report_test

import (
	"testing"

	"goserini/internal/report"
)

// A run of 830 questions with as much text as real ones have: some 90 kB a question.
func BenchmarkReportOf830Questions(b *testing.B) {
	run := invent(b, "large", size{questions: 830, readBytes: 12_000, depth: 1000, resamples: 100})
	b.ResetTimer()
	for b.Loop() {
		doc, err := report.HTML([]report.Run{run}, report.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(doc.Bytes)), "bytes")
		if len(doc.Bytes) > report.DefaultMaxBytes {
			b.Errorf("report has %d bytes, want at most %d", len(doc.Bytes), report.DefaultMaxBytes)
		}
		b.Log(doc.Notes)
	}
}
