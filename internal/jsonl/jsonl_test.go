package jsonl

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"goserini/internal/sharedtest"
)

type row struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
}

// read collects the lines of a file.
func read(t *testing.T, path string) ([]string, Tail) {
	t.Helper()
	var lines []string
	tail, err := Read(path, 0, func(l Line) error {
		lines = append(lines, string(l.Data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines, tail
}

func put(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func diff(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("got no error, want one with %q", parts)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

func TestReadTellsHowTheFileEnds(t *testing.T) {
	for _, c := range []struct {
		name, in string
		lines    []string
		tail     Tail
	}{
		{"empty", "", nil, Tail{}},
		{"whole", "{}\n[1]\n", []string{"{}", "[1]"}, Tail{Offset: 7, Lines: 2}},
		{"blank lines, blanks, CRLF, mark", "\xef\xbb\xbf{}\r\n\n  \n 7 \n", []string{"{}", "7"}, Tail{Offset: 15, Lines: 4}},
		{"torn", "{}\n{\"a\":1", []string{"{}"}, Tail{Offset: 3, Lines: 1, Torn: 6}},
		{"torn after zeros", "{}\n\x00\x00\x00", []string{"{}"}, Tail{Offset: 3, Lines: 1, Torn: 3}},
		{"nothing but a torn line", "{", nil, Tail{Torn: 1}},
		{"a whole object without line end", "{}\n{\"a\":1}", []string{"{}", "{\"a\":1}"}, Tail{Offset: 10, Lines: 2, Unended: true}},
		{"a number without line end may be torn", "1\n12", []string{"1"}, Tail{Offset: 2, Lines: 1, Torn: 2}},
		{"blanks at the end", "{}\n  ", []string{"{}"}, Tail{Offset: 3, Lines: 1, Torn: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines, tail := read(t, put(t, c.in))
			diff(t, "lines", lines, c.lines)
			diff(t, "tail", tail, c.tail)
		})
	}
}

func TestDamageElsewhereIsAnError(t *testing.T) {
	path := put(t, "{}\n{\"a\":\n{}\n")
	_, err := Read(path, 0, func(Line) error { return nil })
	wantError(t, err, path+":2: column 5: unexpected end of JSON input")
	_, err = Read(put(t, "{}\nnope\n"), 0, func(Line) error { return nil })
	wantError(t, err, ":2: column 2: invalid character")
	_, err = Read(filepath.Join(t.TempDir(), "none"), 0, nil)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	_, err = ReadFrom(iotest.ErrReader(io.ErrClosedPipe), "f", 0, nil)
	wantError(t, err, "f:1: io: read/write on closed pipe")
}

func TestDecodeNamesThePlace(t *testing.T) {
	path := put(t, "{\"id\":\"a\"}\n{\"id\":7}\n")
	_, err := Read(path, 0, func(l Line) error {
		var r row
		return l.Decode(&r)
	})
	wantError(t, err, path+":2: column 7: ", "cannot unmarshal number")
}

func TestErrorOfTheCallbackEndsTheReading(t *testing.T) {
	stop, calls := errors.New("stop"), 0
	tail, err := Read(put(t, "1\n2\n3\n"), 0, func(l Line) error {
		if calls++; l.Number == 2 {
			return stop
		}
		return nil
	})
	if err != stop || calls != 2 || tail.Offset != 2 {
		t.Errorf("got %v after %d calls at offset %d, want stop, 2, 2", err, calls, tail.Offset)
	}
}

func TestLinesAreBounded(t *testing.T) {
	long := `"` + strings.Repeat("x", 100_000) + `"`
	path := put(t, "1\n"+long+"\n2\n")
	if lines, _ := read(t, path); len(lines) != 3 || lines[1] != long {
		t.Errorf("got %d lines", len(lines))
	}
	for _, limit := range []int{50, 70_000} {
		_, err := Read(path, limit, func(Line) error { return nil })
		wantError(t, err, fmt.Sprintf(":2: line too long: more than %d bytes", limit))
		if !errors.Is(err, ErrTooLong) {
			t.Errorf("got %v, want ErrTooLong", err)
		}
	}
}

func TestAppendAndReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.jsonl")
	for i, policy := range []Sync{SyncClose, SyncLines} {
		var end int64
		if i > 0 {
			_, tail := read(t, path)
			end = tail.Offset
		}
		w, err := OpenAt(path, end, policy)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(row{ID: fmt.Sprint(i), Text: "<a> & \u2028\n"}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	lines, tail := read(t, path)
	diff(t, "lines", lines, []string{`{"id":"0","text":"<a> & \u2028\n"}`, `{"id":"1","text":"<a> & \u2028\n"}`})
	if tail.Torn != 0 || tail.Unended {
		t.Errorf("tail: got %+v", tail)
	}
	if _, err := Create(path, SyncClose); !errors.Is(err, os.ErrExist) {
		t.Errorf("create a file that exists: got %v", err)
	}
}

func TestLinesReachTheFileAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.jsonl")
	w, err := Create(path, SyncClose)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Append(row{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	if lines, _ := read(t, path); len(lines) != 1 {
		t.Errorf("before Close: got %d lines, want 1", len(lines))
	}
}

func TestGoingOnAfterATornLine(t *testing.T) {
	path := put(t, "{\"id\":\"a\"}\n{\"id\":\"to")
	_, tail := read(t, path)
	w, err := OpenAt(path, tail.Offset, SyncLines)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(row{ID: "b"}), w.Close()); err != nil {
		t.Fatal(err)
	}
	lines, _ := read(t, path)
	diff(t, "lines", lines, []string{`{"id":"a"}`, `{"id":"b"}`})
}

func TestGoingOnAfterALineWithoutEnd(t *testing.T) {
	path := put(t, `{"id":"a"}`)
	_, tail := read(t, path)
	w, err := OpenAt(path, tail.Offset, SyncClose)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(row{ID: "b"}), w.Close()); err != nil {
		t.Fatal(err)
	}
	lines, _ := read(t, path)
	diff(t, "lines", lines, []string{`{"id":"a"}`, `{"id":"b"}`})
	_, err = OpenAt(path, 1000, SyncClose)
	wantError(t, err, path, "at byte 1000", "only 22 bytes")
}

func TestValueThatCannotBeWrittenLeavesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.jsonl")
	w, err := Create(path, SyncClose)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Append(math.NaN()); err == nil {
		t.Fatal("got no error")
	}
	if err := errors.Join(w.Append(row{ID: "a"}), w.Close()); err != nil {
		t.Fatal(err)
	}
	lines, _ := read(t, path)
	diff(t, "lines", lines, []string{`{"id":"a"}`})
}

func TestFailedWriteIsReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.jsonl")
	w, err := Create(path, SyncClose)
	if err != nil {
		t.Fatal(err)
	}
	_ = w.f.Close() // every write fails from here on
	first := w.Append(row{ID: "a"})
	if !errors.Is(first, os.ErrClosed) || !strings.Contains(first.Error(), path) {
		t.Errorf("got %v", first)
	}
	if again := w.Append(row{ID: "a"}); !errors.Is(again, os.ErrClosed) {
		t.Errorf("a second time: got %v", again)
	}
	if err := w.Close(); err == nil {
		t.Error("close: got no error")
	}
}

func TestFullDiskIsNamed(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	w, err := OpenAt("/dev/full", 0, SyncClose)
	if err != nil {
		t.Skip(err)
	}
	wantError(t, w.Append(row{ID: "a"}), "append to /dev/full", "no space left on device")
	wantError(t, w.Append(row{ID: "b"}), "no space left on device")
	_ = w.Close()
}

func TestConcurrentAppendsKeepLinesWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.jsonl")
	w, err := Create(path, SyncClose)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				if err := w.Append(row{ID: fmt.Sprint(i), Text: strings.Repeat("x", 100*i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if lines, _ := read(t, path); len(lines) != 400 {
		t.Errorf("got %d lines, want 400", len(lines))
	}
}

func TestRUN01TornResults(t *testing.T) {
	_, tail := read(t, sharedtest.Path(t, "cases", "RUN-01", "results.jsonl"))
	if tail.Lines != 2 || tail.Torn == 0 {
		t.Errorf("got %+v, want two whole lines and a torn one", tail)
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"{}\n", "{}\n{", "\n\n", "1", "\xef\xbb\xbf[]", "nope\n", "\"\x00\"\n", "{}\r\n{}\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		offset := int64(0)
		tail, err := ReadFrom(strings.NewReader(in), "f", 64, func(l Line) error {
			if l.Offset < offset || len(l.Data) == 0 || len(l.Data) > 64 {
				t.Fatalf("%q: got line %+v after offset %d", in, l, offset)
			}
			offset = l.Offset
			return nil
		})
		if err == nil && tail.Offset+tail.Torn != int64(len(in)) {
			t.Fatalf("%q: got %+v, which is not the whole file", in, tail)
		}
	})
}
