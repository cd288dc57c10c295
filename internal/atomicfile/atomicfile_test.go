package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// names lists a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWriteReplacesTheFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	for _, want := range []string{"one", "two, longer", ""} {
		if err := Write(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("the folder holds %v, want a.json alone", got)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); runtime.GOOS != "windows" && got != 0o600 {
		t.Errorf("permissions: got %o, want 600", got)
	}
}

func TestNothingIsSeenBeforeCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	if err := Write(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "old" {
		t.Errorf("before Commit: got %q, want old", got)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	if got := content(t, path); got != "new" {
		t.Errorf("after Commit: got %q, want new", got)
	}
	if err := f.Commit(); err == nil {
		t.Error("a second Commit: got no error")
	}
}

func TestAbortLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	f, err := Create(path, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.Write([]byte("x"))
	f.Abort()
	f.Abort()
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("the folder holds %v, want nothing", got)
	}
}

func TestFailedWriteIsNotCommitted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	if err := Write(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.f.Close() // every write fails from here on, as on a full disk
	if _, err := f.Write([]byte("x")); err == nil {
		t.Fatal("write to a closed file: got no error")
	}
	err = f.Commit()
	if !errors.Is(err, os.ErrClosed) || !strings.Contains(err.Error(), path) {
		t.Errorf("commit: got %v, want the failed write and the path", err)
	}
	if got := content(t, path); got != "old" {
		t.Errorf("got %q, want old", got)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("the folder holds %v, want a.json alone", got)
	}
}

func TestFailureToSyncIsReported(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "a"), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.f.Close()
	if err := f.Commit(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("commit of a file that cannot be synced: got %v", err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("the folder holds %v, want nothing", got)
	}
}

func TestCreateErrors(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "no", "folder", "a"), t.TempDir() + "/", "."} {
		if _, err := Create(path, 0o644); err == nil || !strings.Contains(err.Error(), "create "+path) {
			t.Errorf("create %q: got %v", path, err)
		}
	}
}

func TestFileInPlaceOfAFolderFailsWhole(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "a"), []byte("x"), 0o644); err == nil {
		t.Fatal("got no error")
	}
	if got := names(t, dir); len(got) != 1 || got[0] != "a" {
		t.Errorf("the folder holds %v, want a alone", got)
	}
}

func TestLeftoversAreRecognisedAndRemoved(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("n", 250)
	for _, name := range []string{"a.json", long} {
		f, err := Create(filepath.Join(dir, name), 0o644)
		if err != nil {
			t.Fatal(err)
		}
		_ = f.f.Close() // the process dies here
	}
	keep := filepath.Join(dir, "a.json")
	if err := os.WriteFile(keep, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range names(t, dir) {
		if got, want := IsLeftover(name), name != "a.json"; got != want {
			t.Errorf("%s is a leftover: got %v, want %v", name, got, want)
		}
	}
	removed, err := RemoveLeftovers(dir)
	if err != nil || len(removed) != 2 {
		t.Errorf("removed %v, %v; want two", removed, err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("the folder holds %v, want a.json alone", got)
	}
	if _, err := RemoveLeftovers(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there: got no error")
	}
}

func TestCopyIsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.WriteFile(from, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Copy(to, from, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != "text" {
		t.Errorf("got %q, %v", got, err)
	}
	if err := Copy(to, dir, 0o644); err == nil {
		t.Error("a folder was copied as a file")
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != "text" {
		t.Errorf("a copy that failed changed the file: %q, %v", got, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("a copy that failed left something: %v, %v", entries, err)
	}
}
