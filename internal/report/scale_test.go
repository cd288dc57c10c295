//go:build unix

package report_test

import (
	"syscall"
	"testing"
	"time"

	"goserini/internal/report"
)

// BenchmarkReportOf830Questions reports on a run as large as a full benchmark's. Beside the time it gives the seconds of
// processor time, which tell how long two idle cores would take on a machine that is busy.
func BenchmarkReportOf830Questions(b *testing.B) {
	run := invent(b, "large", size{questions: 830, readBytes: 12_000, depth: 1000, resamples: 100})
	b.ResetTimer()
	before := processorSeconds()
	for b.Loop() {
		doc, err := report.HTML([]report.Run{run}, report.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(doc.Bytes)), "bytes")
		if len(doc.Bytes) > report.DefaultMaxBytes {
			b.Errorf("report has %d bytes, want at most %d", len(doc.Bytes), report.DefaultMaxBytes)
		}
	}
	b.ReportMetric((processorSeconds()-before)/float64(b.N), "cpu-s/op")
}

// processorSeconds is what the program has used so far, collection of garbage included.
func processorSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
