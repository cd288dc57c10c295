package fetch

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var content = bytes.Repeat([]byte("0123456789abcdef"), 1<<15) // 512 KiB

func sha(b []byte) Sum {
	sum := sha256.Sum256(b)
	return Sum{SHA256, hex.EncodeToString(sum[:])}
}

// serve is a server whose nth answer, from 1, is made by answer; nil answers serve the content
// with ranges.
func serve(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request) bool) (url string, requests *atomic.Int32) {
	t.Helper()
	requests = &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(requests.Add(1))
		if answer != nil && answer(n, w, r) {
			return
		}
		http.ServeContent(w, r, "f", time.Time{}, bytes.NewReader(content))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/f", requests
}

// patient does not wait in truth, and remembers how long it would have.
func patient(pauses *[]time.Duration) *Client {
	return &Client{Sleep: func(ctx context.Context, d time.Duration) error {
		if pauses != nil {
			*pauses = append(*pauses, d)
		}
		return ctx.Err()
	}}
}

func request(t *testing.T, url string) Request {
	t.Helper()
	return Request{URL: url, Path: filepath.Join(t.TempDir(), "deep", "f"), Size: int64(len(content)), Sum: sha(content)}
}

func wantFile(t *testing.T, r Request) {
	t.Helper()
	b, err := os.ReadFile(r.Path)
	if err != nil || !bytes.Equal(b, content) {
		t.Errorf("got %d bytes, %v", len(b), err)
	}
	if _, err := os.Stat(r.Path + ".incomplete"); !errors.Is(err, os.ErrNotExist) {
		t.Error("the incomplete file is still there")
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Fatalf("got error %v, want one with %q", err, part)
		}
	}
}

// cut sends the beginning of a whole answer and breaks the connection.
func cut(w http.ResponseWriter, n int) {
	w.Header().Set("Content-Length", fmt.Sprint(len(content)))
	_, _ = w.Write(content[:n])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func TestWholeFile(t *testing.T) {
	url, requests := serve(t, nil)
	r := request(t, url)
	var last int64
	c := &Client{Progress: func(_ string, done, total int64) {
		if done <= last || total != r.Size {
			t.Errorf("progress %d of %d after %d", done, total, last)
		}
		last = done
	}}
	for range 2 { // the second time it is there
		if err := c.File(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	wantFile(t, r)
	if last != r.Size || requests.Load() != 1 {
		t.Errorf("progress ended at %d, %d requests", last, requests.Load())
	}
}

func TestBrokenConnectionGoesOnWhereItStopped(t *testing.T) {
	var ranges []string
	url, _ := serve(t, func(n int, w http.ResponseWriter, r *http.Request) bool {
		ranges = append(ranges, r.Header.Get("Range"))
		if n == 1 {
			cut(w, 300_000)
		}
		return false
	})
	r := request(t, url)
	if err := patient(nil).File(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantFile(t, r)
	if len(ranges) != 2 || ranges[0] != "" || !strings.HasPrefix(ranges[1], "bytes=") {
		t.Errorf("got ranges %q", ranges)
	}
}

func TestAnotherProcessGoesOnWhereTheFirstStopped(t *testing.T) {
	var from string
	url, _ := serve(t, func(_ int, _ http.ResponseWriter, r *http.Request) bool { from = r.Header.Get("Range"); return false })
	r := request(t, url)
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.Path+".incomplete", content[:1000], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := new(Client).File(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantFile(t, r)
	if from != "bytes=1000-" {
		t.Errorf("got range %q", from)
	}
}

func TestServerWithoutRangesIsReadFromTheStart(t *testing.T) {
	url, requests := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n == 1 {
			cut(w, 1000)
		}
		_, _ = w.Write(content)
		return true
	})
	r := request(t, url)
	if err := patient(nil).File(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantFile(t, r)
	if requests.Load() != 2 {
		t.Errorf("got %d requests", requests.Load())
	}
}

func TestServerThatAlwaysBreaksAtOnePlaceIsGivenUp(t *testing.T) {
	url, requests := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool { cut(w, 1000); return true })
	r := request(t, url)
	c := patient(nil)
	c.Tries = 3
	wantError(t, c.File(t.Context(), r), "the connection ended", "tried 3 times", "the same command goes on")
	if n := requests.Load(); n > 4 {
		t.Errorf("%d requests", n)
	}
	if _, err := os.Stat(r.Path); err == nil {
		t.Error("a part got the name of the whole")
	}
}

func TestServersAskForPatience(t *testing.T) {
	var pauses []time.Duration
	url, _ := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) bool {
		switch n {
		case 1:
			w.Header().Set("Retry-After", "17")
			http.Error(w, "slow down", http.StatusTooManyRequests)
		case 2:
			http.Error(w, "<html>", http.StatusBadGateway)
		case 3:
			w.Header().Set("Retry-After", "100000")
			http.Error(w, "", http.StatusServiceUnavailable)
		}
		return n <= 3
	})
	r := request(t, url)
	if err := patient(&pauses).File(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantFile(t, r)
	if got := fmt.Sprint(pauses); got != "[17s 2s 5m0s]" {
		t.Errorf("got pauses %s", got)
	}
}

func TestMissingAndForbiddenFilesAreNotTriedAgain(t *testing.T) {
	for _, status := range []int{http.StatusNotFound, http.StatusForbidden, http.StatusUnauthorized} {
		url, requests := serve(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, "no such thing\nmore", status)
			return true
		})
		err := patient(nil).File(t.Context(), request(t, url))
		var s *StatusError
		if !errors.As(err, &s) || s.Status != status || s.Message != "no such thing" || requests.Load() != 1 {
			t.Errorf("got %v after %d requests", err, requests.Load())
		}
	}
}

func TestWrongContentIsThrownAwayAndFetchedOnceMore(t *testing.T) {
	url, requests := serve(t, nil)
	r := request(t, url)
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.Path+".incomplete", bytes.Repeat([]byte("x"), 5000), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := patient(nil).File(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantFile(t, r)
	if requests.Load() != 2 {
		t.Errorf("got %d requests", requests.Load())
	}

	r = request(t, url)
	r.Sum = sha([]byte("something else"))
	wantError(t, patient(nil).File(t.Context(), r), "wrong content", "was announced")
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(r.Path), "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestSizesThatDoNotFitAreRefused(t *testing.T) {
	url, _ := serve(t, nil)
	small := request(t, url)
	small.Size = 1000
	wantError(t, patient(nil).File(t.Context(), small), "more than the 1000 bytes that were announced")

	large := request(t, url)
	large.Size++
	if err := os.MkdirAll(filepath.Dir(large.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large.Path+".incomplete", content[:10], 0o644); err != nil {
		t.Fatal(err)
	}
	wantError(t, patient(nil).File(t.Context(), large), "the server's file has 524288 bytes, and 524289 were announced")
}

func TestUnknownSizeIsTakenAsItComes(t *testing.T) {
	url, _ := serve(t, nil)
	sum := md5.Sum(content)
	r := request(t, url)
	r.Size, r.Sum = 0, Sum{MD5, hex.EncodeToString(sum[:])}
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	// The whole file came, and the process was killed before it got its name.
	if err := os.WriteFile(r.Path+".incomplete", content, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := patient(nil).File(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantFile(t, r)
}

func TestNoRoomIsSaidBeforeAnythingIsFetched(t *testing.T) {
	url, requests := serve(t, nil)
	c := patient(nil)
	c.Free = func(string) (int64, error) { return 1000, nil }
	err := c.File(t.Context(), request(t, url))
	wantError(t, err, "no space in", "524288 bytes are to come and 1000 are free")
	if requests.Load() != 0 {
		t.Error("asked all the same")
	}
	if err := writeError("f", &os.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC}); !strings.Contains(err.Error(), "make room") {
		t.Errorf("got %v", err)
	}
	if free, err := freeBytes(t.TempDir()); err != nil || free <= 0 {
		t.Errorf("free bytes here: %d, %v", free, err)
	}
}

func TestSilentServerIsGivenUp(t *testing.T) {
	url, _ := serve(t, func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n > 1 {
			return false
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write(content[:1000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	})
	r := request(t, url)
	var why error
	c := patient(nil)
	c.Stall, c.Waiting = 50*time.Millisecond, func(_ string, _ time.Duration, err error) { why = err }
	if err := c.File(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	wantFile(t, r)
	wantError(t, why, "nothing came for 50ms")
}

func TestInterruptionEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url, _ := serve(t, func(_ int, w http.ResponseWriter, r *http.Request) bool {
		cancel()
		<-r.Context().Done()
		return true
	})
	if err := new(Client).File(ctx, request(t, url)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestJSON(t *testing.T) {
	url, _ := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) bool {
		switch n {
		case 1:
			http.Error(w, "", http.StatusInternalServerError)
		case 2:
			w.Header().Set("X-Here", "yes")
			fmt.Fprint(w, `{"a": 1}`)
		default:
			fmt.Fprint(w, `<html>`)
		}
		return true
	})
	var v struct{ A int }
	h, err := patient(nil).JSON(t.Context(), url, nil, &v)
	if err != nil || v.A != 1 || h.Get("X-Here") != "yes" {
		t.Errorf("got %+v, %v, %v", v, h, err)
	}
	_, err = patient(nil).JSON(t.Context(), url, nil, &v)
	wantError(t, err, "not the JSON expected")
}

func TestSumsAreReadAndWritten(t *testing.T) {
	for _, text := range []string{"", "md5:" + strings.Repeat("a", 32), "sha256:" + strings.Repeat("0", 64)} {
		if s, err := ParseSum(text); err != nil || s.String() != text {
			t.Errorf("%q: got %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"md5", "md5:abc", "crc:00", "sha256:" + strings.Repeat("g", 64)} {
		if _, err := ParseSum(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// What git hash-object prints for a file of "hello" and a line end.
	if err := (Sum{GitBlob, "ce013625030ba8dba906f756967f9e9ca394464a"}).check(path); err != nil {
		t.Error(err)
	}
}

func FuzzContentRange(f *testing.F) {
	for _, s := range []string{"bytes 0-9/10", "bytes */10", "bytes 5-9/*", "", "bytes 9999999999999999999-1/2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if start, total, err := contentRange(s); err == nil && (start < -1 || total < -1) {
			t.Errorf("%q: got %d of %d", s, start, total)
		}
	})
}
