package browsertest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// View is how a page is looked at.
type View struct {
	Width, Height int
	Dark          bool
	// NoScript switches scripts off.
	NoScript bool
}

// Page is an open page and what it did.
type Page struct {
	browser *Browser
	session string
	url     string
	loaded  chan struct{}
	once    sync.Once

	mu       sync.Mutex
	requests []string
	problems []string
}

// Open loads an address and waits until it is loaded.
func (b *Browser) Open(t testing.TB, url string, v View) *Page {
	t.Helper()
	var target struct{ TargetID string }
	must(t, b.send("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target))
	var attached struct{ SessionID string }
	must(t, b.send("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached))
	p := &Page{browser: b, session: attached.SessionID, url: url, loaded: make(chan struct{})}
	b.mu.Lock()
	b.pages[p.session] = p
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		must(t, p.send(domain+".enable", nil, nil))
	}
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	must(t, p.send("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil))
	must(t, p.send("Emulation.setDeviceMetricsOverride", map[string]any{"width": v.Width, "height": v.Height, "deviceScaleFactor": 1, "mobile": v.Width < 600}, nil))
	if v.NoScript {
		must(t, p.send("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil))
	}
	must(t, p.send("Page.navigate", map[string]any{"url": url}, nil))
	select {
	case <-p.loaded:
	case <-time.After(patience):
		t.Fatalf("%s did not load", url)
	}
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *Page) send(method string, params, into any) error {
	return p.browser.send(p.session, method, params, into)
}

// hear takes an event of the page.
func (p *Page) hear(method string, params json.RawMessage) {
	var e struct {
		Request          struct{ URL string }
		Type             string
		Entry            struct{ Level, Text, URL string }
		ExceptionDetails json.RawMessage
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch method {
	case "Page.loadEventFired":
		p.once.Do(func() { close(p.loaded) })
	case "Network.requestWillBeSent":
		p.requests = append(p.requests, e.Request.URL)
	case "Runtime.exceptionThrown":
		p.problems = append(p.problems, "exception: "+string(e.ExceptionDetails))
	case "Runtime.consoleAPICalled":
		p.problems = append(p.problems, "console."+e.Type+": "+string(params))
	case "Log.entryAdded":
		p.problems = append(p.problems, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	}
}

// Problems are exceptions, console messages and log entries of the page so far.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems)
}

// Requests are the addresses the page asked for, without its own and data: addresses.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	own, _, _ := strings.Cut(p.url, "#")
	var out []string
	for _, u := range p.requests {
		if u != own && !strings.HasPrefix(u, "data:") {
			out = append(out, u)
		}
	}
	return out
}

// Eval evaluates a script in the page, waits for a promise, and decodes its value. It works also where the
// page's own scripts are switched off.
func (p *Page) Eval(t testing.TB, script string, into any) {
	t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	must(t, p.send("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &r))
	if r.ExceptionDetails != nil {
		t.Fatalf("%s: %s %s", script, r.ExceptionDetails.Text, r.ExceptionDetails.Exception.Description)
	}
	if into != nil {
		if err := json.Unmarshal(r.Result.Value, into); err != nil {
			t.Fatalf("%s: %v in %s", script, err, r.Result.Value)
		}
	}
}

// Screenshot is the page as PNG: in its whole length where that is at most longest pixels, else as far
// as the view reaches.
func (p *Page) Screenshot(t testing.TB, longest int) []byte {
	t.Helper()
	var height int
	p.Eval(t, "document.documentElement.scrollHeight", &height)
	var shot struct{ Data string }
	must(t, p.send("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": height <= longest}, &shot))
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	must(t, err)
	return png
}
