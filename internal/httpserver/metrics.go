package httpserver

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics count what the server does. They hold no text of requests.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	running  prometheus.Gauge
	calls    *prometheus.CounterVec
	callTime *prometheus.HistogramVec
}

// latencies are the bounds of histograms, in seconds: searches take milliseconds, questions
// minutes.
var latencies = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60, 300}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "goserini_http_requests_total", Help: "Requests by endpoint and status."}, []string{"endpoint", "status"}),
		seconds:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "goserini_http_request_seconds", Help: "Time from a request to the end of its answer.", Buckets: latencies}, []string{"endpoint"}),
		running:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "goserini_http_requests_running", Help: "Requests being answered."}),
		calls:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "goserini_mcp_calls_total", Help: "Tool calls over MCP by tool and outcome."}, []string{"tool", "outcome"}),
		callTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "goserini_mcp_call_seconds", Help: "Time of a tool call over MCP.", Buckets: latencies}, []string{"tool"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.running, m.calls, m.callTime, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) observeTool(tool string, took time.Duration, failed bool) {
	outcome := "ok"
	if failed {
		outcome = "error"
	}
	m.calls.WithLabelValues(tool, outcome).Inc()
	m.callTime.WithLabelValues(tool).Observe(took.Seconds())
}

// count measures an endpoint.
func (m *metrics) count(endpoint string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		m.running.Inc()
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			m.running.Dec()
			m.requests.WithLabelValues(endpoint, strconv.Itoa(seen.status)).Inc()
			m.seconds.WithLabelValues(endpoint).Observe(time.Since(start).Seconds())
		}()
		next.ServeHTTP(seen, r)
	})
}

// statusWriter remembers the status.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the writer below.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush is for handlers that look for the interface.
func (w *statusWriter) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}
