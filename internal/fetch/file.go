package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"goserini/internal/atomicfile"
)

// File fetches one file. When it returns nil the file is whole, right, and on disk under its path.
// A file that is already there under its path is not looked at again.
func (c *Client) File(ctx context.Context, r Request) error {
	if r.Part == "" {
		r.Part = r.Path + ".incomplete"
	}
	if _, err := os.Stat(r.Path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(r.Path), 0o755); err != nil {
		return fmt.Errorf("fetch %s: %w", r.URL, err)
	}
	d := download{client: c, Request: r}
	if err := c.retry(ctx, r.URL, d.try); err != nil {
		return err
	}
	return d.finish(ctx)
}

// download is a file on its way.
type download struct {
	client *Client
	Request
	// reached is the most that was ever there: only more than that is progress.
	reached int64
	// restarted says that a wrong content was thrown away once already.
	restarted bool
}

// try fetches what is missing. It comes further when bytes arrive.
func (d *download) try(ctx context.Context) (further bool, err error) {
	f, err := os.OpenFile(d.Part, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return false, permanent{fmt.Errorf("fetch %s: %w", d.URL, err)}
	}
	defer f.Close()
	have, err := d.begin(f)
	if err != nil {
		return false, permanent{err}
	}
	d.reached = max(d.reached, have)
	if d.Size > 0 && have == d.Size {
		return false, nil
	}
	header := d.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	// A compressed transfer would be counted and resumed in other bytes than the file's.
	header.Set("Accept-Encoding", "identity")
	if have > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	resp, err := d.client.get(ctx, d.URL, header)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	start, err := d.accept(resp, have)
	if err != nil {
		return false, err
	}
	if start < 0 { // the server says that there is nothing behind what we have
		return false, nil
	}
	if err := f.Truncate(start); err != nil {
		return false, permanent{fmt.Errorf("write %s: %w", d.Part, err)}
	}
	if _, err := f.Seek(start, io.SeekStart); err != nil {
		return false, permanent{fmt.Errorf("write %s: %w", d.Part, err)}
	}
	at, err := d.copy(f, resp, start)
	further = at > d.reached
	d.reached = max(d.reached, at)
	return further, err
}

// begin looks at what an earlier try left, and whether the rest has room.
func (d *download) begin(f *os.File) (have int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("fetch %s: %w", d.URL, err)
	}
	have = info.Size()
	if d.Size > 0 && have > d.Size { // not a beginning of the file
		if err := f.Truncate(0); err != nil {
			return 0, fmt.Errorf("write %s: %w", d.Part, err)
		}
		have = 0
	}
	return have, d.room(filepath.Dir(d.Part), d.Size-have)
}

func (d *download) room(dir string, need int64) error {
	free := d.client.Free
	if free == nil {
		free = freeBytes
	}
	// Where the system does not tell how much is free, writing will.
	if n, err := free(dir); err == nil && need > n {
		return &SpaceError{Dir: dir, Need: need, Free: n}
	}
	return nil
}

// accept returns where in the file the answer's body begins, or -1 if there is nothing to come.
func (d *download) accept(resp *http.Response, have int64) (int64, error) {
	switch resp.StatusCode {
	case http.StatusOK:
		return 0, nil // the server sends the whole, whatever was asked for
	case http.StatusPartialContent:
		start, total, err := contentRange(resp.Header.Get("Content-Range"))
		if err != nil || start != have {
			return 0, permanent{fmt.Errorf("fetch %s: asked for the bytes from %d on, got Content-Range %q", d.URL, have, resp.Header.Get("Content-Range"))}
		}
		if d.Size > 0 && total >= 0 && total != d.Size {
			return 0, permanent{fmt.Errorf("fetch %s: the server's file has %d bytes, and %d were announced", d.URL, total, d.Size)}
		}
		return start, nil
	case http.StatusRequestedRangeNotSatisfiable:
		if _, total, err := contentRange(resp.Header.Get("Content-Range")); err == nil && total == have {
			return -1, nil
		}
		if err := os.Truncate(d.Part, 0); err != nil {
			return 0, permanent{fmt.Errorf("write %s: %w", d.Part, err)}
		}
		return 0, fmt.Errorf("fetch %s: what was kept of it does not fit the server's file", d.URL)
	}
	return 0, statusError(d.URL, resp)
}

// contentRange reads "bytes 5-9/10" and "bytes */10"; total is -1 where it is "*".
func contentRange(text string) (start, total int64, err error) {
	span, of, ok := strings.Cut(strings.TrimPrefix(text, "bytes "), "/")
	if !ok {
		return 0, 0, fmt.Errorf("no range in %q", text)
	}
	total = -1
	if of != "*" {
		size, err := strconv.ParseUint(of, 10, 62)
		if err != nil {
			return 0, 0, err
		}
		total = int64(size)
	}
	if span == "*" {
		return -1, total, nil
	}
	first, _, _ := strings.Cut(span, "-")
	at, err := strconv.ParseUint(first, 10, 62)
	return int64(at), total, err
}

// copy writes the body to the file, which is positioned at start, and returns the file's
// length then.
func (d *download) copy(f *os.File, resp *http.Response, start int64) (int64, error) {
	total := d.Size
	if total <= 0 {
		total = -1
		if resp.ContentLength >= 0 {
			total = start + resp.ContentLength
		}
	}
	at, buf := start, make([]byte, 256<<10)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			if d.Size > 0 && at+int64(n) > d.Size {
				return at, permanent{fmt.Errorf("fetch %s: more than the %d bytes that were announced", d.URL, d.Size)}
			}
			if _, err := f.Write(buf[:n]); err != nil {
				return at, permanent{writeError(d.Part, err)}
			}
			at += int64(n)
			if d.client.Progress != nil {
				d.client.Progress(d.URL, at, total)
			}
		}
		switch {
		case errors.Is(err, io.EOF) && total >= 0 && at < total, errors.Is(err, io.ErrUnexpectedEOF):
			return at, fmt.Errorf("fetch %s: the connection ended after %d of %d bytes", d.URL, at, total)
		case errors.Is(err, io.EOF):
			return at, nil
		case err != nil:
			return at, fmt.Errorf("fetch %s: after %d bytes: %w", d.URL, at, err)
		}
	}
}

// writeError names a full disk as what it is.
func writeError(path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("write %s: %w: make room, and the same command goes on", path, err)
	}
	return fmt.Errorf("write %s: %w", path, err)
}

// finish compares the content and gives the file its name. A wrong content is thrown away and
// fetched from the start once: the damage may be in what an earlier try left.
func (d *download) finish(ctx context.Context) error {
	err := d.Sum.check(d.Part)
	var wrong *sumError
	if errors.As(err, &wrong) {
		if removeErr := ignore(d.Part); removeErr != nil {
			return fmt.Errorf("fetch %s: %w", d.URL, removeErr)
		}
		if d.restarted {
			return fmt.Errorf("fetch %s: %w", d.URL, wrong)
		}
		d.restarted = true
		if d.client.Waiting != nil {
			d.client.Waiting(d.URL, 0, wrong)
		}
		if err := d.client.retry(ctx, d.URL, d.try); err != nil {
			return err
		}
		return d.finish(ctx)
	}
	if err != nil {
		return fmt.Errorf("fetch %s: %w", d.URL, err)
	}
	return publish(d.Part, d.Path)
}

// publish forces the content to disk and gives it its name.
func publish(part, path string) error {
	f, err := os.OpenFile(part, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return writeError(part, err)
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// statusError reads what a server says where it does not give the file.
func statusError(url string, resp *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, 2048))
	if err != nil {
		text = nil // the status says enough
	}
	e := &StatusError{URL: url, Status: resp.StatusCode, Message: short(string(text)), RetryAfter: retryAfter(resp.Header.Get("Retry-After"))}
	if e.temporary() {
		return e
	}
	return permanent{e}
}

// short is the first line of a message, of bounded length; pages of HTML say nothing.
func short(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<") {
		return ""
	}
	line, _, _ := strings.Cut(text, "\n")
	if r := []rune(line); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return line
}

// retryAfter reads seconds or a date.
func retryAfter(text string) time.Duration {
	if s, err := strconv.Atoi(text); err == nil && s > 0 {
		return time.Duration(min(s, 86400)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
