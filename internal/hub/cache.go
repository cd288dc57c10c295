package hub

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"goserini/internal/atomicfile"
	"goserini/internal/fetch"
	"goserini/internal/lockfile"
)

// cached reads from the cache what it has of a dataset.
func (c *Client) cached(r Repo) (Snapshot, error) {
	s := Snapshot{Repo: r, Commit: r.revision(), Offline: true}
	if !commit.MatchString(s.Commit) {
		b, err := os.ReadFile(filepath.Join(c.dir(r), "refs", filepath.FromSlash(r.revision())))
		if err != nil {
			return s, fmt.Errorf("HF_HUB_OFFLINE is set and the cache %s does not know dataset %s", c.Cache, r)
		}
		s.Commit = strings.TrimSpace(string(b))
	}
	root := filepath.Join(c.dir(r), "snapshots", s.Commit)
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(p)
		if err != nil {
			return nil //nolint:nilerr // a link to nothing: the file is not there
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		s.Files = append(s.Files, File{Path: filepath.ToSlash(rel), Size: info.Size()})
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(s.Files) == 0 {
		return s, fmt.Errorf("HF_HUB_OFFLINE is set and the cache %s has nothing of dataset %s", c.Cache, r)
	}
	if err != nil {
		return s, fmt.Errorf("read the hub's cache: %w", err)
	}
	sort.Slice(s.Files, func(i, j int) bool { return s.Files[i].Path < s.Files[j].Path })
	return s, nil
}

// path is where a file of a snapshot stands in the cache.
func (c *Client) path(s Snapshot, f File) string {
	return filepath.Join(c.dir(s.Repo), "snapshots", s.Commit, filepath.FromSlash(f.Path))
}

// Have returns where a file stands if the cache has it whole, and otherwise how many bytes of
// it are still to come.
func (c *Client) Have(s Snapshot, f File) (path string, missing int64) {
	path = c.path(s, f)
	for _, p := range []string{path, c.blob(s, f)} {
		if info, err := os.Stat(p); err == nil && info.Size() == f.Size {
			return path, 0
		}
	}
	if info, err := os.Stat(c.blob(s, f) + incomplete); err == nil && info.Size() <= f.Size {
		return path, f.Size - info.Size()
	}
	return path, f.Size
}

// incomplete marks a content on its way, as the hub's own tools do.
const incomplete = ".incomplete"

func (c *Client) blob(s Snapshot, f File) string {
	return filepath.Join(c.dir(s.Repo), "blobs", f.Sum.Hex)
}

// Fetch returns the path of a file in the cache, after fetching it if it is not there.
func (c *Client) Fetch(ctx context.Context, s Snapshot, f File) (string, error) {
	path := c.path(s, f)
	if info, err := os.Stat(path); err == nil && (info.Size() == f.Size || f.Sum.Algorithm == "") {
		return path, nil
	}
	if c.Offline {
		return "", fmt.Errorf("HF_HUB_OFFLINE is set and the cache lacks %s of dataset %s", f.Path, s.Repo)
	}
	lock, err := c.lock(s, f)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Release() }() // the kernel's lock ends with the file in any case
	err = c.Fetcher.File(ctx, fetch.Request{
		URL:    c.Endpoint + "/datasets/" + s.Repo.ID + "/resolve/" + s.Commit + "/" + escape(f.Path),
		Header: c.header(), Path: c.blob(s, f), Part: c.blob(s, f) + incomplete, Size: f.Size, Sum: f.Sum,
	})
	if err != nil {
		return "", c.explain(s.Repo, err)
	}
	if err := link(c.blob(s, f), path); err != nil {
		return "", fmt.Errorf("link %s: %w", path, err)
	}
	return path, c.remember(s)
}

func escape(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}

// lock keeps two processes, of this program or another that uses the cache, from one content.
func (c *Client) lock(s Snapshot, f File) (*lockfile.Lock, error) {
	dir := filepath.Join(c.Cache, ".locks", filepath.Base(c.dir(s.Repo)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("hub cache: %w", err)
	}
	l, err := lockfile.Acquire(filepath.Join(dir, f.Sum.Hex+".lock"), "fetching "+f.Path)
	var held *lockfile.HeldError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("%s of dataset %s is being fetched by %s: wait for it", f.Path, s.Repo, held.Owner)
	}
	return l, err
}

// link puts a name for a blob into a snapshot: a symbolic link, or a copy where the system
// allows none.
func link(blob, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	rel, err := filepath.Rel(filepath.Dir(path), blob)
	if err == nil && os.Symlink(rel, path) == nil {
		return nil
	}
	return atomicfile.Copy(path, blob, 0o644)
}

// remember notes which commit a branch or tag stood for.
func (c *Client) remember(s Snapshot) error {
	if s.Repo.revision() == s.Commit {
		return nil
	}
	path := filepath.Join(c.dir(s.Repo), "refs", filepath.FromSlash(s.Repo.revision()))
	if b, err := os.ReadFile(path); err == nil && string(b) == s.Commit {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("hub cache: %w", err)
	}
	return atomicfile.Write(path, []byte(s.Commit), 0o644)
}
