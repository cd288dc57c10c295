package index

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"goserini/internal/atomicfile"
	"goserini/internal/lockfile"
)

// lockName is the file whose lock says that a build is going on in a directory.
const lockName = "build.lock"

// temporaryPattern names temporary files so that they are known as leftovers if the
// process is killed where a file cannot be removed while it is open.
const temporaryPattern = ".goserini-spill-*.tmp"

// temporary makes a file that is gone when it is closed, where the system allows that
// also when the process is killed.
func temporary(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, temporaryPattern)
	if err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	_ = os.Remove(f.Name())
	return f, nil
}

func closeTemporary(f *os.File) {
	_ = f.Close()
	_ = os.Remove(f.Name())
}

// target is a directory that an index is being built in.
type target struct {
	dir  string
	lock *lockfile.Lock
}

// claim makes dir ready for a build: it creates it, makes sure that it holds nothing but
// an index or what a build left, locks it and removes the leftovers.
func claim(dir string) (*target, error) {
	if err := checkTarget(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("create index: %w", err)
	}
	lock, err := lockfile.Acquire(filepath.Join(dir, lockName), "goserini index")
	if err != nil {
		return nil, fmt.Errorf("build index: %w", err)
	}
	if _, err := atomicfile.RemoveLeftovers(dir); err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return &target{dir, lock}, nil
}

// checkTarget refuses a directory that an index must not be written to.
func checkTarget(dir string) error {
	fi, err := os.Stat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	if !fi.IsDir() {
		return problem(ErrNotIndex, dir, "it is a file", "name a directory for the index")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("create index: %w", err)
	}
	const fix = "name an empty or a new directory for the index"
	for _, e := range entries {
		if e.Name() == FileName {
			if err := checkReplaced(dir); err != nil {
				return problem(ErrNotIndex, dir, err.Error(), fix)
			}
			return nil
		}
	}
	for _, e := range entries {
		if e.Name() != lockName && !atomicfile.IsLeftover(e.Name()) {
			return problem(ErrNotIndex, dir, "it holds "+e.Name(), fix)
		}
	}
	return nil
}

// checkReplaced makes sure that the file to be replaced is an index of any version.
func checkReplaced(dir string) error {
	f, err := os.Open(filepath.Join(dir, FileName))
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil || !bytes.Equal(head, []byte(magic)) {
		return errors.New("its " + FileName + " does not begin like one")
	}
	return nil
}

// abandoned tells whether a directory without an index holds what a build leaves.
func abandoned(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false, fmt.Errorf("open index: %w", err)
	}
	for _, e := range entries {
		if e.Name() == lockName || atomicfile.IsLeftover(e.Name()) {
			return true, nil
		}
	}
	return false, nil
}
