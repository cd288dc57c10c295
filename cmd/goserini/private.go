package main

import (
	"fmt"
	"os"
	"path/filepath"

	"goserini/internal/userdir"
)

// checkPrivate refuses a place outside the data directory for what holds the questions or answers
// of a private benchmark in plain text.
func checkPrivate(benchmark, path string, allowed bool) error {
	if allowed {
		return nil
	}
	data, err := userdir.Data()
	if err != nil {
		return err
	}
	inside, err := isBelow(path, data)
	if err != nil || inside {
		return err
	}
	return withHint(fmt.Errorf("%s is outside the data directory: the questions and answers of %s are published so that they stand nowhere in plain text", path, benchmark),
		"choose a place below %s, or give --plaintext if nobody else reads there", filepath.Join(data, "runs"))
}

// isBelow reports whether a path lies in a folder, links followed as far as they exist.
func isBelow(path, dir string) (bool, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return false, err
	}
	rel, err := filepath.Rel(realPath(dir), realPath(abs))
	if err != nil {
		return false, nil //nolint:nilerr // on different volumes
	}
	return filepath.IsLocal(rel), nil
}

// realPath follows the links of the part of a path that exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	if _, err := os.Lstat(path); err == nil {
		return path // a link to nothing
	}
	return filepath.Join(realPath(parent), filepath.Base(path))
}
