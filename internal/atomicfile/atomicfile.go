// Package atomicfile writes a file completely or not at all.
//
// The content goes to a temporary file in the same folder, is forced to disk,
// and only then takes the final name; the folder is forced to disk last. A
// reader sees the old file or the new one, at any moment and after any crash:
//
//	f, err := atomicfile.Create("runs/x/manifest.json", 0o644)
//	if err != nil { … }
//	defer f.Abort() // does nothing after Commit
//	… write to f …
//	return f.Commit()
//
// A process that is killed leaves its temporary file behind; [IsLeftover] knows
// such a name and [RemoveLeftovers] clears a folder of them.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// prefix and suffix enclose the final name and a random part in the name of a
// temporary file.
const (
	prefix = ".goserini-"
	suffix = ".tmp"
)

// maxStem bounds how much of the final name goes into the temporary one, in
// bytes: file systems allow 255 in all.
const maxStem = 180

// File is a file that does not have its final name yet. It is for one goroutine.
type File struct {
	f    *os.File
	path string
	// err is the first failed write: a file that lost bytes is never committed.
	err  error
	done bool
}

// Create begins a file that will be named path with the given permissions (as
// they are, the umask does not apply). A symbolic link at path will be replaced.
func Create(path string, perm fs.FileMode) (*File, error) {
	dir, base := filepath.Split(path)
	if base == "" || base == "." || base == ".." {
		return nil, fmt.Errorf("create %s: not a file name", path)
	}
	if len(base) > maxStem {
		base = base[:maxStem]
	}
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, prefix+base+"-*"+suffix)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	a := &File{f: f, path: path}
	if err := f.Chmod(perm); err != nil {
		a.Abort()
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	return a, nil
}

// Write appends to the file. After a failed write every later call fails too.
func (a *File) Write(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	n, err := a.f.Write(p)
	if err != nil {
		a.err = fmt.Errorf("write %s: %w", a.path, err)
	}
	return n, a.err
}

// Commit forces the content to disk and gives the file its name. When it fails
// whatever was at the path before is still there, unless only the last step did,
// the sync of the folder: then the new file is there but may not survive a crash.
func (a *File) Commit() error {
	if a.done {
		return fmt.Errorf("write %s: already committed or aborted", a.path)
	}
	a.done = true
	err := a.err
	if err == nil {
		err = a.f.Sync()
	}
	if closeErr := a.f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(a.f.Name(), a.path)
	}
	if err != nil {
		_ = os.Remove(a.f.Name())
		return fmt.Errorf("write %s: %w", a.path, err)
	}
	if err := SyncDir(filepath.Dir(a.path)); err != nil {
		return fmt.Errorf("write %s: %w", a.path, err)
	}
	return nil
}

// Abort throws the file away. It does nothing after Commit or Abort.
func (a *File) Abort() {
	if a.done {
		return
	}
	a.done = true
	_ = a.f.Close()
	_ = os.Remove(a.f.Name())
}

// Write writes data to path, completely or not at all.
func Write(path string, data []byte, perm fs.FileMode) error {
	f, err := Create(path, perm)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// Copy copies the file from to the path to, whole or not at all.
func Copy(to, from string, perm fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := Create(to, perm)
	if err != nil {
		return err
	}
	defer out.Abort()
	if _, err := io.Copy(out, in); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	return out.Commit()
}

// IsLeftover tells whether name (without its folder) is that of a temporary file
// of this package.
func IsLeftover(name string) bool {
	return strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix)
}

// RemoveLeftovers removes the temporary files that killed processes left in dir
// and returns their names. No other process may be writing into dir.
func RemoveLeftovers(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("remove leftovers: %w", err)
	}
	var removed []string
	var failed []error
	for _, e := range entries {
		if !IsLeftover(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			failed = append(failed, fmt.Errorf("remove leftovers: %w", err))
			continue
		}
		removed = append(removed, e.Name())
	}
	return removed, errors.Join(failed...)
}
