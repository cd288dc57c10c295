package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"goserini/internal/atomicfile"
	"goserini/internal/corpus"
	"goserini/internal/index"
	"goserini/internal/userdir"
)

// cacheDir is where things are kept that can be made again.
func cacheDir() (string, error) { return userdir.Cache() }

// dataDir is where run directories go that the user gave no place.
func dataDir() (string, error) { return userdir.Data() }

// newRunDir names a fresh run directory in the data directory.
func newRunDir(kind string) (string, error) {
	data, err := dataDir()
	if err != nil {
		return "", err
	}
	stem := filepath.Join(data, "runs", kind+"-"+time.Now().Format("20060102-150405"))
	dir := stem
	for n := 2; fileExists(dir); n++ {
		dir = fmt.Sprintf("%s-%d", stem, n)
	}
	return dir, nil
}

// cachedIndex opens the index kept under a key, building it first if there is none or if it
// cannot be used. The key must change with everything the index is made from.
func cachedIndex(ctx context.Context, term *terminal, key string, source func() (*corpus.Reader, error), opts index.BuildOptions) (*index.Index, string, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, "", err
	}
	dir := filepath.Join(cache, "indexes", key)
	if ix, err := index.Open(dir); err == nil {
		return ix, dir, nil
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, "", fmt.Errorf("create cache: %w", err)
	}
	src, err := source()
	if err != nil {
		return nil, "", err
	}
	defer src.Close()
	start := time.Now()
	opts.Progress = showBuild(term)
	stats, err := index.Build(ctx, dir, src, opts)
	term.endProgress()
	showReport(term, src.Report(), false)
	if err != nil {
		return nil, "", err
	}
	term.say("indexed %s documents, %s tokens in %s", count(stats.Documents), count(stats.Tokens), duration(time.Since(start)))
	ix, err := index.Open(dir)
	return ix, dir, err
}

// folderIndex returns an index over a folder or file, cached by content.
func folderIndex(ctx context.Context, term *terminal, path, analyzer string) (*index.Index, string, error) {
	content, err := contentKey(ctx, term, path)
	if err != nil {
		return nil, "", err
	}
	key := keyOf("folder", content, analyzer, fmt.Sprint(index.FormatVersion))
	return cachedIndex(ctx, term, key, func() (*corpus.Reader, error) {
		return corpus.Open([]string{path}, corpus.Options{})
	}, index.BuildOptions{Analyzer: analyzer, Source: path})
}

func keyOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// knownFile is what the content cache remembers of a file.
type knownFile struct {
	Size   int64  `json:"size"`
	MTime  int64  `json:"mtime_ns"`
	SHA256 string `json:"sha256"`
}

// contentKey identifies what a folder holds: names and contents of its files. Contents of files
// whose size and time have not changed since the last call are not read again.
func contentKey(ctx context.Context, term *terminal, path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", path, err)
	}
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	memory := filepath.Join(cache, "folders", keyOf(abs)+".json")
	known := map[string]knownFile{}
	if b, err := os.ReadFile(memory); err == nil && json.Unmarshal(b, &known) != nil {
		known = map[string]knownFile{} // damaged: read every file again
	}
	now, err := hashFiles(ctx, term, abs, known)
	if err != nil {
		return "", err
	}
	names := make([]string, 0, len(now))
	for name := range now {
		names = append(names, name)
	}
	sort.Strings(names)
	h := sha256.New()
	for _, name := range names {
		fmt.Fprintf(h, "%q %s\n", name, now[name].SHA256)
	}
	b, err := json.Marshal(now)
	if err != nil {
		return "", fmt.Errorf("encode content cache: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(memory), 0o755); err != nil {
		return "", fmt.Errorf("create cache: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), atomicfile.Write(memory, b, 0o600)
}

func hashFiles(ctx context.Context, term *terminal, root string, known map[string]knownFile) (map[string]knownFile, error) {
	out := map[string]knownFile{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if strings.HasPrefix(d.Name(), ".") && path != root {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() {
			return nil
		}
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			return nil // a broken link or a device is no content
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f := knownFile{Size: info.Size(), MTime: info.ModTime().UnixNano()}
		if old, ok := known[rel]; ok && old.Size == f.Size && old.MTime == f.MTime {
			f.SHA256 = old.SHA256
		} else if f.SHA256, err = hashFile(path); err != nil {
			return err
		}
		out[rel] = f
		term.progress("looking at %s: %s files", root, count(len(out)))
		return nil
	})
	term.endProgress()
	if err != nil {
		return nil, fmt.Errorf("read folder: %w", err)
	}
	return out, nil
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
