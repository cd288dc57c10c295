// Package browsertest drives a headless Chromium for tests, over the pipe of its own debugging
// protocol: no port, no WebSocket, no dependency.
//
//	b := browsertest.Start(t) // skips where there is no Chromium
//	p := b.Open(t, "file:///tmp/report.html", browsertest.View{Width: 390, Height: 800})
//	p.Eval(t, "document.title", &title)
package browsertest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// Required names the variable that turns a missing Chromium from a skip into a failure.
const Required = "GOSERINI_REQUIRE_CHROMIUM"

// names of the program, as distributions call it.
var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// patience bounds one command. It is no timing of a test: only a hung browser reaches it.
const patience = 2 * time.Minute

// Browser is a running Chromium. It ends with the test.
type Browser struct {
	in io.Writer

	mu      sync.Mutex // guards what follows, and writing
	next    int
	waiting map[int]chan reply
	pages   map[string]*Page
	broken  error
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// Start starts a Chromium with a profile of its own. Without one on PATH the test is skipped, or fails where
// the environment requires it.
func Start(t testing.TB) *Browser {
	t.Helper()
	path := find()
	if path == "" {
		if os.Getenv(Required) != "" {
			t.Fatalf("%s is set and there is none of %v on PATH", Required, names)
		}
		t.Skipf("no chromium on PATH (%s=1 makes this a failure)", Required)
	}
	profile, err := os.MkdirTemp("", "chromium-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(profile) })
	b := &Browser{waiting: map[int]chan reply{}, pages: map[string]*Page{}}
	b.launch(t, path, profile)
	return b
}

func find() string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func (b *Browser) launch(t testing.TB, path, profile string) {
	t.Helper()
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions", "--disable-dev-shm-usage",
		"--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.Env = append(os.Environ(), "TMPDIR="+profile, "HOME="+profile)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b.in = in
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.read(out)
	}()
	t.Cleanup(func() {
		b.send("", "Browser.close", nil, nil) //nolint:errcheck // it is gone either way
		in.Close()
		ended := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() }) //nolint:errcheck // it is gone either way
		cmd.Wait()                                                             //nolint:errcheck // a closed browser has nothing to say
		ended.Stop()
		out.Close()
		<-done
		if t.Failed() {
			t.Logf("chromium said: %s", stderr.String())
		}
	})
}

// message is what the browser writes.
type message struct {
	ID        int
	SessionID string `json:"sessionId"`
	Method    string
	Params    json.RawMessage
	reply
}

func (b *Browser) read(r io.Reader) {
	in := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := in.ReadBytes(0)
		if err != nil {
			b.fail(fmt.Errorf("the browser is gone: %w", err))
			return
		}
		var m message
		if err := json.Unmarshal(line[:len(line)-1], &m); err != nil {
			b.fail(fmt.Errorf("read from the browser: %w", err))
			return
		}
		b.mu.Lock()
		if ch := b.waiting[m.ID]; m.ID != 0 && ch != nil {
			delete(b.waiting, m.ID)
			ch <- m.reply
		} else if p := b.pages[m.SessionID]; p != nil {
			p.hear(m.Method, m.Params)
		}
		b.mu.Unlock()
	}
}

func (b *Browser) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.broken = err
	for id, ch := range b.waiting {
		delete(b.waiting, id)
		close(ch)
	}
}

// send gives a command and waits for its result.
func (b *Browser) send(session, method string, params, into any) error {
	ch := make(chan reply, 1)
	b.mu.Lock()
	if b.broken != nil {
		b.mu.Unlock()
		return b.broken
	}
	b.next++
	id := b.next
	b.waiting[id] = ch
	line, err := json.Marshal(map[string]any{"id": id, "method": method, "params": orEmpty(params), "sessionId": session})
	if session == "" {
		line, err = json.Marshal(map[string]any{"id": id, "method": method, "params": orEmpty(params)})
	}
	if err == nil {
		_, err = b.in.Write(append(line, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case r, ok := <-ch:
		if !ok {
			return fmt.Errorf("%s: the browser is gone", method)
		}
		if r.Error != nil {
			return fmt.Errorf("%s: %s", method, r.Error.Message)
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(r.Result, into)
	case <-time.After(patience):
		return errors.New(method + ": no answer from the browser")
	}
}

func orEmpty(params any) any {
	if params == nil {
		return struct{}{}
	}
	return params
}
